/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/symbol/perf_map.h"

#include <sys/stat.h>

#include "core/base/pages.h"
#include "core/base/text.h"
#include "unwind/symbol/own_file.h"

enum { BUFFER_BYTES = 64 << 10 };

/* Some compilers write the prefix. */
static struct yarn_span read_hex(struct yarn_span text, uint64_t *ret_value)
{
    if (text.size > 2 && text.data[0] == '0' && (text.data[1] | 0x20) == 'x')
        text = yarn_span_from(text, 2);
    size_t digits = yarn_parse_hex_front((const char *)text.data, text.size, ret_value);
    if (!digits || digits == text.size || text.data[digits] != ' ')
        return YARN_SPAN_EMPTY;
    while (digits < text.size && text.data[digits] == ' ')
        digits++;
    return yarn_span_from(text, digits);
}

int yarn_perf_map_parse(struct yarn_span line, struct yarn_perf_map_line *ret_line)
{
    struct yarn_perf_map_line read = {.start = 0};
    if (line.size && line.data[line.size - 1] == '\r')
        line.size--;
    struct yarn_span rest = read_hex(line, &read.start);
    read.name = read_hex(rest, &read.size);
    if (!read.name.size || !read.size || read.start + read.size < read.start)
        return -EINVAL;
    *ret_line = read;
    return 0;
}

/* Returns how many bytes of whole lines there were. */
static size_t take_lines(struct yarn_perf_map *map, struct yarn_span text, uint64_t since_ns,
                         struct yarn_code_names *names)
{
    struct yarn_perf_map_line line;
    size_t at = 0;
    while (at < text.size) {
        const uint8_t *newline = memchr(text.data + at, '\n', text.size - at);
        if (!newline)
            break;
        size_t end = (size_t)(newline - text.data);
        if (!map->skips_line && yarn_perf_map_parse(yarn_span_sub(text, at, end - at), &line) == 0)
            yarn_code_names_add(names, line.start, line.size, line.name, since_ns);
        map->skips_line = false;
        at = end + 1;
    }
    if (at || text.size < BUFFER_BYTES)
        return at;
    map->skips_line = true;
    return text.size;
}

/* The same file goes on where it was left: there a line begins. */
static bool goes_on(const struct yarn_perf_map *map, int fd, const struct yarn_file_info *info)
{
    uint8_t before = 0;
    if (info->device != map->device || info->inode != map->inode || info->size_bytes < map->offset)
        return false;
    if (!map->offset || map->skips_line)
        return true;
    return yarn_file_read_at(fd, &before, 1, map->offset - 1) == 1 && before == '\n';
}

/* Up to where the file ended at that time. */
static bool read_on(struct yarn_perf_map *map, int fd, const struct yarn_file_info *info,
                    uint64_t most, struct yarn_code_names *names)
{
    uint8_t *buffer = yarn_pages_map(BUFFER_BYTES);
    uint64_t taken = 0, since_ns = yarn_own_file_written_ns(info);
    bool is_more = buffer != NULL;
    while (is_more && taken < most) {
        size_t size = yarn_size_min(BUFFER_BYTES, info->size_bytes - map->offset);
        ssize_t got = yarn_file_read_at(fd, buffer, size, map->offset);
        struct yarn_span text = yarn_span_of(buffer, got > 0 ? (size_t)got : 0);
        size_t used = take_lines(map, text, since_ns, names);
        map->offset += used;
        taken += used;
        is_more = used && map->offset < info->size_bytes;
    }
    yarn_pages_unmap(buffer, BUFFER_BYTES);
    return is_more;
}

bool yarn_perf_map_read(struct yarn_perf_map *map, const char *path, uint64_t most,
                        struct yarn_code_names *names)
{
    struct yarn_file_info info;
    bool is_more = false;
    int fd = yarn_own_file_open(map->target, path, map->user, &info);
    if (fd < 0)
        return false;
    if (!goes_on(map, fd, &info))
        *map = (struct yarn_perf_map){.not_before_ns = map->not_before_ns,
                                      .target = map->target,
                                      .user = map->user,
                                      .device = info.device,
                                      .inode = info.inode};
    if (info.modified_ns >= map->not_before_ns && info.size_bytes > map->offset)
        is_more = read_on(map, fd, &info, most, names);
    yarn_file_close(fd);
    return is_more;
}
