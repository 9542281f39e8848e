/* SPDX-License-Identifier: Apache-2.0 */
#include "core/record/record.h"

#include "core/record/fields.h"

enum {
    HEADER_BYTES = sizeof(struct perf_event_header),
    /* Behind a side-band record: pid, tid (4 each), time, cpu + reserved, identifier. */
    TRAILER_BYTES = 32,
    /* In a sample: header, identifier, ip, pid + tid, then the time. */
    SAMPLE_TIME_AT = HEADER_BYTES + 24,
    WORD = 8,
};

/* The trailer has the same fields for every event of a session. */
#define TRAILER_FIELDS (YARN_SAMPLE_TYPE_COMMON & ~(uint64_t)PERF_SAMPLE_IP)

uint64_t yarn_record_time(const struct perf_event_header *header, const struct yarn_wrapped *bytes)
{
    uint64_t time_ns = 0;
    size_t size = yarn_wrapped_size(bytes);
    if (header->type == PERF_RECORD_SAMPLE) {
        if (!yarn_wrapped_read(bytes, SAMPLE_TIME_AT, &time_ns, sizeof time_ns))
            return 0;
    } else if (size < HEADER_BYTES + TRAILER_BYTES ||
               !yarn_wrapped_read(bytes, size - TRAILER_BYTES + WORD, &time_ns, sizeof time_ns)) {
        return 0;
    }
    return time_ns;
}

static uint32_t number_of(const struct yarn_record_decoder *decoder, uint64_t id)
{
    return yarn_table_find(decoder->numbers, id);
}

/* ---- samples ---- */

static void decode_sample(struct yarn_record_walk *walk, const struct yarn_record_decoder *decoder,
                          struct yarn_typed_record *record)
{
    struct yarn_record_walk ahead = *walk;
    record->event = number_of(decoder, yarn_record_walk_u64(&ahead));
    if (record->event == YARN_RECORD_NO_EVENT) {
        walk->failed = true;
        return;
    }
    record->attr = &decoder->attrs[record->event];
    record->perf.fields = record->attr->sample_type;
    record->perf.period = yarn_record_fixed_period(record->attr);
    yarn_record_take_sample(walk, record->attr, false, &record->perf, &record->stack);
}

bool yarn_record_register(const struct yarn_record *record, uint64_t mask, unsigned bit,
                          uint64_t *ret_value)
{
    uint64_t flag = UINT64_C(1) << bit;
    if (!yarn_record_has_registers(record) || !(mask & flag))
        return false;
    size_t at = (size_t)__builtin_popcountll(mask & (flag - 1)) * WORD;
    return yarn_span_read(yarn_span_of_bytes(record->registers), at, ret_value, sizeof *ret_value);
}

bool yarn_record_caller(const struct yarn_record *record, size_t at, uint64_t *ret_ip)
{
    return yarn_span_read(yarn_span_of_bytes(record->callchain), at * WORD, ret_ip, WORD);
}

bool yarn_record_branch(const struct yarn_record *record, size_t at,
                        struct perf_branch_entry *ret_branch)
{
    return yarn_span_read(yarn_span_of_bytes(record->branches), at * sizeof *ret_branch, ret_branch,
                          sizeof *ret_branch);
}

/* A group has the number of its counters first and the times, which are of all, before them;
 * one counter has them between its value and the rest. */
