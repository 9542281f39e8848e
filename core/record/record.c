/* SPDX-License-Identifier: Apache-2.0 */
/* Public: libyarn shows it. */
#pragma GCC visibility push(default)
#include "core/include/yarn/record.h"
#pragma GCC visibility pop

#include "core/record/record.h"

enum {
    HEADER_BYTES = sizeof(struct perf_event_header),
    /* Behind a side-band record: pid, tid (4 each), time, cpu + reserved, identifier. */
    TRAILER_BYTES = 32,
    /* In a sample: header, identifier, ip, pid + tid, then the time. */
    SAMPLE_TIME_AT = HEADER_BYTES + 24,
    WORD = sizeof(uint64_t),
    IDS = 2 * sizeof(uint32_t),
    LINK = 2 * WORD,
    BRANCH = sizeof(struct perf_branch_entry),
    COUNTERS_BIT = 19,
    /* Kinds that older headers of the kernel's lack. */
    AUX_OUTPUT_HW_ID = 21,
    CALLCHAIN_DEFERRED = 22,
    FIRST_OF_TOOLS = 64, /* types from here on are perf's own, never the kernel's */
};

/* The trailer has the same fields for every event of a session. */
#define TRAILER_FIELDS (YARN_SAMPLE_TYPE_COMMON & ~(uint64_t)PERF_SAMPLE_IP)

/* ---- the fields of a record ---- */

/* A perf record, in one or two pieces, from front to back: fails as yarn_cursor does. */
struct walk {
    const struct yarn_wrapped *bytes;
    size_t at, end;
    bool failed;
    /* Borrowed: the part that lies in both pieces is joined here, of which a record has one at
     * most. NULL where the record is in one piece. */
    uint8_t *room;
};

static size_t left(const struct walk *walk)
{
    return walk->failed ? 0 : walk->end - walk->at;
}

/* `count` things of `each` bytes; empty where they are not there. */
static struct yarn_wrapped take(struct walk *walk, uint64_t count, size_t each)
{
    if (walk->failed || count > (walk->end - walk->at) / each) {
        walk->failed = true;
        return (struct yarn_wrapped){YARN_SPAN_EMPTY, YARN_SPAN_EMPTY};
    }
    struct yarn_wrapped part = yarn_wrapped_sub(walk->bytes, walk->at, (size_t)count * each);
    walk->at += (size_t)count * each;
    return part;
}

/* The same in one piece. */
static struct yarn_bytes view(struct walk *walk, uint64_t count, size_t each)
{
    struct yarn_wrapped part = take(walk, count, each);
    size_t size = yarn_wrapped_size(&part);
    if (!part.second.size)
        return (struct yarn_bytes){part.first.data, size};
    (void)yarn_wrapped_read(&part, 0, walk->room, size);
    return (struct yarn_bytes){walk->room, size};
}

static void read_bytes(struct walk *walk, void *ret, size_t size)
{
    if (walk->failed || size > walk->end - walk->at) {
        walk->failed = true;
        memset(ret, 0, size);
        return;
    }
    if (!yarn_span_read(walk->bytes->first, walk->at, ret, size))
        (void)yarn_wrapped_read(walk->bytes, walk->at, ret, size);
    walk->at += size;
}

static uint64_t read_u64(struct walk *walk)
{
    uint64_t value;
    read_bytes(walk, &value, sizeof value);
    return value;
}

static uint32_t read_u32(struct walk *walk)
{
    uint32_t value;
    read_bytes(walk, &value, sizeof value);
    return value;
}

/* PERF_SAMPLE_BRANCH_COUNTERS, which older headers lack. */
#define BRANCH_COUNTERS (UINT64_C(1) << COUNTERS_BIT)

/* ---- samples ---- */

static void take_ids(struct walk *walk, struct yarn_record *record)
{
    if (!(record->fields & PERF_SAMPLE_TID))
        return;
    record->pid = read_u32(walk);
    record->tid = read_u32(walk);
}

