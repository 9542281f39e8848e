/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * One record of any bytes, of an event with any attr, by libyarn's public decoder: what it gives
 * lies in the record, and a record that it takes is no longer taken when a byte is missing.
 *
 * The input: sample_type, read_format, branch_sample_type, sample_regs_user and sample_regs_intr (8
 * bytes each), a byte for sample_id_all, one that sets the stated size right; then the record.
 */
#include <stdlib.h>
#include <string.h>
#include <yarn/record.h>

enum { HEAD = 42, RECORD_MAX = 65528 };

static volatile uint64_t sum; /* so that no read is left out */

static void must(bool holds)
{
    if (!holds)
        __builtin_trap();
}

static void touch(const uint8_t *record, size_t size, struct yarn_bytes bytes)
{
    if (!bytes.size)
        return;
    must(bytes.data >= record && bytes.size <= size);
    must((size_t)(bytes.data - record) <= size - bytes.size);
    for (size_t i = 0; i < bytes.size; i++)
        sum += bytes.data[i];
}

static void check(const uint8_t *bytes, size_t size, const struct yarn_record *record)
{
    touch(bytes, size, record->callchain);
    touch(bytes, size, record->values);
    touch(bytes, size, record->raw);
    touch(bytes, size, record->branches);
    touch(bytes, size, record->registers);
    touch(bytes, size, record->stack);
    touch(bytes, size, record->body);
    must(record->callchain.size % 8 == 0 && record->registers.size % 8 == 0);
    must(record->branches.size % sizeof(struct perf_branch_entry) == 0);
    must(record->type == PERF_RECORD_SAMPLE || !record->callchain.size);
}

static struct perf_event_attr attr_of(const uint8_t *data)
{
    uint64_t words[5];
    memcpy(words, data, sizeof words);
    struct perf_event_attr attr = {
        .sample_type = words[0],
        .read_format = words[1],
        .branch_sample_type = words[2],
        .sample_regs_user = words[3],
        .sample_regs_intr = words[4],
    };
    attr.sample_id_all = (data[sizeof words] & 1) != 0;
    return attr;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct yarn_record record, again;
    if (size < HEAD || size - HEAD > RECORD_MAX)
        return 0;
    struct perf_event_attr attr = attr_of(data);
    size_t left = size - HEAD;
    /* Of exactly its size, so that a sanitizer sees what is read outside. */
    uint8_t *bytes = malloc(left ? left : 1);
    must(bytes);
    memcpy(bytes, data + HEAD, left);
    uint16_t stated = (uint16_t)left;
    if ((data[HEAD - 1] & 1) && left >= sizeof(struct perf_event_header))
        memcpy(bytes + offsetof(struct perf_event_header, size), &stated, sizeof stated);
    if (!yarn_record_decode(&attr, bytes, left, &record)) {
        check(bytes, left, &record);
        must(yarn_record_decode(&attr, bytes, left - 1, &again));
        must(yarn_record_decode(&attr, bytes, left - 8, &again));
    }
    free(bytes);
    return 0;
}
