/* SPDX-License-Identifier: Apache-2.0 */
/* Public: libyarn shows it. */
#pragma GCC visibility push(default)
#include "core/include/yarn/record.h"
#pragma GCC visibility pop

#include "lib/record_body.h"

enum {
    WORD = sizeof(uint64_t),
    BRANCH = 3 * WORD,
    FIRST_OF_TOOLS = 64, /* types from here on are perf's own, never the kernel's */
    COUNTERS_BIT = 19,
};

/* PERF_SAMPLE_BRANCH_COUNTERS, which older headers lack. */
#define BRANCH_COUNTERS (UINT64_C(1) << COUNTERS_BIT)
#define KNOWN_FIELDS ((uint64_t)PERF_SAMPLE_MAX - 1)
#define KNOWN_FORMAT                                                                               \
    ((uint64_t)(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID | \
                PERF_FORMAT_GROUP | PERF_FORMAT_LOST))
#define WEIGHTS ((uint64_t)(PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
#define IDENTITY                                                                                   \
    ((uint64_t)(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |      \
                PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER))

struct sample {
    const struct perf_event_attr *attr;
    bool is_bare; /* see take_branches */
    struct yarn_words words;
    struct yarn_record record;
};

static bool has(const struct sample *sample, uint64_t field)
{
    return sample->record.fields & field;
}

static void take_word(struct sample *sample, uint64_t field, uint64_t *ret_value)
{
    if (has(sample, field))
        *ret_value = yarn_words_u64(&sample->words);
}

static struct yarn_bytes take_bytes(struct yarn_words *words, uint64_t count, size_t each)
{
    const uint8_t *data = yarn_words_take_many(words, count, each);
    return data ? (struct yarn_bytes){data, (size_t)count * each} : (struct yarn_bytes){0};
}

static void take_ids(struct sample *sample)
{
    if (!has(sample, PERF_SAMPLE_TID))
        return;
    sample->record.pid = yarn_words_u32(&sample->words);
    sample->record.tid = yarn_words_u32(&sample->words);
}

static void take_cpu(struct sample *sample)
{
    if (!has(sample, PERF_SAMPLE_CPU))
        return;
    sample->record.cpu = yarn_words_u32(&sample->words);
    yarn_words_u32(&sample->words);
}

static void take_values(struct sample *sample)
{
    const uint8_t *first = sample->words.next;
    if (!has(sample, PERF_SAMPLE_READ))
        return;
    yarn_record_pass_values(&sample->words, sample->attr->read_format);
    sample->record.values = (struct yarn_bytes){first, (size_t)(sample->words.next - first)};
}

static void take_callchain(struct sample *sample)
{
    if (has(sample, PERF_SAMPLE_CALLCHAIN))
        sample->record.callchain = take_bytes(&sample->words, yarn_words_u64(&sample->words), WORD);
}

/* Its length is such that whole words go on behind it. */
static void take_raw(struct sample *sample)
{
    if (!has(sample, PERF_SAMPLE_RAW))
        return;
    uint32_t size = yarn_words_u32(&sample->words);
    if (((uint64_t)size + sizeof size) % WORD)
        sample->words.is_broken = true;
    sample->record.raw = take_bytes(&sample->words, size, 1);
}

/* What attr asks for stands here, save where the kernel had none of it, which is_bare tries: no
 * index behind a count of 0, no counters behind the branches. */
static void take_branches(struct sample *sample)
{
    struct yarn_words *words = &sample->words;
    uint64_t kinds = sample->attr->branch_sample_type;
    if (!has(sample, PERF_SAMPLE_BRANCH_STACK))
        return;
    uint64_t count = yarn_words_u64(words);
    if ((kinds & PERF_SAMPLE_BRANCH_HW_INDEX) && (count || !sample->is_bare))
        sample->record.branch_hw_index = yarn_words_u64(words);
    sample->record.branches = take_bytes(words, count, BRANCH);
    if ((kinds & BRANCH_COUNTERS) && !sample->is_bare)
        yarn_words_take_many(words, count, WORD);
}

static bool may_be_bare(const struct perf_event_attr *attr)
{
    return (attr->sample_type & PERF_SAMPLE_BRANCH_STACK) &&
           (attr->branch_sample_type & (PERF_SAMPLE_BRANCH_HW_INDEX | BRANCH_COUNTERS));
}

static size_t nr_bits(uint64_t mask)
{
    size_t count = 0;
    for (; mask; mask &= mask - 1)
        count++;
    return count;
}

/* None follow where the thread had none: the abi is 0 then. */
static struct yarn_bytes take_registers(struct yarn_words *words, uint64_t mask, uint64_t *ret_abi)
{
    *ret_abi = yarn_words_u64(words);
    if (*ret_abi > PERF_SAMPLE_REGS_ABI_64)
        words->is_broken = true;
    return *ret_abi ? take_bytes(words, nr_bits(mask), WORD) : (struct yarn_bytes){0};
}

