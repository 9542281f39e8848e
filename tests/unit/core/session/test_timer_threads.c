/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/session/timer_threads.h"
#include "core/sys/clock.h"
#include "tests/support/suite.h"

enum { ARENA_BYTES = 4 * 1024 * 1024, RING_BYTES = 4096 };
#define WAIT_NS (100 * YARN_NS_PER_MS)
#define SOON_NS (5 * YARN_NS_PER_SECOND)

static uint32_t nr_told;

/* As if the host kept the reader waiting in the middle of a scan. */
static void wait_at(void *self, const struct yarn_typed_record *record)
{
    const struct timespec wait = {.tv_nsec = WAIT_NS};
    (void)self;
    nr_told += record->type == YARN_RECORD_FORK;
    nanosleep(&wait, NULL);
}

static void *sleep_on(void *unused)
{
    for (;;)
        pause();
    return unused;
}

START_TEST(scan_that_had_to_wait_does_not_put_the_next_off)
{
    struct yarn_arena arena;
    struct yarn_timer_terms terms = {.pid = getpid(), .period_ns = YARN_NS_PER_MS};
    struct yarn_timer_threads threads = {.terms = &terms, .data_bytes = RING_BYTES};
    struct yarn_record_listener listener = {.record = wait_at};
    pthread_t thread;
    yarn_arena_open(&arena, ARENA_BYTES);
    ck_assert_int_eq(pthread_create(&thread, NULL, sleep_on, NULL), 0);
    ck_assert_int_eq(yarn_timer_threads_open(&threads, &arena), 0);
    while (!nr_told) { /* while it is being made it blocks all signals */
        threads.next_scan_ns = 0;
        ck_assert_int_eq(yarn_timer_threads_scan(&threads, false, &listener), 0);
    }
    ck_assert_uint_lt(threads.next_scan_ns, yarn_clock_ns(YARN_TIME_MONOTONIC) + SOON_NS);
    yarn_timer_threads_quiet(&threads);
    ck_assert(yarn_timer_threads_wait(&threads));
    yarn_timer_threads_close(&threads);
    yarn_arena_close(&arena);
}
END_TEST

/* ---- a thread that works, and blocks the signal or not ---- */

enum { ASLEEP_US = 5000 };
enum order { WAIT, WORK, BLOCK, END };

static _Atomic enum order order;
static _Atomic pid_t worker_tid;
static _Atomic uint64_t worker_ns; /* CPU time that it has used */
static pthread_t worker;

static struct yarn_arena arena;
static struct yarn_timer_terms terms;
static struct yarn_timer_threads threads;
static struct yarn_merge merge;
static struct yarn_table numbers;
static uint64_t sampled_ns;

static void *work(void *unused)
{
    const uint64_t signal = UINT64_C(1) << (YARN_SIGNAL_TICK - 1);
    atomic_store(&worker_tid, gettid());
    for (enum order now, before = WAIT; (now = atomic_load(&order)) != END; before = now) {
        if ((now == BLOCK) != (before == BLOCK))
            syscall(SYS_rt_sigprocmask, now == BLOCK ? SIG_BLOCK : SIG_UNBLOCK, &signal, NULL,
                    sizeof signal);
        if (now == WAIT)
            usleep(4 * ASLEEP_US);
        atomic_store(&worker_ns, yarn_clock_ns(YARN_TIME_THREAD_CPU));
    }
    return unused;
}

static void on_record(void *self, const struct yarn_typed_record *record)
{
    (void)self;
    if (record->type == YARN_RECORD_SAMPLE)
        sampled_ns += record->perf.period;
}

static const struct yarn_record_listener listener = {.record = on_record};

static void end_worker(void)
{
    atomic_store(&order, END);
    if (atomic_exchange(&worker_tid, 0))
        ck_assert_int_eq(pthread_join(worker, NULL), 0);
}

