/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/verbs/loadable.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { SCRIPTS_MAX = 4, HEADERS_MAX = 64 };

#define LOADER "ld-linux-x86-64.so.2"

const char yarn_loadable_outside[] = "; yarnprof record --outside records it";

/* As execvp(3) finds it. */
bool yarn_loadable_find(const char *command, char ret_path[PATH_MAX])
{
    const char *folders = getenv("PATH");
    if (strchr(command, '/'))
        return snprintf(ret_path, PATH_MAX, "%s", command) < PATH_MAX;
    for (const char *at = folders ? folders : "/bin:/usr/bin"; *at;) {
        size_t size = strcspn(at, ":");
        bool fits = snprintf(ret_path, PATH_MAX, "%.*s/%s", size ? (int)size : 1, size ? at : ".",
                             command) < PATH_MAX;
        if (fits && access(ret_path, X_OK) == 0)
            return true;
        at += size + (at[size] == ':');
    }
    return false;
}

static bool is_env(const char *path)
{
    return strcmp(yarn_path_base(path), "env") == 0;
}

/* The next word of a line, which ends there; empty: there is none. */
static char *next_word(char **line)
{
    char *word = *line + strspn(*line, " \t");
    *line = word + strcspn(word, " \t\n");
    if (**line)
        *(*line)++ = 0;
    return word;
}

/* The program behind "#!", in place of the script; where that is env(1), the program that it finds
 * behind its options and variables. */
static bool is_script(int fd, char path[PATH_MAX])
{
    char line[256] = "", *rest = line + 2;
    ssize_t size = pread(fd, line, sizeof line - 1, 0);
    if (size < 3 || line[0] != '#' || line[1] != '!')
        return false;
    line[strcspn(line, "\n")] = 0;
    const char *word = next_word(&rest);
    (void)snprintf(path, PATH_MAX, "%s", word);
    if (!is_env(path))
        return true;
    do
        word = next_word(&rest);
    while (word[0] == '-' || strchr(word, '='));
    char found[PATH_MAX];
    if (word[0] && yarn_loadable_find(word, found))
        (void)snprintf(path, PATH_MAX, "%s", found);
    return true;
}

bool yarn_loadable_program(const char *command, char ret_path[PATH_MAX])
{
    bool is_known = yarn_loadable_find(command, ret_path), goes_on = is_known;
    for (int i = 0; goes_on && i < SCRIPTS_MAX; i++) {
        int fd = open(ret_path, O_RDONLY | O_CLOEXEC);
        goes_on = fd >= 0 && is_script(fd, ret_path);
        if (fd >= 0)
            (void)close(fd);
    }
    return is_known;
}

/* The loader that the program asks for; empty: none. False: the file is cut. */
static bool read_loader(int fd, const Elf64_Ehdr *elf, char ret_loader[PATH_MAX])
{
    ret_loader[0] = 0;
    for (unsigned i = 0; i < elf->e_phnum && i < HEADERS_MAX; i++) {
        Elf64_Phdr header;
        off_t at = (off_t)(elf->e_phoff + i * sizeof header);
        if (pread(fd, &header, sizeof header, at) != (ssize_t)sizeof header)
            return false;
        if (header.p_type != PT_INTERP || header.p_filesz >= PATH_MAX)
            continue;
        ssize_t size = pread(fd, ret_loader, header.p_filesz, (off_t)header.p_offset);
        ret_loader[size > 0 ? size : 0] = 0;
    }
    return true;
}

/* False where the loader would use LD_PRELOAD. */
static bool is_foreign(int fd, const char *path, struct yarn_text *why)
{
    Elf64_Ehdr elf;
    char loader[PATH_MAX];
    if (pread(fd, &elf, sizeof elf, 0) < EI_NIDENT || memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0)
        return false;
    if (elf.e_ident[EI_CLASS] == ELFCLASS32)
        yarn_text_add_format(why, "%s is a 32-bit program", path);
    else if (elf.e_machine != EM_X86_64)
        yarn_text_add_format(why, "%s is for another machine", path);
    else if (!read_loader(fd, &elf, loader))
        return false;
    else if (!loader[0])
        yarn_text_add_format(why, "%s is statically linked", path);
    else if (!strstr(loader, LOADER))
        yarn_text_add_format(why, "%s has another C library (%s)", path, loader);
    else
        return false;
    yarn_text_add_format(why, ", into which the preload cannot be loaded%s", yarn_loadable_outside);
    return true;
}

/* Whether the kernel gives it rights that we do not have: then the loader ignores LD_PRELOAD. */
static bool is_privileged(const char *path, struct yarn_text *why)
{
    struct stat status;
    struct statvfs place;
    if (stat(path, &status) || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ||
        (statvfs(path, &place) == 0 && place.f_flag & ST_NOSUID))
        return false;
    bool is_set_uid = status.st_mode & S_ISUID && status.st_uid != getuid();
    bool is_set_gid =
        status.st_mode & S_ISGID && status.st_mode & S_IXGRP && status.st_gid != getgid();
    bool has_caps = getuid() && getxattr(path, "security.capability", NULL, 0) > 0;
    if (!is_set_uid && !is_set_gid && !has_caps)
        return false;
    yarn_text_add_format(why, "%s is %s: the loader ignores LD_PRELOAD there; ", path,
                         is_set_uid   ? "set-user-ID"
                         : is_set_gid ? "set-group-ID"
                                      : "given capabilities by its file");
    if (is_set_uid)
        yarn_text_add_format(why,
                             "run yarnprof itself as its owner: sudo -u '#%lu' yarnprof record",
                             (unsigned long)status.st_uid);
    else
        yarn_text_add(why, "run yarnprof itself with these rights: sudo yarnprof record");
    return true;
}

bool yarn_loadable_is(const char *command, struct yarn_text *ret_why)
{
    char path[PATH_MAX];
    if (!yarn_loadable_program(command, path))
        return true;
    if (is_privileged(path, ret_why))
        return false;
    /* What may be run and not read is taken for one that takes the preload, as most do. */
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool is_not = fd >= 0 && is_foreign(fd, path, ret_why);
    if (fd >= 0)
        (void)close(fd);
    return !is_not;
}
