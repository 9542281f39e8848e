/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/sched/lane.h"
#include "output/analysis/sched/sums.h"
#include "tests/support/suite.h"

static struct yarn_sched_log sched;
static struct yarn_sched_scratch scratch;
static uint64_t seed;

static void open_log(void)
{
    sched = YARN_SCHED_LOG_EMPTY;
}

static void close_log(void)
{
    yarn_sched_log_fini(&sched);
    yarn_sched_scratch_fini(&scratch);
}

static void add_life(uint32_t tid, uint64_t birth_ns, uint64_t end_ns, bool is_born)
{
    const struct yarn_sched_life life = {.birth_ns = birth_ns,
                                         .end_ns = end_ns,
                                         .tid = tid,
                                         .is_born = is_born,
                                         .has_ended = true,
                                         .is_recorded = true};
    ck_assert_int_eq(yarn_sched_log_add_life(&sched, &life), 0);
}

static void add_span(uint32_t tid, uint64_t begin_ns, uint64_t length_ns, bool is_preempted,
                     bool is_open)
{
    const struct yarn_sched_span span = {.begin_ns = begin_ns,
                                         .length_ns = length_ns,
                                         .is_preempted = is_preempted,
                                         .is_open = is_open};
    ck_assert_int_eq(yarn_sched_log_add_span(&sched, 0, tid, &span), 0);
}

static void add_gap(uint64_t from_ns, uint64_t to_ns)
{
    const struct yarn_sched_gap gap = {from_ns, to_ns, 0};
    ck_assert_int_eq(yarn_sched_log_add_gap(&sched, &gap), 0);
}

static void add_reading(uint32_t tid, uint64_t time_ns, uint64_t run_ns, uint64_t wait_ns)
{
    const struct yarn_sched_reading reading = {time_ns, run_ns, wait_ns, 0};
    ck_assert_int_eq(yarn_sched_log_add_reading(&sched, 0, tid, &reading), 0);
}

static struct yarn_sched_sums sums_of(size_t life, uint64_t from_ns, uint64_t to_ns)
{
    struct yarn_sched_sums sums;
    ck_assert_int_eq(
        yarn_sched_sums_of(&sched, &sched.lives[life], from_ns, to_ns, &scratch, &sums), 0);
    return sums;
}

static void assert_states(const struct yarn_sched_sums *sums, uint64_t running, uint64_t runnable,
                          uint64_t blocked, uint64_t unknown)
{
    ck_assert_uint_eq(sums->running_ns, running);
    ck_assert_uint_eq(sums->runnable_ns, runnable);
    ck_assert_uint_eq(sums->blocked_ns, blocked);
    ck_assert_uint_eq(sums->unknown_ns, unknown);
    ck_assert_uint_eq(running + runnable + blocked + unknown + sums->switching_ns, sums->life_ns);
}

START_TEST(a_life_is_its_pieces)
{
    add_life(1, 100, 200, true);
    add_span(1, 110, 10, false, false); /* born at 100, blocked from 120 */
    add_span(1, 140, 10, true, false);  /* preempted from 150 */
    add_span(1, 155, 5, false, true);   /* its out is lost: unknown from 160 */
    add_span(1, 180, 20, false, true);  /* to its end */
    ck_assert_int_eq(yarn_sched_log_sort(&sched), 0);
    struct yarn_sched_sums sums = sums_of(0, 0, UINT64_MAX);
    assert_states(&sums, 45, 15, 20, 20);
    ck_assert_uint_eq(sums.switches, 2);
    ck_assert_uint_eq(sums.preemptions, 1);
    ck_assert_uint_eq(sums.wakeups, 1);
    ck_assert_uint_eq(sums.waits.count, 2);
    ck_assert_uint_eq(sums.waits.max_ns, 10);
    ck_assert_uint_eq(sums.waits.longest_at_ns, 100);
    ck_assert_int_eq(sums.runnable_from, YARN_SCHED_FROM_RECORDS);
}
END_TEST

START_TEST(a_window_cuts_pieces_and_counts_what_happened_in_it)
{
    add_life(1, 100, 200, true);
    add_span(1, 110, 20, true, false);
    add_span(1, 150, 30, false, false);
    ck_assert_int_eq(yarn_sched_log_sort(&sched), 0);
    struct yarn_sched_sums sums = sums_of(0, 120, 160);
    assert_states(&sums, 20, 20, 0, 0);
    ck_assert_uint_eq(sums.switches, 1);
    ck_assert_uint_eq(sums.waits.count, 1);
}
END_TEST

