/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdlib.h>

#include "output/analysis/time/timeline.h"
#include "tests/support/suite.h"

static const struct {
    size_t count, most;
    uint64_t disorder; /* of times that otherwise grow by 1 */
} cases[] = {
    {0, 0, 0},
    {0, 10, 0},
    {1, 10, 0},
    {10, 10, 3},
    {11, 10, 3},
    {1000, 10, 0},
    {1000, 10, 100000},
    {1000, 1, 5},
    {5000, 100, 50},
    {5000, 0, 50},
    {20000, 64, 1},
    {20000, 4999, 100},
    {60000, 5000, 30000},
    {20000, 7, UINT32_MAX},
    {150000, 20000, 100},
};

static void add_all(struct yarn_timeline *timeline, int number)
{
    for (size_t i = 0; i < cases[number].count; i++) {
        uint64_t late = cases[number].disorder ? yarn_hash_u64(i) % cases[number].disorder : 0;
        struct yarn_timeline_entry entry = {
            .time_ns = UINT32_MAX + i / 3 - late,
            .weight = i,
            .thread = (uint32_t)i,
        };
        ck_assert_int_eq(yarn_timeline_add(timeline, &entry), 0);
        if (cases[number].most)
            ck_assert_uint_le(timeline->rows.count, cases[number].most);
    }
    ck_assert_int_eq(yarn_timeline_sort(timeline), 0);
}

/* Entries of equal time come as they were added: their weights show it. */
START_TEST(all_come_in_order_however_few_fit_into_memory)
{
    struct yarn_timeline timeline = {.rows = {.most = cases[_i].most}};
    struct yarn_timeline_entry entry;
    uint64_t time_ns = 0, weight = 0, sum = 0;
    size_t count = 0;
    int more;
    add_all(&timeline, _i);
    while ((more = yarn_sorter_next(&timeline.rows, &entry)) > 0) {
        ck_assert_uint_ge(entry.time_ns, time_ns);
        if (count && entry.time_ns == time_ns)
            ck_assert_uint_gt(entry.weight, weight);
        ck_assert_uint_eq(entry.thread, entry.weight);
        time_ns = entry.time_ns;
        weight = entry.weight;
        sum += entry.weight;
        count++;
    }
    ck_assert_int_eq(more, 0);
    ck_assert_uint_eq(count, cases[_i].count);
    ck_assert_uint_eq(sum, count ? (uint64_t)count * (count - 1) / 2 : 0);
    ck_assert_int_eq(yarn_sorter_next(&timeline.rows, &entry), 0);
    yarn_sorter_fini(&timeline.rows);
}
END_TEST

/* Twice, as a file with two columns is written. Threads go down while time goes up. */
START_TEST(gathered_entries_can_be_gone_over_again_by_thread)
{
    struct yarn_timeline timeline = {.rows = {.most = cases[_i].most},
                                     .order = YARN_TIMELINE_BY_TRACK};
    for (size_t i = 0; i < cases[_i].count; i++) {
        struct yarn_timeline_entry entry = {
            .time_ns = 1000 + i / 7,
            .weight = i,
            .thread = 3 - (uint32_t)(i % 4),
            .event = (uint16_t)(i % 8 / 4),
        };
        ck_assert_int_eq(yarn_timeline_add(&timeline, &entry), 0);
    }
    ck_assert_int_eq(yarn_timeline_sort(&timeline), 0);
    ck_assert_int_eq(yarn_sorter_gather(&timeline.rows), 0);
    ck_assert_uint_eq(timeline.rows.count, cases[_i].count);
    for (unsigned pass = 0; pass < 2; pass++) {
        uint64_t sum = 0;
        for (size_t i = 0; i < timeline.rows.count; i++) {
            const struct yarn_timeline_entry *entry = yarn_timeline_at(&timeline, i);
            sum += entry->weight;
            if (!i)
                continue;
            const struct yarn_timeline_entry *last = entry - 1;
            uint32_t track = entry->thread * 2 + entry->event;
            uint32_t before = last->thread * 2 + last->event;
            ck_assert_uint_ge(track, before);
            ck_assert(track > before || entry->weight > last->weight);
        }
        ck_assert_uint_eq(
            sum, timeline.rows.count ? timeline.rows.count * (timeline.rows.count - 1) / 2 : 0);
    }
    yarn_sorter_fini(&timeline.rows);
}
END_TEST

START_TEST(folder_that_cannot_be_written_to_is_passed_over)
{
    struct yarn_timeline timeline = {.rows = {.most = 2}};
    struct yarn_timeline_entry entry = {.time_ns = 1};
    ck_assert_int_eq(setenv("TMPDIR", "/no/such/folder", 1), 0);
    for (size_t i = 0; i < 5; i++)
        ck_assert_int_eq(yarn_timeline_add(&timeline, &entry), 0);
    ck_assert_int_eq(yarn_timeline_sort(&timeline), 0);
    for (size_t i = 0; i < 5; i++)
        ck_assert_int_eq(yarn_sorter_next(&timeline.rows, &entry), 1);
    yarn_sorter_fini(&timeline.rows);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("timeline");
    TCase *tcase = tcase_create("entries that do and do not fit");
    tcase_add_loop_test(tcase, all_come_in_order_however_few_fit_into_memory, 0,
                        (int)YARN_COUNT_OF(cases));
    tcase_add_loop_test(tcase, gathered_entries_can_be_gone_over_again_by_thread, 0,
                        (int)YARN_COUNT_OF(cases));
    tcase_add_test(tcase, folder_that_cannot_be_written_to_is_passed_over);
    tcase_set_timeout(tcase, 60);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
