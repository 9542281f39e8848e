/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sys/futex.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>

#include "core/base/raw.h"

static int wait_on(_Atomic uint32_t *word, int operation, uint32_t value, uint64_t timeout_ns)
{
    struct timespec timeout = {
        .tv_sec = (time_t)(timeout_ns / YARN_NS_PER_SECOND),
        .tv_nsec = (long)(timeout_ns % YARN_NS_PER_SECOND),
    };
    long result =
        yarn_raw_call(SYS_futex, (long)word, operation, (long)value, (long)&timeout, 0, 0);
    return result == -EAGAIN ? 0 : (int)result;
}

int yarn_futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns)
{
    return wait_on(word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, value, timeout_ns);
}

int yarn_futex_wait_shared(_Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns)
{
    return wait_on(word, FUTEX_WAIT, value, timeout_ns);
}

void yarn_futex_wake(_Atomic uint32_t *word)
{
    yarn_raw_call(SYS_futex, (long)word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, INT_MAX, 0, 0, 0);
}
