/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "core/base/search.h"
#include "core/base/sort.h"
#include "tests/support/suite.h"

enum { MANY = 100000, TRIES = 2000 };

static uint64_t numbers[MANY];
static size_t nr_probes;

static uint64_t number_at(const void *all, size_t at)
{
    nr_probes++;
    return ((const uint64_t *)all)[at];
}

static uint64_t next_random(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    return yarn_hash_u64(*state);
}

static size_t position_by_halves(size_t count, uint64_t wanted)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (numbers[middle] <= wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Places of numbers that functions could begin at, in ways that proportion knows nothing of. */
static uint64_t even(uint64_t i, uint64_t *state)
{
    return i * 200 + next_random(state) % 190;
}

static uint64_t two_densities(uint64_t i, uint64_t *state)
{
    return i < MANY / 3 ? i * 16 + next_random(state) % 16 : i * 600 + next_random(state) % 500;
}

static uint64_t steep(uint64_t i, uint64_t *state)
{
    (void)state;
    return i < MANY - 32 ? i : UINT64_C(1) << (i - MANY + 33);
}

static uint64_t equal(uint64_t i, uint64_t *state)
{
    (void)state;
    return i / 1000;
}

static uint64_t any(uint64_t i, uint64_t *state)
{
    (void)i;
    return next_random(state) >> 31;
}

static const struct {
    uint64_t (*number)(uint64_t i, uint64_t *state);
    double probes_max; /* a search, on average */
} kinds[] = {{even, 12}, {two_densities, 16}, {steep, 32}, {equal, 28}, {any, 13}};

static size_t fill(int kind, size_t count)
{
    uint64_t state = 1;
    for (size_t i = 0; i < count; i++)
        numbers[i] = kinds[kind].number(i, &state);
    yarn_sort_u64(numbers, count);
    return count;
}

START_TEST(position_is_that_of_a_search_by_halves)
{
    static const size_t counts[] = {0, 1, 2, 3, 15, 16, 17, 18, 19, 100, 1000, MANY};
    uint64_t state = 7;
    for (size_t c = 0; c < YARN_COUNT_OF(counts); c++) {
        size_t count = fill(_i, counts[c]);
        for (int i = 0; i < TRIES; i++) {
            uint64_t wanted = next_random(&state) >> 31;
            if (count && i % 2)
                wanted = numbers[wanted % count] + (uint64_t)(i % 3) - 1;
            ck_assert_uint_eq(yarn_search_position(numbers, count, number_at, wanted),
                              position_by_halves(count, wanted));
        }
    }
}
END_TEST

START_TEST(few_numbers_are_looked_at)
{
    uint64_t state = 3;
    size_t count = fill(_i, MANY), most = 0;
    size_t sum = 0;
    for (int i = 0; i < TRIES; i++) {
        nr_probes = 0;
        (void)yarn_search_position(numbers, count, number_at, numbers[next_random(&state) % count]);
        sum += nr_probes;
        most = yarn_size_max(most, nr_probes);
    }
    ck_assert_double_le((double)sum / TRIES, kinds[_i].probes_max);
    ck_assert_uint_le(most, 3 * 17 + 2);
}
END_TEST

START_TEST(numbers_that_are_not_sorted_do_no_harm)
{
    uint64_t state = 11;
    for (size_t i = 0; i < MANY; i++)
        numbers[i] = next_random(&state);
    for (int i = 0; i < TRIES; i++) {
        uint64_t wanted = next_random(&state);
        ck_assert_uint_le(yarn_search_position(numbers, MANY, number_at, wanted), MANY);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("search");
    TCase *tcase = tcase_create("numbers of all kinds");
    tcase_add_loop_test(tcase, position_is_that_of_a_search_by_halves, 0,
                        (int)YARN_COUNT_OF(kinds));
    tcase_add_loop_test(tcase, few_numbers_are_looked_at, 0, (int)YARN_COUNT_OF(kinds));
    tcase_add_test(tcase, numbers_that_are_not_sorted_do_no_harm);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
