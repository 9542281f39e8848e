/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/sys/signal.h"
#include "core/sys/timer.h"
#include "tests/support/suite.h"

enum { MASK_BYTES = 8, RESTORER = 0x04000000 };

static volatile sig_atomic_t nr_taken, nr_passed;
static atomic_bool is_over;
static volatile uint64_t blocked_under;

/* As the kernel has it: the C library refuses the signal. */
struct action {
    void (*handler)(int number, siginfo_t *info, void *context);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

static uint64_t blocked(void)
{
    uint64_t mask = 0;
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof mask);
    return mask;
}

/* The kernel wants a way back; the one that the C library gave another signal will do. */
static void set(struct action action)
{
    struct action other;
    signal(SIGUSR2, SIG_IGN);
    ck_assert_int_eq(syscall(SYS_rt_sigaction, SIGUSR2, NULL, &other, MASK_BYTES), 0);
    action.flags |= other.flags & RESTORER;
    action.restorer = other.restorer;
    ck_assert_int_eq(syscall(SYS_rt_sigaction, YARN_SIGNAL_TICK, &action, NULL, MASK_BYTES), 0);
}

static void on_tick(int number, siginfo_t *info, void *context)
{
    (void)number;
    nr_taken = nr_taken + 1;
    if (info->si_code != SI_TIMER)
        yarn_signal_pass_on(info, context);
}

static void on_other(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    (void)context;
    nr_passed = nr_passed + 1;
    blocked_under = blocked();
}

static void send_to_self(void)
{
    syscall(SYS_tgkill, getpid(), gettid(), YARN_SIGNAL_TICK);
}

static struct action found;

static void set_up(void)
{
    nr_taken = nr_passed = 0;
    ck_assert_int_eq(syscall(SYS_rt_sigaction, YARN_SIGNAL_TICK, NULL, &found, MASK_BYTES), 0);
}

static void tear_down(void)
{
    set(found);
}

START_TEST(what_is_not_ours_has_the_default_effect)
{
    ck_assert_uint_eq(yarn_signal_handler(), 0);
    ck_assert_int_eq(yarn_signal_take(on_tick, 0, false), 0);
    ck_assert(yarn_signal_is_taken(on_tick, false));
    ck_assert(!yarn_signal_is_taken(on_tick, true));
    pid_t child = fork();
    if (!child) {
        send_to_self();
        _exit(3);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status));
    ck_assert_int_eq(WTERMSIG(status), YARN_SIGNAL_TICK);
    yarn_signal_leave_behind();
    ck_assert_uint_eq(yarn_signal_handler(), 0);
}
END_TEST

START_TEST(the_handler_before_ours_gets_what_is_not_ours_under_its_own_mask)
{
    set((struct action){.handler = on_other, .flags = SA_SIGINFO, .mask = 1 << (SIGUSR1 - 1)});
    ck_assert_int_eq(yarn_signal_take(on_tick, (uintptr_t)on_other, true), 0);
    ck_assert(yarn_signal_is_taken(on_tick, true));
    send_to_self();
    ck_assert_int_eq(nr_passed, 1);
    ck_assert_uint_eq(blocked_under,
                      blocked() | 1 << (SIGUSR1 - 1) | UINT64_C(1) << (YARN_SIGNAL_TICK - 1));
    yarn_signal_leave_behind();
    ck_assert_uint_eq(yarn_signal_handler(), (uintptr_t)on_other);
}
END_TEST

START_TEST(what_was_not_expected_stays)
{
    set((struct action){.handler = on_other, .flags = SA_SIGINFO});
    ck_assert_int_eq(yarn_signal_take(on_tick, 0, false), -EBUSY);
    ck_assert_uint_eq(yarn_signal_handler(), (uintptr_t)on_other);
}
END_TEST

static void *wait_for_end(void *unused)
{
    (void)unused;
    while (!is_over)
        pthread_testcancel();
    return NULL;
}

static void spin(uint64_t cpu_ns)
{
    uint64_t now_ns = 0, end_ns;
    ck_assert_int_eq(yarn_timer_own_cpu_ns(&end_ns), 0);
    end_ns += cpu_ns;
    while (now_ns < end_ns)
        ck_assert_int_eq(yarn_timer_own_cpu_ns(&now_ns), 0);
}

START_TEST(the_c_librarys_handler_passes_over_timers_and_cancels_below_ours)
{
    pthread_t thread;
    void *result;
    int timer;
    struct yarn_timer_rate rate = {.first_ns = YARN_NS_PER_MS, .interval_ns = YARN_NS_PER_MS};
    ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_end, NULL), 0);
    ck_assert_int_eq(pthread_cancel(thread), 0);
    ck_assert_int_eq(pthread_join(thread, &result), 0);
    ck_assert_ptr_eq(result, PTHREAD_CANCELED);
    uintptr_t there = yarn_signal_handler();
    ck_assert_uint_gt(there, 1);
    ck_assert_int_eq(yarn_timer_open(gettid(), YARN_SIGNAL_TICK, NULL, &timer), 0);
    ck_assert_int_eq(yarn_timer_set(timer, &rate), 0);
    spin(30 * YARN_NS_PER_MS);
    ck_assert_int_eq(yarn_signal_take(on_tick, there, false), 0);
    spin(30 * YARN_NS_PER_MS);
    ck_assert_int_gt(nr_taken, 0);
    yarn_timer_close(timer);
}
END_TEST

