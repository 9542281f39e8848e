/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Runs a command with the preload in it: finds the library, sets LD_PRELOAD, waits. The command's
 * own status comes back as a shell gives it. Threads: one.
 */
#pragma once

#include "core/base/base.h"

struct yarn_launch {
    char preload[4096]; /* path of libyarn_preload.so */
    uint64_t cpu_ns;    /* of the command and its children, when it has ended */
    uint64_t life_ns;
};

/* The folder of the tool itself, without a slash at its end. */
YARN_MUST_CHECK int yarn_launch_own_folder(char *ret_folder, size_t size);

/* Beside the tool, or where the tool was installed to. -ENOENT; ret_why says where was looked. */
YARN_MUST_CHECK int yarn_launch_find(struct yarn_launch *launch, char *ret_why, size_t size);

/* A variable of the command's environment. -ENOMEM. */
YARN_MUST_CHECK int yarn_launch_set(const char *name, const char *value);

/* The status: the command's own, 128 + signal, 126 or 127; complains itself where it cannot run. */
YARN_MUST_CHECK int yarn_launch_run(struct yarn_launch *launch, char *const argv[]);
