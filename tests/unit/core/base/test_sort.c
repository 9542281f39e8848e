/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "core/base/sort.h"
#include "tests/support/suite.h"

enum { COUNT_MAX = 20000 };

static uint64_t values[COUNT_MAX];

typedef uint64_t order_fn(uint64_t at, uint64_t count);

static uint64_t ascending(uint64_t at, uint64_t count)
{
    (void)count;
    return at;
}

static uint64_t descending(uint64_t at, uint64_t count)
{
    return count - at;
}

static uint64_t equal(uint64_t at, uint64_t count)
{
    (void)at;
    return count;
}

static uint64_t organ_pipe(uint64_t at, uint64_t count)
{
    return at < count / 2 ? at : count - at;
}

static uint64_t random_order(uint64_t at, uint64_t count)
{
    return yarn_hash_u64(at + count);
}

static uint64_t few_values(uint64_t at, uint64_t count)
{
    return yarn_hash_u64(at + count) % 3;
}

static uint64_t saw(uint64_t at, uint64_t count)
{
    (void)count;
    return at % 17 ? UINT64_MAX - at : at;
}

/* Digits that fill up one level after the other. */
static uint64_t one_bit_each(uint64_t at, uint64_t count)
{
    (void)count;
    return UINT64_C(1) << at % 64;
}

/* As offsets of symbols: the upper half distinguishes them, the lower half is their number. */
static uint64_t numbered_offsets(uint64_t at, uint64_t count)
{
    return (yarn_hash_u64(at) % (count * 40)) << 32 | at;
}

static order_fn *const orders[] = {
    ascending,  descending, equal,        organ_pipe,       random_order,
    few_values, saw,        one_bit_each, numbered_offsets,
};

static void check_sorted(order_fn *order, size_t count)
{
    uint64_t sum_before = 0, sum_after = 0;
    for (size_t i = 0; i < count; i++) {
        values[i] = order(i, count);
        sum_before += yarn_hash_u64(values[i]);
    }
    yarn_sort_u64(values, count);
    for (size_t i = 0; i < count; i++) {
        sum_after += yarn_hash_u64(values[i]);
        ck_assert(i == 0 || values[i - 1] <= values[i]);
    }
    ck_assert_uint_eq(sum_before, sum_after);
}

START_TEST(numbers_in_any_order_come_out_ascending)
{
    for (size_t count = 0; count < 200; count++)
        check_sorted(orders[_i], count);
    check_sorted(orders[_i], COUNT_MAX);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sort");
    TCase *tcase = tcase_create("numbers in place");
    tcase_add_loop_test(tcase, numbers_in_any_order_come_out_ascending, 0, YARN_COUNT_OF(orders));
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
