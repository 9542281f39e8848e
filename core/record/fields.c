/* SPDX-License-Identifier: Apache-2.0 */
#include "core/record/fields.h"

enum {
    WORD = sizeof(uint64_t),
    IDS = 2 * sizeof(uint32_t),
    LINK = 2 * WORD,
    BRANCH = sizeof(struct perf_branch_entry),
    COUNTERS_BIT = 19,
    /* Kinds that older headers of the kernel's lack. */
    AUX_OUTPUT_HW_ID = 21,
    CALLCHAIN_DEFERRED = 22,
};

/* PERF_SAMPLE_BRANCH_COUNTERS, which older headers lack. */
#define BRANCH_COUNTERS (UINT64_C(1) << COUNTERS_BIT)

/* ---- samples ---- */

static void take_ids(struct yarn_record_walk *walk, struct yarn_record *record)
{
    if (!(record->fields & PERF_SAMPLE_TID))
        return;
    record->pid = yarn_record_walk_u32(walk);
    record->tid = yarn_record_walk_u32(walk);
}

static void take_cpu(struct yarn_record_walk *walk, struct yarn_record *record)
{
    if (!(record->fields & PERF_SAMPLE_CPU))
        return;
    record->cpu = yarn_record_walk_u32(walk);
    (void)yarn_record_walk_u32(walk);
}

static void take_word(struct yarn_record_walk *walk, const struct yarn_record *record,
                      uint64_t field, uint64_t *ret_value)
{
    if (record->fields & field)
        *ret_value = yarn_record_walk_u64(walk);
}