START_TEST(a_span_that_was_divided_is_one)
{
    add_life(1, 0, 100, false);
    add_span(1, 10, 10, false, true);
    add_span(1, 20, 10, false, false);
    ck_assert_int_eq(yarn_sched_log_sort(&sched), 0);
    struct yarn_sched_sums sums = sums_of(0, 0, UINT64_MAX);
    assert_states(&sums, 20, 0, 70, 10); /* what it did before it was seen is unknown */
    ck_assert_uint_eq(sums.switches, 1);
}
END_TEST

START_TEST(what_was_cut_out_is_unknown)
{
    add_life(1, 0, 100, false);
    add_span(1, 10, 10, true, false);
    add_span(1, 70, 10, false, false);
    add_gap(30, 50);
    add_gap(40, 60);
    ck_assert_int_eq(yarn_sched_log_sort(&sched), 0);
    struct yarn_sched_sums sums = sums_of(0, 0, UINT64_MAX);
    /* Whether it still waits behind the gap is not known. */
    assert_states(&sums, 20, 10, 20, 50);
    ck_assert_uint_eq(sums.waits.count, 0);
}
END_TEST

START_TEST(a_waking_ends_a_block)
{
    add_life(1, 0, 100, false);
    add_span(1, 10, 10, false, false);
    add_span(1, 50, 10, false, false);
    const struct yarn_sched_waker waker = {YARN_SCHED_FOREIGN, 7, false};
    ck_assert_int_eq(yarn_sched_log_add_waking(&sched, 0, 1, 15, &waker), 0);
    ck_assert_int_eq(yarn_sched_log_add_waking(&sched, 0, 1, 42, &waker), 0);
    ck_assert_int_eq(yarn_sched_log_add_waking(&sched, 0, 1, 45, &waker), 0);
    ck_assert_int_eq(yarn_sched_log_sort(&sched), 0);
    sched.lives[0].has_wakings = true;
    struct yarn_sched_sums sums = sums_of(0, 0, UINT64_MAX);
    assert_states(&sums, 20, 8, 62, 10);
    ck_assert_uint_eq(sums.waits.count, 1);
    ck_assert_uint_eq(sums.waits.max_ns, 8);
    ck_assert_int_eq(sums.runnable_from, YARN_SCHED_FROM_WAKING);
}
END_TEST

START_TEST(schedstat_raises_runnable_and_the_clock_shows_switching)
{
    add_life(1, 0, 1000, true);
    for (uint64_t at = 100; at < 1000; at += 100)
        add_span(1, at, 50, false, false);
    add_reading(1, 1000, 540, 160);
    ck_assert_int_eq(yarn_sched_log_sort(&sched), 0);
    struct yarn_sched_sums sums = sums_of(0, 0, UINT64_MAX);
    /* 450 by records, 540 by the clock; 100 ns from birth, 60 more after wake-ups */
    ck_assert_uint_eq(sums.switching_ns, 90);
    assert_states(&sums, 450, 160, 300, 0);
    ck_assert_int_eq(sums.runnable_from, YARN_SCHED_FROM_SCHEDSTAT);
}
END_TEST

START_TEST(what_records_do_not_know_of_is_told_in_sum_between_two_readings)
{
    add_life(1, 0, 1000, true);
    add_span(1, 0, 100, false, false);
    add_span(1, 900, 100, false, false);
    add_gap(200, 800);
    add_reading(1, 1000, 400, 150);
    ck_assert_int_eq(yarn_sched_log_sort(&sched), 0);
    struct yarn_sched_sums sums = sums_of(0, 0, UINT64_MAX);
    assert_states(&sums, 400, 150, 450, 0);
}
END_TEST

/* It left a core while it was ready to run; that it came back and what it did then is lost. */
START_TEST(more_waiting_than_the_kernel_counted_is_unknown)
{
    add_life(1, 0, 1000, true);
    add_span(1, 0, 100, true, false);
    add_span(1, 600, 400, false, false);
    add_reading(1, 1000, 500, 30);
    ck_assert_int_eq(yarn_sched_log_sort(&sched), 0);
    struct yarn_sched_sums sums = sums_of(0, 0, UINT64_MAX);
    assert_states(&sums, 500, 30, 0, 470);
}
END_TEST

START_TEST(a_wait_that_lasts_at_a_reading_is_in_the_next)
{
    add_life(1, 0, 1000, true);
    add_span(1, 0, 100, true, false);
    add_span(1, 600, 400, false, false);
    add_reading(1, 500, 100, 0);
    add_reading(1, 1000, 500, 500);
    ck_assert_int_eq(yarn_sched_log_sort(&sched), 0);
    struct yarn_sched_sums sums = sums_of(0, 0, UINT64_MAX);
    assert_states(&sums, 500, 500, 0, 0);
}
END_TEST

