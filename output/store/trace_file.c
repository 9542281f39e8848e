/* SPDX-License-Identifier: Apache-2.0 */
#include "output/store/trace_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/text.h"
#include "core/event/trace_format.h"
#include "output/base/array.h"
#include "output/store/spill.h"
#include "output/store/trace_unpack.h"

enum {
    OPTION_DONE = 0,
    OPTION_BUFFER = 3,
    OPTION_CLOCK,
    OPTION_OFFSET = 7,
    OPTION_TSC2NSEC = 14,
    OPTION_HEADERS = 16,
    OPTION_FTRACE,
    OPTION_FORMATS,
    OPTION_NAMES = 21,
    SECTION_PACKED = 1, /* a flag */
    CORES_MAX = 65536,
    OPTION_SECTIONS_MAX = 4096,
    TAG_BYTES = 10,
    PAGE_MAX = 1 << 20,
    COPY_BYTES = 256 << 10,
};

static const char magic[] = "\x17\x08\x44tracing";

/* What ended a cursor that began at `base` in the file. */
static int check(struct yarn_trace_file *file, const struct yarn_cursor *cursor, uint64_t base,
                 const char *why)
{
    return cursor->failed ? yarn_trace_refuse(file, base + cursor->at, why) : 0;
}

static struct yarn_span take_sized(struct yarn_cursor *cursor)
{
    return yarn_cursor_span(cursor, yarn_cursor_u64(cursor));
}

/* Of the ring buffer's pages. */
static void take_headers(struct yarn_trace_file *file, struct yarn_cursor *cursor)
{
    struct yarn_trace_field commit;
    (void)yarn_cursor_text(cursor);
    struct yarn_span page = take_sized(cursor);
    (void)yarn_cursor_text(cursor);
    (void)take_sized(cursor);
    if (yarn_trace_format_find(page, yarn_span_of_text("commit"), &commit) && commit.size == 4)
        file->long_bytes = commit.size;
}

/* So many formats of one system. */
static int take_system(struct yarn_trace_file *file, struct yarn_cursor *cursor,
                       struct yarn_span system, uint32_t count)
{
    int err = 0;
    for (uint32_t i = 0; !err && !cursor->failed && i < count; i++) {
        const struct yarn_trace_file_format format = {system, take_sized(cursor)};
        err = YARN_ARRAY_PUT(&file->formats, &file->nr_formats, &file->formats_capacity, &format);
    }
    return err;
}

static int take_ftrace(struct yarn_trace_file *file, struct yarn_cursor *cursor)
{
    uint32_t count = yarn_cursor_u32(cursor);
    return take_system(file, cursor, yarn_span_of_text("ftrace"), count);
}

static int take_formats(struct yarn_trace_file *file, struct yarn_cursor *cursor)
{
    uint32_t count = yarn_cursor_u32(cursor);
    int err = 0;
    for (uint32_t i = 0; !err && !cursor->failed && i < count; i++) {
        struct yarn_span system = yarn_span_of_text(yarn_cursor_text(cursor));
        uint32_t nr_formats = yarn_cursor_u32(cursor);
        err = take_system(file, cursor, system, nr_formats);
    }
    return err;
}

static void take_names(struct yarn_trace_file *file, struct yarn_cursor *cursor)
{
    file->names = take_sized(cursor);
}

static int add_core(struct yarn_trace_file *file, uint32_t cpu, uint64_t at, uint64_t size)
{
    if (cpu >= CORES_MAX)
        return yarn_trace_refuse(file, at, "a core with a number that none has");
    if (!yarn_span_has(file->bytes, at, size))
        return yarn_trace_refuse(file, file->bytes.size,
                                 "the file is cut: events lie behind its end");
    /* Why: buffers that share their pages would make a small file one without end. */
    if (size > file->bytes.size - file->core_bytes)
        return yarn_trace_refuse(file, at, "events that lie where others do");
    file->core_bytes += size;
    const struct yarn_trace_file_core core = {
        .cpu = cpu, .at = at, .size = size, .pages = yarn_span_sub(file->bytes, at, size)};
    return YARN_ARRAY_PUT(&file->cores, &file->nr_cores, &file->cores_capacity, &core);
}

