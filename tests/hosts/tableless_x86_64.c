/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assembly without call frame information, of every kind, called by C functions that say so by
 * their name: directly and through a pointer, from callers that are themselves called directly or
 * through a pointer. `tableless [UNITS]`. Built with frame pointers and without.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Registers that are pushed, an area of the stack that is reserved and not written, a loop. */
#define LEAF(name, prologue, counter, epilogue)                                                    \
    uint64_t name(uint64_t nr_steps, uint64_t seed);                                               \
    __asm__(".text\n.p2align 4\n.globl " #name "\n.type " #name ",@function\n" #name ":\n"         \
            "endbr64\n" prologue "\n"                                                              \
            "1: imul $0x5851f42d, %rsi, %rsi\nadd $19, %rsi\ndec " counter "\njnz 1b\n"            \
            "mov %rsi, %rax\n" epilogue "\nret\n.size " #name ", .-" #name "\n")

LEAF(plain, "", "%rdi", "");
LEAF(pushing, "push %rbx\npush %r12\nsub $40, %rsp", "%rdi", "add $40, %rsp\npop %r12\npop %rbx");
LEAF(clobbering, "push %rbx\npush %rbp\nmov %rdi, %rbp", "%rbp", "pop %rbp\npop %rbx");
LEAF(framed, "push %rbp\nmov %rsp, %rbp\nsub $48, %rsp", "%rdi", "leave");

typedef uint64_t (*leaf_fn)(uint64_t nr_steps, uint64_t seed);
typedef uint64_t (*caller_fn)(uint64_t nr_steps, uint64_t seed);

/* Hides where a pointer leads. */
static leaf_fn hidden(leaf_fn function)
{
    __asm__("" : "+r"(function));
    return function;
}

/* The frames are of different widths, so that what one call left on the stack lies in another's
 * way. */
#define CALLER(name, width, leaf)                                                                  \
    __attribute__((noinline)) static uint64_t name(uint64_t nr_steps, uint64_t seed)               \
    {                                                                                              \
        volatile uint64_t room[width];                                                             \
        room[seed % (width)] = seed;                                                               \
        uint64_t value = (leaf)(nr_steps, seed);                                                   \
        return value ^ room[seed % (width)];                                                       \
    }
#define CALLERS(leaf)                                                                              \
    CALLER(direct_##leaf, 2, leaf)                                                                 \
    CALLER(wide_##leaf, 9, leaf)                                                                   \
    CALLER(pointer_##leaf, 4, hidden(leaf))

CALLERS(plain)
CALLERS(pushing)
CALLERS(clobbering)
CALLERS(framed)

#define ALL(leaf) direct_##leaf, wide_##leaf, pointer_##leaf
static const caller_fn callers[] = {ALL(plain), ALL(pushing), ALL(clobbering), ALL(framed)};

__attribute__((noinline)) static uint64_t by_pointer(uint64_t nr_steps, uint64_t value)
{
    for (unsigned i = 0; i < sizeof callers / sizeof callers[0]; i++)
        value += hidden(callers[i])(nr_steps, value);
    return value + 1;
}

__attribute__((noinline)) static uint64_t by_name(uint64_t nr_steps, uint64_t value)
{
#define CALL_ALL(leaf)                                                                             \
    value += direct_##leaf(nr_steps, value);                                                       \
    value += wide_##leaf(nr_steps, value);                                                         \
    value += pointer_##leaf(nr_steps, value);
    CALL_ALL(plain)
    CALL_ALL(pushing)
    CALL_ALL(clobbering)
    CALL_ALL(framed)
    return value + 2;
}

int main(int argc, char **argv)
{
    enum { STEPS = 100000 };
    uint64_t value = 1;
    for (int unit = argc > 1 ? atoi(argv[1]) : 100; unit > 0; unit--) {
        value = by_name(STEPS, value);
        value = by_pointer(STEPS, value);
    }
    printf("tableless: %016" PRIx64 "\n", value);
    return 0;
}
