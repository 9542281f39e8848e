/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <yarn/record.h>

#include "tests/support/suite.h"

/*
 * Records are written here by the uapi header's description of them, one line a field, and what was
 * written is kept; nothing of the decoder is used.
 */

enum { NR_ROUNDS = 20000, NR_BITS = 25, RECORD_MAX = 8192, COUNTERS = 1 << 19 };

struct writer {
    uint8_t bytes[RECORD_MAX];
    size_t size;
    struct yarn_record want;
};

static uint64_t state;

static uint64_t any(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state >> 33) ^ (state << 20);
}

static uint64_t below(uint64_t limit)
{
    return (any() >> 20) % limit;
}

static void put(struct writer *writer, const void *data, size_t size)
{
    ck_assert_uint_le(writer->size + size, RECORD_MAX);
    memcpy(writer->bytes + writer->size, data, size);
    writer->size += size;
}

static uint64_t put_u64(struct writer *writer, uint64_t value)
{
    put(writer, &value, sizeof value);
    return value;
}

static uint32_t put_u32(struct writer *writer, uint32_t value)
{
    put(writer, &value, sizeof value);
    return value;
}

static struct yarn_bytes put_words(struct writer *writer, size_t count)
{
    struct yarn_bytes put_there = {writer->bytes + writer->size, count * 8};
    while (count--)
        put_u64(writer, any());
    return put_there;
}

static void begin(struct writer *writer, uint32_t type)
{
    struct perf_event_header header = {.type = type, .misc = (uint16_t)any()};
    writer->size = 0;
    memset(&writer->want, 0, sizeof writer->want);
    writer->want.type = type;
    writer->want.misc = header.misc;
    writer->want.branch_hw_index = UINT64_MAX;
    put(writer, &header, sizeof header);
}

static void end(struct writer *writer)
{
    uint16_t size = (uint16_t)writer->size;
    memcpy(writer->bytes + offsetof(struct perf_event_header, size), &size, sizeof size);
}

static size_t bits_of(uint64_t mask)
{
    return (size_t)__builtin_popcountll(mask);
}

static void put_values(struct writer *writer, uint64_t format)
{
    uint64_t count = 1;
    if (format & PERF_FORMAT_GROUP)
        count = put_u64(writer, below(5));
    else
        put_u64(writer, any());
    if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
        put_u64(writer, any());
    if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
        put_u64(writer, any());
    for (uint64_t i = 0; i < count; i++) {
        if (format & PERF_FORMAT_GROUP)
            put_u64(writer, any());
        if (format & PERF_FORMAT_ID)
            put_u64(writer, any());
        if (format & PERF_FORMAT_LOST)
            put_u64(writer, any());
    }
}

static void put_stack(struct writer *writer, struct yarn_record *want)
{
    size_t count = below(20);
    put_u64(writer, count * 8);
    if (!count)
        return;
    want->stack = put_words(writer, count);
    want->stack.size = put_u64(writer, below(count * 8 + 1));
}

/* Sometimes as where the kernel had none: just a count of 0, or branches without counters. */
static void put_branches(struct writer *writer, uint64_t kinds, struct yarn_record *want)
{
    bool is_bare = !below(4);
    size_t count = put_u64(writer, below(6));
    if ((kinds & PERF_SAMPLE_BRANCH_HW_INDEX) && (count || !is_bare))
        want->branch_hw_index = put_u64(writer, any());
    want->branches = put_words(writer, 3 * count);
    if ((kinds & COUNTERS) && !is_bare)
        put_words(writer, count);
}

static struct yarn_bytes put_registers(struct writer *writer, uint64_t mask, uint64_t *ret_abi)
{
    *ret_abi = put_u64(writer, below(3));
    return put_words(writer, *ret_abi ? bits_of(mask) : 0);
}

