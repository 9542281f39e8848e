/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The C library's syscall, in front of the original. Not in C: how many words a caller has given is
 * not known, and the one that lies on the stack may be anything of the caller's, which a compiler
 * would take for ours to write to.
 *
 * rdi is the number, r9 the fifth word, 8(%rsp) the sixth. No register and no byte of the stack is
 * changed on the way to the original, which returns to the caller by itself.
 */
#include <sys/syscall.h>

#include "core/base/base.h"
#include "preload/calls/interpose.h"

__attribute__((visibility("hidden"))) YARN_IN_DATA yarn_original_fn yarn_syscall_next;

#define TEXT_OF(x) #x
#define INTERCEPT(number)                                                                          \
    "  cmpq $" TEXT_OF(number) ", %rdi\n"                                                          \
                               "  je 1f\n"

__asm__(".text\n"
        ".globl syscall\n"
        ".type syscall, @function\n"
        "syscall:\n"
        "  .cfi_startproc\n"
        "  endbr64\n" /**/
        INTERCEPT(__NR_exit_group) INTERCEPT(__NR_seccomp) INTERCEPT(__NR_prctl) INTERCEPT(
            __NR_unshare) INTERCEPT(__NR_setns) INTERCEPT(__NR_chroot) INTERCEPT(__NR_pivot_root)
            INTERCEPT(__NR_capset) INTERCEPT(__NR_setuid) INTERCEPT(__NR_setgid)
                INTERCEPT(__NR_setreuid) INTERCEPT(__NR_setregid) INTERCEPT(__NR_setgroups)
                    INTERCEPT(__NR_setresuid) INTERCEPT(__NR_setresgid) INTERCEPT(
                        __NR_landlock_restrict_self) "  movq yarn_syscall_next(%rip), %r11\n"
                                                     "  testq %r11, %r11\n"
                                                     "  je 1f\n"
                                                     "  xorl %eax, %eax\n"
                                                     "  jmp *%r11\n"
                                                     "1:\n"
                                                     "  pushq 8(%rsp)\n"
                                                     "  .cfi_adjust_cfa_offset 8\n"
                                                     "  call yarn_syscall_intercept\n"
                                                     "  addq $8, %rsp\n"
                                                     "  .cfi_adjust_cfa_offset -8\n"
                                                     "  ret\n"
                                                     "  .cfi_endproc\n"
                                                     ".size syscall, . - syscall\n");
