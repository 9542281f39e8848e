/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/debuginfo.h"

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUILD_ID_MAX = 64 };

struct yarn_debuginfo {
    Dwfl_Callbacks callbacks; /* borrowed by `dwfl` */
    char *folders;            /* owned; NULL: libdwfl's default */
    Dwfl *dwfl;               /* owned */
    Dwarf *dwarf;             /* owned by `dwfl` */
    Dwarf_Addr bias;
};

/* Only plain files: whatever else a recorded path names now (a pipe, a terminal) is left alone. */
static int open_plain(const char *path)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && (fstat(fd, &status) || !S_ISREG(status.st_mode))) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

static bool is_of(Dwfl_Module *module, struct yarn_span build_id)
{
    const void *bits;
    GElf_Addr bias;
    Elf *elf = dwfl_module_getelf(module, &bias);
    if (!elf)
        return false;
    if (!build_id.size)
        return true;
    ssize_t size = dwelf_elf_gnu_build_id(elf, &bits);
    return size > 0 && yarn_span_equal(build_id, yarn_span_of(bits, (size_t)size));
}

/* Reports the file as the only module, at the addresses that it was linked for. */
static enum yarn_debuginfo_state try_file(struct yarn_debuginfo *debuginfo, const char *path,
                                          struct yarn_span build_id)
{
    int fd = open_plain(path);
    if (fd < 0)
        return YARN_DEBUGINFO_ABSENT;
    dwfl_report_begin(debuginfo->dwfl);
    Dwfl_Module *module = dwfl_report_elf(debuginfo->dwfl, path, path, fd, 0, true);
    if (!module)
        (void)close(fd);
    if (dwfl_report_end(debuginfo->dwfl, NULL, NULL) || !module)
        return YARN_DEBUGINFO_ABSENT;
    if (!is_of(module, build_id))
        return YARN_DEBUGINFO_OTHER_FILE;
    debuginfo->dwarf = dwfl_module_getdwarf(module, &debuginfo->bias);
    return debuginfo->dwarf ? YARN_DEBUGINFO_FOUND : YARN_DEBUGINFO_ABSENT;
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
    const char *folders = debuginfo->folders ? debuginfo->folders : "/usr/lib/debug";
    char path[4096];
    if (build_id.size < 2 || build_id.size > BUILD_ID_MAX)
        return false;
    for (const char *at = folders; at; at = strchr(at, ':')) {
        at += strspn(at, ":+-");
        size_t size = strcspn(at, ":");
        if (at[0] == '/' && name_by_build_id(at, size, build_id, path, sizeof path) &&
            try_file(debuginfo, path, build_id) == YARN_DEBUGINFO_FOUND)
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
    made->callbacks.find_debuginfo = dwfl_standard_find_debuginfo;
    if (!folders || made->folders)
        made->dwfl = dwfl_begin(&made->callbacks);
    if (!made->dwfl) {
        free(made->folders);
        free(made);
        return NULL;
    }
    return made;
}

int yarn_debuginfo_open(const char *path, struct yarn_span build_id, const char *folders,
                        enum yarn_debuginfo_state *ret_state, struct yarn_debuginfo **ret_debuginfo)
{
    struct yarn_debuginfo *debuginfo = make(folders);
    if (!debuginfo)
        return -ENOMEM;
    enum yarn_debuginfo_state state = YARN_DEBUGINFO_ABSENT;
    if (path[0] == '/')
        state = try_file(debuginfo, path, build_id);
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

struct Dwarf *yarn_debuginfo_dwarf(const struct yarn_debuginfo *debuginfo)
{
    return debuginfo->dwarf;
}

uint64_t yarn_debuginfo_bias(const struct yarn_debuginfo *debuginfo)
{
    return debuginfo->bias;
}