bool yarn_record_counter(const struct yarn_record *record, uint64_t read_format, uint64_t at,
                         struct yarn_record_counter *ret_counter)
{
    struct yarn_cursor cursor = yarn_cursor_of(yarn_span_of_bytes(record->values));
    bool is_group = read_format & PERF_FORMAT_GROUP, has_id = read_format & PERF_FORMAT_ID;
    bool has_lost = read_format & PERF_FORMAT_LOST;
    uint64_t times = UINT64_C(0) + !!(read_format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
                     !!(read_format & PERF_FORMAT_TOTAL_TIME_RUNNING);
    if (at >= (is_group ? yarn_cursor_u64(&cursor) : 1))
        return false;
    if (is_group)
        yarn_cursor_skip(&cursor, (times + at * (UINT64_C(1) + has_id + has_lost)) * WORD);
    uint64_t value = yarn_cursor_u64(&cursor);
    if (!is_group)
        yarn_cursor_skip(&cursor, times * WORD);
    uint64_t id = has_id ? yarn_cursor_u64(&cursor) : 0;
    uint64_t lost = has_lost ? yarn_cursor_u64(&cursor) : 0;
    *ret_counter = (struct yarn_record_counter){.value = value, .id = id, .lost = lost};
    return !cursor.failed;
}

/* ---- all else ---- */

/* The text that fills the rest of a record, terminated. */
static void decode_text(struct yarn_record_walk *walk, char *ret_text, size_t size)
{
    size_t length = yarn_size_min(yarn_record_walk_left(walk), size - 1);
    yarn_record_walk_read(walk, ret_text, length);
    ret_text[length] = 0;
}

static void decode_mmap(struct yarn_record_walk *walk, struct yarn_record_decoder *decoder,
                        struct yarn_typed_record *record)
{
    struct yarn_record_mmap *map = &decoder->mmap;
    record->mmap = map;
    map->pid = yarn_record_walk_u32(walk);
    map->tid = yarn_record_walk_u32(walk);
    map->start = yarn_record_walk_u64(walk);
    map->size = yarn_record_walk_u64(walk);
    map->file_offset = yarn_record_walk_u64(walk);
    /* Never a build id instead, whatever MISC_MMAP_BUILD_ID says: no event of ours requests one,
     * and where another profiler did the kernel leaves its mark on our record, too. */
    uint32_t major = yarn_record_walk_u32(walk), minor = yarn_record_walk_u32(walk);
    /* As stat(2) has it in st_dev (glibc's makedev). */
    map->device = ((uint64_t)(major & 0xfffff000) << 32) | ((uint64_t)(major & 0xfff) << 8) |
                  ((uint64_t)(minor & 0xffffff00) << 12) | (minor & 0xff);
    map->inode = yarn_record_walk_u64(walk);
    (void)yarn_record_walk_u64(walk); /* generation of the inode */
    map->protection = yarn_record_walk_u32(walk);
    (void)yarn_record_walk_u32(walk); /* flags */
    decode_text(walk, map->path, sizeof map->path);
}

static void decode_comm(struct yarn_record_walk *walk, struct yarn_record_decoder *decoder,
                        struct yarn_typed_record *record)
{
    (void)decoder;
    record->comm.pid = yarn_record_walk_u32(walk);
    record->comm.tid = yarn_record_walk_u32(walk);
    decode_text(walk, record->comm.name, sizeof record->comm.name);
}

static void decode_task(struct yarn_record_walk *walk, struct yarn_record_decoder *decoder,
                        struct yarn_typed_record *record)
{
    (void)decoder;
    record->task.pid = yarn_record_walk_u32(walk);
    record->task.parent_pid = yarn_record_walk_u32(walk);
    record->task.tid = yarn_record_walk_u32(walk);
    record->task.parent_tid = yarn_record_walk_u32(walk);
    (void)yarn_record_walk_u64(walk); /* the same time as in the trailer */
}

static void decode_lost(struct yarn_record_walk *walk, struct yarn_record_decoder *decoder,
                        struct yarn_typed_record *record)
{
    if (record->perf.type == PERF_RECORD_LOST)
        record->event = number_of(decoder, yarn_record_walk_u64(walk));
    record->lost.count = yarn_record_walk_u64(walk);
}

static void decode_throttle(struct yarn_record_walk *walk, struct yarn_record_decoder *decoder,
                            struct yarn_typed_record *record)
{
    (void)yarn_record_walk_u64(walk); /* time */
    record->event = number_of(decoder, yarn_record_walk_u64(walk));
    (void)yarn_record_walk_u64(walk); /* stream id */
    record->throttle.is_on = record->perf.type == PERF_RECORD_THROTTLE;
}

static void decode_switch(struct yarn_record_walk *walk, struct yarn_record_decoder *decoder,
                          struct yarn_typed_record *record)
{
    bool is_known = record->perf.type == PERF_RECORD_SWITCH_CPU_WIDE;
    (void)decoder;
    record->switched.is_out = record->perf.misc & PERF_RECORD_MISC_SWITCH_OUT;
    record->switched.is_preempted = record->perf.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
    record->switched.other_pid = is_known ? yarn_record_walk_u32(walk) : 0;
    record->switched.other_tid = is_known ? yarn_record_walk_u32(walk) : 0;
}

/* Kinds of which more is read than the body. */
static const struct kind {
    enum yarn_record_type type;
    void (*decode)(struct yarn_record_walk *walk, struct yarn_record_decoder *decoder,
                   struct yarn_typed_record *record);
} kinds[] = {
    [PERF_RECORD_LOST] = {YARN_RECORD_LOST, decode_lost},
    [PERF_RECORD_COMM] = {YARN_RECORD_COMM, decode_comm},
    [PERF_RECORD_EXIT] = {YARN_RECORD_EXIT, decode_task},
    [PERF_RECORD_THROTTLE] = {YARN_RECORD_THROTTLE, decode_throttle},
    [PERF_RECORD_UNTHROTTLE] = {YARN_RECORD_THROTTLE, decode_throttle},
    [PERF_RECORD_FORK] = {YARN_RECORD_FORK, decode_task},
    [PERF_RECORD_MMAP2] = {YARN_RECORD_MMAP, decode_mmap},
    [PERF_RECORD_LOST_SAMPLES] = {YARN_RECORD_LOST, decode_lost},
    [PERF_RECORD_SWITCH] = {YARN_RECORD_SWITCH, decode_switch},
    [PERF_RECORD_SWITCH_CPU_WIDE] = {YARN_RECORD_SWITCH, decode_switch},
};

static void decode_other(struct yarn_record_walk *walk, struct yarn_record_decoder *decoder,
                         struct yarn_typed_record *record)
{
    uint32_t kernel_type = record->perf.type;
    record->perf.fields = TRAILER_FIELDS;
    yarn_record_take_identity(walk, &record->perf);
    if (walk->failed || !yarn_record_body_fits(*walk, kernel_type, 0, false)) {
        walk->failed = true;
        return;
    }
    record->type = yarn_record_body_is_known(kernel_type) ? YARN_RECORD_OTHER : YARN_RECORD_UNKNOWN;
    if (kernel_type >= YARN_COUNT_OF(kinds) || !kinds[kernel_type].decode)
        return;
    record->type = kinds[kernel_type].type;
    kinds[kernel_type].decode(walk, decoder, record);
}

int yarn_record_decoder_decode(struct yarn_record_decoder *decoder,
                               const struct perf_event_header *header,
                               const struct yarn_wrapped *bytes,
                               struct yarn_typed_record *ret_record)
{
    struct yarn_record_walk walk = {
        .bytes = bytes,
        .at = HEADER_BYTES,
        .end = yarn_wrapped_size(bytes),
        .room = decoder->room,
    };
    struct yarn_typed_record record = {
        .perf = {.type = header->type, .misc = header->misc, .branch_hw_index = UINT64_MAX},
        .type = YARN_RECORD_SAMPLE,
        .event = YARN_RECORD_NO_EVENT,
    };
    if (header->type == PERF_RECORD_SAMPLE)
        decode_sample(&walk, decoder, &record);
    else
        decode_other(&walk, decoder, &record);
    if (walk.failed)
        return -EBADMSG;
    *ret_record = record;
    return 0;
}
