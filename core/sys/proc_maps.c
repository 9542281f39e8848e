/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sys/proc_maps.h"

#include "core/base/pages.h"
#include "core/sys/file.h"

/* A path has at most 4096 bytes, and a newline in it is printed as four. */
enum { BUFFER_BYTES = 32 << 10 };

static unsigned digit_of(uint8_t byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    if (byte >= 'a' && byte <= 'f')
        return byte - 'a' + 10u;
    return 16;
}

/* At least one digit; stops at the first other character. */
static uint64_t read_number(struct yarn_cursor *cursor, unsigned base)
{
    uint64_t value = 0;
    size_t begin = cursor->at;
    while (yarn_cursor_left(cursor)) {
        unsigned digit = digit_of(cursor->span.data[cursor->at]);
        if (digit >= base)
            break;
        if (value > (UINT64_MAX - digit) / base)
            cursor->failed = true;
        value = value * base + digit;
        cursor->at++;
    }
    if (cursor->at == begin)
        cursor->failed = true;
    return value;
}

static void expect(struct yarn_cursor *cursor, char byte)
{
    if (yarn_cursor_u8(cursor) != (uint8_t)byte)
        cursor->failed = true;
}

static void read_permissions(struct yarn_cursor *cursor, struct yarn_proc_map *map)
{
    uint8_t permissions[4];
    yarn_cursor_read(cursor, permissions, sizeof permissions);
    map->readable = permissions[0] == 'r';
    map->writable = permissions[1] == 'w';
    map->executable = permissions[2] == 'x';
    map->shared = permissions[3] == 's';
}

int yarn_proc_map_parse(struct yarn_span line, struct yarn_proc_map *ret_map)
{
    struct yarn_proc_map map = {.start = 0};
    if (line.size && line.data[line.size - 1] == '\n')
        line.size--;
    struct yarn_cursor cursor = yarn_cursor_of(line);
    map.start = read_number(&cursor, 16);
    expect(&cursor, '-');
    map.end = read_number(&cursor, 16);
    expect(&cursor, ' ');
    read_permissions(&cursor, &map);
    expect(&cursor, ' ');
    map.file_offset = read_number(&cursor, 16);
    expect(&cursor, ' ');
    uint64_t major = read_number(&cursor, 16);
    expect(&cursor, ':');
    uint64_t minor = read_number(&cursor, 16);
    expect(&cursor, ' ');
    map.inode = read_number(&cursor, 10);
    if (yarn_cursor_left(&cursor))
        expect(&cursor, ' ');
    if (cursor.failed || map.start >= map.end || major > UINT32_MAX || minor > UINT32_MAX)
        return -EINVAL;
    map.device = yarn_device_of((uint32_t)major, (uint32_t)minor);
    map.path = yarn_span_from(line, cursor.at);
    while (map.path.size && map.path.data[0] == ' ')
        map.path = yarn_span_from(map.path, 1);
    *ret_map = map;
    return 0;
}

/* Whole lines only, unless nothing will follow. */
static int give_lines(struct yarn_span text, bool is_last, yarn_proc_map_fn *each, void *context,
                      size_t *ret_used)
{
    struct yarn_proc_map map;
    size_t at = 0;
    int result = 0;
    while (at < text.size && !result) {
        const uint8_t *newline = memchr(text.data + at, '\n', text.size - at);
        if (!newline && !is_last)
            break;
        size_t end = newline ? (size_t)(newline - text.data) + 1 : text.size;
        if (yarn_proc_map_parse(yarn_span_sub(text, at, end - at), &map) == 0)
            result = each(context, &map);
        at = end;
    }
    *ret_used = at;
    return result;
}

static int read_lines(int fd, uint8_t *buffer, yarn_proc_map_fn *each, void *context)
{
    size_t held = 0;
    for (;;) {
        ssize_t got = yarn_file_read(fd, buffer + held, BUFFER_BYTES - held);
        if (got < 0)
            return (int)got;
        held += (size_t)got;
        size_t used = 0;
        bool is_last = got == 0 || (held == BUFFER_BYTES && !memchr(buffer, '\n', held));
        int err = give_lines(yarn_span_of(buffer, held), is_last, each, context, &used);
        if (err || got == 0)
            return err;
        memmove(buffer, buffer + used, held - used);
        held -= used;
    }
}

int yarn_proc_maps_read(int dir, const char *path, yarn_proc_map_fn *each, void *context)
{
    int fd = yarn_file_open(dir, path);
    if (fd < 0)
        return fd;
    int err = -ENOMEM;
    uint8_t *buffer = yarn_pages_map(BUFFER_BYTES);
    if (buffer)
        err = read_lines(fd, buffer, each, context);
    yarn_pages_unmap(buffer, BUFFER_BYTES);
    yarn_file_close(fd);
    return err;
}
