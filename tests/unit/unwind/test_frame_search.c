/* SPDX-License-Identifier: Apache-2.0 */
#include <alloca.h>
#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/sys/blocked.h"
#include "core/sys/process.h"
#include "tests/support/suite.h"
#include "unwind/unwinder.h"

enum { WORD_SIZE = 8 };

static struct yarn_module_map *map;
static struct yarn_unwinder *unwinder;
static struct yarn_stack_windows windows;
static struct yarn_frames frames;
static int ends[2];
static _Atomic pid_t waiting;

static void set_up(void)
{
    ck_assert_int_eq(yarn_module_map_new(&map, &yarn_target_self, NULL), 0);
    ck_assert_int_eq(yarn_module_map_read_proc(map, 0), 0);
    ck_assert_int_eq(yarn_unwinder_new(&unwinder, YARN_UNWINDER_AUTO, map), 0);
    ck_assert_int_eq(pipe(ends), 0);
    waiting = 0;
}

static void tear_down(void)
{
    close(ends[0]);
    close(ends[1]);
    yarn_unwinder_free(unwinder);
    yarn_module_map_free(map);
}

/* ---- functions in which a thread waits ---- */

#define APART __attribute__((noinline))

static APART void wait_plainly(void)
{
    char byte;
    waiting = yarn_process_tid();
    ck_assert_int_eq(read(ends[0], &byte, 1), 1);
}

/* Its frame is found by the frame pointer alone. */
static APART void wait_after_alloca(void)
{
    volatile char *bytes = alloca((size_t)(ends[0] | 4096));
    bytes[0] = 1;
    wait_plainly();
    bytes[1] = 1;
}

static APART void wait_realigned(void)
{
    volatile char bytes[64] __attribute__((aligned(64))) = {1};
    wait_plainly();
    (void)bytes[0];
}

static APART void wait_in_both(void)
{
    volatile char bytes[64] __attribute__((aligned(64))) = {1};
    volatile char *more = alloca((size_t)(ends[0] | 100000));
    more[0] = 1;
    wait_after_alloca();
    more[1] = bytes[0];
}

static APART void recurse(unsigned depth)
{
    volatile char *bytes = alloca(64 + depth);
    bytes[0] = 1;
    if (depth)
        recurse(depth - 1);
    else
        wait_after_alloca();
    bytes[1] = 1;
}

#define THREAD_OF(name, ...)                                                                       \
    static APART void *run_##name(void *argument)                                                  \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
        return argument;                                                                           \
    }
THREAD_OF(plainly, wait_plainly())
THREAD_OF(alloca, wait_after_alloca())
THREAD_OF(realigned, wait_realigned())
THREAD_OF(both, wait_in_both())
THREAD_OF(recursion, recurse(7))

/* Leaves a stack behind on which the next wait allocates without writing. */
static APART void leave_frames(uint64_t word)
{
    volatile uint64_t words[500];
    for (size_t i = 0; i < 500; i++)
        words[i] = word;
    (void)words[0];
}

static uint64_t left_behind;
THREAD_OF(over_left, leave_frames(left_behind); wait_after_alloca())

/* Of the frames that the first call leaves behind one is where the second allocates, which is
 * jumped to: the call before its return address leads to another function. */
static volatile size_t small = 16, large = 4000;

static APART void allocate(size_t size, bool waits)
{
    volatile char *bytes = alloca(size);
    bytes[0] = 1;
    if (waits)
        wait_plainly();
    bytes[1] = 1;
}

static APART void left_inner(void)
{
    volatile char bytes[40] = {1};
    allocate(small, large < small);
    bytes[1] = bytes[0];
}

static APART void left_outer(void)
{
    volatile char bytes[400];
    bytes[0] = 1;
    left_inner();
    (void)bytes[0];
}

static APART void jump_on(void)
{
    allocate(large, large > small);
}

static APART void call_jumper(void)
{
    jump_on();
    __asm__ volatile("");
}
THREAD_OF(jumped, left_outer(); call_jumper())

static void (*volatile indirect)(void) = wait_after_alloca;
THREAD_OF(indirect, indirect())

static APART void wait_with_frame_pointer(void)
{
    void *volatile frame = __builtin_frame_address(0);
    wait_plainly();
    (void)frame;
}

