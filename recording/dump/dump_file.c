/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/dump/dump_file.h"

#include <sys/stat.h>

enum { NAMES_TRIED_MAX = 10000, OWNERS = S_IRUSR | S_IWUSR };

int yarn_dump_file_prepare(struct yarn_dump_file *file, const char *pattern,
                           const struct yarn_facts *facts, char *const envp[])
{
    char folder[YARN_PATH_MAX];
    struct yarn_pattern_facts given = yarn_path_facts(facts, envp);
    int err = yarn_path_find(file->path, pattern, &given);
    if (err)
        return err;
    yarn_path_folder(file->path, folder);
    err = yarn_file_can_write(YARN_FILE_CWD, folder);
    if (err != -ENOENT)
        return err;
    err = yarn_path_make_folders(file->path);
    return err ? err : yarn_file_can_write(YARN_FILE_CWD, folder);
}

static void add_number(char *path, size_t length, uint32_t number)
{
    struct yarn_text text = {.data = path, .capacity = YARN_PATH_MAX, .size = length};
    if (number)
        yarn_text_add_format(&text, ".%lu", (uint64_t)number);
}

bool yarn_dump_file_remove_left(const char *pattern, const struct yarn_facts *facts,
                                char *const envp[], uint32_t number)
{
    char path[YARN_PATH_MAX];
    struct yarn_file_info named;
    struct yarn_pattern_facts given = yarn_path_facts(facts, envp);
    if (yarn_path_find(path, pattern, &given))
        return true;
    add_number(path, strlen(path), number);
    int err = yarn_file_stat_name(YARN_FILE_CWD, path, &named);
    if (err)
        return err == -ENOENT;
    if (!S_ISREG(named.mode) || named.size_bytes)
        return true;
    int fd = yarn_file_open(YARN_FILE_CWD, path);
    bool is_removed = fd >= 0 && yarn_file_lock(fd) && yarn_file_remove(YARN_FILE_CWD, path) == 0;
    yarn_file_close(fd < 0 ? -1 : fd);
    return is_removed;
}

/* The host may have a umask that its own files are not to be read by. */
static void let_owner_read(const struct yarn_dump_file *file)
{
    if ((file->made.mode & OWNERS) != OWNERS)
        (void)!yarn_file_change_mode(file->fd, OWNERS);
}

int yarn_dump_file_create(struct yarn_dump_file *file, bool may_change_mode)
{
    size_t length = strlen(file->path);
    for (file->number = 0; file->number < NAMES_TRIED_MAX; file->number++) {
        add_number(file->path, length, file->number);
        int fd = yarn_file_create(YARN_FILE_CWD, file->path);
        int err = fd < 0 ? fd : yarn_file_stat(fd, &file->made);
        if (err && fd >= 0)
            yarn_file_close(fd);
        file->fd = err ? -1 : fd;
        if (!err && may_change_mode)
            let_owner_read(file);
        if (!err)
            return fd;
        if (fd != -EEXIST && fd != -ELOOP)
            return err;
    }
    return -EEXIST;
}
