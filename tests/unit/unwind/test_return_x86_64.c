/* SPDX-License-Identifier: Apache-2.0 */
/* Return addresses that no call has left, and calls that have nothing behind them. */
#include <check.h>
#include <ucontext.h>

#include "tests/support/live_stack.h"
#include "tests/support/suite.h"

static struct yarn_module_map *map;
static struct yarn_unwinder *unwinder;
static struct yarn_live_stack live;
static struct yarn_frames frames;

static void set_up(void)
{
    ck_assert_int_eq(yarn_module_map_new(&map, &yarn_target_self, NULL), 0);
    ck_assert_int_eq(yarn_module_map_read_proc(map, 0), 0);
    ck_assert_int_eq(yarn_unwinder_new(&unwinder, YARN_UNWINDER_AUTO, map), 0);
}

static void tear_down(void)
{
    yarn_unwinder_free(unwinder);
    yarn_module_map_free(map);
}

static void take_here(void)
{
    yarn_live_stack_take(&live, YARN_LIVE_STACK_MAX);
}

static void walk(void)
{
    yarn_unwinder_unwind(unwinder, &live.registers, &live.stack, &frames);
    ck_assert_int_eq(frames.end, YARN_STACK_END_COMPLETE);
}

/* Each has its call return to where the function behind it begins: the program laid that address
 * there, of a function that has no caller with code of no table in front of it, and of one that has
 * both; or the call is the last instruction, as one that does not return. */
void lay_outermost(void (*call)(void)), lay_other(void (*call)(void)),
    call_last(void (*call)(void));
extern const uint8_t outermost[], other[], behind_call[];
#define BEFORE(name, code, behind, row)                                                            \
    __asm__(".text\n.type " name ",@function\n" name ":\n.cfi_startproc\n"                         \
            "sub $8, %rsp\n.cfi_def_cfa_offset 16\n" code "\n" behind ":\n.cfi_startproc\n" row    \
            "\nadd $8, %rsp\n.cfi_def_cfa_offset 8\nret\n.cfi_endproc\n")
#define LAY(behind)                                                                                \
    "lea " behind "(%rip), %rax\npush %rax\n.cfi_def_cfa_offset 24\njmp *%rdi\n.cfi_endproc\n"
BEFORE("lay_outermost", LAY("outermost") "nop", "outermost", ".cfi_undefined %rip");
BEFORE("lay_other", LAY("other"), "other", ".cfi_def_cfa_offset 16");
BEFORE("call_last", "call *%rdi\n.cfi_endproc", "behind_call", "");

static const struct {
    void (*enter)(void (*call)(void));
    const uint8_t *begin;
    bool is_laid, is_outermost;
} places[] = {{lay_outermost, outermost, true, true},
              {lay_other, other, true, false},
              {call_last, behind_call, false, false}};

START_TEST(what_was_laid_there_belongs_to_the_function_that_begins_there_and_a_call_to_its_own)
{
    volatile int below = 1;
    unsigned at = 0;
    places[_i].enter(take_here);
    walk();
    while (at < frames.count && frames.frame[at].ip != (uintptr_t)places[_i].begin)
        at++;
    ck_assert_uint_lt(at, frames.count);
    ck_assert_uint_eq(frames.frame[at].lookup_ip,
                      (uintptr_t)places[_i].begin - !places[_i].is_laid);
    ck_assert_int_eq(at == frames.count - 1, places[_i].is_outermost);
    ck_assert_int_eq(below, 1);
}
END_TEST

static ucontext_t scheduler, coroutine;

static void take_and_leave(void)
{
    take_here();
    (void)setcontext(&scheduler);
}

START_TEST(a_coroutine_is_walked_to_its_start)
{
    static _Alignas(16) char own[1 << 16];
    ck_assert_int_eq(getcontext(&coroutine), 0);
    coroutine.uc_stack = (stack_t){.ss_sp = own, .ss_size = sizeof own};
    coroutine.uc_link = NULL;
    makecontext(&coroutine, take_and_leave, 0);
    ck_assert_int_eq(swapcontext(&scheduler, &coroutine), 0);
    walk();
    const struct yarn_unwind_frame *last = &frames.frame[frames.count - 1];
    ck_assert_uint_eq(last->lookup_ip, last->ip);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("return");
    TCase *tests = tcase_create("live stacks");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(
        tests, what_was_laid_there_belongs_to_the_function_that_begins_there_and_a_call_to_its_own,
        0, YARN_COUNT_OF(places));
    if (!IS_THREAD_SANITIZED) /* which wants to know of coroutines */
        tcase_add_test(tests, a_coroutine_is_walked_to_its_start);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