static void (*volatile framed)(void) = wait_with_frame_pointer;
THREAD_OF(framed, framed())

/* Its code is on two pages. */
static APART void wait_in_long_code(void)
{
    void *volatile frame = __builtin_frame_address(0);
    __asm__ volatile(".fill 4200, 1, 0x90");
    wait_plainly();
    (void)frame;
}

static void (*volatile in_long_code)(void) = wait_in_long_code;
THREAD_OF(in_long_code, in_long_code())

/* ---- what is seen of them ---- */

static struct yarn_blocked blocked;

/* Starts the thread and looks at it once it waits. */
static void look(void *(*run)(void *), pthread_t *ret_thread)
{
    ck_assert_int_eq(pthread_create(ret_thread, NULL, run, NULL), 0);
    while (!waiting)
        usleep(100);
    int fd = yarn_blocked_open(&yarn_target_self, waiting);
    ck_assert_int_ge(fd, 0);
    while (yarn_blocked_read(fd, &blocked))
        usleep(100);
    close(fd);
    ck_assert_int_eq(blocked.call, SYS_read);
    ck_assert_uint_eq(blocked.argument[0], (unsigned)ends[0]);
    yarn_unwinder_unwind_blocked(unwinder, blocked.ip, blocked.sp, &windows, &frames);
}