static void put_sample(struct writer *writer, const struct perf_event_attr *attr)
{
    struct yarn_record *want = &writer->want;
    uint64_t type = attr->sample_type, unused;
    begin(writer, PERF_RECORD_SAMPLE);
    want->fields = type;
    uint64_t id = any();
    if (type & PERF_SAMPLE_IDENTIFIER)
        want->id = put_u64(writer, id);
    if (type & PERF_SAMPLE_IP)
        want->ip = put_u64(writer, any());
    if (type & PERF_SAMPLE_TID) {
        want->pid = put_u32(writer, (uint32_t)any());
        want->tid = put_u32(writer, (uint32_t)any());
    }
    if (type & PERF_SAMPLE_TIME)
        want->time = put_u64(writer, any());
    if (type & PERF_SAMPLE_ADDR)
        want->addr = put_u64(writer, any());
    if (type & PERF_SAMPLE_ID)
        want->id = put_u64(writer, id);
    if (type & PERF_SAMPLE_STREAM_ID)
        want->stream_id = put_u64(writer, any());
    if (type & PERF_SAMPLE_CPU) {
        want->cpu = put_u32(writer, (uint32_t)any());
        put_u32(writer, (uint32_t)any());
    }
    if (type & PERF_SAMPLE_PERIOD)
        want->period = put_u64(writer, any());
    if (type & PERF_SAMPLE_READ) {
        want->values.data = writer->bytes + writer->size;
        put_values(writer, attr->read_format);
        want->values.size = (size_t)(writer->bytes + writer->size - want->values.data);
    }
    if (type & PERF_SAMPLE_CALLCHAIN)
        want->callchain = put_words(writer, put_u64(writer, below(9)));
    if (type & PERF_SAMPLE_RAW) {
        uint32_t size = put_u32(writer, (uint32_t)(4 + 8 * below(5)));
        want->raw = (struct yarn_bytes){writer->bytes + writer->size, size};
        for (uint32_t i = 0; i < size; i += 4)
            put_u32(writer, (uint32_t)any());
    }
    if (type & PERF_SAMPLE_BRANCH_STACK)
        put_branches(writer, attr->branch_sample_type, want);
    if (type & PERF_SAMPLE_REGS_USER)
        want->registers = put_registers(writer, attr->sample_regs_user, &want->registers_abi);
    if (type & PERF_SAMPLE_STACK_USER)
        put_stack(writer, want);
    if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
        want->weight = put_u64(writer, any());
    if (type & PERF_SAMPLE_DATA_SRC)
        want->data_src = put_u64(writer, any());
    if (type & PERF_SAMPLE_TRANSACTION)
        want->transaction = put_u64(writer, any());
    if (type & PERF_SAMPLE_REGS_INTR)
        put_registers(writer, attr->sample_regs_intr, &unused);
    if (type & PERF_SAMPLE_PHYS_ADDR)
        want->phys_addr = put_u64(writer, any());
    if (type & PERF_SAMPLE_CGROUP)
        put_u64(writer, any());
    if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
        put_u64(writer, any());
    if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
        put_u64(writer, any());
    if (type & PERF_SAMPLE_AUX)
        put_words(writer, put_u64(writer, 8 * below(5)) / 8);
    end(writer);
}

/* Without zeros, which ends in the word that it fills up. */
static void put_text(struct writer *writer)
{
    char text[64] = "";
    size_t length = below(50);
    memset(text, 'a' + (int)below(20), length);
    put(writer, text, (length + 8) / 8 * 8);
}