/* The counter, or the group of them, of PERF_SAMPLE_READ and PERF_RECORD_READ. */
static struct yarn_bytes take_values(struct yarn_record_walk *walk, uint64_t read_format)
{
    struct yarn_record_walk ahead = *walk;
    bool is_group = read_format & PERF_FORMAT_GROUP;
    uint64_t count = is_group ? yarn_record_walk_u64(&ahead) : 1;
    uint64_t words =
        UINT64_C(1) + !!(read_format & PERF_FORMAT_ID) + !!(read_format & PERF_FORMAT_LOST);
    uint64_t others = (uint64_t)is_group + !!(read_format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
                      !!(read_format & PERF_FORMAT_TOTAL_TIME_RUNNING);
    return yarn_record_walk_view(walk, count > UINT16_MAX ? UINT64_MAX : others + count * words,
                                 WORD);
}

/* Raw data ends where a word does. */
static struct yarn_bytes take_raw(struct yarn_record_walk *walk)
{
    uint32_t size = yarn_record_walk_u32(walk);
    walk->failed |= ((uint64_t)size + sizeof size) % WORD != 0;
    return yarn_record_walk_view(walk, size, 1);
}

/* A bare list has no index behind a count of 0, and no counters behind the branches. */
static void take_branches(struct yarn_record_walk *walk, uint64_t kinds, bool is_bare,
                          struct yarn_record *record)
{
    uint64_t count = yarn_record_walk_u64(walk);
    if ((kinds & PERF_SAMPLE_BRANCH_HW_INDEX) && (count || !is_bare))
        record->branch_hw_index = yarn_record_walk_u64(walk);
    record->branches = yarn_record_walk_view(walk, count, BRANCH);
    if ((kinds & BRANCH_COUNTERS) && !is_bare)
        (void)yarn_record_walk_take(walk, count, WORD);
}

/* Registers follow where the thread had some: else their abi is 0. */
static struct yarn_bytes take_registers(struct yarn_record_walk *walk, uint64_t mask,
                                        uint64_t *ret_abi)
{
    *ret_abi = yarn_record_walk_u64(walk);
    return yarn_record_walk_view(walk, *ret_abi ? (uint64_t)__builtin_popcountll(mask) : 0, WORD);
}

static struct yarn_wrapped take_stack(struct yarn_record_walk *walk)
{
    uint64_t size = yarn_record_walk_u64(walk);
    struct yarn_wrapped copy = yarn_record_walk_take(walk, size, 1);
    uint64_t valid = size ? yarn_record_walk_u64(walk) : 0;
    walk->failed |= size % WORD || valid > size;
    return yarn_wrapped_sub(&copy, 0, (size_t)valid);
}

/* The fields behind all else, which no event of a session requests. */
static void take_rest(struct yarn_record_walk *walk, const struct perf_event_attr *attr,
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
    (void)yarn_record_walk_take(walk, trace_bytes, 1);
    walk->failed |= abi > PERF_SAMPLE_REGS_ABI_64 || trace_bytes % WORD;
}

void yarn_record_take_sample(struct yarn_record_walk *walk, const struct perf_event_attr *attr,
                             bool is_bare, struct yarn_record *record,
                             struct yarn_wrapped *ret_stack)
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
        record->callchain = yarn_record_walk_view(walk, yarn_record_walk_u64(walk), WORD);
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

void yarn_record_take_identity(struct yarn_record_walk *walk, struct yarn_record *record)
{
    size_t size = (size_t)__builtin_popcountll(record->fields) * WORD;
    if (size > yarn_record_walk_left(walk)) {
        walk->failed = true;
        return;
    }
    struct yarn_record_walk last = *walk;
    walk->end -= size;
    last.at = walk->end;
    take_ids(&last, record);
    take_word(&last, record, PERF_SAMPLE_TIME, &record->time);
    take_word(&last, record, PERF_SAMPLE_ID, &record->id);
    take_word(&last, record, PERF_SAMPLE_STREAM_ID, &record->stream_id);
    take_cpu(&last, record);
    take_word(&last, record, PERF_SAMPLE_IDENTIFIER, &record->id);
    struct yarn_record_walk body = *walk;
    record->body = yarn_record_walk_view(&body, yarn_record_walk_left(walk), 1);
}

/* The tail of a body, behind its fixed part. */
enum tail { NOTHING, ANYTHING, TEXT, LINKS, CODE, VALUES };

/* The fixed part has all that says how long the tail is. */
static const struct {
    bool is_known;
    uint8_t fixed;
    enum tail tail;
} kinds[] = {
    [PERF_RECORD_MMAP] = {true, IDS + 3 * WORD, TEXT},
    [PERF_RECORD_LOST] = {true, 2 * WORD, NOTHING},
    [PERF_RECORD_COMM] = {true, IDS, TEXT},
    [PERF_RECORD_EXIT] = {true, 2 * IDS + WORD, NOTHING},
    [PERF_RECORD_THROTTLE] = {true, 3 * WORD, NOTHING},
    [PERF_RECORD_UNTHROTTLE] = {true, 3 * WORD, NOTHING},
    [PERF_RECORD_FORK] = {true, 2 * IDS + WORD, NOTHING},
    [PERF_RECORD_READ] = {true, IDS + WORD, VALUES},
    [PERF_RECORD_MMAP2] = {true, IDS + 7 * WORD, TEXT},
    [PERF_RECORD_AUX] = {true, 3 * WORD, NOTHING},
    [PERF_RECORD_ITRACE_START] = {true, IDS, NOTHING},
    [PERF_RECORD_LOST_SAMPLES] = {true, WORD, NOTHING},
    [PERF_RECORD_SWITCH] = {true, 0, NOTHING},
    [PERF_RECORD_SWITCH_CPU_WIDE] = {true, IDS, NOTHING},
    [PERF_RECORD_NAMESPACES] = {true, IDS + WORD, LINKS},
    [PERF_RECORD_KSYMBOL] = {true, 2 * WORD, TEXT},
    [PERF_RECORD_BPF_EVENT] = {true, 2 * WORD, NOTHING},
    [PERF_RECORD_CGROUP] = {true, WORD, TEXT},
    [PERF_RECORD_TEXT_POKE] = {true, WORD + 2 * sizeof(uint16_t), CODE},
    [AUX_OUTPUT_HW_ID] = {true, WORD, NOTHING},
    [CALLCHAIN_DEFERRED] = {true, 2 * WORD, ANYTHING},
};

bool yarn_record_body_is_known(uint32_t kernel_type)
{
    return kernel_type < YARN_COUNT_OF(kinds) && kinds[kernel_type].is_known;
}

/* A text is filled up with zeros to a whole word, and has one at least. */
static void pass_text(struct yarn_record_walk *walk)
{
    struct yarn_bytes text = yarn_record_walk_view(walk, yarn_record_walk_left(walk), 1);
    const uint8_t *end = text.size ? memchr(text.data, 0, text.size) : NULL;
    walk->failed |= !end || text.size - (size_t)(end - text.data) > WORD;
}

/* The lengths of the old code and of the new one are the end of the fixed part. */
static void pass_code(struct yarn_record_walk *walk)
{
    uint16_t lengths[2];
    walk->at -= sizeof lengths;
    yarn_record_walk_read(walk, lengths, sizeof lengths);
    size_t size = sizeof lengths + lengths[0] + lengths[1];
    (void)yarn_record_walk_take(walk, yarn_align_up(size, WORD) - sizeof lengths, 1);
}

bool yarn_record_body_fits(struct yarn_record_walk walk, uint32_t kernel_type, uint64_t read_format,
                           bool is_exact)
{
    if (!yarn_record_body_is_known(kernel_type))
        return true;
    (void)yarn_record_walk_take(&walk, kinds[kernel_type].fixed, 1);
    if (walk.failed || !is_exact)
        return !walk.failed;
    switch (kinds[kernel_type].tail) {
    case TEXT:
        pass_text(&walk);
        break;
    case LINKS:
        walk.at -= WORD;
        (void)yarn_record_walk_take(&walk, yarn_record_walk_u64(&walk), LINK);
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
