/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The differential test: a workload is run one instruction at a time (the trap flag, SIGTRAP), and
 * at each instruction both engines walk the stack: prologues, epilogues, procedure linkage, the
 * dynamic linker's resolver, callbacks. They must agree, reach the start, and have the same outer
 * frames throughout. x86-64.
 */
#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <ucontext.h>
#include <wchar.h>

#include "tests/support/live_stack.h"
#include "tests/support/suite.h"

enum { STACK_MAX = 1 << 16, STEPS_MAX = 60000, REPORTS_MAX = 5 };

static struct yarn_module_map *map;
static struct yarn_unwinder *automatic, *oracle;
static struct yarn_frames by_auto, by_oracle, outside;
static uint64_t stack_end;
static unsigned nr_steps, nr_wrong;
static volatile sig_atomic_t is_stepping;

static void print_frames(const char *who, const struct yarn_frames *frames)
{
    (void)fprintf(stderr, "%s: end %d\n", who, frames->end);
    for (unsigned i = 0; i < frames->count && i < 12; i++) {
        const struct yarn_unwind_frame *frame = &frames->frame[i];
        (void)fprintf(stderr, "  %#lx %s+%#lx\n", (unsigned long)frame->ip,
                      frame->module ? frame->module->path : "?",
                      (unsigned long)(frame->module ? frame->ip - frame->module->bias : 0));
    }
}

static bool are_equal(void)
{
    if (by_auto.count != by_oracle.count || by_auto.end != by_oracle.end)
        return false;
    for (unsigned i = 0; i < by_auto.count; i++)
        if (by_auto.frame[i].ip != by_oracle.frame[i].ip)
            return false;
    return true;
}

/* The frames outside the stepped function are the same from its first to its last instruction. */
static bool has_outside(void)
{
    unsigned nr_outer = outside.count - 2; /* without the two that change */
    if (by_auto.count < nr_outer)
        return false;
    for (unsigned i = 0; i < nr_outer; i++)
        if (by_auto.frame[by_auto.count - 1 - i].ip != outside.frame[outside.count - 1 - i].ip)
            return false;
    return true;
}

static struct yarn_registers registers_of(const ucontext_t *context)
{
    static const uint8_t order[] = {8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16};
    struct yarn_registers registers = {.valid = (1 << 17) - 1};
    for (unsigned i = 0; i < sizeof order; i++)
        registers.value[order[i]] = (uint64_t)context->uc_mcontext.gregs[i];
    registers.sp = registers.value[7];
    registers.ip = registers.value[16];
    return registers;
}

static void on_step(int number, siginfo_t *info, void *arg)
{
    struct yarn_registers registers = registers_of(arg);
    (void)number;
    (void)info;
    /* In place: the interrupted stack stands still while the handler runs on its own. */
    struct yarn_stack_copy stack = {
        .start = registers.sp,
        .first = yarn_span_of((const void *)(uintptr_t)registers.sp,
                              yarn_size_min((size_t)(stack_end - registers.sp), STACK_MAX)),
    };
    if (!is_stepping || nr_steps == STEPS_MAX) {
        ((ucontext_t *)arg)->uc_mcontext.gregs[17] &= ~0x100; /* the trap flag */
        return;
    }
    yarn_unwinder_unwind(automatic, &registers, &stack, &by_auto);
    yarn_unwinder_unwind(oracle, &registers, &stack, &by_oracle);
    nr_steps++;
    if (outside.count == 0) {
        outside = by_auto;
        return;
    }
    if (are_equal() && has_outside() && by_auto.end == YARN_STACK_END_COMPLETE)
        return;
    if (nr_wrong++ < REPORTS_MAX) {
        print_frames("automatic", &by_auto);
        print_frames("libunwind", &by_oracle);
    }
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static int realign(size_t size)
{
    volatile _Alignas(64) char aligned[64];
    volatile char variable[size];
    aligned[0] = variable[0] = 1;
    return aligned[0] + variable[0];
}

__attribute__((noinline)) static void work(void)
{
    char text[64];
    int numbers[] = {5, 3, 9, 1, 7, 2};
    struct timespec now;
    qsort(numbers, YARN_COUNT_OF(numbers), sizeof numbers[0], compare);
    (void)realign(100);
    (void)snprintf(text, sizeof text, "%d %.3f %s", numbers[0], 2.5, "text");
    (void)strtod(text, NULL);
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    free(malloc(100000));
    (void)labs(strtol("12", NULL, 10)); /* names that only this line uses: the resolver runs */
    (void)getpriority(0, 0);
    (void)wcslen(L"x");
}

__attribute__((noinline)) static void step_through(void)
{
    is_stepping = 1;
    __asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
    work();
    is_stepping = 0;
    __asm__ volatile("nop");
}

START_TEST(both_engines_agree_at_every_instruction)
{
    static char own[1 << 18];
    stack_t stack = {.ss_sp = own, .ss_size = sizeof own};
    struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_ONSTACK | SA_SIGINFO};
    stack_end = yarn_live_stack_end((uintptr_t)&stack);
    ck_assert_int_eq(yarn_module_map_new(&map, &yarn_target_self, NULL), 0);
    ck_assert_int_eq(yarn_module_map_read_proc(map, 0), 0);
    ck_assert_int_eq(yarn_unwinder_new(&automatic, YARN_UNWINDER_AUTO, map), 0);
    ck_assert_int_eq(yarn_unwinder_new(&oracle, YARN_UNWINDER_LIBUNWIND, map), 0);
    ck_assert_int_eq(sigaltstack(&stack, NULL), 0);
    ck_assert_int_eq(sigaction(SIGTRAP, &action, NULL), 0);
    step_through();
    (void)printf("%u instructions, wrong at %u\n", nr_steps, nr_wrong);
    ck_assert_uint_gt(nr_steps, 1000);
    ck_assert_uint_eq(nr_wrong, 0);
    yarn_unwinder_free(automatic);
    yarn_unwinder_free(oracle);
    yarn_module_map_free(map);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("every instruction");
    TCase *tests = tcase_create("single step");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, both_engines_agree_at_every_instruction);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