/* The text "0x…" or a number, which is added to all times. */
static void take_offset(struct yarn_trace_file *file, struct yarn_span data)
{
    uint64_t offset;
    const char *text = yarn_span_text(data, 0);
    bool is_minus = text && text[0] == '-';
    if (text && !yarn_parse_number(text + is_minus, strlen(text + is_minus), &offset))
        file->offset_ns = is_minus ? 0 - offset : offset;
}

/* Times are cycles: ns are these times `mult`, shifted. */
static int take_scale(struct yarn_trace_file *file, struct yarn_span data, uint64_t at)
{
    struct yarn_cursor cursor = yarn_cursor_of(data);
    file->scale.mult = yarn_cursor_u32(&cursor);
    file->scale.shift = yarn_cursor_u32(&cursor);
    int err = check(file, &cursor, at, "cycles without what makes them ns");
    return !err && file->scale.shift > 63
               ? yarn_trace_refuse(file, at, "cycles that no shift makes ns")
               : err;
}

/* All clocks, the chosen one in brackets. */
static void take_clock(struct yarn_trace_file *file, struct yarn_span data)
{
    static const char *const others[] = {"[counter]", "[uptime]", "[x86-tsc]", "[ppc-tb]",
                                         "[s390-tod]"};
    const char *text = yarn_span_text(data, 0);
    for (size_t i = 0; text && i < YARN_COUNT_OF(others); i++)
        file->has_ticks |= strstr(text, others[i]) != NULL;
}

static int take_buffer(struct yarn_trace_file *file, struct yarn_span data, uint64_t at)
{
    struct yarn_cursor cursor = yarn_cursor_of(data);
    yarn_cursor_skip(&cursor, sizeof(uint64_t));
    (void)yarn_cursor_text(&cursor); /* of the buffer */
    (void)yarn_cursor_text(&cursor); /* of its clock */
    uint32_t page_bytes = yarn_cursor_u32(&cursor), count = yarn_cursor_u32(&cursor);
    int err = check(file, &cursor, at, "a buffer is cut");
    if (!err && page_bytes != file->page_bytes)
        err = yarn_trace_refuse(file, at, "a buffer whose pages have another size");
    for (uint32_t i = 0; !err && i < count; i++) {
        uint32_t cpu = yarn_cursor_u32(&cursor);
        uint64_t pages_at = yarn_cursor_u64(&cursor), size = yarn_cursor_u64(&cursor);
        err = check(file, &cursor, at, "a buffer has fewer cores than it says");
        if (!err && size)
            err = add_core(file, cpu, pages_at, size);
    }
    return err;
}

/* The section that begins there, unpacked. */
static int find_section(struct yarn_trace_file *file, uint64_t at, unsigned wanted,
                        struct yarn_span *ret_data, uint64_t *ret_at)
{
    struct yarn_cursor cursor = yarn_cursor_of(yarn_span_from(file->bytes, at));
    unsigned id = yarn_cursor_u16(&cursor), flags = yarn_cursor_u16(&cursor);
    yarn_cursor_skip(&cursor, sizeof(uint32_t)); /* its description */
    uint64_t size = yarn_cursor_u64(&cursor);
    *ret_at = at + cursor.at;
    if (cursor.failed)
        return yarn_trace_refuse(file, yarn_u64_min(at, file->bytes.size),
                                 "the file is cut: a section lies behind its end");
    if (id != wanted)
        return yarn_trace_refuse(file, at, "another section than is said");
    struct yarn_span data = yarn_cursor_span(&cursor, size);
    if (cursor.failed)
        return yarn_trace_refuse(file, file->bytes.size,
                                 "the file is cut: a section goes on behind its end");
    *ret_data = data;
    return flags & SECTION_PACKED ? yarn_trace_unpack_section(file, data, *ret_at, ret_data) : 0;
}

