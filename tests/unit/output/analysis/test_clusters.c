/* SPDX-License-Identifier: Apache-2.0 */
#include "output/fold/clusters.h"
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
    ck_assert_uint_eq(clusters.nr_processes, 4);
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

/* An image that an exec made, which knows its parent's number alone. */
static struct yarn_profile_dump executed(struct yarn_profile_dump parent, uint32_t pid,
                                         uint64_t start_s, uint64_t last_s)
{
    struct yarn_profile_dump made = dump(pid, start_s, last_s);
    made.process.ppid = parent.process.pid;
    made.process.host = parent.process.host;
    return made;
}

static void end(struct yarn_profile_dump *dump, enum yarn_dump_end_reason reason)
{
    dump->has_end = true;
    dump->end = (struct yarn_dump_end){.time_ns = dump->last_ns, .reason = reason};
}

START_TEST(executed_helpers_are_of_their_parents_run)
{
    enum { RUNS = 5, HELPERS = 40 };
    struct yarn_profile_dump dumps[RUNS * HELPERS];
    for (uint32_t i = 0; i < RUNS * HELPERS; i++) {
        uint32_t run = i / HELPERS, at = i % HELPERS, first = run * HELPERS;
        uint64_t start_s = 100 * run + 1;
        /* Numbers come again in each run; helpers start helpers of their own. */
        dumps[i] = at == 0  ? dump(7, start_s, start_s + 90)
                   : at < 4 ? executed(dumps[first], 7 + at, start_s + at, start_s + at + 50)
                            : executed(dumps[i - 3], 7 + at, start_s + at, start_s + at + 3);
        end(&dumps[i], YARN_DUMP_END_EXIT);
    }
    struct yarn_clusters clusters = clusters_of(dumps, RUNS * HELPERS);
    ck_assert_uint_eq(clusters.count, RUNS);
    ck_assert_uint_eq(clusters.nr_runs, RUNS);
    ck_assert_uint_eq(clusters.nr_processes, RUNS * HELPERS);
    for (size_t i = 0; i < RUNS * HELPERS; i++)
        ck_assert_uint_eq(clusters.of_dump[i], i / HELPERS);
    for (size_t i = 0; i < RUNS; i++)
        ck_assert_double_eq(clusters.clusters[i].seconds, 90);
    yarn_clusters_fini(&clusters);
}
END_TEST

START_TEST(a_number_that_comes_again_is_another_process)
{
    struct yarn_profile_dump elsewhere = dump(7, 1, 99), gone = dump(7, 1, 5);
    elsewhere.process.host = yarn_span_of_text("container");
    end(&gone, YARN_DUMP_END_EXIT);
    struct yarn_profile_dump later = dump(7, 30, 40);
    struct yarn_profile_dump dumps[] = {gone,
                                        elsewhere,
                                        later,
                                        executed(gone, 8, 4, 5),
                                        executed(gone, 9, 20, 21),
                                        executed(elsewhere, 10, 20, 21),
                                        executed(later, 11, 35, 36)};
    struct yarn_clusters clusters = clusters_of(dumps, YARN_COUNT_OF(dumps));
    static const uint32_t want[] = {0, 1, 2, 0, 3, 1, 2};
    ck_assert_mem_eq(clusters.of_dump, want, sizeof want);
    yarn_clusters_fini(&clusters);
}
END_TEST

START_TEST(a_parent_that_was_killed_or_executed_another_program_has_not_gone)
{
    struct yarn_profile_dump killed = dump(7, 1, 5), another = dump(8, 1, 5);
    end(&another, YARN_DUMP_END_EXEC);
    struct yarn_profile_dump dumps[] = {killed, another, executed(killed, 9, 20, 21),
                                        executed(another, 10, 20, 21)};
    struct yarn_clusters clusters = clusters_of(dumps, YARN_COUNT_OF(dumps));
    static const uint32_t want[] = {0, 1, 0, 1};
    ck_assert_mem_eq(clusters.of_dump, want, sizeof want);
    yarn_clusters_fini(&clusters);
}
END_TEST

START_TEST(runs_of_one_shell_that_left_no_dump_are_several)
{
    struct yarn_profile_dump shell = dump(5, 1, 99);
    struct yarn_profile_dump dumps[] = {executed(shell, 6, 2, 3), executed(shell, 7, 4, 5)};
    struct yarn_clusters clusters = clusters_of(dumps, 2);
    ck_assert_uint_eq(clusters.count, 2);
    yarn_clusters_fini(&clusters);
}
END_TEST

