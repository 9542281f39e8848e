/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Landlock: a thread gives up access to files by rules that a descriptor stands for. To the kernel
 * they belong to a thread. Threads, signals: safe anywhere.
 */
#pragma once

#include <sys/types.h>

#include "core/base/base.h"

/* Binds the calling thread, which has no_new_privs, by the rules that another thread of this
 * process has open as `ruleset`. */
YARN_MUST_CHECK int yarn_landlock_take(pid_t tid, int ruleset);
