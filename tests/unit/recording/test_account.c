/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "core/sys/clock.h"
#include "tests/support/suite.h"
#include "tests/unit/recording/made_process.h"

#define MS UINT64_C(1000000)

static void use_cpu(uint64_t ns)
{
    uint64_t until_ns = yarn_clock_ns(YARN_TIME_THREAD_CPU) + ns;
    while (yarn_clock_ns(YARN_TIME_THREAD_CPU) < until_ns)
        ;
}

static uint64_t total(enum yarn_dump_total which)
{
    return made.account.totals.value[which];
}

static void add_samples(uint64_t count)
{
    struct yarn_sample sample = {.weight = MADE_PERIOD_NS};
    for (uint64_t i = 0; i < count; i++)
        yarn_account_sample(&made.account, &sample, i % 2);
}

static void write_totals(void)
{
    ck_assert(yarn_process_dump_begin(&made.dump));
    yarn_account_write(&made.account, made.dump.writer);
}

/* ---- samples ---- */

START_TEST(the_first_clock_is_what_cpu_time_is_compared_with)
{
    ck_assert_uint_eq(made.account.clock_event, 0);
    made.opened[0].spec.is_clock = false;
    yarn_account_init(&made.account, &made.session);
    ck_assert_uint_eq(made.account.clock_event, YARN_DUMP_NONE);
    made.opened[0].spec.is_clock = true;
    made.opened[0].error = -ENOENT;
    yarn_account_init(&made.account, &made.session);
    ck_assert_uint_eq(made.account.clock_event, YARN_DUMP_NONE);
}
END_TEST

START_TEST(samples_are_counted_by_their_ends_and_add_up_their_weight)
{
    struct yarn_sample cut = {.weight = 3, .stack_end = YARN_DUMP_STACK_TRUNCATED};
    struct yarn_sample other = {.weight = 100, .event = 1};
    add_samples(4);
    yarn_account_sample(&made.account, &cut, false);
    yarn_account_sample(&made.account, &other, false);
    ck_assert_uint_eq(total(YARN_DUMP_TOTAL_SAMPLES), 6);
    ck_assert_uint_eq(total(YARN_DUMP_TOTAL_STACKS_COMPLETE), 5);
    ck_assert_uint_eq(total(YARN_DUMP_TOTAL_STACKS_TRUNCATED), 1);
    ck_assert_uint_eq(total(YARN_DUMP_TOTAL_FRAMES_UNKNOWN), 2);
    ck_assert_uint_eq(made.account.sampled_ns, 4 * MADE_PERIOD_NS + 3);
}
END_TEST

START_TEST(a_dropped_sample_is_lost)
{
    yarn_account_drop(&made.account);
    ck_assert_uint_eq(total(YARN_DUMP_TOTAL_LOST), 1);
    ck_assert_uint_eq(total(YARN_DUMP_TOTAL_SAMPLES), 0);
}
END_TEST

START_TEST(the_kernel_s_exact_number_of_losses_counts_at_the_end)
{
    yarn_account_drop(&made.account);
    made_count.lost = 7;
    ck_assert(yarn_process_dump_begin(&made.dump));
    yarn_account_write_final(&made.account, made.dump.writer);
    ck_assert_uint_eq(total(YARN_DUMP_TOTAL_LOST), 8);
    made_process_read();
    ck_assert_ptr_nonnull(strstr(made_process_line("count "), "lost=7"));
}
END_TEST

/* ---- CPU time ---- */

static void begin_off(void)
{
    yarn_coverage_begin(&made.account.coverage);
    made.account.coverage.before_cpu_ns = 0; /* all of this process is the one thread's */
}

/* The test's own thread is the reader here, whose time is not the process's: so the process has
 * used what was said to have been missed. */
START_TEST(time_without_a_sample_is_unsampled)
{
    begin_off();
    made.account.missed_ns = 100 * MS;
    add_samples(30);
    write_totals();
    ck_assert_uint_ge(total(YARN_DUMP_TOTAL_CPU_NS), 100 * MS);
    ck_assert_uint_eq(total(YARN_DUMP_TOTAL_CPU_NS) - total(YARN_DUMP_TOTAL_UNSAMPLED_NS), 30 * MS);
    ck_assert_uint_eq(total(YARN_DUMP_TOTAL_BEFORE_NS), 100 * MS);
}
END_TEST

