/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/source/debuginfo.h"

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "output/analysis/source/bounded.h"
#include "output/analysis/source/module_file.h"

enum { BUILD_ID_MAX = 64, PATH_SIZE = 4096 };

#define FOLDERS ":.debug:/usr/lib/debug" /* where libdwfl searches by default */

struct yarn_debuginfo {
    Dwfl_Callbacks callbacks; /* borrowed by `dwfl` */
    char *folders;            /* owned; NULL: libdwfl's default */
    Dwfl *dwfl;               /* owned */
    Dwarf *dwarf;             /* owned by `dwfl` */
    Dwarf_Addr bias;
};

static bool is_of(Dwfl_Module *module, struct yarn_span build_id)
{
    GElf_Addr bias;
    Elf *elf = dwfl_module_getelf(module, &bias);
    return elf && (!build_id.size || yarn_module_file_has_build_id(elf, build_id));
}

/* A file descriptor; -1 where the file is not of this build id. */
static int open_if_of(const char *path, struct yarn_span build_id)
{
    enum yarn_module_file_state state;
    return yarn_module_file_open(path, build_id, 0, &state);
}

/* Each place where the file that a .gnu_debuglink names may lie, seen from `folder`. */
static int open_link_in(const char *folder, int folder_size, const char *module_path,
                        const char *link, struct yarn_span build_id, char *ret_path, size_t size)
{
    const char *slash = strrchr(module_path, '/');
    int home = slash ? (int)(slash - module_path) : 0;
    if (folder_size && folder[0] != '/') {
        (void)snprintf(ret_path, size, "%.*s/%.*s/%s", home, module_path, folder_size, folder,
                       link);
        return open_if_of(ret_path, build_id);
    }
    (void)snprintf(ret_path, size, "%.*s%.*s/%s", folder_size, folder, home, module_path, link);
    int fd = open_if_of(ret_path, build_id);
    if (fd < 0 && folder_size) {
        (void)snprintf(ret_path, size, "%.*s/%s", folder_size, folder, link);
        fd = open_if_of(ret_path, build_id);
    }
    return fd;
}

static int find_link(const char *folders, const char *module_path, const char *link,
                     struct yarn_span build_id, char **ret_path)
{
    char path[PATH_SIZE];
    int fd = -1;
    for (const char *at = folders; fd < 0 && at; at = at[0] ? at + 1 : NULL) {
        at += strspn(at, "+-");
        size_t size = strcspn(at, ":");
        fd = open_link_in(at, (int)size, module_path, link, build_id, path, sizeof path);
        at += size;
    }
    if (fd >= 0)
        *ret_path = strdup(path);
    return fd;
}

/* Why not libdwfl's own search alone: where it finds nothing it loads all that talks to servers,
 * whether the user wants that or not. */
static int search_debuginfo(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
                            const char *path, const char *link, GElf_Word link_crc, char **ret_path)
{
    const unsigned char *bits;
    GElf_Addr address;
    const char *servers = getenv("DEBUGINFOD_URLS");
    int size = dwfl_module_build_id(module, &bits, &address);
    if (size <= 0 || (servers && servers[0]))
        return dwfl_standard_find_debuginfo(module, userdata, name, base, path, link, link_crc,
                                            ret_path);
    int fd =
        dwfl_build_id_find_debuginfo(module, userdata, name, base, path, link, link_crc, ret_path);
    if (fd >= 0 || !link || strchr(link, '/') || !path)
        return fd;
    const struct yarn_debuginfo *debuginfo = *userdata;
    return find_link(debuginfo->folders ? debuginfo->folders : FOLDERS, path, link,
                     yarn_span_of(bits, (size_t)size), ret_path);
}

static int find_debuginfo(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
                          const char *path, const char *link, GElf_Word link_crc, char **ret_path)
{
    int fd = search_debuginfo(module, userdata, name, base, path, link, link_crc, ret_path);
    if (fd < 0 || yarn_module_file_is_bounded(fd))
        return fd;
    (void)close(fd);
    free(*ret_path);
    *ret_path = NULL;
    return -1;
}

