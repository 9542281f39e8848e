/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yarn/record.h>

#include "tests/support/suite.h"
#include "tests/unit/lib/record_writer.h"

enum { NR_ROUNDS = 20000, NR_BITS = 25 };

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

static void assert_within(struct yarn_bytes view, const uint8_t *bytes, size_t size)
{
    if (view.size)
        ck_assert(view.data >= bytes && view.size <= size - (size_t)(view.data - bytes));
}

static void assert_views_within(const struct yarn_record *record, const uint8_t *bytes, size_t size)
{
    assert_within(record->callchain, bytes, size);
    assert_within(record->values, bytes, size);
    assert_within(record->raw, bytes, size);
    assert_within(record->branches, bytes, size);
    assert_within(record->registers, bytes, size);
    assert_within(record->stack, bytes, size);
    assert_within(record->body, bytes, size);
}

/* In memory of just that size, so that a sanitizer sees each byte too many. */
static int decode_cut(const struct perf_event_attr *attr, const struct record_writer *writer,
                      size_t size, bool is_stated, struct yarn_record *ret_record)
{
    uint8_t *cut = malloc(size ? size : 1);
    uint16_t stated = (uint16_t)size;
    ck_assert_ptr_nonnull(cut);
    memcpy(cut, writer->bytes, size);
    if (is_stated && size >= sizeof(struct perf_event_header))
        memcpy(cut + offsetof(struct perf_event_header, size), &stated, sizeof stated);
    int err = yarn_record_decode(attr, cut, size, ret_record);
    if (!err)
        assert_views_within(ret_record, cut, size);
    free(cut);
    return err;
}

/* A record that states its new size may be another whole one: with a word less of what stands
 * behind a count of 0, or as many less as there are branches. The kernel leaves these out, too. */
static bool may_be_whole(const struct perf_event_attr *attr, const struct record_writer *writer,
                         size_t size, const struct yarn_record *cut)
{
    size_t left_out = cut->branches.size ? cut->branches.size / 3 : 8;
    return writer->want.type == PERF_RECORD_SAMPLE &&
           (attr->sample_type & PERF_SAMPLE_BRANCH_STACK) &&
           (attr->branch_sample_type & (PERF_SAMPLE_BRANCH_HW_INDEX | RECORD_COUNTERS)) &&
           writer->size - size == left_out;
}

static void check_record(const struct perf_event_attr *attr, const struct record_writer *writer)
{
    struct yarn_record record;
    ck_assert_int_eq(yarn_record_decode(attr, writer->bytes, writer->size, &record), 0);
    assert_record(&record, &writer->want);
}

static void check_cuts(const struct perf_event_attr *attr, const struct record_writer *writer)
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
        .sample_type = record_any() & ((1u << NR_BITS) - 1),
        .read_format = record_any() & 31,
        .branch_sample_type = record_any() & ((1u << 20) - 1),
        .sample_regs_user = record_any(),
        .sample_regs_intr = record_any(),
    };
    if (round < NR_BITS) /* each alone */
        attr.sample_type = UINT64_C(1) << round;
    if (attr.sample_type & PERF_SAMPLE_WEIGHT)
        attr.sample_type &= ~(uint64_t)PERF_SAMPLE_WEIGHT_STRUCT;
    attr.sample_id_all = record_any() & 1;
    return attr;
}

START_TEST(each_field_of_a_sample_is_what_was_written)
{
    static struct record_writer writer;
    for (unsigned round = 0; round < NR_ROUNDS; round++) {
        struct perf_event_attr attr = any_attr(round);
        record_put_sample(&writer, &attr);
        check_record(&attr, &writer);
        if (round < 400)
            check_cuts(&attr, &writer);
    }
}
END_TEST

START_TEST(each_other_kind_has_its_body_and_identity)
{
    static struct record_writer writer;
    for (unsigned round = 0; round < NR_ROUNDS; round++) {
        struct perf_event_attr attr = any_attr(NR_BITS);
        uint32_t type = 1 + round % (PERF_RECORD_MAX - 1);
        if (type == PERF_RECORD_SAMPLE)
            continue;
        record_put_other(&writer, &attr, type);
        check_record(&attr, &writer);
        if (round < 1000)
            check_cuts(&attr, &writer);
    }
}
END_TEST

START_TEST(bytes_left_over_are_refused)
{
    static struct record_writer writer;
    for (unsigned round = 0; round < 1000; round++) {
        struct yarn_record record;
        struct perf_event_attr attr = any_attr(round);
        attr.branch_sample_type = 0; /* what may be left out may be there */
        uint32_t type = 1 + round % (PERF_RECORD_MAX - 1);
        if (type == PERF_RECORD_SAMPLE || record_below(2))
            record_put_sample(&writer, &attr);
        else
            record_put_other(&writer, &attr, type);
        record_put_u64(&writer, 0);
        record_end(&writer);
        ck_assert_int_eq(yarn_record_decode(&attr, writer.bytes, writer.size, &record), -EBADMSG);
    }
}
END_TEST