START_TEST(more_samples_than_time_leave_nothing_unsampled)
{
    begin_off();
    made.account.missed_ns = 10 * MS;
    add_samples(1000);
    write_totals();
    ck_assert_uint_eq(total(YARN_DUMP_TOTAL_UNSAMPLED_NS), 0);
}
END_TEST

START_TEST(without_a_clock_nothing_is_known_to_be_unsampled)
{
    made.account.clock_event = YARN_DUMP_NONE;
    made.account.missed_ns = 10 * MS;
    write_totals();
    ck_assert_uint_eq(total(YARN_DUMP_TOTAL_UNSAMPLED_NS), 0);
    ck_assert_uint_eq(total(YARN_DUMP_TOTAL_REST_NS), 0);
    ck_assert_uint_eq(total(YARN_DUMP_TOTAL_BEFORE_NS), 0);
}
END_TEST

START_TEST(blocked_and_switching_time_are_at_most_what_is_unsampled)
{
    begin_off();
    made.account.missed_ns = 100 * MS;
    made_blocked_ns = 20 * MS;
    made_switching_ns = UINT64_C(3600) * 1000 * MS;
    write_totals();
    ck_assert_uint_eq(total(YARN_DUMP_TOTAL_BLOCKED_NS), 20 * MS);
    ck_assert_uint_eq(total(YARN_DUMP_TOTAL_SWITCHING_NS), total(YARN_DUMP_TOTAL_UNSAMPLED_NS));
}
END_TEST

START_TEST(where_the_kernel_is_left_out_its_time_is_not_unsampled)
{
    begin_off();
    made.account.missed_ns = 100 * MS;
    made.opened[0].spec.exclude_kernel = true;
    made.session.nr_events = 1;
    made_switching_ns = 5 * MS;
    write_totals();
    uint64_t unsampled_ns = total(YARN_DUMP_TOTAL_UNSAMPLED_NS);
    uint64_t kernel_ns = total(YARN_DUMP_TOTAL_KERNEL_NS);
    ck_assert_uint_eq(kernel_ns + unsampled_ns, total(YARN_DUMP_TOTAL_CPU_NS));
    ck_assert_uint_ge(unsampled_ns, 5 * MS); /* what switching is, the kernel's part is not */
}
END_TEST

START_TEST(a_period_a_thread_and_clock_may_be_without_a_sample)
{
    made.session.nr_threads = 4;
    made.session.nr_births = 2;
    write_totals();
    ck_assert_uint_eq(total(YARN_DUMP_TOTAL_REST_NS), 5 * MADE_PERIOD_NS);
    made.session.nr_events = 1;
    made.session.nr_cpus = 2;
    made.session.nr_changes = 1;
    yarn_account_write(&made.account, made.dump.writer);
    ck_assert_uint_eq(total(YARN_DUMP_TOTAL_REST_NS), 5 * 3 * 2 * MADE_PERIOD_NS);
}
END_TEST

START_TEST(a_process_of_which_nothing_was_sampled_for_20_periods_lacks_samples)
{
    begin_off();
    made.account.missed_ns = 19 * MADE_PERIOD_NS;
    ck_assert(!yarn_account_lacks_samples(&made.account) ||
              yarn_clock_cpu_ns_of_others() >= MADE_PERIOD_NS);
    add_samples(1);
    made.account.missed_ns = 1000 * MADE_PERIOD_NS;
    ck_assert(!yarn_account_lacks_samples(&made.account));
}
END_TEST

/* ---- children ---- */

