/* SPDX-License-Identifier: Apache-2.0 */
/* Public: libyarn shows it. */
#pragma GCC visibility push(default)
#include "core/include/yarn/record.h"
#pragma GCC visibility pop

#include "core/record/fields.h"

enum {
    WORD = sizeof(uint64_t),
    FIRST_OF_TOOLS = 64, /* types from here on are perf's own, never the kernel's */
};

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
static bool take(struct yarn_record_walk walk, const struct perf_event_attr *attr, bool is_bare,
                 struct yarn_record *record)
{
    struct yarn_wrapped stack = {YARN_SPAN_EMPTY, YARN_SPAN_EMPTY};
    if (record->type == PERF_RECORD_SAMPLE) {
        record->fields = attr->sample_type;
        yarn_record_take_sample(&walk, attr, is_bare, record, &stack);
        return !walk.failed && walk.at == walk.end &&
               record->registers_abi <= PERF_SAMPLE_REGS_ABI_64;
    }
    record->fields = attr->sample_id_all ? attr->sample_type & IDENTITY : 0;
    yarn_record_take_identity(&walk, record);
    return !walk.failed && yarn_record_body_fits(walk, record->type, attr->read_format, true);
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
    const struct yarn_record_walk walk = {.bytes = &whole, .at = sizeof header, .end = size};
    const struct yarn_record begin = {
        .type = header.type, .misc = header.misc, .branch_hw_index = UINT64_MAX};
    for (int is_bare = 0; is_bare < 2; is_bare++) {
        struct yarn_record record = begin;
        if (!take(walk, attr, is_bare, &record))
            continue;
        *ret_record = record;
        return 0;
    }
    return -EBADMSG;
}
