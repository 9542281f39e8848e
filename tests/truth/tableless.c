/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Assembly without CFI that lays traps for who guesses: frame pointers that are data and point at
 * an older frame, into a reserved area with the remains of one, or onto another thread's or a
 * coroutine's stack; words pushed and areas reserved where earlier calls have left return
 * addresses; calls on, alignments, returns that take arguments off, a callee that does not return;
 * and a signal's return of the program's own, right behind a function that has tables.
 */
#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "activation.h"

TRUTH_MAIN_VARIABLES;

typedef uint64_t (*traps_fn)(uint64_t seed, uint64_t turns, const void *data);

#define TRAP(name, before, work, after)                                                            \
    uint64_t name(uint64_t seed, uint64_t turns, const void *data);                                \
    __asm__(".text\n.p2align 4\n.type " #name ", @function\n" #name ":\n" before "\n" work         \
            "\n" after "\n.size " #name ", . - " #name "\n")
#define WORK                                                                                       \
    "mov %rdi, %rax\n1: imul $0x41c64e6d, %rax, %rax\n   add $12345, %rax\n   dec %rsi\n   jnz 1b"

TRAP(data_pointer, "push %rbx\npush %rbp\nmov %rdx, %rbp", WORK, "pop %rbp\npop %rbx\nret");
TRAP(data_late, "mov %rbp, %r8\nmov %rdx, %rbp", WORK, "mov %r8, %rbp\nret");
TRAP(data_inside, "push %rbp\nsub $2048, %rsp\nlea 64(%rsp), %rbp", WORK,
     "add $2048, %rsp\npop %rbp\nret");
TRAP(reserves, "push %rbx\nsub $4096, %rsp", WORK, "add $4096, %rsp\npop %rbx\nret");
TRAP(allocates,
     "push %rbp\nmov %rsp, %rbp\npush %rbx\nmov %rsi, %rcx\nand $0xff0, %rcx\nsub %rcx, %rsp", WORK,
     "lea -8(%rbp), %rsp\npop %rbx\npop %rbp\nret");
TRAP(realigns, "push %rbp\nmov %rsp, %rbp\nand $-64, %rsp\nsub $1024, %rsp", WORK, "leave\nret");
TRAP(pushes,
     "push %rbx\npush %r12\npush %r13\npush %r14\npush %r15\npush $0\npushf\nlea -24(%rsp), %rsp",
     WORK,
     "test %rax, %rax\nje 2f\nadd $24, %rsp\npopf\npop %rbx\npop %r15\npop %r14\npop %r13\n"
     "pop %r12\npop %rbx\nret\n2: ud2");
TRAP(jumps, "test %rsi, %rsi\nje 3f\npush %rbx\nsub $16, %rsp\njmp 1f\n3: ret", WORK,
     "jmp 4f\n5: pop %rbx\nret\n4: add $16, %rsp\njmp 5b");
/* These call on, without a frame pointer and with another's in it. */
TRAP(calls_on, "push %rbp\nsub $272, %rsp\nmov %rdx, %rbp\ncall inner", "",
     "add $272, %rsp\npop %rbp\nret");
TRAP(calls_callback, "push %rbp\nsub $16, %rsp\nxor %ebp, %ebp\ncall *%rdx", "",
     "add $16, %rsp\npop %rbp\nret");
TRAP(calls_dead_end, "sub $264, %rsp\ncall leaves_for_good", "", "");
TRAP(behind_dead_end, "", WORK, "ret");

/* What it calls is not aligned to anything, and takes its argument off. */
__asm__(".text\n.type takes, @function\ntakes:\n" WORK "\nret $16\n.size takes, . - takes\n"
        ".type passes, @function\npasses:\npush %rbx\npush %rdi\npush %rdi\ncall takes\npop %rbx\n"
        "ret\n.size passes, . - passes\n.p2align 4\n");
uint64_t passes(uint64_t seed, uint64_t turns, const void *data);

uint64_t inner(uint64_t seed, uint64_t turns, const void *data);
uint64_t callback(uint64_t seed, uint64_t turns, const void *data);
_Noreturn uint64_t leaves_for_good(uint64_t seed, uint64_t turns, const void *data);

uint64_t inner(uint64_t seed, uint64_t turns, const void *data)
{
    TRUTH_BEGIN(inner);
    (void)data;
    seed = truth_work(seed, (unsigned)turns);
    TRUTH_END();
    return seed;
}

uint64_t callback(uint64_t seed, uint64_t turns, const void *data)
{
    TRUTH_BEGIN(callback);
    seed = data_pointer(seed, turns, data);
    TRUTH_END();
    return seed;
}

static jmp_buf way_back;
static struct activation *top_at_way_back;

_Noreturn uint64_t leaves_for_good(uint64_t seed, uint64_t turns, const void *data)
{
    TRUTH_BEGIN(leaves_for_good);
    (void)data;
    (void)truth_work(seed, (unsigned)turns);
    TRUTH_END();
    longjmp(way_back, 1);
}

/* Leaves return addresses and frame pointers in what lies below the caller. */
TRUTH_NOINLINE static uint64_t litter(uint64_t seed, unsigned depth)
{
    TRUTH_BEGIN(litter);
    volatile uint64_t room[7];
    room[seed % 7] = seed;
    if (depth)
        seed += litter(seed + room[seed % 7], depth - 1);
    TRUTH_END();
    return seed;
}

static uint64_t elsewhere[512]; /* a stack that is not this one */

/* The frame of a caller as a frame pointer marks it: its saved one, and its return address. */
#define FRAME_OF_CALLER() __builtin_frame_address(0)

#define CALLER(name, trap, pointer)                                                                \
    TRUTH_NOINLINE static uint64_t name(uint64_t seed, const void *outer)                          \
    {                                                                                              \
        TRUTH_BEGIN(name);                                                                         \
        (void)outer;                                                                               \
        seed = trap(seed, 300, pointer) + truth_work(seed, 20);                                    \
        TRUTH_END();                                                                               \
        return seed;                                                                               \
    }
CALLER(by_data_pointer, data_pointer, outer)
CALLER(by_data_late, data_late, outer)
CALLER(by_data_elsewhere, data_pointer, &elsewhere[256])
CALLER(by_data_inside, data_inside, outer)
CALLER(by_reserves, reserves, outer)
CALLER(by_allocates, allocates, outer)
CALLER(by_realigns, realigns, outer)
CALLER(by_pushes, pushes, outer)
CALLER(by_jumps, jumps, outer)
CALLER(by_calls_on, calls_on, outer)
CALLER(by_callback, calls_callback, (const void *)(uintptr_t)callback)
CALLER(by_passes, passes, outer)
CALLER(by_behind, behind_dead_end, outer)

TRUTH_NOINLINE static uint64_t by_dead_end(uint64_t seed)
{
    TRUTH_BEGIN(by_dead_end);
    top_at_way_back = activation_top;
    if (!setjmp(way_back))
        calls_dead_end(seed, 300, NULL);
    activation_top = top_at_way_back;
    TRUTH_END();
    return seed;
}

TRUTH_NOINLINE static uint64_t outer_of(uint64_t seed)
{
    TRUTH_BEGIN(outer_of);
    static uint64_t (*const callers[])(uint64_t, const void *) = {
        by_data_pointer, by_data_late, by_data_elsewhere, by_data_inside, by_reserves,
        by_allocates,    by_realigns,  by_pushes,         by_jumps,       by_calls_on,
        by_callback,     by_passes,    by_behind,
    };
    const void *frame = FRAME_OF_CALLER();
    for (unsigned i = 0; i < sizeof callers / sizeof callers[0]; i++)
        seed += litter(seed, 9) + callers[i](seed, frame);
    seed += by_dead_end(seed);
    TRUTH_END();
    return seed;
}

__asm__(
    ".text\n.type of_another_size, @function\nof_another_size:\n.cfi_startproc\n"
    ".cfi_def_cfa_offset 64\nnop\nret\n.cfi_endproc\n.size of_another_size, . - of_another_size\n"
    ".type returns_from_signal, @function\nreturns_from_signal:\nmov $15, %rax\nsyscall\n"
    ".size returns_from_signal, . - returns_from_signal\n.p2align 4\n");
void returns_from_signal(void);

static volatile uint64_t handled;

static void handle(int number)
{
    TRUTH_BEGIN(handle);
    handled += truth_work((uint64_t)number, 100000);
    TRUTH_END();
}

/* As the kernel takes it: with the function that a handler returns to. */
static void handle_signals(void)
{
    enum { RESTORER = 0x04000000, KERNEL_SET_BYTES = 8, PERIOD_NS = 3000000 };
    const struct {
        void (*handler)(int);
        unsigned long flags;
        void (*restorer)(void);
        uint64_t mask;
    } action = {handle, SA_RESTART | RESTORER, returns_from_signal, 0};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    struct itimerspec period = {{0, PERIOD_NS}, {0, PERIOD_NS}};
    timer_t timer;
    if (syscall(SYS_rt_sigaction, SIGUSR1, &action, NULL, KERNEL_SET_BYTES) ||
        timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer) ||
        timer_settime(timer, 0, &period, 0))
        abort();
}

int main(int argc, char **argv)
{
    TRUTH_BEGIN(main);
    handle_signals();
    uint64_t seed = 1, count = truth_rounds(argc, argv) * 30000;
    elsewhere[256] = (uint64_t)(uintptr_t)&elsewhere[300];
    elsewhere[257] = (uint64_t)(uintptr_t)__builtin_return_address(0);
    for (uint64_t i = 0; i < count; i++)
        seed = outer_of(seed);
    truth_finish(seed);
    TRUTH_END();
    return 0;
}
