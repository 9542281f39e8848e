/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Whether there can be a recording in this process at all: the limits that it was started with, and
 * the filter of system calls that it may have been started behind. Each refusal is one line.
 *
 * Threads: the host's first thread, in the constructor. Signals: not safe.
 */
#pragma once

#include "core/base/text.h"
#include "preload/process/job.h"

/* Before anything else is called that a filter may end the process for: what has to be called later
 * is tried out. A negative errno where nothing may be recorded; *line says why, or is empty where
 * it may not be written, or nobody wants this process to be recorded. */
YARN_MUST_CHECK int yarn_surroundings_probe(struct yarn_seccomp_probe *ret_probe,
                                            char *const envp[], struct yarn_text *line);

/* Whether the job can be done here: a host with a limit of its memory counts on all of it, so we
 * take a small share or nothing. Marks our memory as the process's own. */
YARN_MUST_CHECK int yarn_surroundings_check(const struct yarn_job *job, struct yarn_text *line);
