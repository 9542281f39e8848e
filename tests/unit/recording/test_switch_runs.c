/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdlib.h>

#include "output/dump/reader.h"
#include "recording/pipeline/switch_runs.h"
#include "tests/support/suite.h"
#include "tests/unit/output/dump/made_dump.h"

enum { RUNS_MAX = 4096, A = 7, B = 8 };

static struct yarn_switch_runs *runs;
static struct yarn_dump_run seen[RUNS_MAX];
static size_t nr_seen;

static void set_up(void)
{
    runs = yarn_switch_runs_new(false);
    ck_assert_ptr_nonnull(runs);
    nr_seen = 0;
}

static void tear_down(void)
{
    yarn_switch_runs_free(runs);
    yarn_switch_runs_free(NULL);
}

static void come(uint32_t tid, uint64_t time_ns, uint32_t cpu)
{
    struct yarn_typed_record record = {.perf = {.tid = tid, .time = time_ns, .cpu = cpu}};
    yarn_switch_runs_on_switch(runs, &record);
}

static void leave(uint32_t tid, uint64_t time_ns, uint32_t cpu, bool is_preempted)
{
    struct yarn_typed_record record = {.perf = {.tid = tid, .time = time_ns, .cpu = cpu}};
    record.switched.is_out = true;
    record.switched.is_preempted = is_preempted;
    yarn_switch_runs_on_switch(runs, &record);
}

static void run(uint32_t tid, uint64_t time_ns, uint32_t cpu)
{
    struct yarn_typed_record record = {.perf = {.tid = tid, .time = time_ns, .cpu = cpu}};
    yarn_switch_runs_on_run(runs, &record);
}

static int on_runs(void *self, const struct yarn_dump_run *rows, size_t count)
{
    (void)self;
    for (size_t i = 0; i < count && nr_seen < RUNS_MAX; i++)
        seen[nr_seen++] = rows[i];
    return 0;
}

/* Through a dump. */
static void take(void)
{
    static const struct yarn_dump_visitor visitor = {.runs = on_runs};
    struct made_dump dump;
    struct yarn_dump_summary summary;
    made_dump_begin(&dump, NULL);
    yarn_dump_write_process(dump.writer, &(struct yarn_dump_process){.pid = A});
    yarn_switch_runs_write(runs, dump.writer);
    yarn_dump_writer_flush(dump.writer);
    made_dump_finish(&dump);
    ck_assert_int_eq(yarn_dump_read_bytes(made_dump_span(&dump), &visitor, NULL, &summary), 0);
    made_dump_free(&dump);
}

static void assert_run(size_t number, uint32_t tid, uint64_t time_ns, uint64_t length_ns,
                       bool is_preempted, bool is_open)
{
    ck_assert_uint_lt(number, nr_seen);
    const struct yarn_dump_run *run = &seen[number];
    ck_assert_uint_eq(run->tid, tid);
    ck_assert_uint_eq(run->time_ns, time_ns);
    ck_assert_uint_eq(run->length_ns, length_ns);
    ck_assert_int_eq(run->is_preempted, is_preempted);
    ck_assert_int_eq(run->is_open, is_open);
}

START_TEST(a_run_is_from_coming_to_leaving)
{
    yarn_switch_runs_start(runs, 100);
    come(A, 110, 0);
    leave(A, 150, 0, false);
    come(B, 151, 1);
    leave(B, 160, 1, true);
    take();
    ck_assert_uint_eq(nr_seen, 2);
    assert_run(0, A, 110, 40, false, false);
    assert_run(1, B, 151, 9, true, false);
}
END_TEST

START_TEST(who_leaves_first_has_run_since_the_start)
{
    yarn_switch_runs_start(runs, 100);
    leave(A, 150, 0, true);
    take();
    ck_assert_uint_eq(nr_seen, 1);
    assert_run(0, A, 100, 50, true, false);
}
END_TEST

START_TEST(who_is_seen_on_a_core_without_having_come_has_run_since_the_start)
{
    yarn_switch_runs_start(runs, 100);
    run(A, 90, 0); /* read after the start */
    run(A, 120, 0);
    come(B, 130, 1);
    run(B, 140, 1);
    leave(B, 150, 1, false);
    run(B, 155, 1); /* has come and left */
    yarn_switch_runs_stop(runs, 160);
    yarn_switch_runs_start(runs, 200);
    yarn_switch_runs_on_lost(runs); /* its coming may be among them */
    run(A, 230, 0);
    yarn_switch_runs_on_exit(runs, A, 240);
    take();
    ck_assert_uint_eq(nr_seen, 3);
    assert_run(0, A, 100, 60, false, true);
    assert_run(1, B, 130, 20, false, false);
    assert_run(2, A, 230, 10, false, true);
}
END_TEST

START_TEST(where_records_begin_late_nothing_is_known_before_the_first)
{
    yarn_switch_runs_free(runs);
    runs = yarn_switch_runs_new(true);
    yarn_switch_runs_start(runs, 100);
    leave(A, 150, 0, true);
    take();
    ck_assert_uint_eq(nr_seen, 2);
    assert_run(0, A, 100, 0, false, true);
    assert_run(1, A, 150, 0, true, false);
}
END_TEST

