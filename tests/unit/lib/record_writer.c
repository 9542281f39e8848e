/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/lib/record_writer.h"

#include <check.h>
#include <stdbool.h>
#include <string.h>

static uint64_t state;

uint64_t record_any(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state >> 33) ^ (state << 20);
}

uint64_t record_below(uint64_t limit)
{
    return (record_any() >> 20) % limit;
}

static void put(struct record_writer *writer, const void *data, size_t size)
{
    ck_assert_uint_le(writer->size + size, RECORD_BYTES_MAX);
    memcpy(writer->bytes + writer->size, data, size);
    writer->size += size;
}

uint64_t record_put_u64(struct record_writer *writer, uint64_t value)
{
    put(writer, &value, sizeof value);
    return value;
}

static uint32_t put_u32(struct record_writer *writer, uint32_t value)
{
    put(writer, &value, sizeof value);
    return value;
}

static struct yarn_bytes put_words(struct record_writer *writer, size_t count)
{
    struct yarn_bytes put_there = {writer->bytes + writer->size, count * 8};
    while (count--)
        record_put_u64(writer, record_any());
    return put_there;
}

void record_begin(struct record_writer *writer, uint32_t type)
{
    struct perf_event_header header = {.type = type, .misc = (uint16_t)record_any()};
    writer->size = 0;
    memset(&writer->want, 0, sizeof writer->want);
    writer->want.type = type;
    writer->want.misc = header.misc;
    writer->want.branch_hw_index = UINT64_MAX;
    put(writer, &header, sizeof header);
}

void record_end(struct record_writer *writer)
{
    uint16_t size = (uint16_t)writer->size;
    memcpy(writer->bytes + offsetof(struct perf_event_header, size), &size, sizeof size);
}

static size_t bits_of(uint64_t mask)
{
    return (size_t)__builtin_popcountll(mask);
}

static void put_values(struct record_writer *writer, uint64_t format)
{
    uint64_t count = 1;
    if (format & PERF_FORMAT_GROUP)
        count = record_put_u64(writer, record_below(5));
    else
        record_put_u64(writer, record_any());
    if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
        record_put_u64(writer, record_any());
    if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
        record_put_u64(writer, record_any());
    for (uint64_t i = 0; i < count; i++) {
        if (format & PERF_FORMAT_GROUP)
            record_put_u64(writer, record_any());
        if (format & PERF_FORMAT_ID)
            record_put_u64(writer, record_any());
        if (format & PERF_FORMAT_LOST)
            record_put_u64(writer, record_any());
    }
}

static void put_stack(struct record_writer *writer, struct yarn_record *want)
{
    size_t count = record_below(20);
    record_put_u64(writer, count * 8);
    if (!count)
        return;
    want->stack = put_words(writer, count);
    want->stack.size = record_put_u64(writer, record_below(count * 8 + 1));
}

/* Sometimes as where the kernel had none: just a count of 0, or branches without counters. */
static void put_branches(struct record_writer *writer, uint64_t kinds, struct yarn_record *want)
{
    bool is_bare = !record_below(4);
    size_t count = record_put_u64(writer, record_below(6));
    if ((kinds & PERF_SAMPLE_BRANCH_HW_INDEX) && (count || !is_bare))
        want->branch_hw_index = record_put_u64(writer, record_any());
    want->branches = put_words(writer, 3 * count);
    if ((kinds & RECORD_COUNTERS) && !is_bare)
        put_words(writer, count);
}

static struct yarn_bytes put_registers(struct record_writer *writer, uint64_t mask,
                                       uint64_t *ret_abi)
{
    *ret_abi = record_put_u64(writer, record_below(3));
    return put_words(writer, *ret_abi ? bits_of(mask) : 0);
}

void record_put_sample(struct record_writer *writer, const struct perf_event_attr *attr)
{
    struct yarn_record *want = &writer->want;
    uint64_t type = attr->sample_type, unused;
    record_begin(writer, PERF_RECORD_SAMPLE);
    want->fields = type;
    uint64_t id = record_any();
    if (type & PERF_SAMPLE_IDENTIFIER)
        want->id = record_put_u64(writer, id);
    if (type & PERF_SAMPLE_IP)
        want->ip = record_put_u64(writer, record_any());
    if (type & PERF_SAMPLE_TID) {
        want->pid = put_u32(writer, (uint32_t)record_any());
        want->tid = put_u32(writer, (uint32_t)record_any());
    }
    if (type & PERF_SAMPLE_TIME)
        want->time = record_put_u64(writer, record_any());
    if (type & PERF_SAMPLE_ADDR)
        want->addr = record_put_u64(writer, record_any());
    if (type & PERF_SAMPLE_ID)
        want->id = record_put_u64(writer, id);
    if (type & PERF_SAMPLE_STREAM_ID)
        want->stream_id = record_put_u64(writer, record_any());
    if (type & PERF_SAMPLE_CPU) {
        want->cpu = put_u32(writer, (uint32_t)record_any());
        put_u32(writer, (uint32_t)record_any());
    }
    if (type & PERF_SAMPLE_PERIOD)
        want->period = record_put_u64(writer, record_any());
    if (type & PERF_SAMPLE_READ) {
        want->values.data = writer->bytes + writer->size;
        put_values(writer, attr->read_format);
        want->values.size = (size_t)(writer->bytes + writer->size - want->values.data);
    }
    if (type & PERF_SAMPLE_CALLCHAIN)
        want->callchain = put_words(writer, record_put_u64(writer, record_below(9)));
    if (type & PERF_SAMPLE_RAW) {
        uint32_t size = put_u32(writer, (uint32_t)(4 + 8 * record_below(5)));
        want->raw = (struct yarn_bytes){writer->bytes + writer->size, size};
        for (uint32_t i = 0; i < size; i += 4)
            put_u32(writer, (uint32_t)record_any());
    }
    if (type & PERF_SAMPLE_BRANCH_STACK)
        put_branches(writer, attr->branch_sample_type, want);
    if (type & PERF_SAMPLE_REGS_USER)
        want->registers = put_registers(writer, attr->sample_regs_user, &want->registers_abi);
    if (type & PERF_SAMPLE_STACK_USER)
        put_stack(writer, want);
    if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
        want->weight = record_put_u64(writer, record_any());
    if (type & PERF_SAMPLE_DATA_SRC)
        want->data_src = record_put_u64(writer, record_any());
    if (type & PERF_SAMPLE_TRANSACTION)
        want->transaction = record_put_u64(writer, record_any());
    if (type & PERF_SAMPLE_REGS_INTR)
        put_registers(writer, attr->sample_regs_intr, &unused);
    if (type & PERF_SAMPLE_PHYS_ADDR)
        want->phys_addr = record_put_u64(writer, record_any());
    if (type & PERF_SAMPLE_CGROUP)
        record_put_u64(writer, record_any());
    if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
        record_put_u64(writer, record_any());
    if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
        record_put_u64(writer, record_any());
    if (type & PERF_SAMPLE_AUX)
        put_words(writer, record_put_u64(writer, 8 * record_below(5)) / 8);
    record_end(writer);
}

