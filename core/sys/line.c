/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sys/line.h"

#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/base/raw.h"
#include "core/sys/file.h"
#include "core/sys/process.h"

#define BIT_OF(number) (UINT64_C(1) << ((number)-1))

/* A blocked SIGTTOU is not sent at all: the terminal takes the line. */
static const uint64_t raised = BIT_OF(SIGXFSZ) | BIT_OF(SIGPIPE);
static const uint64_t blocked = BIT_OF(SIGXFSZ) | BIT_OF(SIGPIPE) | BIT_OF(SIGTTOU);

static bool is_one_pending(void)
{
    uint64_t mask = 0;
    yarn_raw_call(SYS_rt_sigpending, (long)&mask, sizeof mask, 0, 0, 0, 0);
    return mask & raised;
}

/* Of the write that failed so. The kernel sends it to the thread that wrote. */
static void take_back(int err)
{
    struct timespec none = {0};
    uint64_t mask = err == -EFBIG ? BIT_OF(SIGXFSZ) : err == -EPIPE ? BIT_OF(SIGPIPE) : 0;
    if (mask)
        yarn_raw_call(SYS_rt_sigtimedwait, (long)&mask, 0, (long)&none, sizeof mask, 0, 0);
}

/* What a descriptor is. Why not on the stack: a handler of a crash may have little of it. */
static struct stat found;
static _Atomic bool is_at_work;

static int check_file(int fd, size_t size)
{
    long err = yarn_raw_call(SYS_fstat, fd, (long)&found, 0, 0, 0, 0);
    if (yarn_raw_is_error(err))
        return (int)err;
    if (S_ISREG(found.st_mode)) {
        long at = yarn_raw_call(SYS_lseek, fd, 0, SEEK_CUR, 0, 0, 0);
        uint64_t end =
            yarn_u64_max((uint64_t)found.st_size, yarn_raw_is_error(at) ? 0 : (uint64_t)at);
        return end + size > yarn_process_limit(RLIMIT_FSIZE) ? -EFBIG : 0;
    }
    struct pollfd ready = {.fd = fd, .events = POLLOUT};
    struct timespec none = {0};
    long count = yarn_raw_call(SYS_ppoll, (long)&ready, 1, (long)&none, 0, 8, 0);
    if (yarn_raw_is_error(count)) /* a limit of no files */
        return (int)count;
    return ready.revents & POLLERR ? -EPIPE : ready.revents & POLLOUT ? 0 : -EAGAIN;
}

static int write_blocked(int fd, struct yarn_span line)
{
    if (is_one_pending())
        return -EAGAIN;
    int err = yarn_file_write_all(fd, line);
    take_back(err);
    return err;
}

static int write_where_it_fits(int fd, struct yarn_span line)
{
    uint64_t before;
    int err = check_file(fd, line.size);
    if (err)
        return err;
    long result = yarn_raw_call(SYS_rt_sigprocmask, SIG_BLOCK, (long)&blocked, (long)&before,
                                sizeof before, 0, 0);
    if (yarn_raw_is_error(result))
        return (int)result;
    err = write_blocked(fd, line);
    yarn_raw_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, sizeof before, 0, 0);
    return err;
}

int yarn_line_write(int fd, struct yarn_span line)
{
    if (line.size > YARN_LINE_MAX)
        return -EMSGSIZE;
    if (atomic_exchange(&is_at_work, true))
        return -EAGAIN;
    int err = write_where_it_fits(fd, line);
    atomic_store(&is_at_work, false);
    return err;
}

void yarn_line_leave_behind(void)
{
    /* Why it is read first: a page that is written in a child is copied for it. */
    if (atomic_load(&is_at_work))
        atomic_store(&is_at_work, false);
}
