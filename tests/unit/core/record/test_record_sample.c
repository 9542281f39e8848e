/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "tests/support/suite.h"
#include "tests/unit/core/record/handmade.h"

enum {
    PARTS_COUNT = 8, /* subsets of callchain, registers, stack */
    FRAMES = 3,
    STACK_BYTES = 40,
    STACK_VALID = 24,
    COMMON_BYTES = 56,
};

/* Bits at both ends, where shifts go wrong. */
#define REGISTERS_MASK (UINT64_C(1) | UINT64_C(1) << 7 | UINT64_C(1) << 16 | UINT64_C(1) << 63)
static const unsigned register_bits[] = {0, 7, 16, 63};

static struct handmade_record made;
static struct yarn_record_decoder decoder;
static struct perf_event_attr layout;

static uint64_t parts_of(int subset)
{
    return (subset & 1 ? PERF_SAMPLE_CALLCHAIN : 0) | (subset & 2 ? PERF_SAMPLE_REGS_USER : 0) |
           (subset & 4 ? PERF_SAMPLE_STACK_USER : 0);
}

static void begin_sample(uint64_t parts)
{
    memset(&decoder, 0xcc, sizeof decoder);
    layout.sample_type = YARN_SAMPLE_TYPE_COMMON | PERF_SAMPLE_PERIOD | parts;
    layout.sample_regs_user = REGISTERS_MASK;
    handmade_know(&decoder, &layout, handmade_someone.id, 0);
    handmade_begin(&made, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
    handmade_sample(&made, &handmade_someone, UINT64_C(0x7fff00001234), UINT64_C(1) << 40);
}

static void put_callchain(void)
{
    yarn_bytes_u64(&made.bytes, FRAMES);
    for (uint64_t i = 0; i < FRAMES; i++)
        yarn_bytes_u64(&made.bytes, 0x400000 + i);
}

static void put_registers(uint64_t abi)
{
    yarn_bytes_u64(&made.bytes, abi);
    for (size_t i = 0; abi && i < YARN_COUNT_OF(register_bits); i++)
        yarn_bytes_u64(&made.bytes, UINT64_C(0xabcdef0000) + register_bits[i]);
}

static void put_stack(uint64_t size, uint64_t valid)
{
    yarn_bytes_u64(&made.bytes, size);
    handmade_pattern(&made, size, 0x40);
    if (size)
        yarn_bytes_u64(&made.bytes, valid);
}

static int decode(const struct yarn_wrapped *bytes, struct yarn_typed_record *ret_record)
{
    struct perf_event_header header = handmade_header(&made);
    return yarn_record_decoder_decode(&decoder, &header, bytes, ret_record);
}

/* As one piece, its allocation as large as the record. */
static int decode_whole(struct yarn_typed_record *ret_record, struct handmade_split *ret_split)
{
    handmade_end(&made);
    *ret_split = handmade_split_at(&made, made.bytes.size);
    return decode(&ret_split->bytes, ret_record);
}

static int decode_only(void)
{
    struct yarn_typed_record record;
    struct handmade_split split;
    int err = decode_whole(&record, &split);
    handmade_split_free(&split);
    return err;
}

static void check_common(const struct yarn_typed_record *record)
{
    ck_assert_int_eq(record->type, YARN_RECORD_SAMPLE);
    ck_assert_uint_eq(record->perf.type, PERF_RECORD_SAMPLE);
    ck_assert_uint_eq(record->perf.misc, PERF_RECORD_MISC_USER);
    ck_assert_uint_eq(record->perf.pid, handmade_someone.pid);
    ck_assert_uint_eq(record->perf.tid, handmade_someone.tid);
    ck_assert_uint_eq(record->perf.time, handmade_someone.time_ns);
    ck_assert_uint_eq(record->perf.cpu, handmade_someone.cpu);
    ck_assert_uint_eq(record->perf.id, handmade_someone.id);
    ck_assert_uint_eq(record->perf.ip, UINT64_C(0x7fff00001234));
    ck_assert_uint_eq(record->perf.period, UINT64_C(1) << 40);
    ck_assert_ptr_null(record->mmap);
}

static void check_callchain(const struct yarn_record *sample, bool is_there)
{
    ck_assert_uint_eq(sample->callchain.size, is_there ? FRAMES * 8 : 0);
    for (uint64_t i = 0; is_there && i < FRAMES; i++) {
        uint64_t frame;
        ck_assert(yarn_record_caller(sample, i, &frame));
        ck_assert_uint_eq(frame, 0x400000 + i);
    }
}

static void check_registers(const struct yarn_record *sample, bool is_there)
{
    ck_assert(yarn_record_has_registers(sample) == is_there);
    for (unsigned bit = 0; bit < 64; bit++) {
        uint64_t value = 99;
        bool is_asked = REGISTERS_MASK >> bit & 1;
        bool is_got = yarn_record_register(sample, REGISTERS_MASK, bit, &value);
        ck_assert(is_got == (is_there && is_asked));
        ck_assert_uint_eq(value, is_got ? UINT64_C(0xabcdef0000) + bit : 99);
    }
}

static void check_stack(const struct yarn_typed_record *sample, size_t size)
{
    ck_assert_uint_eq(yarn_wrapped_size(&sample->stack), size);
    for (size_t i = 0; i < size; i++) {
        uint8_t byte;
        ck_assert(yarn_wrapped_read(&sample->stack, i, &byte, 1));
        ck_assert_uint_eq(byte, 0x40 + i);
    }
    ck_assert_uint_eq(sample->perf.stack.size, sample->stack.second.size ? 0 : size);
    if (sample->perf.stack.size)
        ck_assert_ptr_eq(sample->perf.stack.data, sample->stack.first.data);
}

START_TEST(sample_is_decoded_with_any_of_its_parts_at_any_split)
{
    begin_sample(parts_of(_i));
    if (_i & 1)
        put_callchain();
    if (_i & 2)
        put_registers(PERF_SAMPLE_REGS_ABI_64);
    if (_i & 4)
        put_stack(STACK_BYTES, STACK_VALID);
    handmade_end(&made);
    for (size_t at = 0; at <= made.bytes.size; at++) {
        struct handmade_split split = handmade_split_at(&made, at);
        struct yarn_typed_record record;
        memset(&record, 0xcc, sizeof record);
        ck_assert_int_eq(decode(&split.bytes, &record), 0);
        check_common(&record);
        check_callchain(&record.perf, _i & 1);
        check_registers(&record.perf, _i & 2);
        check_stack(&record, _i & 4 ? STACK_VALID : 0);
        handmade_split_free(&split);
    }
}
END_TEST

START_TEST(sample_that_is_too_short_for_its_parts_is_refused_at_any_length)
{
    begin_sample(parts_of(_i));
    if (_i & 1)
        put_callchain();
    if (_i & 2)
        put_registers(PERF_SAMPLE_REGS_ABI_64);
    if (_i & 4)
        put_stack(STACK_BYTES, STACK_VALID);
    for (size_t whole = made.bytes.size; made.bytes.size >= sizeof(struct perf_event_header);
         made.bytes.size--)
        ck_assert_msg(decode_only() == (made.bytes.size == whole ? 0 : -EBADMSG), "%zu of %zu",
                      made.bytes.size, whole);
}
END_TEST

START_TEST(sample_that_is_refused_leaves_the_result_alone)
{
    struct yarn_typed_record record, before;
    struct handmade_split split;
    memset(&record, 0x5c, sizeof record);
    before = record;
    begin_sample(PERF_SAMPLE_CALLCHAIN);
    yarn_bytes_u64(&made.bytes, 1);
    ck_assert_int_eq(decode_whole(&record, &split), -EBADMSG);
    ck_assert_mem_eq(&record, &before, sizeof record);
    handmade_split_free(&split);
}
END_TEST

START_TEST(sample_of_a_kernel_thread_has_no_registers_and_no_stack)
{
    struct yarn_typed_record record;
    struct handmade_split split;
    begin_sample(parts_of(7));
    put_callchain();
    put_registers(PERF_SAMPLE_REGS_ABI_NONE);
    put_stack(0, 0);
    ck_assert_int_eq(decode_whole(&record, &split), 0);
    check_common(&record);
    check_callchain(&record.perf, true);
    check_registers(&record.perf, false);
    check_stack(&record, 0);
    handmade_split_free(&split);
}
END_TEST

START_TEST(sample_of_a_32_bit_task_has_no_registers_and_keeps_its_stack)
{
    struct yarn_typed_record record;
    struct handmade_split split;
    begin_sample(parts_of(6));
    put_registers(PERF_SAMPLE_REGS_ABI_32);
    put_stack(STACK_BYTES, STACK_BYTES);
    ck_assert_int_eq(decode_whole(&record, &split), 0);
    check_registers(&record.perf, false);
    check_stack(&record, STACK_BYTES);
    handmade_split_free(&split);
}
END_TEST

START_TEST(sample_of_an_unknown_abi_has_no_registers)
{
    struct yarn_typed_record record;
    struct handmade_split split;
    begin_sample(PERF_SAMPLE_REGS_USER);
    put_registers(3);
    ck_assert_int_eq(decode_whole(&record, &split), 0);
    check_registers(&record.perf, false);
    handmade_split_free(&split);
}
END_TEST

START_TEST(sample_asked_for_no_register_has_none)
{
    struct yarn_typed_record record;
    struct handmade_split split;
    uint64_t value;
    begin_sample(PERF_SAMPLE_REGS_USER);
    layout.sample_regs_user = 0;
    yarn_bytes_u64(&made.bytes, PERF_SAMPLE_REGS_ABI_64);
    ck_assert_int_eq(decode_whole(&record, &split), 0);
    for (unsigned bit = 0; bit < 64; bit++)
        ck_assert(!yarn_record_register(&record.perf, layout.sample_regs_user, bit, &value));
    handmade_split_free(&split);
}
END_TEST

static const struct {
    uint64_t size, valid;
    size_t written; /* bytes of the copy that are there */
    int want;
    size_t want_bytes;
} stack_rows[] = {
    {40, 0, 40, 0, 0},
    {40, 1, 40, 0, 1},
    {40, 24, 40, 0, 24},
    {40, 40, 40, 0, 40},
    {40, 41, 40, -EBADMSG, 0},
    {40, UINT64_MAX, 40, -EBADMSG, 0},
    {48, 40, 40, -EBADMSG, 0},
    {49, 40, 40, -EBADMSG, 0},
    {UINT64_MAX, 0, 40, -EBADMSG, 0},
    {UINT64_MAX - 7, 8, 40, -EBADMSG, 0},
    {UINT64_C(1) << 63, 8, 40, -EBADMSG, 0},
    {UINT64_C(1) << 32, 8, 40, -EBADMSG, 0},
    {65472, 65472, 65464, -EBADMSG, 0},
    {65456, 65456, 65456, 0, 65456},
};

START_TEST(sample_gives_the_valid_part_of_the_stack_and_believes_no_lie_about_it)
{
    struct yarn_typed_record record;
    struct handmade_split split;
    begin_sample(PERF_SAMPLE_STACK_USER);
    yarn_bytes_u64(&made.bytes, stack_rows[_i].size);
    handmade_pattern(&made, stack_rows[_i].written, 0x40);
    yarn_bytes_u64(&made.bytes, stack_rows[_i].valid);
    ck_assert_int_eq(decode_whole(&record, &split), stack_rows[_i].want);
    if (!stack_rows[_i].want)
        ck_assert_uint_eq(yarn_wrapped_size(&record.stack), stack_rows[_i].want_bytes);
    handmade_split_free(&split);
}
END_TEST

START_TEST(sample_with_a_stack_size_and_nothing_else_is_refused)
{
    begin_sample(PERF_SAMPLE_STACK_USER);
    yarn_bytes_u64(&made.bytes, 8);
    ck_assert_int_eq(decode_only(), -EBADMSG);
    yarn_bytes_u64(&made.bytes, 0);
    ck_assert_int_eq(decode_only(), -EBADMSG);
    yarn_bytes_u64(&made.bytes, 0);
    ck_assert_int_eq(decode_only(), 0);
}
END_TEST

static const struct {
    uint64_t entries;
    int want;
} callchain_rows[] = {
    {0, 0},
    {1, 0},
    {4, 0},
    {5, -EBADMSG},
    {65535, -EBADMSG},
    {65536, -EBADMSG},
    {UINT64_C(1) << 32, -EBADMSG},
    {UINT64_C(1) << 61, -EBADMSG}, /* in bytes it is 0 modulo 2^64 */
    {(UINT64_C(1) << 61) + 1, -EBADMSG},
    {UINT64_C(1) << 63, -EBADMSG},
    {UINT64_MAX, -EBADMSG},
};

START_TEST(sample_believes_no_lie_about_its_callchain)
{
    struct yarn_typed_record record;
    struct handmade_split split;
    begin_sample(PERF_SAMPLE_CALLCHAIN);
    yarn_bytes_u64(&made.bytes, callchain_rows[_i].entries);
    handmade_pattern(&made, (size_t)4 * 8, 1);
    ck_assert_int_eq(decode_whole(&record, &split), callchain_rows[_i].want);
    if (!callchain_rows[_i].want)
        ck_assert_uint_eq(record.perf.callchain.size, callchain_rows[_i].entries * 8);
    handmade_split_free(&split);
}
END_TEST

START_TEST(sample_whose_callchain_eats_the_registers_stays_inside_the_record)
{
    struct yarn_typed_record record;
    struct handmade_split split;
    begin_sample(parts_of(3));
    yarn_bytes_u64(&made.bytes, 4); /* three, and the registers' abi */
    for (uint64_t i = 0; i < FRAMES; i++)
        yarn_bytes_u64(&made.bytes, i);
    put_registers(PERF_SAMPLE_REGS_ABI_64);
    int err = decode_whole(&record, &split);
    handmade_split_free(&split);
    ck_assert_int_eq(err, -EBADMSG);
}
END_TEST

START_TEST(sample_may_go_on_behind_what_we_know)
{
    struct yarn_typed_record record;
    struct handmade_split split;
    begin_sample(PERF_SAMPLE_CALLCHAIN);
    put_callchain();
    handmade_pattern(&made, 64, 0);
    ck_assert_int_eq(decode_whole(&record, &split), 0);
    check_callchain(&record.perf, true);
    handmade_split_free(&split);
}
END_TEST

START_TEST(sample_shows_its_time_without_being_decoded)
{
    begin_sample(0);
    handmade_end(&made);
    struct perf_event_header header = handmade_header(&made);
    for (size_t at = 0; at <= made.bytes.size; at++) {
        struct handmade_split split = handmade_split_at(&made, at);
        ck_assert_uint_eq(yarn_record_time(&header, &split.bytes), handmade_someone.time_ns);
        handmade_split_free(&split);
    }
    for (made.bytes.size = 39; made.bytes.size >= 8; made.bytes.size--) {
        struct handmade_split split = handmade_split_at(&made, 8);
        ck_assert_uint_eq(yarn_record_time(&header, &split.bytes), 0);
        handmade_split_free(&split);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("record: samples");

    TCase *whole = tcase_create("samples as kernels write them");
    tcase_add_loop_test(whole, sample_is_decoded_with_any_of_its_parts_at_any_split, 0,
                        PARTS_COUNT);
    tcase_add_test(whole, sample_of_a_kernel_thread_has_no_registers_and_no_stack);
    tcase_add_test(whole, sample_of_a_32_bit_task_has_no_registers_and_keeps_its_stack);
    tcase_add_test(whole, sample_asked_for_no_register_has_none);
    tcase_add_test(whole, sample_may_go_on_behind_what_we_know);
    tcase_add_test(whole, sample_shows_its_time_without_being_decoded);
    suite_add_tcase(suite, whole);

    TCase *lying = tcase_create("samples that lie");
    tcase_add_loop_test(lying, sample_that_is_too_short_for_its_parts_is_refused_at_any_length, 0,
                        PARTS_COUNT);
    tcase_add_test(lying, sample_that_is_refused_leaves_the_result_alone);
    tcase_add_test(lying, sample_of_an_unknown_abi_has_no_registers);
    tcase_add_loop_test(lying,
                        sample_gives_the_valid_part_of_the_stack_and_believes_no_lie_about_it, 0,
                        YARN_COUNT_OF(stack_rows));
    tcase_add_test(lying, sample_with_a_stack_size_and_nothing_else_is_refused);
    tcase_add_loop_test(lying, sample_believes_no_lie_about_its_callchain, 0,
                        YARN_COUNT_OF(callchain_rows));
    tcase_add_test(lying, sample_whose_callchain_eats_the_registers_stays_inside_the_record);
    suite_add_tcase(suite, lying);
    return run_suite(suite);
}