/* Without zeros, which ends in the word that it fills up. */
static void put_text(struct record_writer *writer)
{
    char text[64] = "";
    size_t length = record_below(50);
    memset(text, 'a' + (int)record_below(20), length);
    put(writer, text, (length + 8) / 8 * 8);
}

static void put_body(struct record_writer *writer, const struct perf_event_attr *attr)
{
    uint16_t lengths[2] = {(uint16_t)record_below(16), (uint16_t)record_below(16)};
    size_t patch = 4 + (size_t)lengths[0] + lengths[1];
    static const uint8_t zeros[64];
    switch (writer->want.type) {
    case PERF_RECORD_MMAP: /* pid, tid, addr, len, pgoff, filename */
        put_words(writer, 4);
        put_text(writer);
        break;
    case PERF_RECORD_COMM:   /* pid, tid, comm */
    case PERF_RECORD_CGROUP: /* id, path */
        put_words(writer, 1);
        put_text(writer);
        break;
    case PERF_RECORD_MMAP2: /* … maj, min, ino, generation, prot, flags, filename */
        put_words(writer, 8);
        put_text(writer);
        break;
    case PERF_RECORD_KSYMBOL: /* addr, len, type, flags, name */
        put_words(writer, 2);
        put_text(writer);
        break;
    case PERF_RECORD_LOST:
    case PERF_RECORD_BPF_EVENT:
        put_words(writer, 2);
        break;
    case PERF_RECORD_EXIT:
    case PERF_RECORD_FORK:
    case PERF_RECORD_THROTTLE:
    case PERF_RECORD_UNTHROTTLE:
    case PERF_RECORD_AUX:
        put_words(writer, 3);
        break;
    case PERF_RECORD_ITRACE_START:
    case PERF_RECORD_LOST_SAMPLES:
    case PERF_RECORD_SWITCH_CPU_WIDE:
    case PERF_RECORD_AUX_OUTPUT_HW_ID:
        put_words(writer, 1);
        break;
    case PERF_RECORD_READ:
        put_words(writer, 1);
        put_values(writer, attr->read_format);
        break;
    case PERF_RECORD_NAMESPACES: /* pid, tid, nr, { dev, inode } */
        put_words(writer, 1);
        put_words(writer, 2 * record_put_u64(writer, record_below(8)));
        break;
    case PERF_RECORD_TEXT_POKE: /* addr, two lengths, bytes, filled up */
        put_words(writer, 1);
        put(writer, lengths, sizeof lengths);
        put(writer, zeros, (patch + 7) / 8 * 8 - 4);
        break;
    case PERF_RECORD_SWITCH:
    default:
        break;
    }
}

void record_put_other(struct record_writer *writer, const struct perf_event_attr *attr,
                      uint32_t type)
{
    struct yarn_record *want = &writer->want;
    uint64_t id = record_any(), parts = attr->sample_id_all ? attr->sample_type : 0;
    record_begin(writer, type);
    want->body.data = writer->bytes + writer->size;
    put_body(writer, attr);
    want->body.size = (size_t)(writer->bytes + writer->size - want->body.data);
    want->fields = parts & (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
                            PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER);
    if (parts & PERF_SAMPLE_TID) {
        want->pid = put_u32(writer, (uint32_t)record_any());
        want->tid = put_u32(writer, (uint32_t)record_any());
    }
    if (parts & PERF_SAMPLE_TIME)
        want->time = record_put_u64(writer, record_any());
    if (parts & PERF_SAMPLE_ID)
        want->id = record_put_u64(writer, id);
    if (parts & PERF_SAMPLE_STREAM_ID)
        want->stream_id = record_put_u64(writer, record_any());
    if (parts & PERF_SAMPLE_CPU) {
        want->cpu = put_u32(writer, (uint32_t)record_any());
        put_u32(writer, (uint32_t)record_any());
    }
    if (parts & PERF_SAMPLE_IDENTIFIER)
        want->id = record_put_u64(writer, id);
    record_end(writer);
}