START_TEST(a_missing_record_leaves_the_time_open_and_makes_no_run_longer)
{
    yarn_switch_runs_start(runs, 100);
    come(A, 110, 0);
    come(A, 200, 1); /* when it left is missing */
    leave(A, 210, 1, false);
    leave(A, 30000, 1, false); /* when it came is missing */
    take();
    ck_assert_uint_eq(nr_seen, 4);
    assert_run(0, A, 110, 0, false, true);
    assert_run(1, A, 200, 10, false, false);
    assert_run(2, A, 210, 0, false, true);
    assert_run(3, A, 30000, 0, false, false);
}
END_TEST

START_TEST(what_runs_when_records_are_lost_is_not_known_to_go_on)
{
    yarn_switch_runs_start(runs, 100);
    come(A, 110, 0);
    come(B, 120, 1);
    leave(B, 130, 1, false);
    yarn_switch_runs_on_lost(runs); /* A's leaving and coming may be among them */
    leave(A, 90000, 0, false);
    come(B, 90001, 1);
    leave(B, 90010, 1, false);
    take();
    uint64_t of_a_ns = 0;
    for (size_t i = 0; i < nr_seen; i++)
        of_a_ns += seen[i].tid == A ? seen[i].length_ns : 0;
    ck_assert_uint_eq(of_a_ns, 0);
    assert_run(0, A, 110, 0, false, true);
    assert_run(nr_seen - 1, B, 90001, 9, false, false);
}
END_TEST

START_TEST(whoever_is_first_seen_to_leave_when_records_were_lost_is_known_from_then_on)
{
    yarn_switch_runs_start(runs, 100);
    yarn_switch_runs_on_lost(runs); /* A's birth and its coming may be among them */
    leave(A, 90000, 0, true);
    yarn_switch_runs_start(runs, 200000);
    leave(B, 200050, 0, true);
    take();
    ck_assert_uint_eq(nr_seen, 2);
    assert_run(0, A, 90000, 0, true, false);
    assert_run(1, B, 200000, 50, true, false);
}
END_TEST

START_TEST(two_records_of_one_switch_are_one)
{
    yarn_switch_runs_start(runs, 100);
    come(A, 110, 0);
    come(A, 111, 0);
    leave(A, 5000, 0, true);
    leave(A, 5001, 0, true);
    come(A, 5500, 0);
    leave(A, 5600, 0, false);
    take();
    ck_assert_uint_eq(nr_seen, 2);
    assert_run(0, A, 110, 4890, true, false);
    assert_run(1, A, 5500, 100, false, false);
}
END_TEST

START_TEST(what_a_thread_did_before_its_late_records_is_unknown)
{
    yarn_switch_runs_free(runs);
    runs = yarn_switch_runs_new(true);
    yarn_switch_runs_start(runs, 100);
    yarn_switch_runs_on_birth(runs, A, 110);
    come(A, 9000, 0);
    leave(A, 9010, 0, false);
    take();
    ck_assert_uint_eq(nr_seen, 2);
    assert_run(0, A, 110, 0, false, true);
    assert_run(1, A, 9000, 10, false, false);
}
END_TEST

START_TEST(a_thread_s_end_ends_its_run)
{
    yarn_switch_runs_start(runs, 100);
    come(A, 110, 0);
    yarn_switch_runs_on_exit(runs, A, 140);
    leave(A, 150, 0, true); /* events of whole cores see this, too */
    come(A, 200, 0);
    leave(A, 210, 0, false);
    yarn_switch_runs_on_birth(runs, A, 400);
    come(A, 500, 0); /* another of that number */
    leave(A, 510, 0, false);
    take();
    ck_assert_uint_eq(nr_seen, 2);
    assert_run(0, A, 110, 30, false, true);
    assert_run(1, A, 500, 10, false, false);
}
END_TEST

START_TEST(whoever_comes_when_records_were_lost_may_have_a_number_of_the_dead)
{
    yarn_switch_runs_start(runs, 100);
    come(A, 110, 0);
    yarn_switch_runs_on_exit(runs, A, 140);
    yarn_switch_runs_on_lost(runs); /* a birth may be among them */
    come(A, 500, 0);
    leave(A, 510, 0, false);
    take();
    ck_assert_uint_eq(nr_seen, 2);
    assert_run(1, A, 500, 10, false, false);
}
END_TEST

START_TEST(what_runs_at_a_flush_goes_on_where_it_was_divided)
{
    yarn_switch_runs_start(runs, 100);
    come(A, 110, 3);
    come(B, 120, 1);
    leave(B, 130, 1, false);
    yarn_switch_runs_divide(runs, 150);
    leave(A, 170, 3, true);
    take();
    ck_assert_uint_eq(nr_seen, 3);
    assert_run(0, A, 110, 40, false, true);
    assert_run(1, B, 120, 10, false, false);
    assert_run(2, A, 150, 20, true, false);
}
END_TEST

