/* SPDX-License-Identifier: Apache-2.0 */
#include "core/record/record.h"

enum {
    HEADER_BYTES = sizeof(struct perf_event_header),
    /* Behind a side-band record: pid, tid (4 each), time, cpu + reserved, identifier. */
    TRAILER_BYTES = 32,
    /* In a sample: header, identifier, ip, pid + tid, then the time. */
    SAMPLE_TIME_AT = HEADER_BYTES + 24,
    WORD = 8,
    /* Kinds that older headers of the kernel's lack. */
    AUX_OUTPUT_HW_ID = 21,
    CALLCHAIN_DEFERRED = 22,
};

/* Reads a wrapped record from front to back; fails as yarn_cursor does. */
struct walk {
    const struct yarn_wrapped *bytes;
    size_t at, end;
    bool failed;
};

static struct yarn_wrapped walk_bytes(struct walk *walk, uint64_t size)
{
    struct yarn_wrapped none = {YARN_SPAN_EMPTY, YARN_SPAN_EMPTY};
    if (walk->failed || size > walk->end - walk->at) {
        walk->failed = true;
        return none;
    }
    struct yarn_wrapped part = yarn_wrapped_sub(walk->bytes, walk->at, (size_t)size);
    walk->at += (size_t)size;
    return part;
}