START_TEST(children_s_time_is_of_the_whole_and_unsampled)
{
    struct yarn_child_times *child_times = yarn_child_times_new();
    begin_off();
    made.account.child_times = child_times;
    ck_assert(!yarn_account_has_children(&made.account));
    yarn_child_times_add(child_times, 1, 3 * MS);
    yarn_child_times_add(child_times, 1, 4 * MS);
    ck_assert(yarn_account_has_children(&made.account));
    made.account.missed_ns = 10 * MS;
    write_totals();
    ck_assert_uint_eq(total(YARN_DUMP_TOTAL_CHILDREN), 2);
    ck_assert_uint_eq(total(YARN_DUMP_TOTAL_CHILDREN_NS), 7 * MS);
    ck_assert_uint_ge(total(YARN_DUMP_TOTAL_UNSAMPLED_NS), 17 * MS);
    yarn_child_times_free(child_times);
}
END_TEST

START_TEST(a_charge_can_be_taken_back)
{
    struct yarn_child_times *child_times = yarn_child_times_new();
    yarn_child_times_add(child_times, 1, 3 * MS);
    yarn_child_times_add(child_times, -1, 3 * MS);
    ck_assert_uint_eq(atomic_load(&child_times->cpu_ns), 0);
    ck_assert_uint_eq(atomic_load(&child_times->nr_children), 0);
    yarn_child_times_add(NULL, 1, MS);
    yarn_child_times_add(NULL, -1, MS);
    yarn_child_times_free(child_times);
}
END_TEST

static bool keep_the_second(void *self, const struct yarn_child_dump *dump)
{
    (*(unsigned *)self)++;
    return dump->number != 2;
}

START_TEST(noted_dumps_are_visited_until_they_are_removed)
{
    struct yarn_child_times *child_times = yarn_child_times_new();
    unsigned nr_visits = 0;
    for (uint32_t i = 1; i <= YARN_CHILD_DUMPS_MAX + 5; i++)
        yarn_child_times_add_dump(child_times, &(struct yarn_child_dump){.number = i});
    yarn_child_times_visit_dumps(child_times, keep_the_second, &nr_visits);
    ck_assert_uint_eq(nr_visits, YARN_CHILD_DUMPS_MAX);
    yarn_child_times_visit_dumps(child_times, keep_the_second, &nr_visits);
    ck_assert_uint_eq(nr_visits, YARN_CHILD_DUMPS_MAX + 1);
    yarn_child_times_add_dump(NULL, &(struct yarn_child_dump){.number = 1});
    yarn_child_times_visit_dumps(NULL, keep_the_second, &nr_visits);
    yarn_child_times_free(child_times);
}
END_TEST

/* ---- coverage ---- */

START_TEST(what_was_stopped_is_not_covered)
{
    struct yarn_coverage coverage = {.target = &yarn_target_self};
    yarn_coverage_begin(&coverage);
    yarn_coverage_stop(&coverage, 1000, YARN_DUMP_COVERAGE_PROGRAM);
    ck_assert(coverage.is_off);
    ck_assert(!yarn_coverage_excludes(&coverage, 1000));
    ck_assert(yarn_coverage_excludes(&coverage, 1001));
    ck_assert_uint_eq(yarn_coverage_stopped_ns(&coverage, 1500), 500);
    yarn_coverage_start(&coverage, 2000, YARN_DUMP_COVERAGE_SOCKET);
    ck_assert(!coverage.is_off);
    ck_assert(yarn_coverage_excludes(&coverage, 1999));
    ck_assert(!yarn_coverage_excludes(&coverage, 2000));
    ck_assert_uint_eq(yarn_coverage_stopped_ns(&coverage, 9000), 1000);
}
END_TEST

START_TEST(stops_add_up)
{
    struct yarn_coverage coverage = {.target = &yarn_target_self};
    for (uint64_t i = 1; i <= 10; i++) {
        yarn_coverage_stop(&coverage, i * 1000, YARN_DUMP_COVERAGE_PROGRAM);
        yarn_coverage_start(&coverage, i * 1000 + 100, YARN_DUMP_COVERAGE_PROGRAM);
    }
    ck_assert_uint_eq(yarn_coverage_stopped_ns(&coverage, 20000), 1000);
}
END_TEST

