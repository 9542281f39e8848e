/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "core/session/plan.h"
#include "tests/support/suite.h"

static struct yarn_event_spec clock_at(uint64_t hz)
{
    return (struct yarn_event_spec){.is_clock = true, .period = YARN_NS_PER_SECOND / hz};
}

static struct yarn_session_request session_of(const struct yarn_event_spec *events, size_t count,
                                              uint32_t stack_bytes)
{
    return (struct yarn_session_request){
        .events = events,
        .nr_events = count,
        .stack = stack_bytes ? YARN_STACKS_COPY : YARN_STACKS_NONE,
        .stack_bytes = stack_bytes,
        .interval_ns = 100 * YARN_NS_PER_MS,
    };
}

static const struct {
    uint64_t hz;
    uint32_t stack_bytes;
    size_t ring_bytes;
} rings[] = {
    {999, 0, YARN_PLAN_RING_MIN},        /* tiny records: the least */
    {999, 32768, YARN_MIB(1)},           /* 20 ms of 33 MB/s is 675 KB */
    {999, 65528, YARN_MIB(2)},           /* 1.3 MB */
    {20000, 32768, YARN_MIB(16)},        /* 13.5 MB */
    {100000, 65528, YARN_PLAN_RING_MAX}, /* 133 MB: the most */
    {10, 65528, YARN_KIB(512)},          /* 8 records */
};

START_TEST(ring_of_a_thread_holds_20_ms_within_its_bounds)
{
    struct yarn_event_spec event = clock_at(rings[_i].hz);
    struct yarn_session_request request = session_of(&event, 1, rings[_i].stack_bytes);
    struct yarn_plan plan = yarn_plan_first(&request);
    ck_assert_uint_eq(plan.ring_bytes, rings[_i].ring_bytes);
    ck_assert_uint_eq(plan.stack_bytes, rings[_i].stack_bytes);
}
END_TEST

static const struct {
    uint64_t hz;
    size_t nr_cores, ring_bytes;
} core_rings[] = {
    {999, 2, YARN_MIB(4)}, /* 100 ms of 33 MB/s is 3.4 MB */
    {999, 16, YARN_MIB(4)},    {999, 17, YARN_MIB(2)},   {999, 64, YARN_MIB(1)},
    {999, 128, YARN_KIB(512)}, {20000, 2, YARN_MIB(16)}, {99, 2, YARN_KIB(512)},
};

START_TEST(ring_of_a_core_holds_100_ms_while_all_are_not_too_large)
{
    struct yarn_event_spec event = clock_at(core_rings[_i].hz);
    struct yarn_session_request request = session_of(&event, 1, 32768);
    struct yarn_plan plan = yarn_plan_of_core(&request, core_rings[_i].nr_cores);
    ck_assert_uint_eq(plan.ring_bytes, core_rings[_i].ring_bytes);
    yarn_plan_slow_down(&request, core_rings[_i].nr_cores, yarn_plan_watermark(&plan), &plan);
    ck_assert_uint_eq(plan.rate_permille, 0); /* memory is not what is short */
}
END_TEST

START_TEST(ring_of_a_core_begins_with_room_for_a_moment_unless_more_may_come_at_once)
{
    struct yarn_event_spec events[] = {clock_at(999), {.name = "page-faults", .period = 1}};
    struct yarn_session_request request = session_of(events, 1, 32768);
    struct yarn_plan plan = yarn_plan_to_begin(&request, 2);
    ck_assert_uint_eq(plan.ring_bytes, YARN_KIB(512));
    ck_assert_uint_eq(plan.stack_bytes, 32768);
    ck_assert_uint_eq(yarn_plan_to_begin(&request, 512).ring_bytes, YARN_KIB(512));
    request.nr_events = 2; /* faults come in bursts */
    ck_assert_uint_eq(yarn_plan_to_begin(&request, 2).ring_bytes, YARN_MIB(16));
    ck_assert_uint_eq(yarn_plan_to_begin(&request, 8).ring_bytes, YARN_MIB(8));
    events[1] = clock_at(999); /* 1 MiB would be more than perf grants a user for a core */
    ck_assert_uint_eq(yarn_plan_to_begin(&request, 2).ring_bytes, YARN_KIB(512));
    request.nr_events = 1;
    request.ring_bytes = YARN_MIB(1);
    ck_assert_uint_eq(yarn_plan_to_begin(&request, 2).ring_bytes, YARN_MIB(1));
    request.ring_bytes = 0;
    events[0] = clock_at(20000);
    ck_assert_uint_eq(yarn_plan_to_begin(&request, 2).ring_bytes, YARN_MIB(8));
}
END_TEST