static void take_user_registers(struct sample *sample)
{
    if (has(sample, PERF_SAMPLE_REGS_USER))
        sample->record.registers = take_registers(&sample->words, sample->attr->sample_regs_user,
                                                  &sample->record.registers_abi);
}

static void take_stack(struct sample *sample)
{
    struct yarn_words *words = &sample->words;
    if (!has(sample, PERF_SAMPLE_STACK_USER))
        return;
    uint64_t size = yarn_words_u64(words);
    if (!size)
        return;
    sample->record.stack = take_bytes(words, size, 1);
    uint64_t valid = yarn_words_u64(words);
    if (size % WORD || valid > size)
        words->is_broken = true;
    sample->record.stack.size = (size_t)valid;
}

/* Whole words. */
static void pass_trace(struct sample *sample)
{
    if (!has(sample, PERF_SAMPLE_AUX))
        return;
    uint64_t size = yarn_words_u64(&sample->words);
    if (size % WORD)
        sample->words.is_broken = true;
    yarn_words_take(&sample->words, size);
}

static void take_sample(struct sample *sample)
{
    struct yarn_record *record = &sample->record;
    uint64_t unused = 0;
    take_word(sample, PERF_SAMPLE_IDENTIFIER, &record->id);
    take_word(sample, PERF_SAMPLE_IP, &record->ip);
    take_ids(sample);
    take_word(sample, PERF_SAMPLE_TIME, &record->time);
    take_word(sample, PERF_SAMPLE_ADDR, &record->addr);
    take_word(sample, PERF_SAMPLE_ID, &record->id);
    take_word(sample, PERF_SAMPLE_STREAM_ID, &record->stream_id);
    take_cpu(sample);
    take_word(sample, PERF_SAMPLE_PERIOD, &record->period);
    take_values(sample);
    take_callchain(sample);
    take_raw(sample);
    take_branches(sample);
    take_user_registers(sample);
    take_stack(sample);
    take_word(sample, PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT, &record->weight);
    take_word(sample, PERF_SAMPLE_DATA_SRC, &record->data_src);
    take_word(sample, PERF_SAMPLE_TRANSACTION, &record->transaction);
    if (has(sample, PERF_SAMPLE_REGS_INTR))
        take_registers(&sample->words, sample->attr->sample_regs_intr, &unused);
    take_word(sample, PERF_SAMPLE_PHYS_ADDR, &record->phys_addr);
    take_word(sample, PERF_SAMPLE_CGROUP, &unused);
    take_word(sample, PERF_SAMPLE_DATA_PAGE_SIZE, &unused);
    take_word(sample, PERF_SAMPLE_CODE_PAGE_SIZE, &unused);
    pass_trace(sample);
}

/* The last words of all other records. */
static void take_identity(struct sample *sample)
{
    struct yarn_words *words = &sample->words;
    size_t size = nr_bits(sample->record.fields) * WORD;
    if (size > words->left) {
        words->is_broken = true;
        return;
    }
    const uint8_t *body = words->next;
    size_t body_size = words->left - size;
    if (!yarn_record_body_fits(sample->attr, sample->record.type, body, body_size))
        words->is_broken = true;
    yarn_words_take(words, body_size);
    sample->record.body = (struct yarn_bytes){body, body_size};
    take_ids(sample);
    take_word(sample, PERF_SAMPLE_TIME, &sample->record.time);
    take_word(sample, PERF_SAMPLE_ID, &sample->record.id);
    take_word(sample, PERF_SAMPLE_STREAM_ID, &sample->record.stream_id);
    take_cpu(sample);
    take_word(sample, PERF_SAMPLE_IDENTIFIER, &sample->record.id);
}

/* Both weights would be one word: the kernel opens no such event. */
static bool is_known(const struct perf_event_attr *attr)
{
    return !(attr->sample_type & ~KNOWN_FIELDS) && !(attr->read_format & ~KNOWN_FORMAT) &&
           (attr->sample_type & WEIGHTS) != WEIGHTS;
}

/* `sample` is as before the first word. False where the bytes are not just that. */
static bool take_all(struct sample *sample)
{
    if (sample->record.type == PERF_RECORD_SAMPLE)
        take_sample(sample);
    else
        take_identity(sample);
    return !sample->words.is_broken && !sample->words.left;
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
    bool is_sample = header.type == PERF_RECORD_SAMPLE;
    uint64_t identity = attr->sample_id_all ? attr->sample_type & IDENTITY : 0;
    const struct sample begin = {
        .attr = attr,
        .words = {.next = (const uint8_t *)bytes + sizeof header, .left = size - sizeof header},
        .record = {.type = header.type,
                   .misc = header.misc,
                   .fields = is_sample ? attr->sample_type : identity,
                   .branch_hw_index = UINT64_MAX},
    };
    struct sample sample = begin;
    bool is_whole = take_all(&sample);
    if (!is_whole && is_sample && may_be_bare(attr)) {
        sample = begin;
        sample.is_bare = true;
        is_whole = take_all(&sample);
    }
    if (!is_whole)
        return -EBADMSG;
    *ret_record = sample.record;
    return 0;
}
