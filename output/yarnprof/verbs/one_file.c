/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/verbs/one_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output/yarnprof/io/status.h"
#include "output/yarnprof/io/written.h"
#include "output/yarnprof/verbs/launch.h"
#include "output/yarnprof/verbs/merge_dumps.h"
#include "recording/process/path.h"

enum { NAMES_TRIED_MAX = 10000 };

static bool is_folder(const char *path)
{
    struct stat info;
    size_t length = strlen(path);
    return !length || path[length - 1] == '/' || (stat(path, &info) == 0 && S_ISDIR(info.st_mode));
}

int yarn_one_file_begin(struct yarn_one_file *file, const char *pattern)
{
    file->path[0] = 0;
    if (strchr(pattern, '%') || is_folder(pattern))
        return 0;
    if (snprintf(file->folder, sizeof file->folder, "%s.parts.XXXXXX/", pattern) >=
        (int)sizeof file->folder)
        return -ENAMETOOLONG;
    char *slash = strrchr(file->folder, '/');
    *slash = 0;
    int err = yarn_path_make_folders(file->folder);
    if (err)
        return err;
    if (!mkdtemp(file->folder))
        return -errno;
    *slash = '/';
    (void)snprintf(file->path, sizeof file->path, "%s", pattern);
    return yarn_launch_set("YARN_OUTPUT", file->folder);
}

/* Nothing is overwritten: .1, .2 … where the name is taken. */
static int reserve(struct yarn_one_file *file)
{
    size_t length = strlen(file->path);
    for (unsigned i = 0; i < NAMES_TRIED_MAX; i++) {
        if (i)
            (void)snprintf(file->path + length, sizeof file->path - length, ".%u", i);
        struct stat info;
        if (lstat(file->path, &info) && errno == ENOENT)
            return 0;
    }
    return -EEXIST;
}

static int join(struct yarn_one_file *file, const struct yarn_sources *parts)
{
    int err = parts->count ? reserve(file) : 0;
    if (err || !parts->count)
        return err;
    if (parts->count == 1)
        return renameat2(AT_FDCWD, parts->list[0].path, AT_FDCWD, file->path, RENAME_NOREPLACE)
                   ? -errno
                   : 0;
    mode_t mask = umask(0077); /* as dumps have it */
    err = yarn_merge_dumps("record", parts, file->path) ? -EIO : 0;
    (void)umask(mask);
    return err;
}

int yarn_one_file_end(struct yarn_one_file *file)
{
    struct yarn_written_folder folder;
    struct yarn_sources parts;
    if (!file->path[0])
        return YARN_STATUS_OK;
    yarn_written_folder(file->folder, &folder);
    yarn_written_find(&folder, 0, &parts);
    int err = join(file, &parts);
    for (size_t i = 0; !err && i < parts.count; i++)
        (void)unlink(parts.list[i].path);
    yarn_sources_fini(&parts);
    if (!err)
        err = yarn_launch_set("YARN_OUTPUT", file->path);
    if (!err && rmdir(file->folder))
        err = -errno;
    if (err)
        yarn_complain("record", "%s: %s; the dumps are in %s", file->path, strerror(-err),
                      file->folder);
    return err ? YARN_STATUS_FAILED : YARN_STATUS_OK;
}