START_TEST(ticks_of_stops_are_left_out)
{
    struct yarn_target target = {.kind = YARN_TARGET_OTHER};
    struct yarn_coverage coverage = {.target = &target};
    yarn_coverage_begin(&coverage);
    target.ticks = (struct yarn_ticks){.all_ns = 100, .system_ns = 40};
    yarn_coverage_stop(&coverage, 1000, YARN_DUMP_COVERAGE_PROGRAM);
    target.ticks = (struct yarn_ticks){.all_ns = 1100, .system_ns = 90};
    ck_assert_uint_eq(yarn_coverage_ticks(&coverage).all_ns, 100);
    yarn_coverage_start(&coverage, 2000, YARN_DUMP_COVERAGE_PROGRAM);
    target.ticks = (struct yarn_ticks){.all_ns = 1130, .system_ns = 97};
    ck_assert_uint_eq(yarn_coverage_ticks(&coverage).all_ns, 130);
    ck_assert_uint_eq(yarn_coverage_ticks(&coverage).system_ns, 47);
}
END_TEST

START_TEST(stopped_since_the_begin_is_not_covered_from_there)
{
    struct yarn_coverage coverage = {.target = &yarn_target_self};
    yarn_coverage_begin_off(&coverage, 500, 0, YARN_DUMP_COVERAGE_OPTION);
    ck_assert(coverage.is_off);
    ck_assert(yarn_coverage_excludes(&coverage, 501));
    ck_assert_uint_eq(yarn_coverage_cpu_ns(&coverage), 0);
}
END_TEST

START_TEST(after_the_end_nothing_is_added)
{
    struct yarn_coverage coverage = {.target = &yarn_target_self};
    yarn_coverage_end(&coverage);
    uint64_t cpu_ns = yarn_coverage_cpu_ns(&coverage);
    use_cpu(2 * MS);
    ck_assert_uint_eq(yarn_coverage_cpu_ns(&coverage), cpu_ns);
}
END_TEST

START_TEST(stops_and_starts_wait_for_a_dump_as_many_as_there_is_room_for)
{
    for (uint64_t i = 1; i <= YARN_COVERAGE_WAITING_MAX; i++) {
        yarn_coverage_stop(&made.account.coverage, i * 1000, YARN_DUMP_COVERAGE_PROGRAM);
        yarn_coverage_start(&made.account.coverage, i * 1000 + 1, YARN_DUMP_COVERAGE_PROGRAM);
    }
    ck_assert_uint_eq(made.account.coverage.nr_waiting, YARN_COVERAGE_WAITING_MAX);
    ck_assert(yarn_process_dump_begin(&made.dump));
    ck_assert_uint_eq(made.account.coverage.nr_waiting, 0);
    made_process_read();
    ck_assert_uint_eq(made_process_lines("coverage "), YARN_COVERAGE_WAITING_MAX);
}
END_TEST

/* ---- threads: of this process, whose threads there are ---- */

static void follow_this_process(void)
{
    made.session_request.pid = getpid();
    made.target = yarn_target_self;
    made.session.own_tid = 0;
}

START_TEST(threads_that_are_there_begin_with_the_dump)
{
    follow_this_process();
    made.job.facts.start_ns = 77;
    ck_assert(yarn_process_dump_begin(&made.dump));
    made_process_read();
    ck_assert_ptr_nonnull(strstr(made_process_line("thread "), "time_ns=77"));
}
END_TEST

START_TEST(a_thread_that_was_over_before_the_dump_is_in_it)
{
    follow_this_process();
    made_process_birth((uint32_t)MADE_THREAD, MADE_PID, 41);
    yarn_thread_snapshot_on_exit(&made.account.threads, NULL, MADE_THREAD, 43);
    ck_assert(yarn_process_dump_begin(&made.dump));
    made_process_read();
    ck_assert_uint_eq(made_process_lines("thread "), 2);
    ck_assert_ptr_nonnull(strstr(made.log.text, "time_ns=41"));
    ck_assert_ptr_nonnull(strstr(made_process_line("thread_end "), "time_ns=43"));
}
END_TEST

START_TEST(the_reader_is_no_thread_of_the_process)
{
    follow_this_process();
    made.session.own_tid = getpid();
    yarn_thread_snapshot_take(&made.account.threads);
    ck_assert_uint_eq(made.account.threads.count, 0);
    made.session.own_tid = 0;
    yarn_thread_snapshot_take(&made.account.threads);
    ck_assert_uint_eq(made.account.threads.count, 1);
}
END_TEST