START_TEST(rather_fewer_samples_than_rings_that_fill_at_once)
{
    struct yarn_event_spec event = clock_at(4000);
    struct yarn_session_request request = session_of(&event, 1, 32768);
    struct yarn_plan plan = yarn_plan_of_core(&request, 2);
    while (plan.ring_bytes > YARN_MIB(2))
        ck_assert(yarn_plan_smaller(&plan));
    yarn_plan_slow_down(&request, 2, yarn_plan_watermark(&plan), &plan);
    ck_assert_uint_eq(plan.rate_permille, 0); /* 45 of 62 records are free for 11 ms */
    while (plan.ring_bytes > YARN_KIB(512))
        ck_assert(yarn_plan_smaller(&plan));
    yarn_plan_slow_down(&request, 2, yarn_plan_watermark(&plan), &plan);
    ck_assert_uint_eq(plan.rate_permille, 281); /* 11 of 15 in 10 ms */
    struct yarn_event_spec slowed = event;
    yarn_plan_rate_event(&plan, &slowed);
    ck_assert_uint_eq(slowed.period, event.period * 1000 / 281);
    event = clock_at(999);
    yarn_plan_slow_down(&request, 2, yarn_plan_watermark(&plan), &plan);
    ck_assert_uint_eq(plan.rate_permille, 0);
}
END_TEST

START_TEST(rate_of_its_own_is_kept)
{
    struct yarn_event_spec event = clock_at(1000);
    struct yarn_plan plan = {.rate_permille = 500};
    uint64_t period = event.period;
    event.has_own_rate = true;
    yarn_plan_rate_event(&plan, &event);
    ck_assert_uint_eq(event.period, period);
    event = (struct yarn_event_spec){.period = 1}; /* each one is a sample */
    yarn_plan_rate_event(&plan, &event);
    ck_assert_uint_eq(event.period, 1);
    event = (struct yarn_event_spec){.frequency = 1000};
    yarn_plan_rate_event(&plan, &event);
    ck_assert_uint_eq(event.frequency, 500);
}
END_TEST

START_TEST(asked_ring_is_kept_unless_it_would_jam)
{
    struct yarn_event_spec event = clock_at(999);
    struct yarn_session_request request = session_of(&event, 1, 32768);
    request.ring_bytes = YARN_MIB(4);
    ck_assert_uint_eq(yarn_plan_first(&request).ring_bytes, YARN_MIB(4));
    request.ring_bytes = 4096;
    struct yarn_plan plan = yarn_plan_first(&request);
    ck_assert_uint_eq(plan.ring_bytes, YARN_KIB(64));
    ck_assert_uint_gt(plan.ring_bytes, yarn_plan_record_bytes(&plan));
}
END_TEST

START_TEST(deeper_copies_are_as_deep_as_a_record_can_hold_in_a_ring_for_as_many)
{
    struct yarn_event_spec event = clock_at(999);
    struct yarn_session_request request = session_of(&event, 1, 32768);
    struct yarn_plan plan = yarn_plan_first(&request);
    ck_assert(!yarn_plan_deeper(&request, 2, &plan)); /* the size was requested */
    request.may_deepen = true;
    ck_assert(yarn_plan_deeper(&request, 2, &plan));
    ck_assert_uint_eq(plan.stack_bytes, 65528);
    ck_assert_uint_le(yarn_plan_record_bytes(&plan), 65536);
    ck_assert_uint_eq(plan.ring_bytes, YARN_MIB(2));
    ck_assert(!yarn_plan_deeper(&request, 2, &plan)); /* they are */
    plan.stack_bytes = 16384;
    ck_assert(!yarn_plan_deeper(&request, 2, &plan)); /* for want of memory */
}
END_TEST

