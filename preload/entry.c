/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where the loader enters: constructor and destructor of libyarn_preload.so.
 */
#include <stdlib.h>

#include "preload/interpose_ids.h"
#include "preload/lifecycle.h"

static void on_exit_status(int status, void *unused)
{
    (void)unused;
    yarn_lifecycle_note_status(status);
}

/* The C library gives constructors what main gets. */
__attribute__((constructor)) static void enter(int argc, char *argv[], char *envp[])
{
    yarn_interpose_ids_begin();
    yarn_lifecycle_begin(argc, argv, envp);
    if (yarn_lifecycle_recorder())
        on_exit(on_exit_status, NULL);
}

/* After the host's exit handlers and destructors, so that they are in the profile too. */
__attribute__((destructor)) static void leave(void)
{
    yarn_lifecycle_end();
}
