/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sys/valgrind.h"

enum { RUNNING_ON_VALGRIND = 0x1001 };

/* The rotations come to a whole turn: a real processor does nothing here. Valgrind's takes them for
 * a question, reads it where rax points to, and answers in rdx (its manual: client requests). */
bool yarn_valgrind_is_processor(void)
{
    const uint64_t question[6] = {RUNNING_ON_VALGRIND};
    uint64_t answer = 0;
    __asm__ volatile("rolq $3, %%rdi\n\t"
                     "rolq $13, %%rdi\n\t"
                     "rolq $61, %%rdi\n\t"
                     "rolq $51, %%rdi\n\t"
                     "xchgq %%rbx, %%rbx\n\t"
                     : "+d"(answer)
                     : "a"(question)
                     : "cc", "memory");
    return answer != 0;
}
