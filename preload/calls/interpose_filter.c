/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The C library's ways to set a system call filter, or to have calls from outside some range of
 * code raise a signal: prctl and syscall. What is made of a call that was not expected is often the
 * end of the process, so nothing of ours may make one behind it. What changes rights, root or
 * namespaces through syscall goes the way of the functions for it. Everything else passes through.
 *
 * prctl is variadic and takes words in registers whatever there is of them; here it is defined with
 * all of them, hence not the header that declares it. Both may be called anywhere: in a signal
 * handler, in a vfork child, before our constructor.
 */
#include <errno.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include "core/base/raw.h"
#include "preload/calls/interpose.h"
#include "preload/control/lifecycle.h"

typedef long (*call_fn)(long number, ...);
typedef int (*control_fn)(int option, ...);

enum { RESTRICT_SELF_TSYNC = 1 << 3 }; /* LANDLOCK_RESTRICT_SELF_TSYNC, since Linux 7.0 */

YARN_EXPORTED int prctl(int option, unsigned long a, unsigned long b, unsigned long c,
                        unsigned long d);

/* Where the original is not known yet. */
static long call_plainly(long number, long a, long b, long c, long d, long e, long f)
{
    long result = yarn_raw_call(number, a, b, c, d, e, f);
    if (!yarn_raw_is_error(result))
        return result;
    errno = (int)-result;
    return -1;
}

/* Libraries find out what the kernel knows by calls without a program, which always fail. */
static enum yarn_lifecycle_change_kind kind_of_seccomp(long operation, long flags, long program)
{
    bool is_set = operation == SECCOMP_SET_MODE_STRICT
                      ? !flags && !program
                      : operation == SECCOMP_SET_MODE_FILTER && program;
    if (!is_set)
        return YARN_CHANGE_NONE;
    return flags & (long)SECCOMP_FILTER_FLAG_TSYNC ? YARN_CHANGE_FILTER_OF_ALL : YARN_CHANGE_FILTER;
}

static enum yarn_lifecycle_change_kind kind_of_prctl(long option, long mode, long program)
{
    if (option == PR_SET_SYSCALL_USER_DISPATCH && mode != PR_SYS_DISPATCH_OFF)
        return YARN_CHANGE_DISPATCH;
    bool is_set = option == PR_SET_SECCOMP &&
                  (mode == SECCOMP_MODE_STRICT || (mode == SECCOMP_MODE_FILTER && program));
    return is_set ? YARN_CHANGE_FILTER : YARN_CHANGE_NONE;
}

/* Of the numbers that syscall looks at. */
static enum yarn_lifecycle_change_kind kind_of(long number, long a, long b, long c)
{
    switch (number) {
    case SYS_seccomp:
        return kind_of_seccomp(a, b, c);
    case SYS_prctl:
        return kind_of_prctl((int)a, b, c);
    case SYS_unshare:
        return yarn_lifecycle_kind_of_unshare((int)a);
    case SYS_setns:
        return yarn_lifecycle_kind_of_setns((int)a, (int)b);
    case SYS_chroot:
    case SYS_pivot_root:
        return YARN_CHANGE_ROOT;
    case SYS_landlock_restrict_self:
        return YARN_CHANGE_LANDLOCK;
    case SYS_capset:
        return YARN_CHANGE_RIGHTS;
    case SYS_setgroups:
        return YARN_CHANGE_GROUPS;
    default:
        return YARN_CHANGE_IDS;
    }
}

static long drops_bounds(long option, long result)
{
    if (option == PR_CAPBSET_DROP && !result)
        yarn_lifecycle_drop_bounds();
    return result;
}

long yarn_syscall_intercept(long number, long a, long b, long c, long d, long e, long f)
{
    call_fn next = (call_fn)yarn_syscall_next;
    if (number == SYS_exit_group)
        yarn_lifecycle_end((int)a);
    struct yarn_lifecycle_change change;
    yarn_lifecycle_begin_change(kind_of(number, a, b, c), &change);
    if (number == SYS_landlock_restrict_self)
        change.ruleset = b & RESTRICT_SELF_TSYNC ? -1 : (int)a;
    long result = next ? next(number, a, b, c, d, e, f) : call_plainly(number, a, b, c, d, e, f);
    bool gives_listener = number == SYS_seccomp && b & (long)SECCOMP_FILTER_FLAG_NEW_LISTENER;
    yarn_lifecycle_end_change(&change, gives_listener && result > 0 ? 0 : (int)result);
    return drops_bounds(number == SYS_prctl ? a : 0, result);
}

YARN_EXPORTED int prctl(int option, unsigned long a, unsigned long b, unsigned long c,
                        unsigned long d)
{
    control_fn next = (control_fn)yarn_original_known(YARN_ORIGINAL_prctl);
    struct yarn_lifecycle_change change;
    yarn_lifecycle_begin_change(kind_of_prctl(option, (long)a, (long)b), &change);
    long result = next ? next(option, a, b, c, d)
                       : call_plainly(SYS_prctl, option, (long)a, (long)b, (long)c, (long)d, 0);
    return (int)drops_bounds(option, yarn_lifecycle_end_change(&change, (int)result));
}
