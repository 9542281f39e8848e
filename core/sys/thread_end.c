/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sys/thread_end.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

#include "core/base/raw.h"
#include "core/sys/futex.h"
#include "core/sys/valgrind.h"

enum { WORD_32 = 2 /* FUTEX2_SIZE_U32 */, PIDFD_OF_THREAD = O_EXCL };

struct waited {
    uint64_t value, address;
    uint32_t flags, reserved;
};

/* Not on valgrind's processor, which says on the host's standard error which calls it does not
 * know. */
struct yarn_thread_end yarn_thread_end_of_caller(void)
{
    struct yarn_thread_end end = {.word = NULL};
    if (yarn_valgrind_is_processor() ||
        yarn_raw_call(SYS_prctl, PR_GET_TID_ADDRESS, (long)&end.word, 0, 0, 0, 0) || !end.word)
        return (struct yarn_thread_end){.word = NULL};
    end.value = atomic_load(end.word);
    return end;
}

int yarn_thread_end_wait(const struct yarn_thread_end *end, _Atomic uint32_t *own,
                         uint64_t timeout_ns)
{
    struct waited words[] = {
        {.value = 0, .address = (uintptr_t)own, .flags = WORD_32 | FUTEX_PRIVATE_FLAG},
        {.value = end->value, .address = (uintptr_t)end->word, .flags = WORD_32},
    };
    struct timespec until;
    yarn_raw_call(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&until, 0, 0, 0, 0);
    uint64_t until_ns =
        (uint64_t)until.tv_sec * YARN_NS_PER_SECOND + (uint64_t)until.tv_nsec + timeout_ns;
    until.tv_sec = (time_t)(until_ns / YARN_NS_PER_SECOND);
    until.tv_nsec = (long)(until_ns % YARN_NS_PER_SECOND);
    return (int)yarn_raw_call(SYS_futex_waitv, (long)words, YARN_COUNT_OF(words), 0, (long)&until,
                              CLOCK_MONOTONIC, 0);
}

bool yarn_thread_end_is_past(const struct yarn_thread_end *end)
{
    if (yarn_futex_wait_shared(end->word, end->value, 0) == -ETIMEDOUT)
        return false;
    yarn_raw_call(SYS_futex, (long)end->word, FUTEX_WAKE, INT_MAX, 0, 0, 0);
    return true;
}

int yarn_thread_end_open(pid_t tid)
{
    return (int)yarn_raw_call(SYS_pidfd_open, tid, PIDFD_OF_THREAD, 0, 0, 0, 0);
}
