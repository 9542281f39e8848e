/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/source.h"

#include <stdlib.h>

#include "core/sys/file.h"
#include "output/base/array.h"

int yarn_dump_source_open(struct yarn_dump_source *source, const char *path)
{
    int fd = yarn_file_open(YARN_FILE_CWD, path);
    if (fd < 0)
        return fd;
    size_t capacity = YARN_KIB(512);
    uint8_t *buffer = malloc(capacity);
    if (!buffer) {
        yarn_file_close(fd);
        return -ENOMEM;
    }
    *source = (struct yarn_dump_source){
        .fd = fd,
        .buffer = buffer,
        .capacity = capacity,
        .window = yarn_span_of(buffer, 0),
    };
    return 0;
}

struct yarn_dump_source yarn_dump_source_of(struct yarn_span bytes)
{
    return (struct yarn_dump_source){.fd = -1, .at_end = true, .window = bytes};
}

void yarn_dump_source_close(struct yarn_dump_source *source)
{
    yarn_file_close(source->fd);
    free(source->buffer);
    source->fd = -1;
    source->buffer = NULL;
    source->window = YARN_SPAN_EMPTY;
}

/* The window moves to the buffer's begin, and the buffer becomes large enough. */
static int make_room(struct yarn_dump_source *source, size_t size)
{
    if (source->window.size)
        memmove(source->buffer, source->window.data, source->window.size);
    int err = YARN_ARRAY_RESERVE(&source->buffer, &source->capacity, size);
    source->window = yarn_span_of(source->buffer, source->window.size);
    return err;
}

static void fill(struct yarn_dump_source *source, size_t size)
{
    source->error = make_room(source, size);
    source->at_end = source->error != 0;
    while (!source->at_end && source->window.size < size) {
        size_t have = source->window.size;
        ssize_t got = yarn_file_read(source->fd, source->buffer + have, source->capacity - have);
        if (got < 0)
            source->error = (int)got;
        if (got <= 0)
            source->at_end = true;
        else
            source->window.size = have + (size_t)got;
    }
}

struct yarn_span yarn_dump_source_peek(struct yarn_dump_source *source, size_t size)
{
    if (source->window.size < size && !source->at_end)
        fill(source, size);
    return source->window;
}

void yarn_dump_source_pass(struct yarn_dump_source *source, size_t size)
{
    size = yarn_size_min(size, source->window.size);
    source->offset += size;
    source->window = yarn_span_from(source->window, size);
}
