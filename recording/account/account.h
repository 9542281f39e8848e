/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The accounting of one followed process: its CPU time compared with the weight of its samples, so
 * that a dump says of each second whether it is sampled, excluded or unknown. Running totals are
 * stored at each flush, so that a dump that ends early has them too. Knows times and counts; does
 * not know stacks or files.
 *
 * Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/session/session.h"
#include "output/dump/writer.h"
#include "recording/account/child_times.h"
#include "recording/account/coverage.h"
#include "recording/account/thread_snapshot.h"

struct yarn_account {
    struct yarn_session *session;         /* borrowed */
    struct yarn_child_times *child_times; /* borrowed; of children never recorded; NULL */
    struct yarn_coverage coverage;
    struct yarn_dump_totals totals;
    uint32_t clock_event; /* number of the event whose count is CPU time; YARN_DUMP_NONE */
    uint64_t sampled_ns;  /* weight of its samples */
    uint64_t missed_ns; /* CPU time before its events were enabled, where the start was deferred */
    uint64_t reaped_before_ns;  /* CPU time of children that were waited for before the start */
    uint64_t nr_lost;           /* records of any kind, as LOST records say */
    uint64_t nr_dropped;        /* samples lost because the queue was full */
    uint64_t nr_lost_of_others; /* samples lost of other events than the clock, as far as counted */
    struct yarn_thread_snapshot threads;
};

/* For an open session, in zeroed memory; owns nothing. */
void yarn_account_init(struct yarn_account *account, struct yarn_session *session);

static inline void yarn_account_count(struct yarn_account *account, enum yarn_dump_total total,
                                      uint64_t number)
{
    account->totals.value[total] += number;
}

/* Counts a sample that was stored, and one that was lost. */
void yarn_account_sample(struct yarn_account *account, const struct yarn_sample *sample,
                         bool is_leaf_unknown);
void yarn_account_drop(struct yarn_account *account);

/* True where children that were never recorded used at least one period of CPU time. */
bool yarn_account_has_children(const struct yarn_account *account);

/* True where the process has used more CPU time without a sample than chance explains: in threads
 * shorter than a period, or in the kernel. */
bool yarn_account_lacks_samples(const struct yarn_account *account);

/* The totals up to now. */
void yarn_account_write(struct yarn_account *account, struct yarn_dump_writer *writer);

/* The counts of the events up to now; `only_counted`: of those of YARN_COUNTERS. */
void yarn_account_write_counts(struct yarn_account *account, struct yarn_dump_writer *writer,
                               bool only_counted);

/* At the end: the counts of every event, with the kernel's exact number of lost samples, too. */
void yarn_account_write_final(struct yarn_account *account, struct yarn_dump_writer *writer);
