/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The sampler of blocked threads, for the event off-cpu: reads where a thread waits and stores it
 * with the weight that core/waits gives. One such reading is a look: where the thread is
 * (core/sys/blocked.h), its stack as far as the walk needs it, and who holds the lock that it waits
 * for. The thread is not stopped, and runs nothing.
 *
 * Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/record/record.h"
#include "core/waits/waits.h"
#include "recording/account/account.h"
#include "recording/dump/process_dump.h"
#include "recording/pipeline/stacks.h"

/* How the raw bytes of a look are read: who holds the lock that it waits for. */
#define YARN_OFF_CPU_FORMAT "\tfield:pid_t holder;\toffset:0;\tsize:4;\tsigned:1;\n"

struct yarn_off_cpu {
    struct yarn_event_status event; /* as it is asked for and had */
    /* The dump is begun; false: there is none. NULL: as any other. */
    bool (*begin_dump)(void *self);
    void *self;
    struct yarn_process_dump *dump; /* borrowed, as are the next two; of the process */
    struct yarn_unwinder *unwinder;
    struct yarn_stack_store *stacks;
    struct yarn_waits waits;            /* the pipeline notes switches, ends and losses in it */
    struct yarn_stack_windows *windows; /* owned; NULL while closed */
    struct yarn_queued *queued;         /* owned: the frames of a look */
    size_t nr_files;                    /* kept open, of waits */
    uint32_t epoch;                     /* of the dump's numbers */
    int refusal;                        /* the first negative errno of a look; 0: none */
};

#define YARN_OFF_CPU_CLOSED ((struct yarn_off_cpu){.windows = NULL})

/* Where the dump's job asks for it; the dump says what came of that. `why_not`: what it needs and
 * is not there; NULL. Closed on failure, where that is, and where it is not asked for. */
YARN_MUST_CHECK int yarn_off_cpu_open(struct yarn_off_cpu *off_cpu, struct yarn_process_dump *dump,
                                      struct yarn_unwinder *unwinder,
                                      struct yarn_stack_store *stacks, const char *why_not);

/* Each does nothing where they are closed. */
/* The kernel's records of switches come from now on, or come no more and have been read. */
void yarn_off_cpu_start(struct yarn_off_cpu *off_cpu);
/* The first of them is of the process's birth, which is later than that. */
void yarn_off_cpu_start_at_birth(struct yarn_off_cpu *off_cpu, uint64_t since_ns);
void yarn_off_cpu_stop(struct yarn_off_cpu *off_cpu, uint64_t now_ns);
/* There are too many: threads are looked at by their clocks until records come again. */
void yarn_off_cpu_go_by_clock(struct yarn_off_cpu *off_cpu);

/* After a drain, which has read all records before `seen_ns`: samples the blocked threads, if a
 * round is due. The number that was looked at. */
size_t yarn_off_cpu_sample_due(struct yarn_off_cpu *off_cpu, uint64_t seen_ns);

/* Rounds are at least so far apart from now on, which the dump says. */
void yarn_off_cpu_slow_down(struct yarn_off_cpu *off_cpu, uint64_t period_ns);

/* The host has slept, so no round was needed, and works again. */
void yarn_off_cpu_wake(struct yarn_off_cpu *off_cpu);

/* Idempotent. */
void yarn_off_cpu_close(struct yarn_off_cpu *off_cpu);