static void set_up(void)
{
    static const struct perf_event_attr attr = {.sample_type =
                                                    YARN_SAMPLE_TYPE_COMMON | PERF_SAMPLE_PERIOD};
    terms = (struct yarn_timer_terms){
        .pid = getpid(), .id = 1, .period_ns = YARN_NS_PER_MS, .periods_max = UINT64_MAX};
    threads = (struct yarn_timer_threads){.terms = &terms, .data_bytes = RING_BYTES};
    yarn_arena_open(&arena, ARENA_BYTES);
    ck_assert_int_eq(yarn_signal_take(yarn_timer_sample_on_signal, yarn_signal_handler(), true), 0);
    ck_assert_int_eq(yarn_timer_threads_open(&threads, &arena), 0);
    ck_assert_int_eq(yarn_table_open(&numbers, 4, 4), 0);
    ck_assert_int_eq(yarn_table_put(&numbers, terms.id, 0), 0);
    merge.decoder.attrs = &attr;
    merge.decoder.numbers = &numbers;
    sampled_ns = 0;
    atomic_store(&order, WAIT);
    ck_assert_int_eq(pthread_create(&worker, NULL, work, NULL), 0);
    while (!atomic_load(&worker_tid))
        usleep(1000);
}

static void tear_down(void)
{
    end_worker();
    yarn_timer_threads_quiet(&threads);
    ck_assert(yarn_timer_threads_wait(&threads));
    yarn_timer_threads_close(&threads);
    yarn_table_close(&numbers);
    yarn_arena_close(&arena);
}

static void scan(void)
{
    threads.next_scan_ns = 0;
    ck_assert_int_eq(yarn_timer_threads_scan(&threads, false, NULL), 0);
}

static void drain(void)
{
    bool has_news;
    yarn_timer_threads_gather(&threads, &merge, &listener);
    yarn_merge_pass(&merge, UINT64_MAX, &listener, &has_news);
}

/* Until it has used so much more CPU time. */
static void let(enum order wanted, uint64_t cpu_ns)
{
    uint64_t end_ns = atomic_load(&worker_ns) + cpu_ns;
    atomic_store(&order, wanted);
    while (atomic_load(&worker_ns) < end_ns)
        usleep(1000);
}

static void fall_asleep(void)
{
    atomic_store(&order, WAIT);
    usleep(ASLEEP_US);
}

static struct yarn_timer_slot *slot_of_worker(void)
{
    for (size_t i = 0; i < threads.nr_slots; i++)
        if (yarn_timer_slots[i].tid == atomic_load(&worker_tid))
            return &yarn_timer_slots[i];
    ck_abort_msg("no slot");
    return NULL;
}

static bool is_timed(void)
{
    return yarn_timer_slot_has(slot_of_worker(), YARN_TIMER_SLOT_TIMED);
}

/* The kernel's ticks decide when it comes. */
static void let_have_a_tick(void)
{
    uint32_t before = atomic_load(&slot_of_worker()->nr_ticks);
    while (atomic_load(&slot_of_worker()->nr_ticks) == before)
        let(WORK, YARN_NS_PER_MS);
}

START_TEST(a_thread_is_sampled_from_its_start_or_from_the_first_scan)
{
    let(WORK, WAIT_NS);
    fall_asleep();
    uint64_t before_ns = atomic_load(&worker_ns);
    ck_assert_int_eq(yarn_timer_threads_scan(&threads, _i, NULL), 0);
    fall_asleep();
    yarn_timer_threads_gather(&threads, &merge, NULL);
    ck_assert_uint_eq(merge.count, 0); /* a signal would have woken it */
    for (int i = 0; i < 3; i++) {
        let_have_a_tick();
        let(WORK, WAIT_NS / 3);
    }
    let_have_a_tick();
    fall_asleep();
    drain();
    uint64_t used_ns = atomic_load(&worker_ns) - (_i ? before_ns : 0);
    ck_assert_uint_le(sampled_ns, used_ns + 2 * YARN_NS_PER_MS);
    ck_assert_uint_ge(sampled_ns, used_ns - used_ns / 4);
}
END_TEST