START_TEST(after_a_stop_nothing_is_known_of_before)
{
    yarn_switch_runs_start(runs, 100);
    come(A, 110, 0);
    come(B, 111, 1);
    leave(B, 115, 1, false);
    yarn_switch_runs_stop(runs, 120);
    leave(A, 119, 0, true); /* read after the stop */
    come(A, 121, 0);
    yarn_switch_runs_start(runs, 200);
    come(B, 199, 1);
    leave(A, 230, 0, true); /* it ran when records were turned on */
    come(B, 240, 1);
    leave(B, 241, 1, false);
    take();
    ck_assert_uint_eq(nr_seen, 4);
    assert_run(0, A, 110, 10, false, true);
    assert_run(1, B, 111, 4, false, false);
    assert_run(2, A, 200, 30, true, false);
    assert_run(3, B, 240, 1, false, false);
}
END_TEST

START_TEST(renewed_ones_know_nothing_of_before)
{
    yarn_switch_runs_start(runs, 100);
    come(A, 300, 0);
    come(B, 310, 1);
    leave(B, 320, 1, false);
    yarn_switch_runs_on_lost(runs);
    yarn_switch_runs_renew(runs, false);
    yarn_switch_runs_start(runs, 200);
    come(B, 290, 0);
    leave(A, 330, 1, true); /* another of that number */
    yarn_switch_runs_on_lost(runs);
    take();
    ck_assert_uint_eq(nr_seen, 2);
    assert_run(0, A, 200, 130, true, false);
    assert_run(1, B, 290, 0, false, true);
}
END_TEST

/* Random lives on four cores: the runs of each thread add up to what it ran. */
START_TEST(no_time_is_lost_or_counted_twice)
{
    enum { THREADS = 50, CPUS = 4, STEPS = 1500 };
    uint64_t ran_ns[THREADS] = {0}, got_ns[THREADS] = {0}, since_ns[CPUS] = {0};
    uint32_t on[CPUS] = {0};
    bool is_on[THREADS] = {false};
    unsigned seed = (unsigned)_i;
    uint64_t now_ns = 1000;
    yarn_switch_runs_start(runs, now_ns);
    for (unsigned i = 0; i < STEPS; i++) {
        uint32_t cpu = (uint32_t)rand_r(&seed) % CPUS, tid = 1 + (uint32_t)rand_r(&seed) % THREADS;
        now_ns += 1 + (uint64_t)rand_r(&seed) % 1000;
        if (i % 100 == 0)
            yarn_switch_runs_divide(runs, now_ns - 1);
        if (on[cpu]) {
            ran_ns[on[cpu] - 1] += now_ns - since_ns[cpu];
            is_on[on[cpu] - 1] = false;
            leave(on[cpu], now_ns, cpu, rand_r(&seed) % 2);
            on[cpu] = 0;
        } else if (!is_on[tid - 1]) {
            come(tid, now_ns, cpu);
            on[cpu] = tid;
            is_on[tid - 1] = true;
            since_ns[cpu] = now_ns;
        }
    }
    for (uint32_t cpu = 0; cpu < CPUS; cpu++)
        if (on[cpu])
            ran_ns[on[cpu] - 1] += now_ns - since_ns[cpu];
    yarn_switch_runs_stop(runs, now_ns);
    take();
    for (size_t i = 0; i < nr_seen; i++)
        got_ns[seen[i].tid - 1] += seen[i].length_ns;
    for (unsigned i = 0; i < THREADS; i++)
        ck_assert_uint_eq(got_ns[i], ran_ns[i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("switch_runs");
    TCase *tests = tcase_create("switch runs");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, a_run_is_from_coming_to_leaving);
    tcase_add_test(tests, who_leaves_first_has_run_since_the_start);
    tcase_add_test(tests, who_is_seen_on_a_core_without_having_come_has_run_since_the_start);
    tcase_add_test(tests, where_records_begin_late_nothing_is_known_before_the_first);
    tcase_add_test(tests, a_missing_record_leaves_the_time_open_and_makes_no_run_longer);
    tcase_add_test(tests, what_runs_when_records_are_lost_is_not_known_to_go_on);
    tcase_add_test(tests,
                   whoever_is_first_seen_to_leave_when_records_were_lost_is_known_from_then_on);
    tcase_add_test(tests, two_records_of_one_switch_are_one);
    tcase_add_test(tests, what_a_thread_did_before_its_late_records_is_unknown);
    tcase_add_test(tests, a_thread_s_end_ends_its_run);
    tcase_add_test(tests, whoever_comes_when_records_were_lost_may_have_a_number_of_the_dead);
    tcase_add_test(tests, what_runs_at_a_flush_goes_on_where_it_was_divided);
    tcase_add_test(tests, after_a_stop_nothing_is_known_of_before);
    tcase_add_test(tests, renewed_ones_know_nothing_of_before);
    tcase_add_loop_test(tests, no_time_is_lost_or_counted_twice, 0, 20);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
