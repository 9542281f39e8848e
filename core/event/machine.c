/* SPDX-License-Identifier: Apache-2.0 */
#include "core/event/machine.h"

#include "core/base/text.h"
#include "core/sys/file.h"
#include "core/sys/folder.h"

const struct yarn_event_machine yarn_event_machine_here = {
    .pmus = "/sys/bus/event_source/devices",
    .tracing = "/sys/kernel/tracing",
};

int yarn_machine_path(const char *root, const struct yarn_span *parts, size_t count,
                      char ret_path[YARN_MACHINE_PATH_MAX])
{
    struct yarn_text text = yarn_text_of(ret_path, YARN_MACHINE_PATH_MAX);
    yarn_text_add(&text, root);
    for (size_t i = 0; i < count; i++) {
        struct yarn_span part = parts[i];
        if (!part.size || part.data[0] == '.' || memchr(part.data, '/', part.size) ||
            memchr(part.data, 0, part.size))
            return -ENOENT;
        yarn_text_add(&text, "/");
        yarn_text_add_sized(&text, (const char *)part.data, part.size);
    }
    return text.cut ? -ENOENT : 0;
}

int yarn_machine_read(const char *path, char *ret_text, size_t capacity)
{
    int fd = yarn_file_open(YARN_FILE_CWD, path);
    if (fd < 0)
        return fd;
    size_t size = 0;
    ssize_t got;
    do {
        got = yarn_file_read(fd, ret_text + size, capacity - 1 - size);
        size += got > 0 ? (size_t)got : 0;
    } while (got > 0 && size < capacity - 1);
    yarn_file_close(fd);
    if (got < 0)
        return (int)got;
    while (size && ret_text[size - 1] == '\n')
        size--;
    ret_text[size] = 0;
    return (int)size;
}

struct listing {
    yarn_machine_name_fn *tell;
    void *self;
};

static bool pass_name(void *self, const char *name)
{
    const struct listing *listing = self;
    return name[0] == '.' || listing->tell(listing->self, name);
}

int yarn_machine_list(const char *path, yarn_machine_name_fn *tell, void *self)
{
    struct listing listing = {tell, self};
    int fd = yarn_file_open(YARN_FILE_CWD, path);
    if (fd < 0)
        return fd;
    int err = yarn_folder_list(fd, pass_name, &listing);
    yarn_file_close(fd);
    return err;
}
