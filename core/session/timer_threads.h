/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The threads that the timer sampler samples, found without the host's help: the list of the
 * process's threads is read again and again, a new one gets a slot and a timer, one that is gone is
 * drained and its slot given to another. What the kernel would report of a thread (its start, name
 * and end) is given to the listener as the same records.
 *
 * Threads beyond the last slot, or for which the limit of queued signals leaves no timer, are
 * counted. Knows threads, slots and the order of their end; does not know mappings or events.
 * Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/base/arena.h"
#include "core/base/table.h"
#include "core/record/merge.h"
#include "core/session/timer_sample.h"

enum { YARN_TIMER_THREADS_AT_ONCE = 8192, YARN_TIMER_NAME_BYTES = 16 };

/* The reader's side of each slot. */
struct yarn_timer_thread {
    struct yarn_ring ring; /* the reader's side of the slot's buffer */
    uint32_t seen;         /* number of the scan that found it last */
    uint32_t nr_blocked;   /* scans that found the signal blocked in it */
    uint32_t ticks_seen;   /* at the last scan */
    uint64_t ticked_ns;    /* its CPU time when a scan found that a tick had come */
    bool is_blocked;       /* since it had used: */
    uint64_t unblocked_ns;
    uint64_t blocked_ns; /* CPU time since then, at the last scan */
    bool is_old;         /* what it did before its timer does not count, or is not known */
    bool is_gone;
    uint64_t next_name_ns, name_pause_ns; /* when its name is read again */
    char name[YARN_TIMER_NAME_BYTES];
};

struct yarn_timer_sums {
    uint64_t blocked_ns; /* CPU time of threads while they blocked the signal: without a timer */
    uint64_t nr_lost;    /* samples */
    size_t bytes;        /* of the slots' buffers that were ever touched */
};

struct yarn_timer_threads {
    const struct yarn_timer_terms *terms; /* borrowed */
    pid_t own_tid;
    size_t data_bytes;                 /* of a slot */
    struct yarn_timer_thread *of_slot; /* owned by the arena, as the next two */
    pid_t *tids;                       /* room for a list, of `nr_listed` */
    size_t nr_listed;
    struct yarn_merge_source *sources; /* what is to be drained */
    struct yarn_table slot_of;         /* tid -> number of its slot */
    size_t nr_slots;                   /* below which all slots in use lie */
    uint32_t nr_scans;
    uint64_t next_scan_ns;
    struct yarn_timer_sums before; /* of what is over */
    uint64_t nr_found;             /* threads that ever had a timer */
    size_t nr_refused;             /* the most at once that had none */
    int refusal;                   /* the errno of the last of them, negative */
};

YARN_MUST_CHECK int yarn_timer_threads_open(struct yarn_timer_threads *threads,
                                            struct yarn_arena *arena);

/* Gives every thread that has none a slot and a timer. With `is_first` threads are
 * sampled from now; those that are found later from their start. One that blocks the signal
 * has no timer meanwhile, and that time is in no sample. `listener` may be NULL. */
YARN_MUST_CHECK int yarn_timer_threads_scan(struct yarn_timer_threads *threads, bool is_first,
                                            const struct yarn_record_listener *listener);

/* False where one is without, as far as the last scan found. */
bool yarn_timer_threads_have_timers(const struct yarn_timer_threads *threads);

/* Any thread that lives, but for `tid`; 0. */
pid_t yarn_timer_threads_other(const struct yarn_timer_threads *threads, pid_t tid);

/* Gives back the slots of threads that are gone and drained; then *merge has every slot in which
 * there may be something, and the names of those threads are given where they changed. */
void yarn_timer_threads_gather(struct yarn_timer_threads *threads, struct yarn_merge *merge,
                               const struct yarn_record_listener *listener);

/* The first two phases of the end (timer_sample.h): no timer fires any more. */
void yarn_timer_threads_quiet(struct yarn_timer_threads *threads);
/* The third; false where a thread is stopped inside a write. */
YARN_MUST_CHECK bool yarn_timer_threads_wait(struct yarn_timer_threads *threads);

struct yarn_timer_sums yarn_timer_threads_sums(const struct yarn_timer_threads *threads);

/* After quiet and wait. What a stopped thread may still write to is left where it is. */
void yarn_timer_threads_close(struct yarn_timer_threads *threads);
