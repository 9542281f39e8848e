/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/views/source_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output/analysis/source/module_file.h"

enum { PATH_SIZE = 4096 };

#define BYTES_MAX ((off_t)64 << 20) /* no source is larger; what is larger is no source */

/* The longest end of `path` that is a file below `root`. A descriptor, or -1. */
static int open_below(const char *root, const char *path, char ret_path[PATH_SIZE])
{
    int fd = -1;
    /* An end with a step upwards could lead out of the root. */
    for (const char *up; (up = strstr(path, "../"));)
        path = up + 3;
    for (const char *end = path; fd < 0 && end; end = strchr(end, '/')) {
        end += strspn(end, "/");
        if (!*end || snprintf(ret_path, PATH_SIZE, "%s/%s", root, end) >= PATH_SIZE)
            break;
        fd = yarn_module_file_open_plain(ret_path);
    }
    return fd;
}

static int split(struct yarn_source_text *text, size_t size)
{
    size_t count = 1;
    for (size_t i = 0; i < size; i++)
        count += text->bytes[i] == '\n';
    text->lines = malloc(count * sizeof *text->lines);
    if (!text->lines)
        return -ENOMEM;
    char *line = text->bytes;
    for (size_t i = 0; i < size; i++) {
        if (text->bytes[i] != '\n')
            continue;
        text->bytes[i] = 0;
        text->lines[text->nr_lines++] = line;
        line = text->bytes + i + 1;
    }
    if (line < text->bytes + size)
        text->lines[text->nr_lines++] = line;
    return 0;
}

static int read_all(struct yarn_source_text *text, int fd)
{
    struct stat status;
    size_t size = 0;
    if (fstat(fd, &status))
        return -errno;
    if (status.st_size > BYTES_MAX)
        return -EFBIG;
    text->modified = status.st_mtim;
    size_t room = (size_t)status.st_size;
    text->bytes = malloc(room + 1);
    if (!text->bytes)
        return -ENOMEM;
    while (size < room) {
        ssize_t got = read(fd, text->bytes + size, room - size);
        if (got < 0)
            return -errno;
        if (!got)
            break;
        size += (size_t)got;
    }
    text->bytes[size] = 0;
    return split(text, size);
}

int yarn_source_text_open(struct yarn_source_text *text, const char *path, const char *root)
{
    char below[PATH_SIZE];
    const char *found = below;
    *text = (struct yarn_source_text){0};
    int fd = root ? open_below(root, path, below) : -1;
    if (fd < 0) {
        found = path;
        fd = path[0] == '/' ? yarn_module_file_open_plain(path) : -1;
    }
    if (fd < 0)
        return -ENOENT;
    text->path = strdup(found);
    int err = text->path ? read_all(text, fd) : -ENOMEM;
    (void)close(fd);
    if (err)
        yarn_source_text_close(text);
    return err;
}

void yarn_source_text_close(struct yarn_source_text *text)
{
    free(text->path);
    free(text->bytes);
    free(text->lines);
    *text = (struct yarn_source_text){0};
}

const char *yarn_source_text_line(const struct yarn_source_text *text, size_t line)
{
    return line >= 1 && line <= text->nr_lines ? text->lines[line - 1] : NULL;
}
