/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/process/path.h"

#include "core/sys/file.h"

struct yarn_pattern_facts yarn_path_facts(const struct yarn_facts *facts, char *const envp[])
{
    return (struct yarn_pattern_facts){
        .exe = facts->exe,
        .host = facts->system.node,
        .pid = (uint64_t)facts->pid,
        .start_ns = facts->start_realtime_ns,
        .folder = facts->folder,
        .envp = envp,
    };
}

int yarn_path_expand(char ret_path[YARN_PATH_MAX], const char *pattern,
                     const struct yarn_pattern_facts *facts)
{
    struct yarn_text text = yarn_text_of(ret_path, YARN_PATH_MAX);
    struct yarn_parse_error error;
    int err = yarn_pattern_expand(pattern, facts, &text, &error);
    if (err || ret_path[0] == '/' || !facts->folder)
        return err;
    text = yarn_text_of(ret_path, YARN_PATH_MAX);
    yarn_text_add_format(&text, "%s/", facts->folder);
    return yarn_pattern_expand(pattern, facts, &text, &error);
}

static bool is_folder(const char *path)
{
    int fd = yarn_file_open_folder(YARN_FILE_CWD, path);
    yarn_file_close(fd < 0 ? -1 : fd);
    return fd >= 0;
}

int yarn_path_find(char ret_path[YARN_PATH_MAX], const char *pattern,
                   struct yarn_pattern_facts *facts)
{
    facts->is_folder = false;
    int err = yarn_path_expand(ret_path, pattern, facts);
    if (err)
        return err;
    facts->is_folder = is_folder(ret_path);
    return facts->is_folder ? yarn_path_expand(ret_path, pattern, facts) : 0;
}

int yarn_path_make_folders(char *path)
{
    for (char *at = path + 1; *at; at++) {
        if (*at != '/')
            continue;
        *at = 0;
        int err = yarn_file_make_folder(YARN_FILE_CWD, path);
        *at = '/';
        if (err && err != -EEXIST && err != -EROFS && err != -EACCES)
            return err;
    }
    return 0;
}

const char *yarn_path_folder(const char *path, char ret_folder[YARN_PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return ".";
    size_t length = yarn_size_max((size_t)(slash - path), 1);
    memcpy(ret_folder, path, length);
    ret_folder[length] = 0;
    return ret_folder;
}