START_TEST(what_a_thread_used_while_it_blocked_the_signal_is_known)
{
    scan();
    let_have_a_tick();
    uint64_t before_ns = atomic_load(&worker_ns);
    for (atomic_store(&order, BLOCK); is_timed();)
        scan();
    let(BLOCK, WAIT_NS);
    uint64_t blocked_ns = yarn_timer_threads_sums(&threads).blocked_ns;
    ck_assert_uint_ge(blocked_ns, WAIT_NS);
    ck_assert_uint_le(blocked_ns, atomic_load(&worker_ns) - before_ns + WAIT_NS);
    scan();
    ck_assert(!yarn_timer_threads_have_timers(&threads));
    ck_assert_int_eq(threads.refusal, -EBUSY);
    for (atomic_store(&order, WORK); !is_timed();)
        scan();
    let_have_a_tick();
    ck_assert_uint_ge(yarn_timer_threads_sums(&threads).blocked_ns, blocked_ns);
}
END_TEST

START_TEST(a_thread_without_ticks_that_blocks_nothing_keeps_its_timer)
{
    const struct yarn_timer_rate never = {.first_ns = 0};
    scan();
    ck_assert_int_eq(yarn_timer_set(slot_of_worker()->timer, &never), 0);
    for (int i = 0; i < 2; i++) {
        scan();
        let(WORK, WAIT_NS);
    }
    scan();
    ck_assert(is_timed());
    ck_assert_uint_eq(yarn_timer_threads_sums(&threads).blocked_ns, 0);
}
END_TEST

START_TEST(a_thread_that_blocks_the_signal_at_its_start_is_let_in_when_it_no_longer_does)
{
    enum { OFTEN = 20 };
    let(BLOCK, YARN_NS_PER_MS);
    scan();
    ck_assert_uint_eq(threads.nr_refused, 0); /* each does for a moment */
    for (int i = 0; i < OFTEN; i++)
        scan();
    ck_assert(!is_timed());
    ck_assert_uint_eq(threads.nr_refused, 1);
    ck_assert_uint_ge(yarn_timer_threads_sums(&threads).blocked_ns, YARN_NS_PER_MS);
    for (atomic_store(&order, WORK); !is_timed();)
        scan();
    let_have_a_tick();
}
END_TEST

START_TEST(what_an_ended_thread_lost_stays_lost)
{
    threads.data_bytes = 128; /* one sample's */
    scan();
    while (!yarn_timer_threads_sums(&threads).nr_lost)
        let_have_a_tick();
    const struct yarn_timer_slot *slot = slot_of_worker();
    end_worker();
    uint64_t lost = yarn_timer_threads_sums(&threads).nr_lost;
    for (scan(); slot->tid; scan())
        drain();
    ck_assert_uint_eq(yarn_timer_threads_sums(&threads).nr_lost, lost);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("timer threads");
    TCase *one = tcase_create("a host that keeps the reader waiting");
    tcase_add_test(one, scan_that_had_to_wait_does_not_put_the_next_off);
    suite_add_tcase(suite, one);
    /* Sanitizers see a handler of a raw call as a stranger on their stacks. */
    if (IS_THREAD_SANITIZED || IS_ADDRESS_SANITIZED)
        return run_suite(suite);
    TCase *working = tcase_create("a thread that works");
    tcase_add_checked_fixture(working, set_up, tear_down);
    tcase_set_timeout(working, 30);
    tcase_add_loop_test(working, a_thread_is_sampled_from_its_start_or_from_the_first_scan, 0, 2);
    tcase_add_test(working, what_a_thread_used_while_it_blocked_the_signal_is_known);
    tcase_add_test(working, a_thread_without_ticks_that_blocks_nothing_keeps_its_timer);
    tcase_add_test(working,
                   a_thread_that_blocks_the_signal_at_its_start_is_let_in_when_it_no_longer_does);
    tcase_add_test(working, what_an_ended_thread_lost_stays_lost);
    suite_add_tcase(suite, working);
    return run_suite(suite);
}
