/* SPDX-License-Identifier: Apache-2.0 */
#include "core/record/record.h"

enum {
    HEADER_BYTES = sizeof(struct perf_event_header),
    /* Behind a side-band record: pid, tid (4 each), time, cpu + reserved, identifier. */
    TRAILER_BYTES = 32,
    /* In a sample: header, identifier, ip, pid + tid, then the time. */
    SAMPLE_TIME_AT = HEADER_BYTES + 24,
    WORD = 8,
};

/* Reads a wrapped record from front to back; fails as yarn_cursor does. */
struct walk {
    const struct yarn_wrapped *bytes;
    size_t at;
    bool failed;
};

static void walk_read(struct walk *walk, void *ret, size_t size)
{
    if (walk->failed || !yarn_wrapped_read(walk->bytes, walk->at, ret, size)) {
        walk->failed = true;
        memset(ret, 0, size);
        return;
    }
    walk->at += size;
}

static uint64_t walk_u64(struct walk *walk)
{
    uint64_t value;
    walk_read(walk, &value, sizeof value);
    return value;
}

static uint32_t walk_u32(struct walk *walk)
{
    uint32_t value;
    walk_read(walk, &value, sizeof value);
    return value;
}

static struct yarn_wrapped walk_bytes(struct walk *walk, uint64_t size)
{
    struct yarn_wrapped none = {YARN_SPAN_EMPTY, YARN_SPAN_EMPTY};
    size_t all = yarn_wrapped_size(walk->bytes);
    if (walk->failed || size > all - walk->at) {
        walk->failed = true;
        return none;
    }
    struct yarn_wrapped part = yarn_wrapped_sub(walk->bytes, walk->at, (size_t)size);
    walk->at += (size_t)size;
    return part;
}

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

static void decode_registers(struct walk *walk, uint64_t mask, struct yarn_record_sample *sample)
{
    uint64_t abi = walk_u64(walk);
    if (abi == PERF_SAMPLE_REGS_ABI_NONE)
        return;
    sample->registers = walk_bytes(walk, (uint64_t)__builtin_popcountll(mask) * WORD);
    /* A 32-bit task's registers are not ours to interpret. */
    sample->has_registers = !walk->failed && abi == PERF_SAMPLE_REGS_ABI_64;
}

static void decode_stack(struct walk *walk, struct yarn_record_sample *sample)
{
    uint64_t copied = walk_u64(walk);
    if (!copied)
        return;
    struct yarn_wrapped stack = walk_bytes(walk, copied);
    uint64_t valid = walk_u64(walk);
    if (!walk->failed && valid <= copied)
        sample->stack = yarn_wrapped_sub(&stack, 0, (size_t)valid);
    else
        walk->failed = true;
}

/* In the order in which the kernel writes the fields; only those that a session asks for. */
static void decode_sample(struct walk *walk, const struct yarn_record_layout *layout,
                          struct yarn_record *record)
{
    struct yarn_record_sample *sample = &record->sample;
    *sample = (struct yarn_record_sample){.has_registers = false};
    record->id = walk_u64(walk);
    sample->ip = walk_u64(walk);
    record->pid = walk_u32(walk);
    record->tid = walk_u32(walk);
    record->time_ns = walk_u64(walk);
    record->cpu = walk_u32(walk);
    (void)walk_u32(walk);
    sample->period = walk_u64(walk);
    if (layout->sample_type & PERF_SAMPLE_CALLCHAIN) {
        uint64_t entries = walk_u64(walk);
        sample->callchain = walk_bytes(walk, entries > UINT16_MAX ? UINT64_MAX : entries * WORD);
    }
    if (layout->sample_type & PERF_SAMPLE_REGS_USER)
        decode_registers(walk, layout->registers_mask, sample);
    if (layout->sample_type & PERF_SAMPLE_STACK_USER)
        decode_stack(walk, sample);
}

static void decode_trailer(const struct yarn_wrapped *bytes, struct yarn_record *record,
                           struct walk *walk)
{
    size_t size = yarn_wrapped_size(bytes);
    if (size < HEADER_BYTES + TRAILER_BYTES) {
        walk->failed = true;
        return;
    }
    struct walk trailer = {.bytes = bytes, .at = size - TRAILER_BYTES};
    record->pid = walk_u32(&trailer);
    record->tid = walk_u32(&trailer);
    record->time_ns = walk_u64(&trailer);
    record->cpu = walk_u32(&trailer);
    (void)walk_u32(&trailer);
    record->id = walk_u64(&trailer);
}

/* The text that fills the rest of a record up to its trailer, terminated. */
static void decode_text(struct walk *walk, char *ret_text, size_t size)
{
    size_t end = yarn_wrapped_size(walk->bytes) - TRAILER_BYTES;
    size_t length = walk->failed || walk->at > end ? 0 : end - walk->at;
    length = yarn_size_min(length, size - 1);
    walk_read(walk, ret_text, length);
    ret_text[length] = 0;
}

