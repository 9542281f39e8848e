/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The constructor's result from the environment: everything that a recording needs to begin,
 * immutable afterwards. Made on the host's thread, read by the reader thread.
 */
#pragma once

#include "core/base/arena.h"
#include "core/config/options.h"
#include "core/event/parse.h"
#include "core/sys/seccomp_probe.h"
#include "recording/process/facts.h"
#include "unwind/site/probe_sites.h"

struct yarn_job {
    struct yarn_arena arena; /* owns every text below */
    struct yarn_options options;
    struct yarn_event_list events;       /* off-cpu is the last */
    size_t nr_perf_events;               /* the others */
    struct yarn_probe_sites probe_sites; /* of the events that are put on symbols */
    struct yarn_facts facts;
    struct yarn_seccomp_probe seccomp; /* of what a filter of system calls permits; all, without */
    char *const *envp;                 /* what the path patterns read of the environment */
    const struct yarn_machine_facts *machine; /* borrowed; NULL: each dump asks for them */
    const char *rank;                         /* in a job of MPI or Slurm; NULL: none */
    const char *machine_refusal;              /* why it is not watched any more; NULL: it may be */
    bool counts_each;     /* some event's every occurrence is counted, or sampled */
    bool samples_by_rate; /* all that is asked for is samples, by the default rate */
    bool host_waits;      /* the start's wait: no host thread runs */
};

/* One job at a time in a process. -EINVAL: a bad value; *fault says which in one line. -ECANCELED:
 * neither the executable nor the name that was run is one of YARN_COMM. With this and any other
 * *fault is empty. */
YARN_MUST_CHECK int yarn_job_init(struct yarn_job *job, int argc, char *const argv[],
                                  char *const envp[], struct yarn_text *fault);

/* The same for processes of any name, which YARN_COMM is yet to be asked about. */
YARN_MUST_CHECK int yarn_job_init_for_tree(struct yarn_job *job, int argc, char *const argv[],
                                           char *const envp[], struct yarn_text *fault);

/* Whether YARN_COMM names that executable. */
bool yarn_job_is_for(const struct yarn_options *options, const char *path);

/* Before there is a job, without a system call but for memory: by the path that the program was
 * started by. Where YARN_COMM cannot be decided, it is wanted. */
bool yarn_job_is_wanted_early(char *const envp[], const char *path);

/* Whether events of it can show other processes: of whole cores, or of the machine. */
static inline bool yarn_job_may_watch_others(const struct yarn_job *job)
{
    return job->options.strategy == YARN_STRATEGY_CORES ||
           (job->options.sched.kind > YARN_SCHED_TRACEPOINTS && !job->machine_refusal);
}

/* Events that can show other processes are left out from now on, for that reason. */
void yarn_job_leave_others(struct yarn_job *job, const char *why);

/* Idempotent. */
void yarn_job_fini(struct yarn_job *job);
