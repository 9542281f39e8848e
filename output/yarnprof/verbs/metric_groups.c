/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/verbs/metric_groups.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/text.h"
#include "output/yarnprof/io/status.h"
#include "output/yarnprof/verbs/launch.h"

enum { FILE_BYTES_MAX = 1 << 18, PLACES = 4 };

struct places {
    char paths[PLACES][YARN_METRIC_PATH_MAX];
    size_t count;
};

static void find_places(struct places *places, const char *folder)
{
    char own[4096];
    bool has_own = yarn_launch_own_folder(own, sizeof own) == 0;
    places->count = 0;
    if (folder)
        (void)snprintf(places->paths[places->count++], YARN_METRIC_PATH_MAX, "%s", folder);
    if (has_own) {
        (void)snprintf(places->paths[places->count++], YARN_METRIC_PATH_MAX, "%s/metrics", own);
        (void)snprintf(places->paths[places->count++], YARN_METRIC_PATH_MAX,
                       "%s/../%s/yarn/metrics", own, YARN_DATADIR);
    }
    (void)snprintf(places->paths[places->count++], YARN_METRIC_PATH_MAX, "%s/yarn/metrics",
                   YARN_FULL_DATADIR);
}

/* The file of the group's name, whatever it ends in. */
static bool find_in(const char *folder, const char *group, size_t size, char *ret_path)
{
    DIR *dir = opendir(folder);
    bool is_found = false;
    if (!dir)
        return false;
    for (const struct dirent *entry; !is_found && (entry = readdir(dir));) {
        is_found = strncmp(entry->d_name, group, size) == 0 &&
                   (!entry->d_name[size] || entry->d_name[size] == '.');
        if (is_found && snprintf(ret_path, YARN_METRIC_PATH_MAX, "%s/%s", folder, entry->d_name) >=
                            YARN_METRIC_PATH_MAX)
            is_found = false;
    }
    (void)closedir(dir);
    return is_found;
}

static bool find_group(const struct places *places, const char *group, size_t size, char *ret_path)
{
    for (size_t i = 0; i < places->count; i++)
        if (find_in(places->paths[i], group, size, ret_path))
            return true;
    return false;
}

static int complain_missing(const char *verb, const struct places *places, const char *group,
                            size_t size)
{
    char bytes[PLACES * (YARN_METRIC_PATH_MAX + 2)] = "";
    struct yarn_text text = yarn_text_of(bytes, sizeof bytes);
    for (size_t i = 0; i < places->count; i++)
        yarn_text_add_format(&text, "%s%s", i ? ", " : "", places->paths[i]);
    yarn_complain(verb, "--metrics=%.*s: there is no such group; --metrics=list shows those of %s",
                  (int)size, group, bytes);
    return YARN_STATUS_USAGE;
}

static ssize_t read_file(const char *path, char *bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t size = 0, got = 1;
    if (fd < 0)
        return -errno;
    while (size < FILE_BYTES_MAX && got > 0) {
        got = read(fd, bytes + size, (size_t)(FILE_BYTES_MAX - size));
        size += got > 0 ? got : 0;
    }
    int err = got < 0 ? -errno : 0;
    (void)close(fd);
    return err ? err : size == FILE_BYTES_MAX ? -EFBIG : size;
}

int yarn_metric_group_load(const char *verb, const char *group, size_t size, const char *folder,
                           struct yarn_arena *arena, struct yarn_metric_file *ret_file,
                           char ret_path[YARN_METRIC_PATH_MAX])
{
    static char bytes[FILE_BYTES_MAX];
    static struct places places;
    struct yarn_metric_fault fault;
    if (folder && access(folder, R_OK | X_OK)) {
        yarn_complain(verb, "--metric-path=%s: %s", folder, strerror(errno));
        return YARN_STATUS_USAGE;
    }
    find_places(&places, folder);
    if (!size || memchr(group, '/', size) || group[0] == '.' ||
        !find_group(&places, group, size, ret_path))
        return complain_missing(verb, &places, group, size);
    ssize_t got = read_file(ret_path, bytes);
    if (got < 0) {
        yarn_complain(verb, "%s: %s", ret_path, strerror((int)-got));
        return YARN_STATUS_USAGE;
    }
    int err = yarn_metric_file_parse(yarn_span_of(bytes, (size_t)got), arena, ret_file, &fault);
    if (!err)
        return -1;
    yarn_complain(verb, "%s:%u: %s", ret_path, fault.line,
                  err == -EINVAL ? fault.text : strerror(-err));
    return YARN_STATUS_USAGE;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* A group of an earlier place is taken instead; two places may be one folder. */
static bool is_hidden(const struct places *places, size_t number, const char *name, size_t size)
{
    char path[YARN_METRIC_PATH_MAX];
    for (size_t i = 0; i < number; i++)
        if (find_in(places->paths[i], name, size, path))
            return true;
    return false;
}

int yarn_metric_groups_list(const char *verb, const char *folder)
{
    static struct places places;
    size_t nr_shown = 0;
    find_places(&places, folder);
    for (size_t i = 0; i < places.count; i++) {
        struct dirent **entries = NULL;
        int count = scandir(places.paths[i], &entries, is_visible, alphasort);
        for (int k = 0; k < count; k++) {
            size_t size = strcspn(entries[k]->d_name, ".");
            if (!is_hidden(&places, i, entries[k]->d_name, size))
                (void)printf("%.*s\n", (int)size, entries[k]->d_name);
            free(entries[k]);
            nr_shown++;
        }
        free(entries);
    }
    return nr_shown ? YARN_STATUS_OK : complain_missing(verb, &places, "list", 4);
}
