/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/dump_file.h"

#include <sys/stat.h>

#include "core/config/pattern.h"
#include "core/sys/file.h"

enum { NAMES_TRIED_MAX = 10000 };

static bool is_folder(const char *path)
{
    int fd = yarn_file_open_folder(YARN_FILE_CWD, path);
    yarn_file_close(fd < 0 ? -1 : fd);
    return fd >= 0;
}

static int expand(char *ret_path, const char *pattern, const struct yarn_pattern_facts *facts)
{
    struct yarn_text text = yarn_text_of(ret_path, YARN_DUMP_PATH_MAX);
    struct yarn_parse_error error;
    return yarn_pattern_expand(pattern, facts, &text, &error);
}

/* Makes each folder on the way to the file, as mkdir -p does. */
static int make_folders(struct yarn_dump_file *file)
{
    for (char *at = file->path + 1; *at; at++) {
        if (*at != '/')
            continue;
        *at = 0;
        int err = yarn_file_make_folder(YARN_FILE_CWD, file->path);
        *at = '/';
        if (err && err != -EEXIST && err != -EROFS && err != -EACCES)
            return err;
    }
    return 0;
}

const char *yarn_dump_file_folder(const char *path, char *ret_folder)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return ".";
    size_t length = yarn_size_max((size_t)(slash - path), 1);
    memcpy(ret_folder, path, length);
    ret_folder[length] = 0;
    return ret_folder;
}

/* Whether the name tells the process, and nothing that changes within it but the executable. */
static void expand_like(struct yarn_dump_file *file, const char *pattern,
                        struct yarn_pattern_facts facts)
{
    char other[YARN_DUMP_PATH_MAX];
    facts.exe = "*";
    bool is_good = !expand(file->like, pattern, &facts);
    facts.start_ns++;
    is_good = is_good && !expand(other, pattern, &facts) && strcmp(other, file->like) == 0;
    facts.pid++;
    is_good = is_good && !expand(other, pattern, &facts) && strcmp(other, file->like) != 0;
    if (!is_good)
        file->like[0] = 0;
}

int yarn_dump_file_prepare(struct yarn_dump_file *file, const char *pattern,
                           const struct yarn_facts *facts, char *const envp[])
{
    char folder[YARN_DUMP_PATH_MAX];
    struct yarn_pattern_facts given = {
        .exe = facts->exe,
        .host = facts->system.node,
        .pid = (uint64_t)facts->pid,
        .start_ns = facts->start_realtime_ns,
        .envp = envp,
    };
    int err = expand(file->path, pattern, &given);
    if (err)
        return err;
    given.is_folder = is_folder(file->path);
    if (given.is_folder) {
        err = expand(file->path, pattern, &given);
        if (err)
            return err;
    }
    expand_like(file, pattern, given);
    err = make_folders(file);
    if (err)
        return err;
    return yarn_file_can_write(YARN_FILE_CWD, yarn_dump_file_folder(file->path, folder));
}

void yarn_dump_file_remove(const struct yarn_dump_file *file)
{
    if (yarn_file_remove(YARN_FILE_CWD, file->path))
        return; /* an empty dump stays behind */
}

int yarn_dump_file_create(struct yarn_dump_file *file)
{
    size_t length = strlen(file->path);
    for (uint64_t i = 0; i < NAMES_TRIED_MAX; i++) {
        struct yarn_text text = {.data = file->path, .capacity = sizeof file->path, .size = length};
        if (i) {
            yarn_text_add(&text, ".");
            yarn_text_add_u64(&text, i);
        }
        int fd = yarn_file_create(YARN_FILE_CWD, file->path);
        if (fd != -EEXIST && fd != -ELOOP)
            return fd;
    }
    return -EEXIST;
}
