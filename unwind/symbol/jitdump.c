/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/symbol/jitdump.h"

#include "core/base/pages.h"
#include "unwind/symbol/own_file.h"

#define MAGIC UINT32_C(0x4a695444)

enum { VERSION = 1, BUFFER_BYTES = 64 << 10 };

/* Of records. Others (lines, unwind tables, what may come) are skipped. */
enum { CODE_LOAD = 0, CODE_MOVE = 1, CODE_CLOSE = 3 };

uint64_t yarn_jitdump_header(struct yarn_span bytes, uint32_t pid)
{
    struct yarn_cursor cursor = yarn_cursor_of(bytes);
    uint32_t magic = yarn_cursor_u32(&cursor);
    uint32_t version = yarn_cursor_u32(&cursor);
    uint32_t size = yarn_cursor_u32(&cursor);
    yarn_cursor_skip(&cursor, 8); /* machine, padding */
    uint32_t of_pid = yarn_cursor_u32(&cursor);
    yarn_cursor_skip(&cursor, 16); /* time, flags */
    bool is_good = !cursor.failed && magic == MAGIC && version >= VERSION &&
                   size >= YARN_JITDUMP_HEADER_BYTES && of_pid == pid;
    return is_good ? size : 0;
}

/* The name goes up to its NUL; one that is longer than what is needed is cut. */
static void take_load(struct yarn_cursor *cursor, uint32_t pid, uint64_t since_ns,
                      struct yarn_code_names *names)
{
    uint32_t of_pid = yarn_cursor_u32(cursor);
    yarn_cursor_skip(cursor, 12); /* thread, virtual address */
    uint64_t start = yarn_cursor_u64(cursor);
    uint64_t size = yarn_cursor_u64(cursor);
    yarn_cursor_skip(cursor, 8); /* number of the code */
    struct yarn_span name = yarn_cursor_span(cursor, yarn_cursor_left(cursor));
    const uint8_t *end = name.size ? memchr(name.data, 0, name.size) : NULL;
    if (end)
        name.size = (size_t)(end - name.data);
    if (!cursor->failed && of_pid == pid)
        yarn_code_names_add(names, start, size, name, since_ns);
}

static void take_move(struct yarn_cursor *cursor, uint32_t pid, uint64_t since_ns,
                      struct yarn_code_names *names)
{
    uint32_t of_pid = yarn_cursor_u32(cursor);
    yarn_cursor_skip(cursor, 12); /* thread, virtual address */
    uint64_t from = yarn_cursor_u64(cursor);
    uint64_t to = yarn_cursor_u64(cursor);
    uint64_t size = yarn_cursor_u64(cursor);
    if (cursor->failed || of_pid != pid)
        return;
    uint32_t number = yarn_code_names_find(names, from);
    if (number != YARN_CODE_NAME_NONE)
        yarn_code_names_add(names, to, size, yarn_code_names_at(names, number).text, since_ns);
}

uint64_t yarn_jitdump_take(struct yarn_span bytes, uint32_t pid, uint64_t since_ns,
                           struct yarn_code_names *names)
{
    struct yarn_cursor cursor = yarn_cursor_of(bytes);
    uint32_t id = yarn_cursor_u32(&cursor);
    uint32_t size = yarn_cursor_u32(&cursor);
    yarn_cursor_skip(&cursor, 8); /* time */
    if (cursor.failed || size < YARN_JITDUMP_RECORD_BYTES || id == CODE_CLOSE)
        return 0;
    cursor.span.size = yarn_size_min(cursor.span.size, size);
    if (id == CODE_LOAD)
        take_load(&cursor, pid, since_ns, names);
    else if (id == CODE_MOVE)
        take_move(&cursor, pid, since_ns, names);
    return size;
}

static void read_header(struct yarn_jitdump *jitdump, int fd)
{
    uint8_t bytes[YARN_JITDUMP_HEADER_BYTES];
    ssize_t got = yarn_file_read_at(fd, bytes, sizeof bytes, 0);
    if (got != (ssize_t)sizeof bytes)
        return; /* not written yet */
    jitdump->offset = yarn_jitdump_header(yarn_span_of(bytes, sizeof bytes), jitdump->pid);
    jitdump->is_done = !jitdump->offset;
}

/* `bytes` lie at jitdump->offset. Returns how many were done with, which may be more than there
 * are: the code behind the last record's name. */
static uint64_t take_records(struct yarn_jitdump *jitdump, struct yarn_span bytes,
                             const struct yarn_file_info *info, struct yarn_code_names *names)
{
    uint64_t at = 0, since_ns = yarn_own_file_written_ns(info);
    while (!jitdump->is_done && yarn_span_has(bytes, at, YARN_JITDUMP_RECORD_BYTES)) {
        uint32_t size = 0;
        struct yarn_span rest = yarn_span_from(bytes, at);
        if (!yarn_span_read(rest, sizeof size, &size, sizeof size) ||
            size > info->size_bytes - jitdump->offset - at)
            break; /* not written whole yet */
        if (rest.size < yarn_size_min(size, YARN_JITDUMP_NEEDED_BYTES))
            break;
        jitdump->is_done = !yarn_jitdump_take(rest, jitdump->pid, since_ns, names);
        at += size;
    }
    return at;
}

static bool read_on(struct yarn_jitdump *jitdump, int fd, const struct yarn_file_info *info,
                    uint64_t most, struct yarn_code_names *names)
{
    uint8_t *buffer = yarn_pages_map(BUFFER_BYTES);
    uint64_t taken = 0;
    bool is_more = buffer != NULL;
    while (is_more && taken < most) {
        ssize_t got = yarn_file_read_at(fd, buffer, BUFFER_BYTES, jitdump->offset);
        uint64_t used =
            got > 0 ? take_records(jitdump, yarn_span_of(buffer, (size_t)got), info, names) : 0;
        jitdump->offset += used;
        taken += used;
        is_more = used && !jitdump->is_done;
    }
    yarn_pages_unmap(buffer, BUFFER_BYTES);
    return is_more;
}

bool yarn_jitdump_read(struct yarn_jitdump *jitdump, const char *path, uint64_t most,
                       struct yarn_code_names *names)
{
    struct yarn_file_info info;
    bool is_more = false;
    if (jitdump->is_done)
        return false;
    int fd = yarn_own_file_open(jitdump->target, path, jitdump->user, &info);
    if (fd < 0)
        return false;
    if (!jitdump->offset)
        read_header(jitdump, fd);
    if (!jitdump->is_done && jitdump->offset && info.size_bytes > jitdump->offset)
        is_more = read_on(jitdump, fd, &info, most, names);
    yarn_file_close(fd);
    return is_more;
}
