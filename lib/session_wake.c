/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/session_wake.h"

#include <sys/eventfd.h>
#include <sys/syscall.h>

#include "core/base/raw.h"

int yarn_session_wake_open(void)
{
    return (int)yarn_raw_call(SYS_eventfd2, 0, EFD_CLOEXEC | EFD_NONBLOCK, 0, 0, 0, 0);
}

void yarn_session_wake_send(int fd)
{
    const uint64_t one = 1;
    /* Why an error may pass: a full count polls readable, too. */
    (void)yarn_raw_call(SYS_write, fd, (long)&one, sizeof one, 0, 0, 0);
}

void yarn_session_wake_clear(int fd)
{
    uint64_t count;
    (void)yarn_raw_call(SYS_read, fd, (long)&count, sizeof count, 0, 0, 0);
}