START_TEST(copies_of_an_alternate_are_as_deep_as_the_ring_allows)
{
    struct yarn_event_spec event = clock_at(999);
    struct yarn_session_request request = session_of(&event, 1, 32768);
    struct yarn_plan got = yarn_plan_to_begin(&request, 2), plan;
    plan = yarn_plan_of_alternate(&request, 2, &got, YARN_MIB(4));
    ck_assert_uint_eq(plan.stack_bytes, 32768); /* the size was requested */
    request.may_deepen = true;
    plan = yarn_plan_of_alternate(&request, 2, &got, YARN_MIB(4));
    ck_assert_uint_eq(plan.stack_bytes, 65528);
    ck_assert_uint_eq(plan.rate_permille, 0);
    struct yarn_event_spec two[] = {event, event};
    request.events = two;
    request.nr_events = 2; /* the reader is woken as by shallow ones: of 15 ms 11 are left */
    plan = yarn_plan_of_alternate(&request, 2, &got, YARN_MIB(2));
    ck_assert_uint_eq(plan.stack_bytes, 65528);
    ck_assert_uint_eq(plan.rate_permille, 0);
    request.nr_events = 1;
    plan = yarn_plan_of_alternate(&request, 2, &got, YARN_KIB(512));
    ck_assert_uint_eq(plan.stack_bytes, 65528);
    ck_assert_uint_ge(YARN_KIB(512) / yarn_plan_record_bytes(&plan), YARN_PLAN_RING_RECORDS);
    ck_assert_uint_eq(plan.rate_permille, 600); /* three quarters of 8 records in 10 ms */
    plan = yarn_plan_of_alternate(&request, 2, &got, YARN_KIB(256));
    ck_assert_uint_eq(plan.stack_bytes, 32768); /* too few */
    got.stack_bytes = 16384;
    plan = yarn_plan_of_alternate(&request, 2, &got, YARN_MIB(4));
    ck_assert_uint_eq(plan.stack_bytes, 16384); /* memory was too little before */
}
END_TEST

START_TEST(events_with_a_rate_have_an_alternate_while_it_costs_threads_little)
{
    struct yarn_event_spec event = clock_at(999);
    struct yarn_session_request request = session_of(&event, 1, 0);
    ck_assert(yarn_plan_wants_alternate(&request, &event));
    event.has_own_period = true; /* which is never varied */
    ck_assert(!yarn_plan_may_vary(&event));
    ck_assert(!yarn_plan_wants_alternate(&request, &event));
    request = session_of(&event, 1, 32768);
    request.may_deepen = true;
    ck_assert(yarn_plan_wants_alternate(&request, &event)); /* for deeper copies */
    event = (struct yarn_event_spec){.period = 1};
    ck_assert(!yarn_plan_wants_alternate(&request, &event));
    event = clock_at(999);
    ck_assert(yarn_plan_can_alternate(&request, 2, 1));
    ck_assert(yarn_plan_can_alternate(&request, 16, 1));
    ck_assert(!yarn_plan_can_alternate(&request, 128, 1));
}
END_TEST

START_TEST(no_ring_grows_beyond_the_largest)
{
    struct yarn_event_spec event = clock_at(20000);
    struct yarn_session_request request = session_of(&event, 1, 32768);
    request.may_deepen = true;
    struct yarn_plan plan = yarn_plan_first(&request);
    ck_assert(yarn_plan_deeper(&request, 2, &plan));
    ck_assert_uint_eq(plan.ring_bytes, YARN_PLAN_RING_MAX);
    request.ring_bytes = YARN_MIB(1);
    plan = yarn_plan_first(&request);
    ck_assert(!yarn_plan_deeper(&request, 2, &plan)); /* asked for */
}
END_TEST

START_TEST(refusals_halve_the_ring_first_and_then_the_copy)
{
    struct yarn_event_spec event = clock_at(20000);
    struct yarn_session_request request = session_of(&event, 1, 32768);
    struct yarn_plan plan = yarn_plan_first(&request);
    static const struct {
        size_t ring_bytes;
        uint32_t stack_bytes;
    } want[] = {
        {YARN_MIB(8), 32768},   {YARN_MIB(4), 32768},   {YARN_MIB(2), 32768},  {YARN_MIB(1), 32768},
        {YARN_KIB(512), 32768}, {YARN_KIB(256), 16384}, {YARN_KIB(128), 8192}, {YARN_KIB(64), 4096},
    };
    for (size_t i = 0; i < YARN_COUNT_OF(want); i++) {
        ck_assert(yarn_plan_smaller(&plan));
        ck_assert_uint_eq(plan.ring_bytes, want[i].ring_bytes);
        ck_assert_uint_eq(plan.stack_bytes, want[i].stack_bytes);
    }
    ck_assert(!yarn_plan_smaller(&plan));
}
END_TEST

START_TEST(refusals_without_copies_end_at_eight_records)
{
    struct yarn_event_spec event = clock_at(999);
    struct yarn_session_request request = session_of(&event, 1, 0);
    struct yarn_plan plan = yarn_plan_first(&request);
    while (yarn_plan_smaller(&plan))
        ck_assert_uint_eq(plan.stack_bytes, 0);
    ck_assert_uint_eq(plan.ring_bytes, YARN_PLAN_RING_RECORDS * YARN_PLAN_RECORD_OVERHEAD);
}
END_TEST