static void put_body(struct writer *writer, const struct perf_event_attr *attr)
{
    uint16_t lengths[2] = {(uint16_t)below(16), (uint16_t)below(16)};
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
        put_words(writer, 2 * put_u64(writer, below(8)));
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

static void put_other(struct writer *writer, const struct perf_event_attr *attr, uint32_t type)
{
    struct yarn_record *want = &writer->want;
    uint64_t id = any(), parts = attr->sample_id_all ? attr->sample_type : 0;
    begin(writer, type);
    want->body.data = writer->bytes + writer->size;
    put_body(writer, attr);
    want->body.size = (size_t)(writer->bytes + writer->size - want->body.data);
    want->fields = parts & (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
                            PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER);
    if (parts & PERF_SAMPLE_TID) {
        want->pid = put_u32(writer, (uint32_t)any());
        want->tid = put_u32(writer, (uint32_t)any());
    }
    if (parts & PERF_SAMPLE_TIME)
        want->time = put_u64(writer, any());
    if (parts & PERF_SAMPLE_ID)
        want->id = put_u64(writer, id);
    if (parts & PERF_SAMPLE_STREAM_ID)
        want->stream_id = put_u64(writer, any());
    if (parts & PERF_SAMPLE_CPU) {
        want->cpu = put_u32(writer, (uint32_t)any());
        put_u32(writer, (uint32_t)any());
    }
    if (parts & PERF_SAMPLE_IDENTIFIER)
        want->id = put_u64(writer, id);
    end(writer);
}

static void assert_bytes(struct yarn_bytes got, struct yarn_bytes want)
{
    ck_assert_uint_eq(got.size, want.size);
    if (want.size)
        ck_assert_ptr_eq(got.data, want.data);
}

static void assert_record(const struct yarn_record *got, const struct yarn_record *want)
{
    ck_assert_uint_eq(got->type, want->type);
    ck_assert_uint_eq(got->misc, want->misc);
    ck_assert_uint_eq(got->fields, want->fields);
    ck_assert_uint_eq(got->pid, want->pid);
    ck_assert_uint_eq(got->tid, want->tid);
    ck_assert_uint_eq(got->cpu, want->cpu);
    ck_assert_uint_eq(got->time, want->time);
    ck_assert_uint_eq(got->id, want->id);
    ck_assert_uint_eq(got->stream_id, want->stream_id);
    ck_assert_uint_eq(got->ip, want->ip);
    ck_assert_uint_eq(got->addr, want->addr);
    ck_assert_uint_eq(got->period, want->period);
    ck_assert_uint_eq(got->weight, want->weight);
    ck_assert_uint_eq(got->data_src, want->data_src);
    ck_assert_uint_eq(got->transaction, want->transaction);
    ck_assert_uint_eq(got->phys_addr, want->phys_addr);
    ck_assert_uint_eq(got->branch_hw_index, want->branch_hw_index);
    ck_assert_uint_eq(got->registers_abi, want->registers_abi);
    assert_bytes(got->callchain, want->callchain);
    assert_bytes(got->values, want->values);
    assert_bytes(got->raw, want->raw);
    assert_bytes(got->branches, want->branches);
    assert_bytes(got->registers, want->registers);
    assert_bytes(got->stack, want->stack);
    assert_bytes(got->body, want->body);
}

/* In memory of just that size, so that a sanitizer sees each byte too many. */
static int decode_cut(const struct perf_event_attr *attr, const struct writer *writer, size_t size,
                      bool is_stated, struct yarn_record *ret_record)
{
    uint8_t *cut = malloc(size ? size : 1);
    uint16_t stated = (uint16_t)size;
    ck_assert_ptr_nonnull(cut);
    memcpy(cut, writer->bytes, size);
    if (is_stated && size >= sizeof(struct perf_event_header))
        memcpy(cut + offsetof(struct perf_event_header, size), &stated, sizeof stated);
    int err = yarn_record_decode(attr, cut, size, ret_record);
    free(cut);
    return err;
}

/* A record that states its new size may be another whole one: with a word less of what stands
 * behind a count of 0, or as many less as there are branches. The kernel leaves these out, too. */
static bool may_be_whole(const struct perf_event_attr *attr, const struct writer *writer,
                         size_t size, const struct yarn_record *cut)
{
    size_t left_out = cut->branches.size ? cut->branches.size / 3 : 8;
    return writer->want.type == PERF_RECORD_SAMPLE &&
           (attr->sample_type & PERF_SAMPLE_BRANCH_STACK) &&
           (attr->branch_sample_type & (PERF_SAMPLE_BRANCH_HW_INDEX | COUNTERS)) &&
           writer->size - size == left_out;
}

static void check_record(const struct perf_event_attr *attr, const struct writer *writer)
{
    struct yarn_record record;
    ck_assert_int_eq(yarn_record_decode(attr, writer->bytes, writer->size, &record), 0);
    assert_record(&record, &writer->want);
}

static void check_cuts(const struct perf_event_attr *attr, const struct writer *writer)
{
    for (size_t size = 0; size < writer->size; size++) {
        struct yarn_record record;
        ck_assert_int_eq(decode_cut(attr, writer, size, false, &record), -EBADMSG);
        int err = decode_cut(attr, writer, size, true, &record);
        ck_assert(err == -EBADMSG || (!err && may_be_whole(attr, writer, size, &record)));
    }
}

static struct perf_event_attr any_attr(unsigned round)
{
    struct perf_event_attr attr = {
        .size = sizeof attr,
        .sample_type = any() & ((1u << NR_BITS) - 1),
        .read_format = any() & 31,
        .branch_sample_type = any() & ((1u << 20) - 1),
        .sample_regs_user = any(),
        .sample_regs_intr = any(),
    };
    if (round < NR_BITS) /* each alone */
        attr.sample_type = UINT64_C(1) << round;
    if (attr.sample_type & PERF_SAMPLE_WEIGHT)
        attr.sample_type &= ~(uint64_t)PERF_SAMPLE_WEIGHT_STRUCT;
    attr.sample_id_all = any() & 1;
    return attr;
}

START_TEST(each_field_of_a_sample_is_what_was_written)
{
    static struct writer writer;
    for (unsigned round = 0; round < NR_ROUNDS; round++) {
        struct perf_event_attr attr = any_attr(round);
        put_sample(&writer, &attr);
        check_record(&attr, &writer);
        if (round < 400)
            check_cuts(&attr, &writer);
    }
}
END_TEST

START_TEST(each_other_kind_has_its_body_and_identity)
{
    static struct writer writer;
    for (unsigned round = 0; round < NR_ROUNDS; round++) {
        struct perf_event_attr attr = any_attr(NR_BITS);
        uint32_t type = 1 + round % (PERF_RECORD_MAX - 1);
        if (type == PERF_RECORD_SAMPLE)
            continue;
        put_other(&writer, &attr, type);
        check_record(&attr, &writer);
        if (round < 1000)
            check_cuts(&attr, &writer);
    }
}
END_TEST

START_TEST(bytes_left_over_are_refused)
{
    static struct writer writer;
    for (unsigned round = 0; round < 1000; round++) {
        struct yarn_record record;
        struct perf_event_attr attr = any_attr(round);
        attr.branch_sample_type = 0; /* what may be left out may be there */
        put_sample(&writer, &attr);
        put_u64(&writer, 0);
        end(&writer);
        ck_assert_int_eq(yarn_record_decode(&attr, writer.bytes, writer.size, &record), -EBADMSG);
    }
}
END_TEST

/* Whatever the bytes are, nothing beyond them is looked at, and views lie within them. */
START_TEST(no_bytes_lead_out_of_the_record)
{
    static struct writer writer;
    for (unsigned round = 0; round < NR_ROUNDS; round++) {
        struct perf_event_attr attr = any_attr(round);
        put_sample(&writer, &attr);
        for (unsigned i = 0; i < 4; i++)
            writer.bytes[8 + below(writer.size)] = (uint8_t)(below(2) ? 255 : any());
        struct yarn_record record;
        (void)decode_cut(&attr, &writer, writer.size, true, &record);
    }
}
END_TEST

START_TEST(what_is_newer_than_the_header_is_refused_and_leaves_the_result_alone)
{
    static struct writer writer;
    struct yarn_record record = {.type = 77};
    struct perf_event_attr attr = {.sample_type = PERF_SAMPLE_IP};
    put_sample(&writer, &attr);
    attr.sample_type |= UINT64_C(1) << NR_BITS;
    ck_assert_int_eq(yarn_record_decode(&attr, writer.bytes, writer.size, &record), -EBADMSG);
    ck_assert_uint_eq(record.type, 77);
}
END_TEST

/* Of no event that the kernel opens. */
START_TEST(both_kinds_of_weight_at_once_are_refused)
{
    static struct writer writer;
    struct yarn_record record;
    struct perf_event_attr attr = {.sample_type = PERF_SAMPLE_WEIGHT};
    put_sample(&writer, &attr);
    check_record(&attr, &writer);
    attr.sample_type |= PERF_SAMPLE_WEIGHT_STRUCT;
    ck_assert_int_eq(yarn_record_decode(&attr, writer.bytes, writer.size, &record), -EBADMSG);
}
END_TEST

/* What stands behind them is read all the same. */
START_TEST(branches_that_the_kernel_had_none_of_are_no_fault)
{
    static const struct {
        uint64_t kinds, words[8];
        size_t nr_words, nr_branches;
        uint64_t hw_index;
    } rows[] = {
        {PERF_SAMPLE_BRANCH_HW_INDEX, {0}, 1, 0, UINT64_MAX},
        {PERF_SAMPLE_BRANCH_HW_INDEX, {0, 5}, 2, 0, 5},
        {PERF_SAMPLE_BRANCH_HW_INDEX | COUNTERS, {0}, 1, 0, UINT64_MAX},
        {PERF_SAMPLE_BRANCH_HW_INDEX | COUNTERS, {1, 5, 10, 20, 0}, 5, 1, 5},
        {PERF_SAMPLE_BRANCH_HW_INDEX | COUNTERS, {1, 5, 10, 20, 0, 7}, 6, 1, 5},
        {COUNTERS, {1, 10, 20, 0}, 4, 1, UINT64_MAX},
        {COUNTERS, {1, 10, 20, 0, 7}, 5, 1, UINT64_MAX},
        {0, {0}, 1, 0, UINT64_MAX},
    };
    static struct writer writer;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct yarn_record record;
        const struct perf_event_attr attr = {
            .sample_type = PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_DATA_SRC,
            .branch_sample_type = rows[i].kinds,
        };
        begin(&writer, PERF_RECORD_SAMPLE);
        for (size_t k = 0; k < rows[i].nr_words; k++)
            put_u64(&writer, rows[i].words[k]);
        put_u64(&writer, 77);
        end(&writer);
        ck_assert_int_eq(yarn_record_decode(&attr, writer.bytes, writer.size, &record), 0);
        ck_assert_uint_eq(record.branches.size, 24 * rows[i].nr_branches);
        ck_assert_uint_eq(record.branch_hw_index, rows[i].hw_index);
        ck_assert_uint_eq(record.data_src, 77);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("record_decode");
    TCase *made = tcase_create("records made by the description");
    tcase_set_timeout(made, 60);
    tcase_add_test(made, each_field_of_a_sample_is_what_was_written);
    tcase_add_test(made, each_other_kind_has_its_body_and_identity);
    tcase_add_test(made, branches_that_the_kernel_had_none_of_are_no_fault);
    suite_add_tcase(suite, made);
    TCase *bad = tcase_create("bytes that do not fit");
    tcase_set_timeout(bad, 60);
    tcase_add_test(bad, bytes_left_over_are_refused);
    tcase_add_test(bad, no_bytes_lead_out_of_the_record);
    tcase_add_test(bad, both_kinds_of_weight_at_once_are_refused);
    tcase_add_test(bad, what_is_newer_than_the_header_is_refused_and_leaves_the_result_alone);
    suite_add_tcase(suite, bad);
    return run_suite(suite);
}