START_TEST(a_wait_that_lasts_at_a_reading_may_be_in_it_where_the_thread_was_moved)
{
    for (uint32_t tid = 1; tid <= 2; tid++) {
        add_life(tid, 0, 1000, true);
        add_span(tid, 0, 100, false, false);
        add_span(tid, 300, 50, true, false);
        add_span(tid, 900, 100, false, false);
        add_reading(tid, 700, 150, 230); /* in a wait since 350 */
    }
    add_reading(2, 950, 200, 580);
    ck_assert_int_eq(yarn_sched_log_sort(&sched), 0);
    /* What is counted may be of that wait, which has 550, or of the block of 200. */
    struct yarn_sched_sums sums = sums_of(0, 0, UINT64_MAX);
    assert_states(&sums, 250, 550, 0, 200);
    sums = sums_of(1, 0, UINT64_MAX); /* once it is over: 30 are of the block */
    assert_states(&sums, 250, 580, 170, 0);
}
END_TEST

START_TEST(what_is_off_a_core_at_the_last_reading_without_a_record_may_wait_there)
{
    for (uint32_t tid = 1; tid <= 2; tid++) {
        add_life(tid, 0, 1000, true);
        add_reading(tid, 300, 100, 40);
        add_reading(tid, 500, 150, 60);
    }
    add_gap(0, 700);
    add_span(1, 800, 200, false, false);
    add_span(2, 800, 200, false, false);
    add_reading(2, 900, 250, 360);
    ck_assert_int_eq(yarn_sched_log_sort(&sched), 0);
    /* Of the 150 off a core between the readings nothing is sure, nor is what follows. */
    struct yarn_sched_sums sums = sums_of(0, 0, UINT64_MAX);
    assert_states(&sums, 350, 60, 140, 450);
    sums = sums_of(1, 0, UINT64_MAX); /* once it has run again: it did wait */
    assert_states(&sums, 350, 360, 290, 0);
}
END_TEST

START_TEST(blocks_that_end_after_the_last_reading_are_unknown)
{
    add_life(1, 0, 1000, true);
    for (uint64_t at = 100; at <= 700; at += 100)
        add_span(1, at, 50, false, false);
    add_reading(1, 400, 200, 160);
    add_life(2, 0, 1000, true);
    add_span(2, 100, 50, false, false);
    add_span(2, 300, 50, false, false);
    ck_assert_int_eq(yarn_sched_log_sort(&sched), 0);
    /* Three blocks of 50 after it, of one no end was seen: that one is blocked. */
    struct yarn_sched_sums sums = sums_of(0, 0, UINT64_MAX);
    ck_assert_uint_eq(sums.unknown_ns, 150);
    ck_assert_uint_eq(sums.runnable_ns, 160);
    ck_assert_int_eq(sums.runnable_from, YARN_SCHED_FROM_SCHEDSTAT);
    /* A thread beside it that nobody asked about: 100 from birth, 650 up to its end. */
    sums = sums_of(1, 0, UINT64_MAX);
    assert_states(&sums, 100, 100, 650, 150);
    ck_assert_int_eq(sums.runnable_from, YARN_SCHED_FROM_RECORDS);
}
END_TEST

START_TEST(blocks_that_end_before_the_first_reading_of_one_that_was_found_are_unknown)
{
    for (uint32_t tid = 1; tid <= 2; tid++) {
        add_life(tid, 100, 1000, tid == 2);
        for (uint64_t at = 100; at <= 700; at += 100)
            add_span(tid, at, 50, false, false);
        add_reading(tid, 420, 170 + (tid == 1 ? 5000 : 0), 30 + (tid == 1 ? 9000 : 0));
        add_reading(tid, 1000, 350 + (tid == 1 ? 5000 : 0), 40 + (tid == 1 ? 9000 : 0));
    }
    ck_assert_int_eq(yarn_sched_log_sort(&sched), 0);
    struct yarn_sched_sums sums = sums_of(0, 0, UINT64_MAX);
    assert_states(&sums, 350, 10, 390, 150);
    sums = sums_of(1, 0, UINT64_MAX); /* one that was born had waited for nothing before */
    assert_states(&sums, 350, 40, 510, 0);
    sums = sums_of(1, 150, UINT64_MAX); /* but in a window that begins later it may have */
    assert_states(&sums, 300, 10, 390, 150);
}
END_TEST

