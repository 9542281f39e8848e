/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The probing of a session's event specs: each is opened and closed once, without features that the
 * kernel does not know, and `auto` as cpu-clock where there is no PMU. All later openings use the
 * result.
 *
 * Private to core/session. Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/event/status.h"
#include "core/session/state.h"

/* Why a thread could not be sampled, a static sentence. */
const char *yarn_probe_thread_reason(int err);

/* Notes the failure in the report; returns `err`. */
int yarn_probe_fail(struct yarn_session *session, const char *what, int err);

/* True for a refusal for want of descriptors. */
bool yarn_probe_lacks_files(int err);

/* Gives up the last of the events that are wanted, but never the main one: the first clock, or
 * the first event. `err` is the reason. False where that one is all there is. */
bool yarn_probe_drop_event(struct yarn_session *session, int err);

/* True where an older kernel may have refused a feature that can be done without: it is given up.
 */
bool yarn_probe_give_up_feature(struct yarn_session *session, int err);

/* Of an event's copies, where there is memory for got_bytes. */
uint32_t yarn_probe_copy_bytes(const struct yarn_session *session, uint32_t number,
                               uint32_t got_bytes);

struct yarn_attr_options yarn_probe_attr_options(const struct yarn_session *session,
                                                 uint32_t number);

/* Of the event as the kernel gave it, at the rate that there is memory for. On one core (-1: any)
 * the first event that counts there has the side-band records. */
struct perf_event_attr yarn_probe_attr(const struct yarn_session *session, uint32_t number,
                                       int cpu);

/* Finds out on thread `tid` and core `cpu` (-1: any) which specs can be had. 0 where at least one
 * can; -ESRCH where the thread has gone. */
YARN_MUST_CHECK int yarn_probe_specs(struct yarn_session *session, pid_t tid, int cpu);

/* The number of the first spec that was not refused; of those that count on that core (-1: any), or
 * nr_events where there is none. */
uint32_t yarn_probe_first_on(const struct yarn_session *session, int cpu);

/* Opens a spec as it is to be measured, its filter set: in the group that `leader` leads on that
 * thread and core, or where that is NULL by itself. */
YARN_MUST_CHECK int yarn_probe_open(const struct yarn_session *session,
                                    const struct perf_event_attr *attr, uint32_t number, pid_t tid,
                                    int cpu, const struct yarn_event *leader,
                                    struct yarn_event *ret_event);

/* Refusals before the kernel is asked, and what is asked for otherwise: it could not be asked so,
 * or would accept what it does not keep. */

/* In the order of their numbers: notes why event `number` is refused, if it is. */
void yarn_usable_check(struct yarn_session *session, uint32_t number);

/* `err` negative, `why` static or the session's. */
void yarn_usable_refuse(struct yarn_event_status *state, int err, const char *why);

/* Its stacks are copied where lists of calls were asked for. */
void yarn_usable_copy_instead(struct yarn_event_status *state, const char *why);

/* A filter='EXPR' of an event: the kernel's own filter of a tracepoint or probe, or a BPF program
 * of ours, loaded once, at the samples of any other. */

/* Loads the program that the event needs, if any. A negative errno, and the sentence of the
 * refusal.
 */
YARN_MUST_CHECK int yarn_filters_prepare(const struct yarn_session *session,
                                         struct yarn_event_status *state, const char **ret_why);

/* On an open event. -EDOM: the kernel does not take it. */
YARN_MUST_CHECK int yarn_filters_set(const struct yarn_event_status *state, int fd);

/* Opens the event of a thread on a core, disabled, which writes into the ring of `leader`. -ESRCH:
 * the thread has gone; -EMFILE and -ENFILE: there are no descriptors; all else gives them up
 * (switches.reason). On failure it is closed. */
YARN_MUST_CHECK int yarn_switches_open(const struct yarn_session *session, pid_t tid, int cpu,
                                       const struct yarn_event *leader,
                                       struct yarn_event *ret_event);