static int take_section(struct yarn_trace_file *file, unsigned id, struct yarn_span option,
                        uint64_t option_at)
{
    struct yarn_span data;
    uint64_t at;
    if (!yarn_span_read(option, 0, &at, sizeof at))
        return yarn_trace_refuse(file, option_at, "a section without a place");
    int err = find_section(file, at, id, &data, &at);
    if (err)
        return err;
    struct yarn_cursor cursor = yarn_cursor_of(data);
    if (id == OPTION_HEADERS)
        take_headers(file, &cursor);
    else if (id == OPTION_FTRACE)
        err = take_ftrace(file, &cursor);
    else if (id == OPTION_FORMATS)
        err = take_formats(file, &cursor);
    else
        take_names(file, &cursor);
    return err ? err : check(file, &cursor, at, "a section is shorter than what is in it");
}

static int take_option(struct yarn_trace_file *file, unsigned id, struct yarn_span data,
                       uint64_t at)
{
    switch (id) {
    case OPTION_BUFFER:
        return take_buffer(file, data, at);
    case OPTION_OFFSET:
        take_offset(file, data);
        return 0;
    case OPTION_TSC2NSEC:
        return take_scale(file, data, at);
    case OPTION_CLOCK:
        take_clock(file, data);
        return 0;
    case OPTION_HEADERS:
    case OPTION_FTRACE:
    case OPTION_FORMATS:
    case OPTION_NAMES:
        return take_section(file, id, data, at);
    default:
        return 0;
    }
}

/* *ret_next: where further options are; 0: there are none. */
static int take_options(struct yarn_trace_file *file, uint64_t at, uint64_t *ret_next)
{
    struct yarn_span data;
    int err = find_section(file, at, 0, &data, &at);
    if (err)
        return err;
    struct yarn_cursor cursor = yarn_cursor_of(data);
    *ret_next = 0;
    while (!err) {
        unsigned id = yarn_cursor_u16(&cursor);
        struct yarn_span option = yarn_cursor_span(&cursor, yarn_cursor_u32(&cursor));
        uint64_t option_at = at + cursor.at - option.size;
        err = check(file, &cursor, at, "options without an end");
        if (err || id == OPTION_DONE) {
            if (!err && !yarn_span_read(option, 0, ret_next, sizeof *ret_next))
                return yarn_trace_refuse(file, option_at, "options without an end");
            return err;
        }
        err = take_option(file, id, option, option_at);
    }
    return err;
}

static int read_version_7(struct yarn_trace_file *file, struct yarn_cursor *cursor)
{
    const char *packing = yarn_cursor_text(cursor);
    (void)yarn_cursor_text(cursor); /* its version */
    uint64_t at = yarn_cursor_u64(cursor);
    int err = check(file, cursor, 0, "the file is cut in its head");
    file->is_packed = strcmp(packing, "none") != 0;
    file->is_deflated = strcmp(packing, "zlib") == 0;
    if (!err && file->is_packed && !file->is_deflated && strcmp(packing, "zstd") != 0) {
        file->fault =
            (struct yarn_trace_fault){cursor->at, "it is compressed, neither by zstd nor by zlib"};
        return -ENOTSUP;
    }
    if (!err && !at)
        err = yarn_trace_refuse(file, cursor->at, "the recording was not ended");
    for (size_t i = 0; !err && at; i++)
        err = i < OPTION_SECTIONS_MAX
                  ? take_options(file, at, &at)
                  : yarn_trace_refuse(file, at, "options that go on in a circle");
    return err;
}

static bool is_tag(struct yarn_span tag, const char *name)
{
    return tag.size == TAG_BYTES && memcmp(tag.data, name, TAG_BYTES) == 0;
}

