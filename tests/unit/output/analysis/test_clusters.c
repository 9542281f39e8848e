/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/compare/clusters.h"
#include "tests/support/suite.h"

#define SECOND UINT64_C(1000000000)

static struct yarn_profile_dump dump(uint32_t pid, uint64_t start_s, uint64_t last_s)
{
    return (struct yarn_profile_dump){
        .process = {.pid = pid, .start_ns = start_s * SECOND},
        .last_ns = last_s * SECOND,
    };
}

static struct yarn_profile_dump child(struct yarn_profile_dump parent, uint32_t pid,
                                      uint64_t start_s, uint64_t last_s)
{
    struct yarn_profile_dump made = dump(pid, start_s, last_s);
    made.process.parent_pid = parent.process.pid;
    made.process.parent_start_ns = parent.process.start_ns;
    return made;
}

static struct yarn_clusters clusters_of(struct yarn_profile_dump *dumps, size_t count)
{
    struct yarn_profile profile = {.dumps = dumps, .nr_dumps = count};
    struct yarn_clusters clusters;
    ck_assert_int_eq(yarn_clusters_build(&profile, 0, UINT64_MAX, &clusters), 0);
    return clusters;
}

START_TEST(a_tree_of_processes_is_one_run)
{
    struct yarn_profile_dump make = dump(10, 1, 9), again = dump(10, 20, 24);
    struct yarn_profile_dump cc = child(make, 11, 2, 8), as = child(cc, 12, 3, 4);
    struct yarn_profile_dump image = dump(11, 5, 9);
    image.process.predecessor_pid = 11;
    image.process.predecessor_start_ns = cc.process.start_ns;
    struct yarn_profile_dump dumps[] = {as, again, cc, image, make};
    struct yarn_clusters clusters = clusters_of(dumps, 5);
    ck_assert_uint_eq(clusters.count, 2);
    for (size_t i = 2; i < 5; i++)
        ck_assert_uint_eq(clusters.of_dump[i], clusters.of_dump[0]);
    ck_assert_uint_ne(clusters.of_dump[1], clusters.of_dump[0]);
    ck_assert_double_eq(clusters.clusters[clusters.of_dump[0]].seconds, 8);
    ck_assert_double_eq(clusters.clusters[clusters.of_dump[1]].seconds, 4);
    yarn_clusters_fini(&clusters);
}
END_TEST

START_TEST(siblings_whose_parent_left_no_dump_are_one_run)
{
    struct yarn_profile_dump shell = dump(5, 1, 9);
    struct yarn_profile_dump dumps[] = {child(shell, 6, 2, 3), child(shell, 7, 4, 5),
                                        dump(8, 2, 3)};
    struct yarn_clusters clusters = clusters_of(dumps, 3);
    ck_assert_uint_eq(clusters.count, 2);
    ck_assert_uint_eq(clusters.of_dump[0], clusters.of_dump[1]);
    yarn_clusters_fini(&clusters);
}
END_TEST

START_TEST(a_circle_of_parents_ends)
{
    struct yarn_profile_dump first = dump(1, 1, 2), second = child(first, 2, 1, 2);
    first.process.parent_pid = 2;
    first.process.parent_start_ns = second.process.start_ns;
    struct yarn_profile_dump dumps[] = {first, second};
    struct yarn_clusters clusters = clusters_of(dumps, 2);
    ck_assert_uint_eq(clusters.of_dump[0], clusters.of_dump[1]);
    yarn_clusters_fini(&clusters);
}
END_TEST

START_TEST(stopped_time_is_not_idle_time)
{
    struct yarn_dump_coverage stops[] = {{.time_ns = 2 * SECOND},
                                         {.time_ns = 7 * SECOND, .is_on = true}};
    struct yarn_profile_dump parent = dump(1, 0, 10), other = child(parent, 2, 6, 9);
    parent.coverage = stops;
    parent.nr_coverage = 2;
    struct yarn_clusters alone = clusters_of(&parent, 1);
    ck_assert_double_eq(alone.clusters[0].seconds, 5);
    yarn_clusters_fini(&alone);
    /* The child was recorded in the last of these seconds. */
    struct yarn_profile_dump dumps[] = {parent, other};
    struct yarn_clusters both = clusters_of(dumps, 2);
    ck_assert_double_eq(both.clusters[0].seconds, 6);
    yarn_clusters_fini(&both);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("clusters");
    TCase *tcase = tcase_create("runs of a program");
    tcase_add_test(tcase, a_tree_of_processes_is_one_run);
    tcase_add_test(tcase, siblings_whose_parent_left_no_dump_are_one_run);
    tcase_add_test(tcase, a_circle_of_parents_ends);
    tcase_add_test(tcase, stopped_time_is_not_idle_time);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