static struct yarn_profile_dump rooted(struct yarn_profile_dump made, uint32_t pid,
                                       uint64_t birth_ns)
{
    made.process.root_pid = pid;
    made.process.root_birth_ns = birth_ns;
    return made;
}

/* By way of shells that had no sample; a number may come again, or be another host's. */
START_TEST(what_descends_from_one_process_is_one_run_whoever_left_dumps)
{
    struct yarn_profile_dump dumps[] = {
        rooted(dump(11, 2, 3), 5, 70), rooted(dump(12, 4, 5), 5, 70),
        rooted(dump(13, 4, 5), 5, 80), rooted(dump(14, 6, 7), 5, 70),
        rooted(dump(5, 1, 8), 5, 70),  rooted(executed(dump(11, 2, 3), 15, 3, 4), 15, 90)};
    dumps[3].process.host = yarn_span_of_text("container");
    struct yarn_clusters clusters = clusters_of(dumps, YARN_COUNT_OF(dumps));
    static const uint32_t want[] = {0, 0, 1, 2, 0, 3};
    ck_assert_mem_eq(clusters.of_dump, want, sizeof want);
    yarn_clusters_fini(&clusters);
}
END_TEST

START_TEST(a_run_within_a_run_is_one_of_its_own)
{
    static const char outer[] = "outer", inner[] = "inner";
    struct yarn_dump_option options[][1] = {
        {{yarn_span_of_text("run"), yarn_span_of_text(outer)}},
        {{yarn_span_of_text("run"), yarn_span_of_text(inner)}},
    };
    struct yarn_profile_dump shell = dump(5, 1, 99);
    struct yarn_profile_dump dumps[] = {shell, child(shell, 6, 2, 3), child(shell, 7, 4, 5)};
    for (size_t i = 0; i < YARN_COUNT_OF(dumps); i++) {
        dumps[i].options = options[i == 2];
        dumps[i].nr_options = 1;
    }
    struct yarn_clusters clusters = clusters_of(dumps, YARN_COUNT_OF(dumps));
    static const uint32_t want[] = {0, 0, 1};
    ck_assert_mem_eq(clusters.of_dump, want, sizeof want);
    yarn_clusters_fini(&clusters);
}
END_TEST

START_TEST(dumps_that_name_a_run_are_of_that_run)
{
    static const char first[] = "a", second[] = "b";
    struct yarn_dump_option options[][1] = {
        {{yarn_span_of_text("run"), yarn_span_of_text(first)}},
        {{yarn_span_of_text("run"), yarn_span_of_text(second)}},
    };
    struct yarn_profile_dump shell = dump(5, 1, 99), dumps[6];
    for (uint32_t i = 0; i < YARN_COUNT_OF(dumps); i++) {
        dumps[i] = executed(shell, 10 + i, 2 + i, 3 + i);
        dumps[i].options = options[i % 2];
        dumps[i].nr_options = 1;
    }
    struct yarn_clusters clusters = clusters_of(dumps, YARN_COUNT_OF(dumps));
    static const uint32_t want[] = {0, 1, 0, 1, 0, 1};
    ck_assert_mem_eq(clusters.of_dump, want, sizeof want);
    ck_assert_uint_eq(clusters.nr_processes, 6);
    yarn_clusters_fini(&clusters);
}
END_TEST

START_TEST(more_runs_than_are_told_apart_are_counted)
{
    struct yarn_profile_dump dumps[3 * YARN_CLUSTERS_MAX];
    for (uint32_t i = 0; i < YARN_COUNT_OF(dumps); i++)
        dumps[i] = dump(1 + i, 1, 2);
    struct yarn_clusters clusters = clusters_of(dumps, YARN_COUNT_OF(dumps));
    ck_assert_uint_eq(clusters.count, YARN_CLUSTERS_MAX);
    ck_assert_uint_eq(clusters.nr_runs, YARN_COUNT_OF(dumps));
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
    tcase_add_test(tcase, executed_helpers_are_of_their_parents_run);
    tcase_add_test(tcase, a_number_that_comes_again_is_another_process);
    tcase_add_test(tcase, a_parent_that_was_killed_or_executed_another_program_has_not_gone);
    tcase_add_test(tcase, runs_of_one_shell_that_left_no_dump_are_several);
    tcase_add_test(tcase, what_descends_from_one_process_is_one_run_whoever_left_dumps);
    tcase_add_test(tcase, a_run_within_a_run_is_one_of_its_own);
    tcase_add_test(tcase, dumps_that_name_a_run_are_of_that_run);
    tcase_add_test(tcase, more_runs_than_are_told_apart_are_counted);
    tcase_add_test(tcase, a_circle_of_parents_ends);
    tcase_add_test(tcase, stopped_time_is_not_idle_time);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