static int read_cores_6(struct yarn_trace_file *file, struct yarn_cursor *cursor, uint32_t count)
{
    int err = 0;
    for (uint32_t cpu = 0; !err && cpu < count; cpu++) {
        uint64_t at = yarn_cursor_u64(cursor), size = yarn_cursor_u64(cursor);
        err = check(file, cursor, 0, "the file is cut where it says where events are");
        if (!err && size)
            err = add_core(file, cpu, at, size);
    }
    return err;
}

/* Of an instance: as many cores as the first has, at another place. */
static int take_buffer_6(struct yarn_trace_file *file, struct yarn_span data, uint64_t option_at,
                         uint32_t nr_cores)
{
    uint64_t at;
    if (!yarn_span_read(data, 0, &at, sizeof at))
        return yarn_trace_refuse(file, option_at, "a buffer is cut");
    struct yarn_cursor cursor = yarn_cursor_of(file->bytes);
    yarn_cursor_skip(&cursor, at);
    struct yarn_span tag = yarn_cursor_span(&cursor, TAG_BYTES);
    int err = check(file, &cursor, 0, "the file is cut: a buffer lies behind its end");
    if (!err && !is_tag(tag, "flyrecord"))
        err = yarn_trace_refuse(file, at, "no events as bytes");
    return err ? err : read_cores_6(file, &cursor, nr_cores);
}

/* The options of version 6 lie in the file one behind the other. */
static int take_options_6(struct yarn_trace_file *file, struct yarn_cursor *cursor,
                          uint32_t nr_cores)
{
    int err = 0;
    for (;;) {
        unsigned id = yarn_cursor_u16(cursor);
        if (cursor->failed || id == OPTION_DONE || err)
            return err ? err : check(file, cursor, 0, "the file is cut in its options");
        struct yarn_span data = yarn_cursor_span(cursor, yarn_cursor_u32(cursor));
        uint64_t at = cursor->at - data.size;
        if (!cursor->failed && id == OPTION_BUFFER)
            err = take_buffer_6(file, data, at, nr_cores);
        else if (id == OPTION_OFFSET || id == OPTION_TSC2NSEC || id == OPTION_CLOCK)
            err = take_option(file, id, data, at);
    }
}

static int read_version_6(struct yarn_trace_file *file, struct yarn_cursor *cursor)
{
    take_headers(file, cursor);
    int err = take_ftrace(file, cursor);
    if (!err)
        err = take_formats(file, cursor);
    yarn_cursor_skip(cursor, yarn_cursor_u32(cursor)); /* kernel symbols */
    yarn_cursor_skip(cursor, yarn_cursor_u32(cursor)); /* printk formats */
    take_names(file, cursor);
    uint32_t nr_cores = yarn_cursor_u32(cursor);
    struct yarn_span tag = yarn_cursor_span(cursor, TAG_BYTES);
    if (!err)
        err = check(file, cursor, 0, "the file is cut before its events");
    if (!err && is_tag(tag, "options  ")) {
        err = take_options_6(file, cursor, nr_cores);
        tag = yarn_cursor_span(cursor, TAG_BYTES);
    }
    if (!err)
        err = check(file, cursor, 0, "the file is cut before its events");
    if (!err && !is_tag(tag, "flyrecord"))
        err = yarn_trace_refuse(file, cursor->at - TAG_BYTES, "no events as bytes");
    return err ? err : read_cores_6(file, cursor, nr_cores);
}

static int compare_cores(const void *a, const void *b)
{
    const struct yarn_trace_file_core *left = a, *right = b;
    if (left->cpu != right->cpu)
        return left->cpu < right->cpu ? -1 : 1;
    return left->at < right->at ? -1 : left->at > right->at;
}