START_TEST(who_ended_during_a_stop_ends_after_it)
{
    follow_this_process();
    ck_assert(yarn_process_dump_begin(&made.dump));
    yarn_thread_snapshot_take(&made.account.threads);
    made.account.threads.tids[made.account.threads.count++] = MADE_THREAD;
    yarn_thread_snapshot_compare(&made.account.threads, made.dump.writer, 1);
    ck_assert_uint_eq(made.account.threads.count, 0);
    made_process_read();
    ck_assert_uint_eq(made_process_lines("thread_end tid=4194002"), 1);
    ck_assert_uint_eq(made_process_lines("thread_end "), 1);
    ck_assert_uint_eq(made_process_lines("thread_name "), 1);
}
END_TEST

START_TEST(an_end_that_was_stored_is_not_stored_again)
{
    ck_assert(yarn_process_dump_begin(&made.dump));
    made.account.threads.tids[0] = MADE_THREAD;
    made.account.threads.count = 1;
    yarn_thread_snapshot_compare(&made.account.threads, made.dump.writer, 1);
    yarn_thread_snapshot_on_exit(&made.account.threads, made.dump.writer, MADE_THREAD, 5);
    made_process_birth((uint32_t)MADE_THREAD, 1, 1); /* another of that number */
    yarn_thread_snapshot_on_exit(&made.account.threads, made.dump.writer, MADE_THREAD, 9);
    made_process_read();
    ck_assert_uint_eq(made_process_lines("thread_end "), 2);
}
END_TEST

static void *wait_for_release(void *gate)
{
    (void)pthread_barrier_wait(gate);
    (void)pthread_barrier_wait(gate);
    return NULL;
}

/* Of each that exists, as if the kernel had reported it before there was a dump. */
static void report_births(uint64_t time_ns)
{
    struct yarn_thread_snapshot now = made.account.threads;
    yarn_thread_snapshot_take(&now);
    for (size_t i = 0; i < now.count; i++)
        made_process_birth((uint32_t)now.tids[i], 4194001, time_ns);
}

START_TEST(a_thread_that_began_before_the_dump_has_its_birth_and_its_parent)
{
    pthread_t thread;
    pthread_barrier_t gate;
    ck_assert_int_eq(pthread_barrier_init(&gate, NULL, 2), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_release, &gate), 0);
    (void)pthread_barrier_wait(&gate);
    follow_this_process();
    report_births(77);
    ck_assert(yarn_process_dump_begin(&made.dump));
    (void)pthread_barrier_wait(&gate);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    made_process_read();
    ck_assert_ptr_nonnull(strstr(made.log.text, " parent_tid=4194001 time_ns=77 "));
}
END_TEST

START_TEST(a_thread_s_own_note_shows_its_time)
{
    struct yarn_dump_thread_end end = {.tid = MADE_THREAD, .time_ns = 4, .cpu_ns = 4321};
    yarn_thread_ends_note(&end);
    ck_assert(yarn_process_dump_begin(&made.dump));
    yarn_thread_snapshot_on_exit(&made.account.threads, made.dump.writer, MADE_THREAD, 5);
    made_process_read();
    ck_assert_ptr_nonnull(strstr(made_process_line("thread_end "), "cpu_ns=4321"));
}
END_TEST

START_TEST(a_note_of_an_end_that_nobody_reports_is_read_at_the_second_scan)
{
    struct yarn_dump_thread_end end = {.tid = MADE_THREAD, .time_ns = 4, .cpu_ns = 4321};
    struct yarn_thread_snapshot *threads = &made.account.threads;
    yarn_thread_ends_note(&end);
    ck_assert(yarn_process_dump_begin(&made.dump));
    yarn_thread_snapshot_read_notes(threads, made.dump.writer, 100 * MS, false); /* too few */
    yarn_thread_snapshot_read_notes(threads, made.dump.writer, 100 * MS, true);
    ck_assert_uint_eq(yarn_thread_ends_count(), 1);
    threads->looked_ns = 100 * MS;
    yarn_thread_snapshot_read_notes(threads, made.dump.writer, 200 * MS, true);
    ck_assert_uint_eq(yarn_thread_ends_count(), 0);
    made_process_read();
    ck_assert_uint_eq(made_process_lines("thread_end "), 1);
}
END_TEST