START_TEST(of_a_process_that_ended_unread_blocks_are_unknown_where_others_were_read)
{
    const struct yarn_sched_life other = {.end_ns = 10, .space = 1, .tid = 9, .is_born = true};
    add_life(1, 0, 1000, true);
    add_span(1, 0, 100, false, false);
    add_span(1, 300, 700, false, true);
    ck_assert_int_eq(yarn_sched_log_add_life(&sched, &other), 0);
    const struct yarn_sched_reading reading = {5, 5, 0, 0};
    ck_assert_int_eq(yarn_sched_log_add_reading(&sched, 1, 9, &reading), 0);
    ck_assert_int_eq(yarn_sched_log_sort(&sched), 0);
    struct yarn_sched_sums sums = sums_of(0, 0, UINT64_MAX);
    assert_states(&sums, 800, 0, 0, 200);
}
END_TEST

START_TEST(a_block_with_the_last_reading_in_it_may_have_been_a_wait_before_that_too)
{
    for (uint32_t tid = 1; tid <= 3; tid++) {
        add_life(tid, 0, 1000, true);
        add_span(tid, 100, 50, false, false);
        add_reading(tid, 400, 50, 100);
    }
    add_span(1, 600, 50, false, false); /* was woken some time, and was blocked again to its end */
    add_span(2, 600, 50, false, false);
    add_reading(2, 700, 100, 300);
    ck_assert_int_eq(yarn_sched_log_sort(&sched), 0);
    struct yarn_sched_sums sums = sums_of(0, 0, UINT64_MAX);
    assert_states(&sums, 100, 100, 350, 450);
    sums = sums_of(1, 0, UINT64_MAX); /* what the kernel said when it had run again */
    assert_states(&sums, 100, 300, 600, 0);
    sums = sums_of(2, 0, UINT64_MAX); /* it did not run again */
    assert_states(&sums, 50, 100, 850, 0);
}
END_TEST

START_TEST(a_block_that_the_window_cuts_may_be_a_wait_as_far_as_the_next_reading_says)
{
    for (uint32_t tid = 1; tid <= 3; tid++) {
        add_life(tid, 0, 1000, true);
        add_span(tid, 0, 100, false, false);
        add_reading(tid, 50, 50, 0);
    }
    add_span(1, 900, 100, false, false);
    add_reading(1, 950, 150, 30);
    add_span(2, 900, 50, false, false); /* nobody asks again */
    ck_assert_int_eq(yarn_sched_log_sort(&sched), 0);
    struct yarn_sched_sums sums = sums_of(0, 0, 600);
    assert_states(&sums, 100, 0, 470, 30);
    sums = sums_of(0, 200, 600);
    assert_states(&sums, 0, 0, 370, 30);
    sums = sums_of(1, 200, 600);
    assert_states(&sums, 0, 0, 0, 400);
    sums = sums_of(2, 200, 600); /* it does not come again */
    assert_states(&sums, 0, 0, 400, 0);
}
END_TEST

START_TEST(a_tid_that_comes_again_is_another_thread)
{
    add_life(1, 500, 900, true);
    add_life(1, 0, 400, true);
    add_span(1, 600, 100, false, false);
    add_span(1, 100, 100, false, false);
    ck_assert_int_eq(yarn_sched_log_sort(&sched), 0);
    struct yarn_sched_sums one = sums_of(0, 0, UINT64_MAX), other = sums_of(1, 0, UINT64_MAX);
    assert_states(&one, 100, 100, 200, 0);
    assert_states(&other, 100, 100, 200, 0);
}
END_TEST

static uint64_t random_below(uint64_t bound)
{
    seed = yarn_hash_u64(seed + UINT64_C(0x9e3779b97f4a7c15));
    return bound ? seed % bound : seed;
}

/* Now and then as large as it can be. */
static uint64_t random_time(void)
{
    return random_below(50) ? random_below(10000) : UINT64_MAX - random_below(3);
}

static void add_random(uint32_t tid)
{
    static const struct yarn_sched_waker waker = {0, 1, false};
    switch (random_below(8)) {
    case 0:
        add_life(tid, random_time(), random_time(), random_below(2));
        break;
    case 1:
        add_gap(random_time(), random_time());
        break;
    case 2:
        add_reading(tid, random_time(), random_time(), random_time());
        break;
    case 3:
        ck_assert_int_eq(yarn_sched_log_add_waking(&sched, 0, tid, random_time(), &waker), 0);
        break;
    default:
        add_span(tid, random_time(), random_below(3) ? random_below(400) : random_time(),
                 random_below(2), !random_below(4));
    }
}