START_TEST(ring_of_a_timer_fills_no_faster_than_the_tick)
{
    struct yarn_event_spec event = clock_at(20000);
    struct yarn_session_request request = session_of(&event, 1, 32768);
    struct yarn_plan plan = yarn_plan_for_timer(&request, 4 * YARN_NS_PER_MS);
    ck_assert_uint_eq(plan.ring_bytes, YARN_KIB(512));
    ck_assert_uint_eq(plan.stack_bytes, 32768);
    uint64_t records = plan.ring_bytes / yarn_plan_record_bytes(&plan);
    ck_assert_uint_eq(yarn_plan_fill_ns(&request, &plan), records * 4 * YARN_NS_PER_MS);
    event = clock_at(10);
    ck_assert_uint_eq(yarn_plan_fill_ns(&request, &plan), records * YARN_NS_PER_SECOND / 10);
    request.may_deepen = true;
    plan = yarn_plan_for_timer(&request, 4 * YARN_NS_PER_MS);
    ck_assert_uint_eq(plan.ring_bytes, YARN_KIB(512));
    ck_assert_uint_eq(plan.stack_bytes, 65528);
}
END_TEST

START_TEST(timed_pause_leaves_half_of_the_ring_free_and_more_of_the_first)
{
    struct yarn_event_spec event = clock_at(999);
    struct yarn_session_request request = session_of(&event, 1, 32768);
    struct yarn_plan plan = yarn_plan_first(&request);
    uint64_t pause_ns = yarn_plan_timed_ns(&request, &plan);
    uint64_t bytes = pause_ns * 999 / YARN_NS_PER_SECOND * yarn_plan_record_bytes(&plan);
    ck_assert_uint_le(bytes, plan.ring_bytes / 2);
    plan = yarn_plan_to_begin(&request, 2);
    ck_assert_uint_le(yarn_plan_timed_ns(&request, &plan) * 4, yarn_plan_fill_ns(&request, &plan));
    request.interval_ns = YARN_NS_PER_MS;
    ck_assert_uint_eq(yarn_plan_timed_ns(&request, &plan), YARN_NS_PER_MS);
}
END_TEST

static const struct {
    uint64_t hz;
    uint32_t stack_bytes;
    size_t watermark;
} watermarks[] = {
    {999, 32768, 512 << 10},      /* half of 1 MiB, 31 records */
    {20000, 32768, 4 << 20},      /* a quarter of 16 MiB: 124 records */
    {999, 0, 128 << 10},          /* a quarter: 128 records */
    {99, 32768, 128 << 10},       /* of 15 records a quarter */
    {999, 65528, (2 << 20) / 2},  /* half of 31 records */
    {5000, 32768, (4 << 20) / 4}, /* a quarter is 31 records */
};

START_TEST(watermark_is_a_quarter_where_that_is_worth_a_wake_up)
{
    struct yarn_event_spec event = clock_at(watermarks[_i].hz);
    struct yarn_session_request request = session_of(&event, 1, watermarks[_i].stack_bytes);
    struct yarn_plan plan = yarn_plan_first(&request);
    ck_assert_uint_eq(yarn_plan_watermark(&plan), watermarks[_i].watermark);
}
END_TEST

START_TEST(rates_of_all_events_add_up)
{
    struct yarn_event_spec events[] = {clock_at(1000), {.frequency = 500}, {.period = 1}};
    struct yarn_session_request request = session_of(events, 2, 0);
    ck_assert_uint_eq(yarn_plan_rate(&request), 1500);
    request.nr_events = 3;
    ck_assert_uint_gt(yarn_plan_rate(&request), 1500);
    request.nr_events = 0;
    ck_assert_uint_gt(yarn_plan_rate(&request), 0);
}
END_TEST

static const struct {
    size_t nr_events, nr_cores;
    enum yarn_strategy asked;
    bool is_per_thread;
} strategies[] = {
    {1, 2, YARN_STRATEGY_AUTO, false},
    {1, 64, YARN_STRATEGY_AUTO, false}, /* 93 us a birth against 281, and 32 MiB */
    {4, 64, YARN_STRATEGY_AUTO, false}, /* 371 us against 1,064: the ring is 4 MiB */
    {1, 128, YARN_STRATEGY_AUTO, true}, /* 64 MiB of rings */
    {1, 2, YARN_STRATEGY_PER_THREAD, true},
    {4, 1024, YARN_STRATEGY_PER_CORE, false},
};

