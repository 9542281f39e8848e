/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The C library's functions by which a host could notice the signal that the timer sampler borrows,
 * or that signal could hurt it: one that wants the signal gets it, and we take another; one that
 * only looks sees what would be there without us; one that blocks every signal does not block ours,
 * which would wait until the host takes it for its own, and is shown that it does. Without that
 * sampler they pass through.
 *
 * They may be called anywhere: in a signal handler, in a vfork child, before our constructor.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include "core/sys/signal.h"
#include "preload/exported.h"
#include "preload/lifecycle.h"
#include "preload/originals.h"

typedef int (*action_fn)(int number, const struct sigaction *action, struct sigaction *ret_before);
typedef sighandler_t (*handler_fn)(int number, sighandler_t handler);
typedef int (*mask_fn)(int how, const sigset_t *set, sigset_t *ret_before);

/* True where the number is borrowed and this process is the one that borrowed it. */
static bool is_borrowed(int number)
{
    return number == yarn_signal_borrowed() && number && yarn_lifecycle_recorder();
}

/* False where there is nothing to do: the default is what the host sees there all the time. */
static bool give_up(bool is_default)
{
    int kept = errno;
    if (!is_default)
        yarn_lifecycle_yield_signal();
    errno = kept;
    return !is_default;
}

YARN_EXPORTED int sigaction(int number, const struct sigaction *action,
                            struct sigaction *ret_before)
{
    action_fn next;
    if (!yarn_original_find(YARN_ORIGINAL_sigaction, &next, sizeof next))
        return -1;
    if (!is_borrowed(number))
        return next(number, action, ret_before);
    if (action && give_up(action->sa_handler == SIG_DFL))
        return next(number, action, ret_before);
    if (ret_before)
        *ret_before = (struct sigaction){.sa_handler = SIG_DFL};
    return 0;
}

YARN_EXPORTED sighandler_t signal(int number, sighandler_t handler)
{
    handler_fn next;
    if (!yarn_original_find(YARN_ORIGINAL_signal, &next, sizeof next))
        return SIG_ERR;
    if (!is_borrowed(number) || give_up(handler == SIG_DFL))
        return next(number, handler);
    return SIG_DFL;
}

/* The first word of a set is the kernel's mask. */
static uint64_t mask_of(const sigset_t *set)
{
    uint64_t mask;
    memcpy(&mask, set, sizeof mask);
    return mask;
}

static uint64_t bit_of(int number)
{
    return UINT64_C(1) << (number - 1);
}

/* A set that has most of the real-time signals is one of all, or all but some: not of those that
 * the host uses. */
static bool is_of_all(const sigset_t *set)
{
    enum { FIRST = 34, MOST = 16 };
    return __builtin_popcountll(mask_of(set) >> (FIRST - 1)) >= MOST;
}

/* What the host asked to block, without ours. One that blocks it by itself wants it: it may wait
 * for it without a handler. */
static const sigset_t *without_ours(int how, const sigset_t *set, sigset_t *room)
{
    int number = yarn_signal_borrowed();
    if (!set || !number || how == SIG_UNBLOCK || !(mask_of(set) & bit_of(number)) ||
        !yarn_lifecycle_recorder())
        return set;
    if (!is_of_all(set)) {
        (void)give_up(false);
        return set;
    }
    uint64_t mask = mask_of(set) & ~bit_of(number);
    *room = *set;
    memcpy(room, &mask, sizeof mask);
    return room;
}

/* What the host is shown of what is blocked: ours, too, where it blocked all. */
static void show_blocked(sigset_t *ret_before)
{
    int number = yarn_signal_borrowed();
    if (!ret_before || !number || !is_of_all(ret_before) || !yarn_lifecycle_recorder())
        return;
    uint64_t mask = mask_of(ret_before) | bit_of(number);
    memcpy(ret_before, &mask, sizeof mask);
}

YARN_EXPORTED int sigprocmask(int how, const sigset_t *set, sigset_t *ret_before)
{
    mask_fn next;
    sigset_t room;
    if (!yarn_original_find(YARN_ORIGINAL_sigprocmask, &next, sizeof next))
        return -1;
    int result = next(how, without_ours(how, set, &room), ret_before);
    if (!result)
        show_blocked(ret_before);
    return result;
}

YARN_EXPORTED int pthread_sigmask(int how, const sigset_t *set, sigset_t *ret_before)
{
    mask_fn next;
    sigset_t room;
    if (!yarn_original_find(YARN_ORIGINAL_pthread_sigmask, &next, sizeof next))
        return ENOSYS;
    int err = next(how, without_ours(how, set, &room), ret_before);
    if (!err)
        show_blocked(ret_before);
    return err;
}
