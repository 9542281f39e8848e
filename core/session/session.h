/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A recording of one process: owns its events and rings, from the first open to the last drain.
 * Runs on the reader thread, in that thread's own descriptor table. Knows how events are attached
 * and drained; does not know what becomes of the records (listener) or when to drain (reader).
 *
 * Each step down that the kernel forces (a smaller ring, a smaller stack copy, an attribute that
 * an older kernel lacks, a refused event) goes into the report, and nowhere else.
 *
 * Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/base/sched.h"
#include "core/session/state.h"

/* Opens everything, disabled: perf's events or, where `request` allows for it and perf is refused,
 * the timer sampler. On failure the session is closed but its report stays. */
YARN_MUST_CHECK int yarn_session_open(struct yarn_session *session,
                                      const struct yarn_session_request *request);

/* Of a session that follows a tree and attaches later: one more thread, with its events on. -ESRCH:
 * it has gone; all else is a refusal of this thread alone. */
YARN_MUST_CHECK int yarn_session_attach_thread(struct yarn_session *session, pid_t tid);

/* A failure is in the report. */
void yarn_session_enable(struct yarn_session *session);
void yarn_session_disable(struct yarn_session *session);

/* Of one that can pause: all but what follows the tree is off, until an enable. */
void yarn_session_pause(struct yarn_session *session);

/* Has stacks copied as deep as a record can hold, as soon as that can be: the report has the size
 * that was got. */
void yarn_session_deepen(struct yarn_session *session);

/* From before this returns no signal is sent any more, if what the host has just done forbids it;
 * nothing where none are sent. */
void yarn_session_check_signals(struct yarn_session *session);

/* Hands the listener the records of the rings: everything older than the call, or (`is_last`,
 * after a disable) all of it. *ret_has_news: as of yarn_merge_pass. The number of records. */
size_t yarn_session_drain(struct yarn_session *session, bool is_last,
                          const struct yarn_record_listener *listener, bool *ret_has_news);
/* The same up to a time before which all records are there; UINT64_MAX: all of it. */
size_t yarn_session_drain_until(struct yarn_session *session, uint64_t until_ns,
                                const struct yarn_record_listener *listener, bool *ret_has_news);

/* False where the counts of events are not known: no thread could be attached. */
bool yarn_session_can_count(const struct yarn_session *session);

/* The descriptors to poll for its rings, at most `size` of them; their number, 0: by time. */
struct pollfd;
size_t yarn_session_watched(const struct yarn_session *session, struct pollfd *ret_fds,
                            size_t size);

/* Sums over threads and cores, by system calls: one for each open event. The enabled time is that
 * of the threads: less running time says that the event had to share a counter. */
struct yarn_perf_count yarn_session_count(const struct yarn_session *session, uint32_t number);

/* Whether some threads have two events of a kind, and are in these sums twice: they were made while
 * events were attached to the others. */
bool yarn_session_counts_twice(const struct yarn_session *session);

/* Of the cpu_ns that the host's threads used since the enable, what passed while no event `number`
 * of theirs ran: the kernel takes it off a core before it switches to another thread, and puts it
 * on again after. 0 where that is not known. It costs what a count costs. */
uint64_t yarn_session_switching_ns(struct yarn_session *session, uint32_t number, uint64_t cpu_ns);

/* Whether its rings may show what other processes do. */
bool yarn_session_watches_others(const struct yarn_session *session);

/* Whether the kernel writes switch records; else why not, a static sentence. How many it lost. */
bool yarn_session_records_switches(const struct yarn_session *session);
const char *yarn_session_switches_refusal(const struct yarn_session *session);

/* Of a session that times a tree: until when its switch records go, or will go. */
uint64_t yarn_session_timed_until_ns(const struct yarn_session *session);

/* The part of YARN_SCHED that is recorded; *ret_reason says why that is less than asked, or NULL.
 */
struct yarn_sched yarn_session_sched(const struct yarn_session *session,
                                     const struct yarn_sched *asked, const char **ret_reason);
uint64_t yarn_session_switches_lost(const struct yarn_session *session);

/* CPU time in which samples are taken by signals and none could come: the host blocked it, or it
 * was held back. */
uint64_t yarn_session_blocked_ns(const struct yarn_session *session);

/* CPU time of all of a thread's life, known at its end; 0 where it is not known. */
uint64_t yarn_session_thread_cpu_ns(const struct yarn_session *session, pid_t tid);

/* "perf" or "timer"; "per-core", "per-thread" or "cores". */
const char *yarn_session_sampler_name(const struct yarn_session *session);
const char *yarn_session_strategy_name(const struct yarn_session *session);

/* True where records need somebody to look for them in time: no ring wakes a poller. */
bool yarn_session_needs_time(const struct yarn_session *session);

/* True where samples are taken by a signal's handler on the host's threads. */
bool yarn_session_sends_signals(const struct yarn_session *session);

/* The threads of the host that are there, without ours: at most `size`; their number. */
size_t yarn_session_list_threads(const struct yarn_session *session, pid_t *ret_tids, size_t size);

/* Bytes of ring memory. */
size_t yarn_session_ring_bytes(const struct yarn_session *session);

/* Idempotent. The report stays. */
void yarn_session_close(struct yarn_session *session);

/* The same in a child after fork: descriptors and rings are the parent's, memory is a copy. Not for
 * the timer sampler. */
void yarn_session_after_fork(struct yarn_session *session);
