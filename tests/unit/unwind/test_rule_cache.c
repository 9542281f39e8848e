/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/base/pages.h"
#include "tests/support/suite.h"
#include "unwind/rule_cache.h"

enum { MANY = 12000, FAR_TOO_MANY = 60000 };

static struct yarn_module_map *map;
static struct yarn_rule_cache cache;
static struct yarn_cached_rule first[FAR_TOO_MANY];

static void open_cache(void)
{
    ck_assert_int_eq(yarn_module_map_new(&map, &yarn_target_self, NULL), 0);
    ck_assert_int_eq(yarn_module_map_read_proc(map, 0), 0);
    ck_assert_int_eq(yarn_rule_cache_open(&cache, map, &yarn_machine_native), 0);
}

static void close_cache(void)
{
    yarn_rule_cache_close(&cache);
    yarn_rule_cache_close(&cache);
    yarn_module_map_free(map);
}

static uint64_t address_at(size_t i)
{
    return (uintptr_t)qsort + i;
}

static bool are_equal(const struct yarn_cached_rule *a, const struct yarn_cached_rule *b)
{
    return a->module == b->module && a->function == b->function && a->rule.kind == b->rule.kind &&
           a->rule.base == b->rule.base && a->rule.is_signal == b->rule.is_signal &&
           a->rule.frame == b->rule.frame && a->rule.second == b->rule.second &&
           a->rule.cfa_offset == b->rule.cfa_offset;
}

/* What is found the first time was made for it; what is found later has to be the same. */
static void find_first(size_t count)
{
    for (size_t i = 0; i < count; i++)
        first[i] = yarn_rule_cache_find(&cache, address_at(i));
}

static void assert_found_again(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct yarn_cached_rule again = yarn_rule_cache_find(&cache, address_at(i));
        ck_assert_msg(are_equal(&again, &first[i]), "address %zu", i);
    }
}

START_TEST(a_few_rules_take_a_page)
{
    yarn_rule_cache_close(&cache);
    (void)yarn_module_map_find(map, address_at(0)); /* the image has tables of its own */
    size_t before = yarn_pages_total();
    ck_assert_int_eq(yarn_rule_cache_open(&cache, map, &yarn_machine_native), 0);
    find_first(10);
    assert_found_again(10);
    ck_assert_uint_eq(cache.nr_used, 10);
    yarn_rule_cache_close(&cache);
    ck_assert_uint_eq(yarn_pages_total(), before);
}
END_TEST

START_TEST(rules_stay_while_the_cache_grows)
{
    size_t before = yarn_pages_total();
    find_first(MANY);
    ck_assert_uint_gt(yarn_pages_total(), before);
    size_t nr_used = cache.nr_used;
    ck_assert_uint_gt(nr_used, MANY - MANY / 20);
    assert_found_again(MANY);
    ck_assert_uint_lt(cache.nr_used - nr_used, MANY / 20);
}
END_TEST

START_TEST(more_rules_than_fit_displace_older_ones)
{
    find_first(FAR_TOO_MANY);
    ck_assert_uint_le(yarn_pages_total(), YARN_MIB(2));
    size_t backed = cache.room.backed;
    assert_found_again(FAR_TOO_MANY);
    ck_assert_uint_eq(cache.room.backed, backed);
}
END_TEST

static void map_something(uint64_t start)
{
    struct yarn_mapping mapping = {.start = start, .end = start + 4096, .path = "//anon"};
    ck_assert_int_eq(yarn_module_map_add(map, &mapping), 0);
}

START_TEST(a_new_module_empties_the_cache)
{
    find_first(MANY);
    ck_assert(!yarn_rule_cache_refresh(&cache));
    map_something(0x10000);
    ck_assert(yarn_rule_cache_refresh(&cache));
    ck_assert_uint_eq(cache.nr_used, 0);
    assert_found_again(MANY);
    ck_assert_uint_gt(cache.nr_used, MANY - MANY / 20);
}
END_TEST

/* Epochs have 16 bits: what is from the same number long ago must not be found. */
START_TEST(rules_of_the_same_epoch_a_round_ago_are_invalid)
{
    find_first(10);
    struct yarn_cached_rule before = first[0];
    cache.epoch = UINT16_MAX;
    map_something(0x10000);
    ck_assert(yarn_rule_cache_refresh(&cache));
    ck_assert_uint_eq(cache.epoch, 1);
    ck_assert_uint_eq(cache.nr_used, 0);
    struct yarn_cached_rule after = yarn_rule_cache_find(&cache, address_at(0));
    ck_assert_uint_eq(cache.nr_used, 1);
    ck_assert(are_equal(&before, &after));
}
END_TEST

START_TEST(no_address_of_a_program_takes_no_slot)
{
    struct yarn_cached_rule found = yarn_rule_cache_find(&cache, UINT64_C(0xffff800000001000));
    ck_assert_uint_eq(found.rule.kind, YARN_RULE_NONE);
    ck_assert_uint_eq(found.module, YARN_MODULE_NONE);
    ck_assert_uint_eq(cache.nr_used, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rule_cache");
    TCase *tcase = tcase_create("rules of the C library");
    tcase_add_checked_fixture(tcase, open_cache, close_cache);
    tcase_add_test(tcase, a_few_rules_take_a_page);
    tcase_add_test(tcase, rules_stay_while_the_cache_grows);
    tcase_add_test(tcase, more_rules_than_fit_displace_older_ones);
    tcase_add_test(tcase, a_new_module_empties_the_cache);
    tcase_add_test(tcase, rules_of_the_same_epoch_a_round_ago_are_invalid);
    tcase_add_test(tcase, no_address_of_a_program_takes_no_slot);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