/* Whatever the bytes are, nothing beyond them is looked at, and views lie within them. */
START_TEST(no_bytes_lead_out_of_the_record)
{
    static struct record_writer writer;
    for (unsigned round = 0; round < NR_ROUNDS; round++) {
        struct perf_event_attr attr = any_attr(round);
        record_put_sample(&writer, &attr);
        for (unsigned i = 0; i < 4; i++)
            writer.bytes[8 + record_below(writer.size)] =
                (uint8_t)(record_below(2) ? 255 : record_any());
        struct yarn_record record;
        (void)decode_cut(&attr, &writer, writer.size, true, &record);
    }
}
END_TEST

START_TEST(what_is_newer_than_the_header_is_refused_and_leaves_the_result_alone)
{
    static struct record_writer writer;
    struct yarn_record record = {.type = 77};
    struct perf_event_attr attr = {.sample_type = PERF_SAMPLE_IP};
    record_put_sample(&writer, &attr);
    attr.sample_type |= UINT64_C(1) << NR_BITS;
    ck_assert_int_eq(yarn_record_decode(&attr, writer.bytes, writer.size, &record), -EBADMSG);
    ck_assert_uint_eq(record.type, 77);
    attr.sample_type = PERF_SAMPLE_IP;
    attr.read_format = UINT64_C(1) << 5;
    ck_assert_int_eq(yarn_record_decode(&attr, writer.bytes, writer.size, &record), -EBADMSG);
}
END_TEST

START_TEST(kinds_newer_than_the_header_are_given_whole_and_those_of_no_kernel_refused)
{
    static const struct {
        uint32_t type;
        int result;
    } rows[] = {
        {0, -EBADMSG}, {PERF_RECORD_MAX, 0}, {63, 0}, {64, -EBADMSG}, {UINT32_MAX, -EBADMSG}};
    static struct record_writer writer;
    const struct perf_event_attr attr = {.sample_type = PERF_SAMPLE_TIME, .sample_id_all = 1};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct yarn_record record = {.type = 77};
        record_begin(&writer, rows[i].type);
        for (uint64_t word = 1; word <= 3; word++)
            record_put_u64(&writer, word);
        record_end(&writer);
        ck_assert_int_eq(yarn_record_decode(&attr, writer.bytes, writer.size, &record),
                         rows[i].result);
        ck_assert_uint_eq(record.body.size, rows[i].result ? 0 : 16);
        ck_assert_uint_eq(record.time, rows[i].result ? 0 : 3);
    }
}
END_TEST

START_TEST(a_stack_whose_valid_part_is_longer_than_its_copy_is_refused)
{
    static struct record_writer writer;
    struct yarn_record record;
    const struct perf_event_attr attr = {.sample_type = PERF_SAMPLE_STACK_USER};
    const uint64_t words[] = {8, 77, (uint64_t)_i};
    record_begin(&writer, PERF_RECORD_SAMPLE);
    for (size_t i = 0; i < 3; i++)
        record_put_u64(&writer, words[i]);
    record_end(&writer);
    ck_assert_int_eq(yarn_record_decode(&attr, writer.bytes, writer.size, &record),
                     _i > 8 ? -EBADMSG : 0);
}
END_TEST

/* Of no event that the kernel opens. */
START_TEST(both_kinds_of_weight_at_once_are_refused)
{
    static struct record_writer writer;
    struct yarn_record record;
    struct perf_event_attr attr = {.sample_type = PERF_SAMPLE_WEIGHT};
    record_put_sample(&writer, &attr);
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
        {PERF_SAMPLE_BRANCH_HW_INDEX | RECORD_COUNTERS, {0}, 1, 0, UINT64_MAX},
        {PERF_SAMPLE_BRANCH_HW_INDEX | RECORD_COUNTERS, {1, 5, 10, 20, 0}, 5, 1, 5},
        {PERF_SAMPLE_BRANCH_HW_INDEX | RECORD_COUNTERS, {1, 5, 10, 20, 0, 7}, 6, 1, 5},
        {RECORD_COUNTERS, {1, 10, 20, 0}, 4, 1, UINT64_MAX},
        {RECORD_COUNTERS, {1, 10, 20, 0, 7}, 5, 1, UINT64_MAX},
        {0, {0}, 1, 0, UINT64_MAX},
    };
    static struct record_writer writer;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct yarn_record record;
        const struct perf_event_attr attr = {
            .sample_type = PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_DATA_SRC,
            .branch_sample_type = rows[i].kinds,
        };
        record_begin(&writer, PERF_RECORD_SAMPLE);
        for (size_t k = 0; k < rows[i].nr_words; k++)
            record_put_u64(&writer, rows[i].words[k]);
        record_put_u64(&writer, 77);
        record_end(&writer);
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
    tcase_add_loop_test(bad, a_stack_whose_valid_part_is_longer_than_its_copy_is_refused, 8, 10);
    tcase_add_test(bad, both_kinds_of_weight_at_once_are_refused);
    tcase_add_test(bad, what_is_newer_than_the_header_is_refused_and_leaves_the_result_alone);
    tcase_add_test(bad, kinds_newer_than_the_header_are_given_whole_and_those_of_no_kernel_refused);
    suite_add_tcase(suite, bad);
    return run_suite(suite);
}
