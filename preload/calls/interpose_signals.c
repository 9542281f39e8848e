/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Setting an alternate stack: the one step of a host's after which a signal of the timer sampler's
 * might end it. It may be called anywhere: in a signal handler, in a vfork child, before our
 * constructor.
 */
#include <signal.h>
#include <sys/syscall.h>

#include "core/base/raw.h"
#include "core/sys/signal.h"
#include "preload/calls/interpose.h"
#include "preload/control/lifecycle.h"

/* A call without other effect shows whether the memory can be read: for a wrong address the kernel
 * returns EFAULT, and nothing faults. */
static bool is_readable(const stack_t *stack)
{
    enum { NO_HOW = -1 };
    const uint64_t *last = (const uint64_t *)(const void *)(stack + 1) - 1;
    return yarn_raw_call(SYS_rt_sigprocmask, NO_HOW, (long)stack, 0, sizeof *last, 0, 0) ==
               -EINVAL &&
           yarn_raw_call(SYS_rt_sigprocmask, NO_HOW, (long)last, 0, sizeof *last, 0, 0) == -EINVAL;
}

static void note(const stack_t *stack)
{
    if (!(stack->ss_flags & SS_DISABLE) && yarn_alternate_stack_note(stack->ss_size))
        yarn_lifecycle_check_signals();
}

YARN_EXPORTED int sigaltstack(const stack_t *stack, stack_t *ret_before)
{
    __typeof__(&sigaltstack) next = YARN_ORIGINAL(sigaltstack);
    if (!next)
        return -1;
    /* Before it is set: the next signal may come to it. */
    if (stack && yarn_lifecycle_recorder() && is_readable(stack))
        note(stack);
    int result = next(stack, ret_before);
    if (stack && !result) /* by a constructor that ran before ours */
        note(stack);
    return result;
}