START_TEST(strategy_is_the_cheaper_one_unless_asked)
{
    struct yarn_event_spec events[4] = {clock_at(999)};
    struct yarn_session_request request = session_of(events, strategies[_i].nr_events, 32768);
    request.strategy = strategies[_i].asked;
    struct yarn_plan_estimate estimate = yarn_plan_strategy(&request, strategies[_i].nr_cores);
    ck_assert_int_eq(estimate.is_per_thread, strategies[_i].is_per_thread);
    ck_assert_int_eq(estimate.is_asked, strategies[_i].asked != YARN_STRATEGY_AUTO);
}
END_TEST

START_TEST(rings_of_many_cores_are_halved_as_far_as_the_copy_allows)
{
    struct yarn_event_spec event = clock_at(999);
    struct yarn_session_request request = session_of(&event, 1, 32768);
    ck_assert_uint_eq(yarn_plan_of_core(&request, 32).ring_bytes, YARN_MIB(2));
    ck_assert_uint_eq(yarn_plan_of_core(&request, 64).ring_bytes, YARN_MIB(1));
    ck_assert_uint_eq(yarn_plan_of_core(&request, 512).ring_bytes, YARN_MIB(1) / 2);
    ck_assert_uint_eq(yarn_plan_of_core(&request, 512).stack_bytes, 32768);
    request.ring_bytes = YARN_MIB(4);
    ck_assert_uint_eq(yarn_plan_of_core(&request, 512).ring_bytes, YARN_MIB(4));
}
END_TEST

START_TEST(rings_of_threads_shrink_with_their_number_and_end)
{
    struct yarn_event_spec event = clock_at(999);
    struct yarn_session_request request = session_of(&event, 1, 32768);
    struct yarn_plan first = yarn_plan_first(&request), plan = first;
    size_t sum = 0, nr_threads = 0;
    for (; yarn_plan_of_thread(&request, &first, nr_threads, sum, &plan); nr_threads++) {
        ck_assert_uint_ge(plan.ring_bytes, YARN_PLAN_RING_RECORDS * yarn_plan_record_bytes(&plan));
        ck_assert((nr_threads < 16) == (plan.ring_bytes == YARN_MIB(1)));
        sum += plan.ring_bytes;
    }
    ck_assert_uint_ge(nr_threads, 1000);
    ck_assert_uint_le(sum, YARN_MIB(128));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plan");
    TCase *sizes = tcase_create("sizes of rings");
    tcase_add_loop_test(sizes, ring_of_a_thread_holds_20_ms_within_its_bounds, 0,
                        (int)YARN_COUNT_OF(rings));
    tcase_add_loop_test(sizes, ring_of_a_core_holds_100_ms_while_all_are_not_too_large, 0,
                        (int)YARN_COUNT_OF(core_rings));
    tcase_add_test(sizes,
                   ring_of_a_core_begins_with_room_for_a_moment_unless_more_may_come_at_once);
    tcase_add_test(sizes, rather_fewer_samples_than_rings_that_fill_at_once);
    tcase_add_test(sizes, events_with_a_rate_have_an_alternate_while_it_costs_threads_little);
    tcase_add_test(sizes, rate_of_its_own_is_kept);
    tcase_add_test(sizes, asked_ring_is_kept_unless_it_would_jam);
    tcase_add_test(sizes, timed_pause_leaves_half_of_the_ring_free_and_more_of_the_first);
    tcase_add_test(sizes, ring_of_a_timer_fills_no_faster_than_the_tick);
    tcase_add_loop_test(sizes, watermark_is_a_quarter_where_that_is_worth_a_wake_up, 0,
                        (int)YARN_COUNT_OF(watermarks));
    tcase_add_test(sizes, rates_of_all_events_add_up);
    tcase_add_loop_test(sizes, strategy_is_the_cheaper_one_unless_asked, 0,
                        YARN_COUNT_OF(strategies));
    tcase_add_test(sizes, rings_of_many_cores_are_halved_as_far_as_the_copy_allows);
    tcase_add_test(sizes, rings_of_threads_shrink_with_their_number_and_end);
    suite_add_tcase(suite, sizes);
    TCase *refused = tcase_create("the memlock limit refuses");
    tcase_add_test(refused, deeper_copies_are_as_deep_as_a_record_can_hold_in_a_ring_for_as_many);
    tcase_add_test(refused, copies_of_an_alternate_are_as_deep_as_the_ring_allows);
    tcase_add_test(refused, no_ring_grows_beyond_the_largest);
    tcase_add_test(refused, refusals_halve_the_ring_first_and_then_the_copy);
    tcase_add_test(refused, refusals_without_copies_end_at_eight_records);
    suite_add_tcase(suite, refused);
    return run_suite(suite);
}
