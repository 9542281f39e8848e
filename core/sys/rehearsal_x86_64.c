/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <sys/syscall.h>

#include "core/base/raw.h"
#include "core/sys/rehearsal_arch.h"

enum { RUNNING_ON_VALGRIND = 0x1001 };

void yarn_rehearsal_try_thread(int flags)
{
    long word = 0;
    yarn_raw_call(SYS_clone, flags, (long)&word, (long)&word, (long)&word, -1, 0);
}

/* Valgrind's documented client request: rotations that do nothing on a processor, the request in
 * rax, what it answers, or the 0 that is there, in rdx. */
bool yarn_rehearsal_is_in_valgrind(void)
{
    uint64_t request[6] = {RUNNING_ON_VALGRIND};
    uint64_t answer = 0;
    __asm__ volatile("rolq $3, %%rdi\n\t"
                     "rolq $13, %%rdi\n\t"
                     "rolq $61, %%rdi\n\t"
                     "rolq $51, %%rdi\n\t"
                     "xchgq %%rbx, %%rbx\n\t"
                     : "+d"(answer)
                     : "a"(request)
                     : "cc", "memory");
    return answer != 0;
}
