/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Leaves in assembly without any CFI, as hand-written kernels have them: one that leaves the stack
 * alone, one that saves registers, one with a frame pointer; called from C.
 */
#include "activation.h"

TRUTH_MAIN_VARIABLES;

uint64_t leaf_plain(uint64_t seed, uint64_t turns);
uint64_t leaf_saves(uint64_t seed, uint64_t turns);
uint64_t leaf_frame(uint64_t seed, uint64_t turns);

__asm__(".text\n"
        ".macro WORK\n"
        "1: imul $0x41c64e6d, %rax, %rax\n"
        "   add $12345, %rax\n"
        "   dec %rsi\n"
        "   jnz 1b\n"
        ".endm\n"
        ".type leaf_plain, @function\n"
        "leaf_plain:\n"
        "   mov %rdi, %rax\n"
        "   WORK\n"
        "   ret\n"
        ".size leaf_plain, . - leaf_plain\n"
        ".type leaf_saves, @function\n"
        "leaf_saves:\n"
        "   push %rbx\n"
        "   push %r12\n"
        "   mov %rdi, %rax\n"
        "   mov %rax, %rbx\n"
        "   mov %rsi, %r12\n"
        "   WORK\n"
        "   xor %rbx, %rax\n"
        "   pop %r12\n"
        "   pop %rbx\n"
        "   ret\n"
        ".size leaf_saves, . - leaf_saves\n"
        ".type leaf_frame, @function\n"
        "leaf_frame:\n"
        "   push %rbp\n"
        "   mov %rsp, %rbp\n"
        "   sub $48, %rsp\n"
        "   mov %rdi, %rax\n"
        "   mov %rax, -8(%rbp)\n"
        "   WORK\n"
        "   leave\n"
        "   ret\n"
        ".size leaf_frame, . - leaf_frame\n"
        /* From here on code of the compiler. */
        ".p2align 4\n");

#define CALLER(name, leaf)                                                                         \
    TRUTH_NOINLINE static uint64_t name(uint64_t seed)                                             \
    {                                                                                              \
        TRUTH_BEGIN(name);                                                                         \
        seed = leaf(seed, 400) + truth_work(seed, 30);                                             \
        TRUTH_END();                                                                               \
        return seed;                                                                               \
    }

CALLER(calls_plain, leaf_plain)
CALLER(calls_saves, leaf_saves)
CALLER(calls_frame, leaf_frame)

TRUTH_NOINLINE static uint64_t outer(uint64_t seed)
{
    TRUTH_BEGIN(outer);
    seed = calls_plain(seed) + 1;
    seed = calls_saves(seed) + 2;
    seed = calls_frame(seed) + 3;
    TRUTH_END();
    return seed;
}

int main(int argc, char **argv)
{
    TRUTH_BEGIN(main);
    uint64_t seed = 1, count = truth_rounds(argc, argv) * 200000;
    for (uint64_t i = 0; i < count; i++)
        seed = outer(seed);
    truth_finish(seed);
    TRUTH_END();
    return 0;
}