static void end(pthread_t thread)
{
    ck_assert_int_eq(write(ends[1], "x", 1), 1);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

/* How many frames are in the function. */
static unsigned count_in(const void *function)
{
    unsigned count = 0;
    for (unsigned i = 0; i < frames.count; i++)
        count += frames.frame[i].lookup_ip - frames.frame[i].in_function == (uintptr_t)function;
    return count;
}

static const struct {
    void *(*run)(void *);
    void (*waits_in)(void);
    unsigned nr_recursions;
} known[] = {
    {run_plainly, wait_plainly, 0},        {run_alloca, wait_after_alloca, 0},
    {run_realigned, wait_realigned, 0},    {run_both, wait_in_both, 0},
    {run_recursion, wait_after_alloca, 8},
};

START_TEST(a_wait_is_walked_to_its_thread_without_a_register)
{
    pthread_t thread;
    look(known[_i].run, &thread);
    ck_assert_int_eq(frames.end, YARN_STACK_END_COMPLETE);
    ck_assert_uint_eq(count_in((void *)(uintptr_t)wait_plainly), 1);
    ck_assert_uint_eq(count_in((void *)(uintptr_t)known[_i].waits_in), 1);
    ck_assert_uint_eq(count_in((void *)(uintptr_t)recurse), known[_i].nr_recursions);
    ck_assert_uint_eq(count_in((void *)(uintptr_t)known[_i].run), 1);
    end(thread);
}
END_TEST

START_TEST(a_frame_below_an_indirect_call_is_not_guessed)
{
    pthread_t thread;
    look(run_indirect, &thread);
    ck_assert_int_eq(frames.end, YARN_STACK_END_CUT);
    ck_assert_uint_eq(count_in((void *)(uintptr_t)wait_after_alloca), 1);
    ck_assert_uint_eq(count_in((void *)(uintptr_t)run_indirect), 0);
    end(thread);
}
END_TEST

static const struct {
    void *(*run)(void *);
    void (*waits_in)(void);
} with_frame[] = {
    {run_framed, wait_with_frame_pointer},
    {run_in_long_code, wait_in_long_code},
};

START_TEST(a_frame_pointer_is_where_the_code_put_it)
{
    pthread_t thread;
    look(with_frame[_i].run, &thread);
    ck_assert_int_eq(frames.end, YARN_STACK_END_COMPLETE);
    ck_assert_uint_eq(count_in((void *)(uintptr_t)with_frame[_i].waits_in), 1);
    ck_assert_uint_eq(count_in((void *)(uintptr_t)with_frame[_i].run), 1);
    end(thread);
}
END_TEST

START_TEST(a_frame_behind_a_jump_is_none_that_was_left_behind)
{
    pthread_t thread;
    look(run_jumped, &thread);
    ck_assert_uint_eq(count_in((void *)(uintptr_t)allocate), 1);
    ck_assert_uint_eq(count_in((void *)(uintptr_t)left_inner), 0);
    ck_assert_uint_eq(count_in((void *)(uintptr_t)left_outer), 0);
    end(thread);
}
END_TEST

/* Addresses in wait_after_alloca behind its call, and in those that call it. */
static uint64_t in_function, after_direct_call, after_indirect_call;

static uint64_t ip_in(const void *function)
{
    for (unsigned i = 0; i < frames.count; i++)
        if (frames.frame[i].lookup_ip - frames.frame[i].in_function == (uintptr_t)function)
            return frames.frame[i].ip;
    return 0;
}

/* The return address of an indirect call cannot be found by the walk that is tested. */
static uint64_t read_return(uint64_t from, const void *function)
{
    const uint64_t *words = (const uint64_t *)(uintptr_t)from;
    for (size_t i = 0; i < 2048; i++)
        if (words[i] - (uintptr_t)function - 1 < 64)
            return words[i];
    return 0;
}

static void find_addresses(void)
{
    pthread_t thread;
    look(run_alloca, &thread);
    in_function = ip_in((void *)(uintptr_t)wait_after_alloca);
    after_direct_call = ip_in((void *)(uintptr_t)run_alloca);
    end(thread);
    waiting = 0;
    look(run_indirect, &thread);
    after_indirect_call = read_return(blocked.sp, (void *)(uintptr_t)run_indirect);
    end(thread);
    ck_assert(in_function && after_direct_call && after_indirect_call);
}

static void walk_made(const uint64_t *words)
{
    yarn_unwinder_unwind_blocked(unwinder, in_function, (uintptr_t)words, &windows, &frames);
}

START_TEST(no_proven_call_is_no_frame)
{
    uint64_t words[512] = {0};
    find_addresses();
    words[1] = after_indirect_call;
    words[3] = after_direct_call + 1;
    words[5] = in_function;
    walk_made(words);
    ck_assert_uint_eq(frames.count, 1);
    ck_assert_int_eq(frames.end, YARN_STACK_END_CUT);
}
END_TEST

/* From a frame that is proven the walk has to come to the thread's start. */
START_TEST(a_walk_that_ends_elsewhere_proves_nothing)
{
    uint64_t words[512] = {0};
    find_addresses();
    words[5] = after_direct_call;
    walk_made(words);
    ck_assert_uint_eq(frames.count, 1);
    ck_assert_int_eq(frames.end, YARN_STACK_END_CUT);
}
END_TEST

/* What an earlier call left behind is no return address, which cannot be known. */
START_TEST(of_two_that_may_be_meant_none_is_believed)
{
    pthread_t thread;
    find_addresses();
    waiting = 0;
    left_behind = _i ? after_direct_call : after_indirect_call;
    look(run_over_left, &thread);
    ck_assert_int_eq(frames.end, YARN_STACK_END_CUT);
    ck_assert_uint_eq(count_in((void *)(uintptr_t)wait_after_alloca), 1);
    ck_assert_uint_eq(count_in((void *)(uintptr_t)run_over_left), 0);
    ck_assert_uint_eq(count_in((void *)(uintptr_t)run_alloca), 0);
    end(thread);
}
END_TEST

START_TEST(a_stack_that_is_not_mapped_ends_the_walk)
{
    find_addresses();
    yarn_unwinder_unwind_blocked(unwinder, in_function, 0x1000, &windows, &frames);
    ck_assert_uint_eq(frames.count, 1);
    ck_assert_int_ne(frames.end, YARN_STACK_END_COMPLETE);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("frame search");
    TCase *tcase = tcase_create("a thread that waits");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, a_wait_is_walked_to_its_thread_without_a_register, 0,
                        YARN_COUNT_OF(known));
    tcase_add_test(tcase, a_frame_below_an_indirect_call_is_not_guessed);
    tcase_add_loop_test(tcase, a_frame_pointer_is_where_the_code_put_it, 0,
                        (int)YARN_COUNT_OF(with_frame));
    tcase_add_test(tcase, a_frame_behind_a_jump_is_none_that_was_left_behind);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("made stacks");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, no_proven_call_is_no_frame);
    tcase_add_test(tcase, a_walk_that_ends_elsewhere_proves_nothing);
    tcase_add_loop_test(tcase, of_two_that_may_be_meant_none_is_believed, 0, 2);
    tcase_add_test(tcase, a_stack_that_is_not_mapped_ends_the_walk);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
