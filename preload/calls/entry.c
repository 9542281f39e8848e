/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where the loader enters: constructor and destructor of libyarn_preload.so.
 */
#include <stdbool.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "preload/calls/interpose.h"
#include "preload/control/lifecycle.h"

/* Which of them a C library lacks is 0 here, where the program could not start if it had to be
 * there: musl's loader takes the library in and finds neither. */
#pragma weak on_exit
#pragma weak __cxa_at_quick_exit
#pragma weak __register_atfork
int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
                      void *library);
int __cxa_at_quick_exit(void (*handler)(void *), void *library);
extern void *__dso_handle __attribute__((visibility("hidden")));

static YARN_IN_DATA bool has_exit_handler;

/* Runs after every other exit handler and destructor, because it was registered before the C
 * library registered the loader's: they are in the profile too. */
static void on_host_exit(int status, void *unused)
{
    (void)unused;
    yarn_lifecycle_end(status);
}

/* glibc gives constructors what main gets; other C libraries give them nothing. */
__attribute__((constructor)) static void enter(int argc, char *argv[], char *envp[])
{
    yarn_originals_begin();
    yarn_syscall_next = yarn_original_known(YARN_ORIGINAL_syscall);
    if (!on_exit || !__cxa_at_quick_exit || !__register_atfork) {
        yarn_lifecycle_refuse("the C library of this program is not glibc");
        return;
    }
    yarn_lifecycle_begin(argc, argv, envp);
    if (!yarn_lifecycle_recorder())
        return;
    yarn_interpose_threads_begin();
    if (__register_atfork(NULL, NULL, yarn_lifecycle_follow_fork, __dso_handle))
        return; /* no memory for it: children are not recorded, and our end is the destructor's */
    has_exit_handler = on_exit(on_host_exit, NULL) == 0;
    if (__cxa_at_quick_exit(yarn_interpose_end_quickly, __dso_handle))
        return; /* no room: an end by quick_exit is not noticed */
}

/* In place of the exit handler, where that could not be registered. */
__attribute__((destructor)) static void leave(void)
{
    if (!has_exit_handler)
        yarn_lifecycle_end(-1);
}