static void walk_read(struct walk *walk, void *ret, size_t size)
{
    if (walk->failed || size > walk->end - walk->at) {
        walk->failed = true;
        memset(ret, 0, size);
        return;
    }
    (void)yarn_wrapped_read(walk->bytes, walk->at, ret, size);
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

static struct yarn_wrapped walk_words(struct walk *walk, uint64_t count)
{
    return walk_bytes(walk, count > UINT16_MAX ? UINT64_MAX : count * WORD);
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

/* ---- samples ---- */

struct yarn_record_layout yarn_record_layout_of(const struct perf_event_attr *attr)
{
    return (struct yarn_record_layout){
        .sample_type = attr->sample_type,
        .read_format = attr->read_format,
        .registers_mask = attr->sample_regs_user,
        .period = attr->freq ? 0 : attr->sample_period,
        .has_calls = attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK,
    };
}

/* Words of one event's counter. */
static uint64_t counter_words(uint64_t read_format)
{
    return UINT64_C(1) + !!(read_format & PERF_FORMAT_ID) + !!(read_format & PERF_FORMAT_LOST);
}

/* A group has the number of its counters first and the times, which are of all, before them;
 * one counter has them between its value and the rest. */
static void decode_counters(struct walk *walk, struct yarn_record_sample *sample)
{
    uint64_t format = sample->layout->read_format, words = counter_words(format);
    bool is_group = format & PERF_FORMAT_GROUP;
    sample->nr_counters = is_group ? walk_u64(walk) : 1;
    struct walk times = *walk;
    if (!is_group)
        (void)walk_u64(&times);
    if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
        sample->time_enabled_ns = walk_u64(&times);
    if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
        sample->time_running_ns = walk_u64(&times);
    if (is_group)
        *walk = times;
    else /* by the format: what is cut off is missing */
        words += UINT64_C(0) + !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
                 !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
    sample->counters = walk_words(
        walk, sample->nr_counters > UINT16_MAX ? UINT64_MAX : sample->nr_counters * words);
}

bool yarn_record_counter(const struct yarn_record_sample *sample, uint64_t at,
                         struct yarn_record_counter *ret_counter)
{
    uint64_t format = sample->layout->read_format, words = counter_words(format);
    if (at >= sample->nr_counters)
        return false;
    struct walk walk = {
        .bytes = &sample->counters,
        .at = (size_t)(at * words * WORD),
        .end = yarn_wrapped_size(&sample->counters),
    };
    *ret_counter = (struct yarn_record_counter){.value = walk_u64(&walk)};
    /* The times of a lone counter lie between. */
    walk.at = format & PERF_FORMAT_GROUP ? walk.at : walk.end - (words - 1) * WORD;
    if (format & PERF_FORMAT_ID)
        ret_counter->id = walk_u64(&walk);
    if (format & PERF_FORMAT_LOST)
        ret_counter->lost = walk_u64(&walk);
    return !walk.failed;
}

static void decode_callchain(struct walk *walk, struct yarn_record_sample *sample)
{
    sample->callchain = walk_words(walk, walk_u64(walk));
}

static void decode_raw(struct walk *walk, struct yarn_record_sample *sample)
{
    sample->raw = walk_bytes(walk, walk_u32(walk));
}

/* Never with an index of the hardware's before them: no event of ours requests one. */
static void decode_branches(struct walk *walk, struct yarn_record_sample *sample)
{
    uint64_t count = walk_u64(walk);
    sample->branches = walk_bytes(
        walk, count > UINT16_MAX ? UINT64_MAX : count * sizeof(struct perf_branch_entry));
}

bool yarn_record_branch(const struct yarn_record_sample *sample, size_t at,
                        struct perf_branch_entry *ret_branch)
{
    return yarn_wrapped_read(&sample->branches, at * sizeof *ret_branch, ret_branch,
                             sizeof *ret_branch);
}

static void decode_registers(struct walk *walk, struct yarn_record_sample *sample)
{
    uint64_t abi = walk_u64(walk);
    if (abi == PERF_SAMPLE_REGS_ABI_NONE)
        return;
    int count = __builtin_popcountll(sample->layout->registers_mask);
    sample->registers = walk_words(walk, (uint64_t)count);
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

static void decode_weight(struct walk *walk, struct yarn_record_sample *sample)
{
    sample->latency = walk_u64(walk);
}

static void decode_data_source(struct walk *walk, struct yarn_record_sample *sample)
{
    sample->data_source = walk_u64(walk);
}

/* The parts of a sample behind its period, in the order in which the kernel writes them. What would
 * stand behind the last is not read. */
static const struct {
    uint64_t part; /* PERF_SAMPLE_* */
    void (*decode)(struct walk *walk, struct yarn_record_sample *sample);
} parts[] = {
    {PERF_SAMPLE_READ, decode_counters},
    {PERF_SAMPLE_CALLCHAIN, decode_callchain},
    {PERF_SAMPLE_RAW, decode_raw},
    {PERF_SAMPLE_BRANCH_STACK, decode_branches},
    {PERF_SAMPLE_REGS_USER, decode_registers},
    {PERF_SAMPLE_STACK_USER, decode_stack},
    {PERF_SAMPLE_WEIGHT, decode_weight},
    {PERF_SAMPLE_DATA_SRC, decode_data_source},
};

/* Parts that stand before some of these, and that no event requests. */
#define NOT_READ (PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID)

static uint32_t number_of(const struct yarn_record_decoder *decoder, uint64_t id)
{
    return yarn_table_find(decoder->numbers, id);
}

static void decode_sample(struct walk *walk, struct yarn_record_decoder *decoder,
                          struct yarn_typed_record *record)
{
    struct yarn_record_sample *sample = &record->sample;
    record->id = walk_u64(walk);
    record->event = number_of(decoder, record->id);
    walk->failed |= record->event == YARN_RECORD_NO_EVENT;
    if (walk->failed)
        return;
    const struct yarn_record_layout *layout = &decoder->layouts[record->event];
    walk->failed = layout->sample_type & NOT_READ;
    *sample = (struct yarn_record_sample){.layout = layout, .period = layout->period};
    sample->ip = walk_u64(walk);
    record->pid = walk_u32(walk);
    record->tid = walk_u32(walk);
    record->time_ns = walk_u64(walk);
    if (layout->sample_type & PERF_SAMPLE_ADDR)
        sample->address = walk_u64(walk);
    record->cpu = walk_u32(walk);
    (void)walk_u32(walk);
    if (layout->sample_type & PERF_SAMPLE_PERIOD)
        sample->period = walk_u64(walk);
    for (size_t i = 0; i < YARN_COUNT_OF(parts); i++)
        if (layout->sample_type & parts[i].part)
            parts[i].decode(walk, sample);
}

bool yarn_record_register(const struct yarn_record_sample *sample, unsigned bit,
                          uint64_t *ret_value)
{
    uint64_t flag = UINT64_C(1) << bit, mask = sample->layout->registers_mask;
    if (!sample->has_registers || !(mask & flag))
        return false;
    size_t at = (size_t)__builtin_popcountll(mask & (flag - 1)) * WORD;
    return yarn_wrapped_read(&sample->registers, at, ret_value, sizeof *ret_value);
}

/* ---- all else ---- */

static void decode_trailer(struct walk *walk, struct yarn_typed_record *record)
{
    if (walk->end < HEADER_BYTES + TRAILER_BYTES) {
        walk->failed = true;
        return;
    }
    struct walk trailer = *walk;
    walk->end -= TRAILER_BYTES;
    trailer.at = walk->end;
    record->pid = walk_u32(&trailer);
    record->tid = walk_u32(&trailer);
    record->time_ns = walk_u64(&trailer);
    record->cpu = walk_u32(&trailer);
    (void)walk_u32(&trailer);
    record->id = walk_u64(&trailer);
}

/* The text that fills the rest of a record, terminated. */
static void decode_text(struct walk *walk, char *ret_text, size_t size)
{
    size_t length = yarn_size_min(walk->failed ? 0 : walk->end - walk->at, size - 1);
    walk_read(walk, ret_text, length);
    ret_text[length] = 0;
}

static void decode_mmap(struct walk *walk, struct yarn_record_decoder *decoder,
                        struct yarn_typed_record *record)
{
    struct yarn_record_mmap *map = &decoder->mmap;
    record->mmap = map;
    map->pid = walk_u32(walk);
    map->tid = walk_u32(walk);
    map->start = walk_u64(walk);
    map->size = walk_u64(walk);
    map->file_offset = walk_u64(walk);
    /* Never a build id instead, whatever MISC_MMAP_BUILD_ID says: no event of ours requests one,
     * and where another profiler did the kernel leaves its mark on our record, too. */
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

static void decode_comm(struct walk *walk, struct yarn_record_decoder *decoder,
                        struct yarn_typed_record *record)
{
    (void)decoder;
    record->comm.pid = walk_u32(walk);
    record->comm.tid = walk_u32(walk);
    decode_text(walk, record->comm.name, sizeof record->comm.name);
}

static void decode_task(struct walk *walk, struct yarn_record_decoder *decoder,
                        struct yarn_typed_record *record)
{
    (void)decoder;
    record->task.pid = walk_u32(walk);
    record->task.parent_pid = walk_u32(walk);
    record->task.tid = walk_u32(walk);
    record->task.parent_tid = walk_u32(walk);
    (void)walk_u64(walk); /* the same time as in the trailer */
}

static void decode_lost(struct walk *walk, struct yarn_record_decoder *decoder,
                        struct yarn_typed_record *record)
{
    if (record->kernel_type == PERF_RECORD_LOST)
        record->event = number_of(decoder, walk_u64(walk));
    record->lost.count = walk_u64(walk);
}

static void decode_throttle(struct walk *walk, struct yarn_record_decoder *decoder,
                            struct yarn_typed_record *record)
{
    (void)walk_u64(walk); /* time */
    record->event = number_of(decoder, walk_u64(walk));
    (void)walk_u64(walk); /* stream id */
    record->throttle.is_on = record->kernel_type == PERF_RECORD_THROTTLE;
}

static void decode_switch(struct walk *walk, struct yarn_record_decoder *decoder,
                          struct yarn_typed_record *record)
{
    bool is_known = record->kernel_type == PERF_RECORD_SWITCH_CPU_WIDE;
    (void)decoder;
    record->switched.is_out = record->misc & PERF_RECORD_MISC_SWITCH_OUT;
    record->switched.is_preempted = record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
    record->switched.other_pid = is_known ? walk_u32(walk) : 0;
    record->switched.other_tid = is_known ? walk_u32(walk) : 0;
}

static void decode_other(struct walk *walk, struct yarn_record_decoder *decoder,
                         struct yarn_typed_record *record)
{
    (void)decoder;
    record->body = walk_bytes(walk, walk->end - walk->at);
}

/* Every kind that the kernel has, by its number. */
static const struct kind {
    enum yarn_record_type type;
    uint16_t least_bytes; /* of the body, where the decoding does not find it out */
    void (*decode)(struct walk *walk, struct yarn_record_decoder *decoder,
                   struct yarn_typed_record *record);
} kinds[] = {
    [PERF_RECORD_MMAP] = {YARN_RECORD_OTHER, 32, decode_other}, /* MMAP2 has taken its place */
    [PERF_RECORD_LOST] = {YARN_RECORD_LOST, 0, decode_lost},
    [PERF_RECORD_COMM] = {YARN_RECORD_COMM, 0, decode_comm},
    [PERF_RECORD_EXIT] = {YARN_RECORD_EXIT, 0, decode_task},
    [PERF_RECORD_THROTTLE] = {YARN_RECORD_THROTTLE, 0, decode_throttle},
    [PERF_RECORD_UNTHROTTLE] = {YARN_RECORD_THROTTLE, 0, decode_throttle},
    [PERF_RECORD_FORK] = {YARN_RECORD_FORK, 0, decode_task},
    [PERF_RECORD_READ] = {YARN_RECORD_OTHER, 16, decode_other},
    [PERF_RECORD_SAMPLE] = {YARN_RECORD_SAMPLE, 0, decode_sample},
    [PERF_RECORD_MMAP2] = {YARN_RECORD_MMAP, 0, decode_mmap},
    [PERF_RECORD_AUX] = {YARN_RECORD_OTHER, 24, decode_other},
    [PERF_RECORD_ITRACE_START] = {YARN_RECORD_OTHER, 8, decode_other},
    [PERF_RECORD_LOST_SAMPLES] = {YARN_RECORD_LOST, 0, decode_lost},
    [PERF_RECORD_SWITCH] = {YARN_RECORD_SWITCH, 0, decode_switch},
    [PERF_RECORD_SWITCH_CPU_WIDE] = {YARN_RECORD_SWITCH, 0, decode_switch},
    [PERF_RECORD_NAMESPACES] = {YARN_RECORD_OTHER, 16, decode_other},
    [PERF_RECORD_KSYMBOL] = {YARN_RECORD_OTHER, 16, decode_other},
    [PERF_RECORD_BPF_EVENT] = {YARN_RECORD_OTHER, 16, decode_other},
    [PERF_RECORD_CGROUP] = {YARN_RECORD_OTHER, 8, decode_other},
    [PERF_RECORD_TEXT_POKE] = {YARN_RECORD_OTHER, 12, decode_other},
    [AUX_OUTPUT_HW_ID] = {YARN_RECORD_OTHER, 8, decode_other},
    [CALLCHAIN_DEFERRED] = {YARN_RECORD_OTHER, 16, decode_other},
};

static const struct kind *kind_of(uint32_t kernel_type)
{
    static const struct kind unknown = {YARN_RECORD_UNKNOWN, 0, decode_other};
    bool is_known = kernel_type < YARN_COUNT_OF(kinds) && kinds[kernel_type].decode;
    return is_known ? &kinds[kernel_type] : &unknown;
}

int yarn_record_decoder_decode(struct yarn_record_decoder *decoder,
                               const struct perf_event_header *header,
                               const struct yarn_wrapped *bytes,
                               struct yarn_typed_record *ret_record)
{
    struct walk walk = {.bytes = bytes, .at = HEADER_BYTES, .end = yarn_wrapped_size(bytes)};
    const struct kind *kind = kind_of(header->type);
    struct yarn_typed_record record;
    record.type = kind->type;
    record.kernel_type = header->type;
    record.misc = header->misc;
    record.event = YARN_RECORD_NO_EVENT;
    record.mmap = NULL;
    record.header = header;
    record.bytes = bytes;
    if (kind->type != YARN_RECORD_SAMPLE)
        decode_trailer(&walk, &record);
    if (walk.failed || walk.end - walk.at < kind->least_bytes)
        return -EBADMSG;
    kind->decode(&walk, decoder, &record);
    if (walk.failed)
        return -EBADMSG;
    *ret_record = record;
    return 0;
}