static int read_all(struct yarn_trace_file *file)
{
    struct yarn_cursor cursor = yarn_cursor_of(file->bytes);
    struct yarn_span begin = yarn_cursor_span(&cursor, sizeof magic - 1);
    if (cursor.failed || memcmp(begin.data, magic, sizeof magic - 1) != 0)
        return -ENOEXEC;
    const char *version = yarn_cursor_text(&cursor);
    bool is_big_endian = yarn_cursor_u8(&cursor);
    yarn_cursor_skip(&cursor, 1); /* how long a long is for programs */
    file->page_bytes = yarn_cursor_u32(&cursor);
    file->long_bytes = sizeof(uint64_t);
    int err = check(file, &cursor, 0, "the file is cut in its head");
    if (err)
        return err;
    if (is_big_endian || (strcmp(version, "6") != 0 && strcmp(version, "7") != 0)) {
        file->fault = (struct yarn_trace_fault){
            begin.size, is_big_endian ? "it is of a big-endian machine"
                                      : "it is neither of version 6 nor of version 7"};
        return -ENOTSUP;
    }
    if (file->page_bytes < 64 || file->page_bytes > PAGE_MAX || file->page_bytes % 8)
        return yarn_trace_refuse(file, cursor.at - 4, "pages of a size that none has");
    err = version[0] == '6' ? read_version_6(file, &cursor) : read_version_7(file, &cursor);
    if (!err && file->nr_cores)
        qsort(file->cores, file->nr_cores, sizeof *file->cores, compare_cores);
    return !err && file->is_packed ? yarn_trace_unpack_cores(file) : err;
}

int yarn_trace_file_open_bytes(struct yarn_trace_file *file, struct yarn_span bytes)
{
    *file = (struct yarn_trace_file){.bytes = bytes};
    return read_all(file);
}

static int put_all(int fd, uint8_t *buffer, struct yarn_spill *copy)
{
    for (;;) {
        ssize_t got = read(fd, buffer, COPY_BYTES);
        int err = got < 0 ? -errno : 0;
        if (!err && got)
            err = yarn_spill_put(copy, yarn_span_of(buffer, (size_t)got));
        if (!got || (err && err != -EINTR))
            return err;
    }
}

/* Why: a mapped file that others make shorter ends the process that reads it. */
static int map_copy(int fd, struct yarn_span *ret_bytes)
{
    struct yarn_spill copy = YARN_SPILL_CLOSED;
    uint8_t *buffer = malloc(COPY_BYTES);
    int err = buffer ? yarn_spill_open(&copy) : -ENOMEM;
    if (!err)
        err = put_all(fd, buffer, &copy);
    if (!err)
        err = yarn_spill_map(&copy, ret_bytes);
    yarn_spill_close(&copy);
    free(buffer);
    return err;
}

static int check_begin(int fd)
{
    char begin[sizeof magic - 1];
    struct stat status;
    if (fstat(fd, &status))
        return -errno;
    if (!S_ISREG(status.st_mode) || pread(fd, begin, sizeof begin, 0) != sizeof begin)
        return -ENOEXEC;
    return memcmp(begin, magic, sizeof begin) == 0 ? 0 : -ENOEXEC;
}

int yarn_trace_file_open(struct yarn_trace_file *file, const char *path)
{
    struct yarn_span bytes = YARN_SPAN_EMPTY;
    *file = (struct yarn_trace_file){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    int err = check_begin(fd);
    if (!err)
        err = map_copy(fd, &bytes);
    (void)close(fd);
    if (err)
        return err;
    err = yarn_trace_file_open_bytes(file, bytes);
    file->is_mapped = true;
    return err;
}

void yarn_trace_file_close(struct yarn_trace_file *file)
{
    if (file->is_mapped)
        yarn_spill_unmap(file->bytes);
    yarn_spill_unmap(file->unpacked);
    for (size_t i = 0; i < file->nr_blocks; i++)
        free(file->blocks[i]);
    free(file->blocks);
    free(file->formats);
    free(file->gaps);
    free(file->cores);
    *file = (struct yarn_trace_file){0};
}
