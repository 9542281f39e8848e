/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sys/landlock.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include "core/base/raw.h"
#include "core/sys/file.h"
#include "core/sys/process.h"

enum { PIDFD_OF_THREAD = O_EXCL }; /* PIDFD_THREAD, since Linux 6.9 */

/* Of another thread's table, which may not be the first thread's. */
static long fetch(pid_t tid, int number)
{
    long process = yarn_raw_call(SYS_pidfd_open, tid, PIDFD_OF_THREAD, 0, 0, 0, 0);
    if (process == -EINVAL)
        process = yarn_raw_call(SYS_pidfd_open, yarn_process_pid(), 0, 0, 0, 0, 0);
    if (yarn_raw_is_error(process))
        return process;
    long fd = yarn_raw_call(SYS_pidfd_getfd, process, number, 0, 0, 0, 0);
    yarn_file_close((int)process);
    return fd;
}

int yarn_landlock_take(pid_t tid, int ruleset)
{
    long fd = fetch(tid, ruleset);
    if (yarn_raw_is_error(fd))
        return (int)fd;
    int err = (int)yarn_raw_call(SYS_landlock_restrict_self, fd, 0, 0, 0, 0, 0);
    yarn_file_close((int)fd);
    return err;
}