START_TEST(at_the_end_those_who_are_alive_have_what_they_used)
{
    follow_this_process();
    ck_assert(yarn_process_dump_begin(&made.dump));
    yarn_thread_snapshot_end(&made.account.threads, made.dump.writer);
    made_process_read();
    ck_assert_uint_eq(made_process_lines("thread_end "), 1);
    ck_assert_ptr_null(strstr(made_process_line("thread_end "), "cpu_ns=0"));
}
END_TEST

static TCase *case_of(Suite *suite, const char *name)
{
    TCase *tcase = tcase_create(name);
    tcase_add_checked_fixture(tcase, made_process_begin, made_process_end);
    suite_add_tcase(suite, tcase);
    return tcase;
}

int main(void)
{
    Suite *suite = suite_create("account");
    TCase *tcase = case_of(suite, "samples");
    tcase_add_test(tcase, the_first_clock_is_what_cpu_time_is_compared_with);
    tcase_add_test(tcase, samples_are_counted_by_their_ends_and_add_up_their_weight);
    tcase_add_test(tcase, a_dropped_sample_is_lost);
    tcase_add_test(tcase, the_kernel_s_exact_number_of_losses_counts_at_the_end);
    tcase = case_of(suite, "CPU time");
    tcase_add_test(tcase, time_without_a_sample_is_unsampled);
    tcase_add_test(tcase, more_samples_than_time_leave_nothing_unsampled);
    tcase_add_test(tcase, without_a_clock_nothing_is_known_to_be_unsampled);
    tcase_add_test(tcase, blocked_and_switching_time_are_at_most_what_is_unsampled);
    tcase_add_test(tcase, where_the_kernel_is_left_out_its_time_is_not_unsampled);
    tcase_add_test(tcase, a_period_a_thread_and_clock_may_be_without_a_sample);
    tcase_add_test(tcase, a_process_of_which_nothing_was_sampled_for_20_periods_lacks_samples);
    tcase = case_of(suite, "children");
    tcase_add_test(tcase, children_s_time_is_of_the_whole_and_unsampled);
    tcase_add_test(tcase, a_charge_can_be_taken_back);
    tcase_add_test(tcase, noted_dumps_are_visited_until_they_are_removed);
    tcase = case_of(suite, "coverage");
    tcase_add_test(tcase, what_was_stopped_is_not_covered);
    tcase_add_test(tcase, stops_add_up);
    tcase_add_test(tcase, ticks_of_stops_are_left_out);
    tcase_add_test(tcase, stopped_since_the_begin_is_not_covered_from_there);
    tcase_add_test(tcase, stops_and_starts_wait_for_a_dump_as_many_as_there_is_room_for);
    tcase = case_of(suite, "threads");
    tcase_add_test(tcase, threads_that_are_there_begin_with_the_dump);
    tcase_add_test(tcase, an_end_that_was_stored_is_not_stored_again);
    tcase_add_test(tcase, a_thread_that_began_before_the_dump_has_its_birth_and_its_parent);
    tcase_add_test(tcase, a_thread_s_own_note_shows_its_time);
    tcase_add_test(tcase, a_note_of_an_end_that_nobody_reports_is_read_at_the_second_scan);
    if (!IS_THREAD_SANITIZED) {
        tcase_add_test(tcase, after_the_end_nothing_is_added);
        tcase_add_test(tcase, a_thread_that_was_over_before_the_dump_is_in_it);
        tcase_add_test(tcase, the_reader_is_no_thread_of_the_process);
        tcase_add_test(tcase, who_ended_during_a_stop_ends_after_it);
        tcase_add_test(tcase, at_the_end_those_who_are_alive_have_what_they_used);
    }
    return run_suite(suite);
}