static void assert_cells(const struct yarn_sched_life *life, const struct yarn_sched_sums *sums,
                         uint64_t from_ns, uint64_t to_ns)
{
    struct yarn_sched_cell cells[7];
    uint64_t states[YARN_SCHED_STATES] = {0};
    if (to_ns - from_ns > UINT64_MAX / 2)
        return;
    struct yarn_sched_lane lane = yarn_sched_lane_of(cells, YARN_COUNT_OF(cells), from_ns, to_ns);
    memset(cells, 0, sizeof cells);
    yarn_sched_lane_add(&lane, &sched, life, from_ns, to_ns);
    for (size_t i = 0; i < YARN_COUNT_OF(cells); i++)
        for (size_t j = 0; j < YARN_SCHED_STATES; j++)
            states[j] += cells[i].states[j];
    /* Of what is unknown in a lane the sum has as running what the thread's clock says. */
    ck_assert_uint_le(states[YARN_SCHED_RUNNING], sums->running_ns);
    ck_assert_uint_ge(states[YARN_SCHED_RUNNING] + states[YARN_SCHED_UNKNOWN], sums->running_ns);
    uint64_t all_ns = 0;
    for (size_t i = 0; i < YARN_SCHED_STATES; i++)
        all_ns += states[i];
    ck_assert_uint_eq(all_ns, sums->life_ns);
}

/* Whatever a source says: spans that overlap, overflow, belong to nobody; readings that fall. */
START_TEST(parts_are_the_life_for_any_input)
{
    seed = (uint64_t)_i * 7919 + 1;
    for (int i = 0; i < 300; i++)
        add_random((uint32_t)random_below(4));
    ck_assert_int_eq(yarn_sched_log_sort(&sched), 0);
    for (size_t i = 0; i < sched.nr_lives; i++) {
        const struct yarn_sched_life *life = &sched.lives[i];
        uint64_t from_ns = random_below(2) ? random_below(10000) : 0;
        uint64_t to_ns = random_below(2) ? from_ns + random_below(10000) : UINT64_MAX;
        struct yarn_sched_sums sums = sums_of(i, from_ns, to_ns);
        uint64_t begin_ns = yarn_u64_max(from_ns, life->birth_ns);
        ck_assert_uint_eq(sums.life_ns,
                          yarn_u64_minus(yarn_u64_min(to_ns, life->end_ns), begin_ns));
        ck_assert_uint_eq(sums.running_ns + sums.switching_ns + sums.runnable_ns + sums.blocked_ns +
                              sums.unknown_ns,
                          sums.life_ns);
        ck_assert(sums.running_ns <= sums.life_ns && sums.switching_ns <= sums.life_ns &&
                  sums.runnable_ns <= sums.life_ns && sums.blocked_ns <= sums.life_ns);
        assert_cells(life, &sums, from_ns, to_ns);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sums");
    TCase *made = tcase_create("made");
    tcase_add_checked_fixture(made, open_log, close_log);
    tcase_add_test(made, a_life_is_its_pieces);
    tcase_add_test(made, a_window_cuts_pieces_and_counts_what_happened_in_it);
    tcase_add_test(made, a_span_that_was_divided_is_one);
    tcase_add_test(made, what_was_cut_out_is_unknown);
    tcase_add_test(made, a_waking_ends_a_block);
    tcase_add_test(made, schedstat_raises_runnable_and_the_clock_shows_switching);
    tcase_add_test(made, what_records_do_not_know_of_is_told_in_sum_between_two_readings);
    tcase_add_test(made, more_waiting_than_the_kernel_counted_is_unknown);
    tcase_add_test(made, a_wait_that_lasts_at_a_reading_is_in_the_next);
    tcase_add_test(made, a_wait_that_lasts_at_a_reading_may_be_in_it_where_the_thread_was_moved);
    tcase_add_test(made, what_is_off_a_core_at_the_last_reading_without_a_record_may_wait_there);
    tcase_add_test(made, blocks_that_end_after_the_last_reading_are_unknown);
    tcase_add_test(made,
                   blocks_that_end_before_the_first_reading_of_one_that_was_found_are_unknown);
    tcase_add_test(made, of_a_process_that_ended_unread_blocks_are_unknown_where_others_were_read);
    tcase_add_test(made, a_block_with_the_last_reading_in_it_may_have_been_a_wait_before_that_too);
    tcase_add_test(made,
                   a_block_that_the_window_cuts_may_be_a_wait_as_far_as_the_next_reading_says);
    tcase_add_test(made, a_tid_that_comes_again_is_another_thread);
    suite_add_tcase(suite, made);
    TCase *random = tcase_create("random");
    tcase_add_checked_fixture(random, open_log, close_log);
    tcase_add_loop_test(random, parts_are_the_life_for_any_input, 0, 200);
    suite_add_tcase(suite, random);
    return run_suite(suite);
}
