/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Restrictions under which this process may not be recorded: its resource limits, and the seccomp
 * filter that it may have inherited. Each refusal is one line.
 *
 * Threads: the host's first thread, in the constructor. Signals: not safe.
 */
#pragma once

#include "core/base/text.h"
#include "recording/process/job.h"

/* Before any system call for which a filter may kill the process: tries those that are needed
 * later. A negative errno where nothing may be recorded; *line says why, or is empty where it may
 * not be written, or the process is not selected for recording. */
YARN_MUST_CHECK int yarn_restrictions_probe(struct yarn_seccomp_probe *ret_probe,
                                            char *const envp[], struct yarn_text *line);

/* Whether the job can be done here: a host with a memory limit expects to use all of it, so we
 * take a small share or nothing. Marks our memory as the process's own. */
YARN_MUST_CHECK int yarn_restrictions_check(const struct yarn_job *job, struct yarn_text *line);