static void decode_mmap(struct walk *walk, struct yarn_record_decoder *decoder,
                        struct yarn_record *record)
{
    struct yarn_record_mmap *map = &decoder->mmap;
    record->mmap = map;
    map->pid = walk_u32(walk);
    map->tid = walk_u32(walk);
    map->start = walk_u64(walk);
    map->size = walk_u64(walk);
    map->file_offset = walk_u64(walk);
    /* Never a build id instead, whatever MISC_MMAP_BUILD_ID says: nobody here asks for one, and
     * where another profiler did the kernel leaves its mark on our record, too. */
    uint32_t major = walk_u32(walk), minor = walk_u32(walk);
    /* As stat(2) has it in st_dev (glibc's makedev). */
    map->device = ((uint64_t)(major & 0xfffff000) << 32) | ((uint64_t)(major & 0xfff) << 8) |
                  ((uint64_t)(minor & 0xffffff00) << 12) | (minor & 0xff);
    map->inode = walk_u64(walk);
    (void)walk_u64(walk); /* generation of the inode */
    map->protection = walk_u32(walk);
    (void)walk_u32(walk); /* flags */
    decode_text(walk, map->path, sizeof map->path);
}

static void decode_comm(struct walk *walk, struct yarn_record *record)
{
    record->comm.pid = walk_u32(walk);
    record->comm.tid = walk_u32(walk);
    decode_text(walk, record->comm.name, sizeof record->comm.name);
}

static void decode_task(struct walk *walk, struct yarn_record *record)
{
    record->task.pid = walk_u32(walk);
    record->task.parent_pid = walk_u32(walk);
    record->task.tid = walk_u32(walk);
    record->task.parent_tid = walk_u32(walk);
    (void)walk_u64(walk); /* the same time as in the trailer */
}

static void decode_throttle(struct walk *walk, struct yarn_record *record)
{
    (void)walk_u64(walk); /* time */
    record->throttle.id = walk_u64(walk);
    (void)walk_u64(walk); /* stream id */
    record->throttle.is_on = record->kernel_type == PERF_RECORD_THROTTLE;
}

static enum yarn_record_type type_of(uint32_t kernel_type)
{
    switch (kernel_type) {
    case PERF_RECORD_SAMPLE:
        return YARN_RECORD_SAMPLE;
    case PERF_RECORD_MMAP2:
        return YARN_RECORD_MMAP;
    case PERF_RECORD_COMM:
        return YARN_RECORD_COMM;
    case PERF_RECORD_FORK:
        return YARN_RECORD_FORK;
    case PERF_RECORD_EXIT:
        return YARN_RECORD_EXIT;
    case PERF_RECORD_LOST:
    case PERF_RECORD_LOST_SAMPLES:
        return YARN_RECORD_LOST;
    case PERF_RECORD_THROTTLE:
    case PERF_RECORD_UNTHROTTLE:
        return YARN_RECORD_THROTTLE;
    case PERF_RECORD_SWITCH:
        return YARN_RECORD_SWITCH;
    default:
        return YARN_RECORD_UNKNOWN;
    }
}

static void decode_body(struct walk *walk, struct yarn_record_decoder *decoder,
                        struct yarn_record *record)
{
    switch (record->type) {
    case YARN_RECORD_SAMPLE:
        decode_sample(walk, &decoder->layout, record);
        break;
    case YARN_RECORD_MMAP:
        decode_mmap(walk, decoder, record);
        break;
    case YARN_RECORD_COMM:
        decode_comm(walk, record);
        break;
    case YARN_RECORD_FORK:
    case YARN_RECORD_EXIT:
        decode_task(walk, record);
        break;
    case YARN_RECORD_LOST:
        record->lost.id = record->kernel_type == PERF_RECORD_LOST ? walk_u64(walk) : 0;
        record->lost.count = walk_u64(walk);
        break;
    case YARN_RECORD_THROTTLE:
        decode_throttle(walk, record);
        break;
    case YARN_RECORD_SWITCH:
        record->switched.is_out = record->misc & PERF_RECORD_MISC_SWITCH_OUT;
        record->switched.is_preempted = record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
        break;
    case YARN_RECORD_UNKNOWN:
    case YARN_RECORD_TYPE_COUNT:
        break;
    }
}

int yarn_record_decode(struct yarn_record_decoder *decoder, const struct perf_event_header *header,
                       const struct yarn_wrapped *bytes, struct yarn_record *ret_record)
{
    struct walk walk = {.bytes = bytes, .at = HEADER_BYTES};
    struct yarn_record record;
    record.type = type_of(header->type);
    record.kernel_type = header->type;
    record.misc = header->misc;
    record.mmap = NULL;
    if (record.type != YARN_RECORD_SAMPLE)
        decode_trailer(bytes, &record, &walk);
    if (walk.failed)
        return -EBADMSG;
    decode_body(&walk, decoder, &record);
    size_t end = yarn_wrapped_size(bytes) - (record.type == YARN_RECORD_SAMPLE ? 0 : TRAILER_BYTES);
    if (walk.failed || walk.at > end)
        return -EBADMSG;
    *ret_record = record;
    return 0;
}

bool yarn_record_register(const struct yarn_record_sample *sample, uint64_t registers_mask,
                          unsigned bit, uint64_t *ret_value)
{
    uint64_t flag = UINT64_C(1) << bit;
    if (!sample->has_registers || !(registers_mask & flag))
        return false;
    size_t at = (size_t)__builtin_popcountll(registers_mask & (flag - 1)) * WORD;
    return yarn_wrapped_read(&sample->registers, at, ret_value, sizeof *ret_value);
}
