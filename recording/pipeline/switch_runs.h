/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * From switch records to runs: when a thread came onto a core and when it left it. Keeps what runs
 * now, and the runs that no dump has yet; knows neither rings nor files. A record that is missing
 * makes no run longer: what is not known is left open.
 *
 * Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/record/record.h"
#include "output/dump/writer.h"

struct yarn_switch_runs;

/* NULL where there is no memory. `are_late`: a thread's records begin some time after its birth, so
 * that it is not known what it did before the first. */
struct yarn_switch_runs *yarn_switch_runs_new(bool are_late);
/* As new ones: in memory that was touched before. */
void yarn_switch_runs_renew(struct yarn_switch_runs *runs, bool are_late);
void yarn_switch_runs_free(struct yarn_switch_runs *runs); /* NULL is allowed */

/* Switch records are written from now on: who leaves a core without having come onto it has run
 * since. */
void yarn_switch_runs_start(struct yarn_switch_runs *runs, uint64_t time_ns);

/* Switch records; a thread's birth, and its end. Records are missing, of whatever kind: what ran
 * then is not known to have gone on. True where many runs are kept: they should be written. */
bool yarn_switch_runs_on_switch(struct yarn_switch_runs *runs,
                                const struct yarn_typed_record *record);

/* Of a thread on a core, of whatever kind: one that has neither come nor left has run since records
 * are written, or at least from then on. */
void yarn_switch_runs_on_run(struct yarn_switch_runs *runs, const struct yarn_typed_record *record);
void yarn_switch_runs_on_birth(struct yarn_switch_runs *runs, uint32_t tid, uint64_t time_ns);
void yarn_switch_runs_on_lost(struct yarn_switch_runs *runs);
void yarn_switch_runs_on_exit(struct yarn_switch_runs *runs, uint32_t tid, uint64_t time_ns);

/* Threads that run are known up to this time: they go on in another run. */
void yarn_switch_runs_divide(struct yarn_switch_runs *runs, uint64_t time_ns);

/* No records are written any more: nothing is known of the threads after this time. */
void yarn_switch_runs_stop(struct yarn_switch_runs *runs, uint64_t time_ns);

/* Writes what is kept, and clears it. */
void yarn_switch_runs_write(struct yarn_switch_runs *runs, struct yarn_dump_writer *writer);
