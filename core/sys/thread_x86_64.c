/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/syscall.h>

#include "core/sys/thread_arch.h"

/* glibc's tcbhead_t as far as compiled code and the C library's leaf functions look at it. */
struct tcb_head {
    void *tcb, *dtv, *self;
    int multiple_threads, gscope;
    uintptr_t sysinfo, stack_guard, pointer_guard;
};

void *yarn_thread_tls_init(uint8_t *memory)
{
    struct tcb_head *head = (void *)(memory + YARN_THREAD_BELOW_BYTES);
    const struct tcb_head *own;
    __asm__("mov %%fs:0x10, %0" : "=r"(own));
    head->tcb = head->self = head;
    head->stack_guard = own->stack_guard;
    head->pointer_guard = own->pointer_guard;
    return head;
}

/* clone(flags rdi, stack rsi, parent_tid rdx, child_tid r10, tls r8). The child starts at the
 * syscall's return with the stack below stack_top, so what it needs travels in registers that the
 * kernel keeps: r12 the function, r13 its argument. */
long yarn_thread_clone(int flags, void *stack_top, _Atomic uint32_t *tid, void *thread_pointer,
                       int (*run)(void *argument), void *argument)
{
    register long r10 __asm__("r10") = (long)tid;
    register long r8 __asm__("r8") = (long)thread_pointer;
    register long r12 __asm__("r12") = (long)run;
    register long r13 __asm__("r13") = (long)argument;
    long result;

    __asm__ volatile("syscall\n\t"
                     "test %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     ".cfi_remember_state\n\t"
                     ".cfi_undefined rip\n\t"
                     "xor %%ebp, %%ebp\n\t"
                     "mov %%r13, %%rdi\n\t"
                     "call *%%r12\n\t"
                     "mov %%eax, %%edi\n\t"
                     "mov %[exit], %%eax\n\t"
                     "syscall\n\t"
                     "hlt\n\t"
                     ".cfi_restore_state\n"
                     "1:"
                     : "=a"(result)
                     : "0"((long)SYS_clone), "D"((long)flags), "S"(stack_top), "d"(tid), "r"(r10),
                       "r"(r8), "r"(r12), "r"(r13), [exit] "i"(SYS_exit)
                     : "rcx", "r11", "memory");
    return result;
}
