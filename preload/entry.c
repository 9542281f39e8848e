/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where the loader enters: constructor and destructor of libyarn_preload.so.
 */
#include <stdbool.h>
#include <stdlib.h>

#include "preload/lifecycle.h"
#include "preload/originals.h"
#include "preload/syscall.h"

static bool has_exit_handler;

/* Runs after every other exit handler and destructor, because it was registered before the C
 * library registered the loader's: they are in the profile too. */
static void on_host_exit(int status, void *unused)
{
    (void)unused;
    yarn_lifecycle_note_status(status);
    yarn_lifecycle_end();
}

static void on_quick_exit(void)
{
    yarn_lifecycle_end();
}

/* The C library gives constructors what main gets. */
__attribute__((constructor)) static void enter(int argc, char *argv[], char *envp[])
{
    yarn_originals_begin();
    yarn_syscall_next = yarn_original_known(YARN_ORIGINAL_syscall);
    yarn_lifecycle_begin(argc, argv, envp);
    if (!yarn_lifecycle_recorder())
        return;
    has_exit_handler = on_exit(on_host_exit, NULL) == 0;
    if (at_quick_exit(on_quick_exit))
        return; /* no room: that one way out is not seen */
}

/* Where the C library had no room for the handler. */
__attribute__((destructor)) static void leave(void)
{
    if (!has_exit_handler)
        yarn_lifecycle_end();
}