static void take_cpu(struct walk *walk, struct yarn_record *record)
{
    if (!(record->fields & PERF_SAMPLE_CPU))
        return;
    record->cpu = read_u32(walk);
    (void)read_u32(walk);
}

static void take_word(struct walk *walk, const struct yarn_record *record, uint64_t field,
                      uint64_t *ret_value)
{
    if (record->fields & field)
        *ret_value = read_u64(walk);
}

/* The counter, or the group of them, of PERF_SAMPLE_READ and PERF_RECORD_READ. */
static struct yarn_bytes take_values(struct walk *walk, uint64_t read_format)
{
    struct walk ahead = *walk;
    bool is_group = read_format & PERF_FORMAT_GROUP;
    uint64_t count = is_group ? read_u64(&ahead) : 1;
    uint64_t words =
        UINT64_C(1) + !!(read_format & PERF_FORMAT_ID) + !!(read_format & PERF_FORMAT_LOST);
    uint64_t others = (uint64_t)is_group + !!(read_format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
                      !!(read_format & PERF_FORMAT_TOTAL_TIME_RUNNING);
    return view(walk, count > UINT16_MAX ? UINT64_MAX : others + count * words, WORD);
}

/* Raw data ends where a word does. */
static struct yarn_bytes take_raw(struct walk *walk)
{
    uint32_t size = read_u32(walk);
    walk->failed |= ((uint64_t)size + sizeof size) % WORD != 0;
    return view(walk, size, 1);
}

/* A bare list has no index behind a count of 0, and no counters behind the branches. */
static void take_branches(struct walk *walk, uint64_t kinds, bool is_bare,
                          struct yarn_record *record)
{
    uint64_t count = read_u64(walk);
    if ((kinds & PERF_SAMPLE_BRANCH_HW_INDEX) && (count || !is_bare))
        record->branch_hw_index = read_u64(walk);
    record->branches = view(walk, count, BRANCH);
    if ((kinds & BRANCH_COUNTERS) && !is_bare)
        (void)take(walk, count, WORD);
}

/* Registers follow where the thread had some: else their abi is 0. */
static struct yarn_bytes take_registers(struct walk *walk, uint64_t mask, uint64_t *ret_abi)
{
    *ret_abi = read_u64(walk);
    return view(walk, *ret_abi ? (uint64_t)__builtin_popcountll(mask) : 0, WORD);
}

static struct yarn_wrapped take_stack(struct walk *walk)
{
    uint64_t size = read_u64(walk);
    struct yarn_wrapped copy = take(walk, size, 1);
    uint64_t valid = size ? read_u64(walk) : 0;
    walk->failed |= size % WORD || valid > size;
    return yarn_wrapped_sub(&copy, 0, (size_t)valid);
}

/* The fields behind all else, which no event of a session requests. */
static void take_rest(struct walk *walk, const struct perf_event_attr *attr,
                      struct yarn_record *record)
{
    uint64_t unused, abi = 0, trace_bytes = 0;
    take_word(walk, record, PERF_SAMPLE_TRANSACTION, &record->transaction);
    if (record->fields & PERF_SAMPLE_REGS_INTR)
        (void)take_registers(walk, attr->sample_regs_intr, &abi);
    take_word(walk, record, PERF_SAMPLE_PHYS_ADDR, &record->phys_addr);
    take_word(walk, record, PERF_SAMPLE_CGROUP, &unused);
    take_word(walk, record, PERF_SAMPLE_DATA_PAGE_SIZE, &unused);
    take_word(walk, record, PERF_SAMPLE_CODE_PAGE_SIZE, &unused);
    take_word(walk, record, PERF_SAMPLE_AUX, &trace_bytes);
    (void)take(walk, trace_bytes, 1);
    walk->failed |= abi > PERF_SAMPLE_REGS_ABI_64 || trace_bytes % WORD;
}

/* All that `record->fields` says a sample has, the walk being at the first. `is_bare`: the kernel
 * had no branches, and left out what attr requests beside them. *ret_stack is the valid part of the
 * copy in place, record->stack the same unless it is in two pieces. */
static void take_sample(struct walk *walk, const struct perf_event_attr *attr, bool is_bare,
                        struct yarn_record *record, struct yarn_wrapped *ret_stack)
{
    uint64_t fields = record->fields;
    take_word(walk, record, PERF_SAMPLE_IDENTIFIER, &record->id);
    take_word(walk, record, PERF_SAMPLE_IP, &record->ip);
    take_ids(walk, record);
    take_word(walk, record, PERF_SAMPLE_TIME, &record->time);
    take_word(walk, record, PERF_SAMPLE_ADDR, &record->addr);
    take_word(walk, record, PERF_SAMPLE_ID, &record->id);
    take_word(walk, record, PERF_SAMPLE_STREAM_ID, &record->stream_id);
    take_cpu(walk, record);
    take_word(walk, record, PERF_SAMPLE_PERIOD, &record->period);
    if (fields & PERF_SAMPLE_READ)
        record->values = take_values(walk, attr->read_format);
    if (fields & PERF_SAMPLE_CALLCHAIN)
        record->callchain = view(walk, read_u64(walk), WORD);
    if (fields & PERF_SAMPLE_RAW)
        record->raw = take_raw(walk);
    if (fields & PERF_SAMPLE_BRANCH_STACK)
        take_branches(walk, attr->branch_sample_type, is_bare, record);
    if (fields & PERF_SAMPLE_REGS_USER)
        record->registers = take_registers(walk, attr->sample_regs_user, &record->registers_abi);
    if (fields & PERF_SAMPLE_STACK_USER)
        *ret_stack = take_stack(walk);
    if (!ret_stack->second.size)
        record->stack = (struct yarn_bytes){ret_stack->first.data, ret_stack->first.size};
    take_word(walk, record, PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT, &record->weight);
    take_word(walk, record, PERF_SAMPLE_DATA_SRC, &record->data_src);
    if (fields >= PERF_SAMPLE_TRANSACTION)
        take_rest(walk, attr, record);
}

/* ---- all others ---- */

/* The last words of all other records, by `record->fields`: the walk is left with the body. */
static void take_identity(struct walk *walk, struct yarn_record *record)
{
    size_t size = (size_t)__builtin_popcountll(record->fields) * WORD;
    if (size > left(walk)) {
        walk->failed = true;
        return;
    }
    struct walk last = *walk;
    walk->end -= size;
    last.at = walk->end;
    take_ids(&last, record);
    take_word(&last, record, PERF_SAMPLE_TIME, &record->time);
    take_word(&last, record, PERF_SAMPLE_ID, &record->id);
    take_word(&last, record, PERF_SAMPLE_STREAM_ID, &record->stream_id);
    take_cpu(&last, record);
    take_word(&last, record, PERF_SAMPLE_IDENTIFIER, &record->id);
    struct walk body = *walk;
    record->body = view(&body, left(walk), 1);
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

static uint32_t number_of(const struct yarn_record_decoder *decoder, uint64_t id)
{
    return yarn_table_find(decoder->numbers, id);
}

/* ---- samples ---- */

static void decode_sample(struct walk *walk, const struct yarn_record_decoder *decoder,
                          struct yarn_typed_record *record)
{
    struct walk ahead = *walk;
    record->event = number_of(decoder, read_u64(&ahead));
    if (record->event == YARN_RECORD_NO_EVENT) {
        walk->failed = true;
        return;
    }
    record->attr = &decoder->attrs[record->event];
    record->perf.fields = record->attr->sample_type;
    record->perf.period = yarn_record_fixed_period(record->attr);
    take_sample(walk, record->attr, false, &record->perf, &record->stack);
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
static void decode_text(struct walk *walk, char *ret_text, size_t size)
{
    size_t length = yarn_size_min(left(walk), size - 1);
    read_bytes(walk, ret_text, length);
    ret_text[length] = 0;
}

static void decode_mmap(struct walk *walk, struct yarn_record_decoder *decoder,
                        struct yarn_typed_record *record)
{
    struct yarn_record_mmap *map = &decoder->mmap;
    record->mmap = map;
    map->pid = read_u32(walk);
    map->tid = read_u32(walk);
    map->start = read_u64(walk);
    map->size = read_u64(walk);
    map->file_offset = read_u64(walk);
    /* Never a build id instead, whatever MISC_MMAP_BUILD_ID says: no event of ours requests one,
     * and where another profiler did the kernel leaves its mark on our record, too. */
    uint32_t major = read_u32(walk), minor = read_u32(walk);
    /* As stat(2) has it in st_dev (glibc's makedev). */
    map->device = ((uint64_t)(major & 0xfffff000) << 32) | ((uint64_t)(major & 0xfff) << 8) |
                  ((uint64_t)(minor & 0xffffff00) << 12) | (minor & 0xff);
    map->inode = read_u64(walk);
    (void)read_u64(walk); /* generation of the inode */
    map->protection = read_u32(walk);
    (void)read_u32(walk); /* flags */
    decode_text(walk, map->path, sizeof map->path);
}

static void decode_comm(struct walk *walk, struct yarn_record_decoder *decoder,
                        struct yarn_typed_record *record)
{
    (void)decoder;
    record->comm.pid = read_u32(walk);
    record->comm.tid = read_u32(walk);
    decode_text(walk, record->comm.name, sizeof record->comm.name);
}

static void decode_task(struct walk *walk, struct yarn_record_decoder *decoder,
                        struct yarn_typed_record *record)
{
    (void)decoder;
    record->task.pid = read_u32(walk);
    record->task.parent_pid = read_u32(walk);
    record->task.tid = read_u32(walk);
    record->task.parent_tid = read_u32(walk);
    (void)read_u64(walk); /* the same time as in the trailer */
}

static void decode_lost(struct walk *walk, struct yarn_record_decoder *decoder,
                        struct yarn_typed_record *record)
{
    if (record->perf.type == PERF_RECORD_LOST)
        record->event = number_of(decoder, read_u64(walk));
    record->lost.count = read_u64(walk);
}

static void decode_throttle(struct walk *walk, struct yarn_record_decoder *decoder,
                            struct yarn_typed_record *record)
{
    (void)read_u64(walk); /* time */
    record->event = number_of(decoder, read_u64(walk));
    (void)read_u64(walk); /* stream id */
    record->throttle.is_on = record->perf.type == PERF_RECORD_THROTTLE;
}

static void decode_switch(struct walk *walk, struct yarn_record_decoder *decoder,
                          struct yarn_typed_record *record)
{
    bool is_known = record->perf.type == PERF_RECORD_SWITCH_CPU_WIDE;
    (void)decoder;
    record->switched.is_out = record->perf.misc & PERF_RECORD_MISC_SWITCH_OUT;
    record->switched.is_preempted = record->perf.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
    record->switched.other_pid = is_known ? read_u32(walk) : 0;
    record->switched.other_tid = is_known ? read_u32(walk) : 0;
}

/* The tail of a body, behind its fixed part, which has all that says how long the tail is. */
enum tail { NOTHING, ANYTHING, TEXT, LINKS, CODE, VALUES };

static const struct kind {
    enum yarn_record_type type; /* OTHER: no more is read of it than the body */
    uint8_t fixed;
    enum tail tail;
    void (*decode)(struct walk *walk, struct yarn_record_decoder *decoder,
                   struct yarn_typed_record *record);
} kinds[] = {
    [PERF_RECORD_MMAP] = {YARN_RECORD_OTHER, IDS + 3 * WORD, TEXT, NULL},
    [PERF_RECORD_LOST] = {YARN_RECORD_LOST, 2 * WORD, NOTHING, decode_lost},
    [PERF_RECORD_COMM] = {YARN_RECORD_COMM, IDS, TEXT, decode_comm},
    [PERF_RECORD_EXIT] = {YARN_RECORD_EXIT, 2 * IDS + WORD, NOTHING, decode_task},
    [PERF_RECORD_THROTTLE] = {YARN_RECORD_THROTTLE, 3 * WORD, NOTHING, decode_throttle},
    [PERF_RECORD_UNTHROTTLE] = {YARN_RECORD_THROTTLE, 3 * WORD, NOTHING, decode_throttle},
    [PERF_RECORD_FORK] = {YARN_RECORD_FORK, 2 * IDS + WORD, NOTHING, decode_task},
    [PERF_RECORD_READ] = {YARN_RECORD_OTHER, IDS + WORD, VALUES, NULL},
    [PERF_RECORD_MMAP2] = {YARN_RECORD_MMAP, IDS + 7 * WORD, TEXT, decode_mmap},
    [PERF_RECORD_AUX] = {YARN_RECORD_OTHER, 3 * WORD, NOTHING, NULL},
    [PERF_RECORD_ITRACE_START] = {YARN_RECORD_OTHER, IDS, NOTHING, NULL},
    [PERF_RECORD_LOST_SAMPLES] = {YARN_RECORD_LOST, WORD, NOTHING, decode_lost},
    [PERF_RECORD_SWITCH] = {YARN_RECORD_SWITCH, 0, NOTHING, decode_switch},
    [PERF_RECORD_SWITCH_CPU_WIDE] = {YARN_RECORD_SWITCH, IDS, NOTHING, decode_switch},
    [PERF_RECORD_NAMESPACES] = {YARN_RECORD_OTHER, IDS + WORD, LINKS, NULL},
    [PERF_RECORD_KSYMBOL] = {YARN_RECORD_OTHER, 2 * WORD, TEXT, NULL},
    [PERF_RECORD_BPF_EVENT] = {YARN_RECORD_OTHER, 2 * WORD, NOTHING, NULL},
    [PERF_RECORD_CGROUP] = {YARN_RECORD_OTHER, WORD, TEXT, NULL},
    [PERF_RECORD_TEXT_POKE] = {YARN_RECORD_OTHER, WORD + 2 * sizeof(uint16_t), CODE, NULL},
    [AUX_OUTPUT_HW_ID] = {YARN_RECORD_OTHER, WORD, NOTHING, NULL},
    [CALLCHAIN_DEFERRED] = {YARN_RECORD_OTHER, 2 * WORD, ANYTHING, NULL},
};

/* NULL: of a later kernel. */
static const struct kind *kind_of(uint32_t kernel_type)
{
    return kernel_type < YARN_COUNT_OF(kinds) && kinds[kernel_type].type ? &kinds[kernel_type]
                                                                         : NULL;
}

/* A text is filled up with zeros to a whole word, and has one at least. */
static void pass_text(struct walk *walk)
{
    struct yarn_bytes text = view(walk, left(walk), 1);
    const uint8_t *end = text.size ? memchr(text.data, 0, text.size) : NULL;
    walk->failed |= !end || text.size - (size_t)(end - text.data) > WORD;
}

/* The lengths of the old code and of the new one are the end of the fixed part. */
static void pass_code(struct walk *walk)
{
    uint16_t lengths[2];
    walk->at -= sizeof lengths;
    read_bytes(walk, lengths, sizeof lengths);
    size_t size = sizeof lengths + lengths[0] + lengths[1];
    (void)take(walk, yarn_align_up(size, WORD) - sizeof lengths, 1);
}

/* Whether what is left is a body of that kind: as long as it must be and, `is_exact`, no longer.
 * One that is not known may have any length. */
static bool body_fits(struct walk walk, const struct kind *kind, uint64_t read_format,
                      bool is_exact)
{
    if (!kind)
        return true;
    (void)take(&walk, kind->fixed, 1);
    if (walk.failed || !is_exact)
        return !walk.failed;
    switch (kind->tail) {
    case TEXT:
        pass_text(&walk);
        break;
    case LINKS:
        walk.at -= WORD;
        (void)take(&walk, read_u64(&walk), LINK);
        break;
    case CODE:
        pass_code(&walk);
        break;
    case VALUES:
        walk.at -= WORD;
        (void)take_values(&walk, read_format);
        break;
    case ANYTHING:
        return true;
    case NOTHING:
        break;
    }
    return !walk.failed && walk.at == walk.end;
}

static void decode_other(struct walk *walk, struct yarn_record_decoder *decoder,
                         struct yarn_typed_record *record)
{
    const struct kind *kind = kind_of(record->perf.type);
    record->perf.fields = TRAILER_FIELDS;
    take_identity(walk, &record->perf);
    walk->failed |= !body_fits(*walk, kind, 0, false);
    record->type = kind ? kind->type : YARN_RECORD_UNKNOWN;
    if (kind && kind->decode && !walk->failed)
        kind->decode(walk, decoder, record);
}

int yarn_record_decoder_decode(struct yarn_record_decoder *decoder,
                               const struct perf_event_header *header,
                               const struct yarn_wrapped *bytes,
                               struct yarn_typed_record *ret_record)
{
    struct walk walk = {
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

/* ---- for libyarn: of any attr ---- */

#define KNOWN_FIELDS ((uint64_t)PERF_SAMPLE_MAX - 1)
#define KNOWN_FORMAT                                                                               \
    ((uint64_t)(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID | \
                PERF_FORMAT_GROUP | PERF_FORMAT_LOST))
#define WEIGHTS ((uint64_t)(PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
#define IDENTITY                                                                                   \
    ((uint64_t)(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |      \
                PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER))

/* Both weights would be one word: the kernel opens no such event. */
static bool is_known(const struct perf_event_attr *attr)
{
    return !(attr->sample_type & ~KNOWN_FIELDS) && !(attr->read_format & ~KNOWN_FORMAT) &&
           (attr->sample_type & WEIGHTS) != WEIGHTS;
}

/* False where the bytes are not just that. */
static bool take_exactly(struct walk walk, const struct perf_event_attr *attr, bool is_bare,
                         struct yarn_record *record)
{
    struct yarn_wrapped stack = {YARN_SPAN_EMPTY, YARN_SPAN_EMPTY};
    if (record->type == PERF_RECORD_SAMPLE) {
        record->fields = attr->sample_type;
        take_sample(&walk, attr, is_bare, record, &stack);
        return !walk.failed && walk.at == walk.end &&
               record->registers_abi <= PERF_SAMPLE_REGS_ABI_64;
    }
    record->fields = attr->sample_id_all ? attr->sample_type & IDENTITY : 0;
    take_identity(&walk, record);
    return !walk.failed && body_fits(walk, kind_of(record->type), attr->read_format, true);
}

int yarn_record_decode(const struct perf_event_attr *attr, const void *bytes, size_t size,
                       struct yarn_record *ret_record)
{
    struct perf_event_header header;
    if (!attr || !bytes || !ret_record)
        return -EINVAL;
    if (!is_known(attr) || size < sizeof header)
        return -EBADMSG;
    memcpy(&header, bytes, sizeof header);
    if (header.size != size || size % WORD || !header.type || header.type >= FIRST_OF_TOOLS)
        return -EBADMSG;
    const struct yarn_wrapped whole = {.first = yarn_span_of(bytes, size)};
    const struct walk walk = {.bytes = &whole, .at = sizeof header, .end = size};
    const struct yarn_record begin = {
        .type = header.type, .misc = header.misc, .branch_hw_index = UINT64_MAX};
    for (int is_bare = 0; is_bare < 2; is_bare++) {
        struct yarn_record record = begin;
        if (!take_exactly(walk, attr, is_bare, &record))
            continue;
        *ret_record = record;
        return 0;
    }
    return -EBADMSG;
}