static void **userdata_of(Dwfl_Module *module)
{
    void **userdata;
    (void)dwfl_module_info(module, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
    return userdata;
}

/* Reports the file as the only module, at the addresses that it was linked for. */
static enum yarn_debuginfo_state try_file(struct yarn_debuginfo *debuginfo, const char *path,
                                          struct yarn_span build_id, uint64_t file_bytes)
{
    int fd = yarn_module_file_open_plain(path);
    if (fd < 0)
        return YARN_DEBUGINFO_ABSENT;
    if (!build_id.size && !yarn_module_file_has_size(fd, file_bytes)) {
        (void)close(fd);
        return YARN_DEBUGINFO_OTHER_FILE;
    }
    dwfl_report_begin(debuginfo->dwfl);
    Dwfl_Module *module = dwfl_report_elf(debuginfo->dwfl, path, path, fd, 0, true);
    if (!module)
        (void)close(fd);
    else
        *userdata_of(module) = debuginfo;
    if (dwfl_report_end(debuginfo->dwfl, NULL, NULL) || !module)
        return YARN_DEBUGINFO_ABSENT;
    if (!is_of(module, build_id))
        return YARN_DEBUGINFO_OTHER_FILE;
    debuginfo->dwarf = dwfl_module_getdwarf(module, &debuginfo->bias);
    if (!debuginfo->dwarf)
        return YARN_DEBUGINFO_ABSENT;
    (void)dwarf_new_oom_handler(debuginfo->dwarf, yarn_bounded_give_up);
    return YARN_DEBUGINFO_FOUND;
}

static bool name_by_build_id(const char *folder, size_t folder_size, struct yarn_span build_id,
                             char *ret_path, size_t size)
{
    int used = snprintf(ret_path, size, "%.*s/.build-id/", (int)folder_size, folder);
    size_t at = (size_t)used;
    if (used < 0 || at + 2 * build_id.size + sizeof "/.debug" > size)
        return false;
    for (size_t i = 0; i < build_id.size; i++)
        at +=
            (size_t)snprintf(ret_path + at, size - at, i == 1 ? "/%02x" : "%02x", build_id.data[i]);
    (void)snprintf(ret_path + at, size - at, ".debug");
    return true;
}

/* Where the module itself is gone its debug file alone will do, which has the same addresses. */
static bool try_folders(struct yarn_debuginfo *debuginfo, struct yarn_span build_id)
{
    const char *folders = debuginfo->folders ? debuginfo->folders : FOLDERS;
    char path[PATH_SIZE];
    if (build_id.size < 2 || build_id.size > BUILD_ID_MAX)
        return false;
    for (const char *at = folders; at; at = strchr(at, ':')) {
        at += strspn(at, ":+-");
        size_t size = strcspn(at, ":");
        if (at[0] == '/' && name_by_build_id(at, size, build_id, path, sizeof path) &&
            try_file(debuginfo, path, build_id, 0) == YARN_DEBUGINFO_FOUND)
            return true;
    }
    return false;
}

static struct yarn_debuginfo *make(const char *folders)
{
    struct yarn_debuginfo *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    if (folders) {
        made->folders = strdup(folders);
        made->callbacks.debuginfo_path = &made->folders;
    }
    made->callbacks.find_elf = dwfl_build_id_find_elf;
    made->callbacks.find_debuginfo = find_debuginfo;
    if (!folders || made->folders)
        made->dwfl = dwfl_begin(&made->callbacks);
    if (!made->dwfl) {
        free(made->folders);
        free(made);
        return NULL;
    }
    return made;
}

int yarn_debuginfo_open(const char *path, struct yarn_span build_id, uint64_t file_bytes,
                        const char *folders, enum yarn_debuginfo_state *ret_state,
                        struct yarn_debuginfo **ret_debuginfo)
{
    struct yarn_debuginfo *debuginfo = make(folders);
    if (!debuginfo)
        return -ENOMEM;
    enum yarn_debuginfo_state state = YARN_DEBUGINFO_ABSENT;
    if (path[0] == '/')
        state = try_file(debuginfo, path, build_id, file_bytes);
    if (state != YARN_DEBUGINFO_FOUND && try_folders(debuginfo, build_id))
        state = YARN_DEBUGINFO_FOUND;
    if (state != YARN_DEBUGINFO_FOUND) {
        yarn_debuginfo_close(debuginfo);
        debuginfo = NULL;
    }
    *ret_state = state;
    *ret_debuginfo = debuginfo;
    return 0;
}

void yarn_debuginfo_close(struct yarn_debuginfo *debuginfo)
{
    if (!debuginfo)
        return;
    dwfl_end(debuginfo->dwfl);
    free(debuginfo->folders);
    free(debuginfo);
}

uint64_t yarn_debuginfo_file_bytes(const struct yarn_debuginfo *debuginfo)
{
    size_t size = 0;
    (void)elf_rawfile(dwarf_getelf(debuginfo->dwarf), &size);
    return size;
}

struct Dwarf *yarn_debuginfo_dwarf(const struct yarn_debuginfo *debuginfo)
{
    return debuginfo->dwarf;
}

uint64_t yarn_debuginfo_bias(const struct yarn_debuginfo *debuginfo)
{
    return debuginfo->bias;
}