static _Noreturn void *spin_for_ever(void *unused)
{
    (void)unused;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    for (;;)
        is_over = true;
}

START_TEST(a_thread_that_never_looks_is_cancelled_through_ours)
{
    pthread_t first, second;
    void *result;
    ck_assert_int_eq(pthread_create(&first, NULL, spin_for_ever, NULL), 0);
    ck_assert_int_eq(pthread_cancel(first), 0);
    ck_assert_int_eq(pthread_join(first, NULL), 0);
    ck_assert_int_eq(yarn_signal_take(on_tick, yarn_signal_handler(), false), 0);
    is_over = false;
    ck_assert_int_eq(pthread_create(&second, NULL, spin_for_ever, NULL), 0);
    while (!is_over)
        sched_yield();
    ck_assert_int_eq(pthread_cancel(second), 0);
    ck_assert_int_eq(pthread_join(second, &result), 0);
    ck_assert_ptr_eq(result, PTHREAD_CANCELED);
    ck_assert_int_eq(nr_taken, 1);
}
END_TEST

/* A sanitizer has some. */
static void reset_handlers(void)
{
    struct sigaction action;
    for (int number = 1; number <= SIGRTMAX; number++)
        if (!sigaction(number, NULL, &action) && action.sa_flags & SA_ONSTACK)
            signal(number, SIG_DFL);
}

START_TEST(handlers_on_alternate_stacks_are_seen)
{
    reset_handlers();
    struct sigaction action = {.sa_sigaction = on_other, .sa_flags = SA_SIGINFO};
    ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
    ck_assert(!yarn_signal_host_wants_alternate());
    action.sa_flags |= SA_ONSTACK;
    ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
    ck_assert(yarn_signal_host_wants_alternate());
    action.sa_handler = SIG_IGN;
    ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
    ck_assert(!yarn_signal_host_wants_alternate());
}
END_TEST

static volatile uintptr_t frame_at;

static void on_frame(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    frame_at = (uintptr_t)context - sizeof(void *);
}

START_TEST(a_frame_is_at_most_what_is_said_and_not_much_less)
{
    static _Alignas(64) uint8_t stack[256 * 1024];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_sigaction = on_frame, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    ck_assert_int_eq(sigaltstack(&alternate, NULL), 0);
    ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
    raise(SIGUSR1);
    size_t used = (uintptr_t)(stack + sizeof stack) - frame_at;
    ck_assert_uint_le(used, yarn_signal_frame_bytes());
    ck_assert_uint_ge(used + 512, yarn_signal_frame_bytes());
}
END_TEST

START_TEST(the_first_small_stack_is_reported_once)
{
    size_t enough = 2 * yarn_signal_frame_bytes() + 8192;
    ck_assert(!yarn_alternate_stack_note(enough));
    ck_assert(!yarn_alternate_stack_is_small());
    /* Room for both frames and a page of the host's handler, and none for our handler. */
    ck_assert(yarn_alternate_stack_note(2 * yarn_signal_frame_bytes() + 4096));
    ck_assert(!yarn_alternate_stack_note(2048));
    ck_assert(!yarn_alternate_stack_note(enough));
    ck_assert(yarn_alternate_stack_is_small());
}
END_TEST

/* ThreadSanitizer puts signals off, and has every handler on an alternate stack. */
#ifdef __SANITIZE_THREAD__
static const bool has_plain_signals = false;
#else
static const bool has_plain_signals = true;
#endif

int main(void)
{
    Suite *suite = suite_create("signal");
    TCase *tick = tcase_create("the tick's signal");
    tcase_add_checked_fixture(tick, set_up, tear_down);
    tcase_add_test(tick, what_is_not_ours_has_the_default_effect);
    tcase_add_test(tick, the_handler_before_ours_gets_what_is_not_ours_under_its_own_mask);
    tcase_add_test(tick, what_was_not_expected_stays);
    tcase_add_test(tick, the_c_librarys_handler_passes_over_timers_and_cancels_below_ours);
    if (has_plain_signals)
        tcase_add_test(tick, a_thread_that_never_looks_is_cancelled_through_ours);
    suite_add_tcase(suite, tick);
    TCase *stacks = tcase_create("alternate stacks");
    if (has_plain_signals)
        tcase_add_test(stacks, handlers_on_alternate_stacks_are_seen);
    tcase_add_test(stacks, a_frame_is_at_most_what_is_said_and_not_much_less);
    tcase_add_test(stacks, the_first_small_stack_is_reported_once);
    suite_add_tcase(suite, stacks);
    return run_suite(suite);
}
