/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Couplebreak: an event that is about two threads becomes two entries. Its target stands directly
 * behind its origin, at the same time, and belongs to the other thread: of a switch the one that
 * comes in, of a waking the one that is woken. Threads: pure functions. Signals: safe.
 */
#ifndef YARN_COUPLEBREAK_H
#define YARN_COUPLEBREAK_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Ids of targets of sched_switch and sched_waking, and the bits that stand for them. */
#define COUPLEBREAK_SST_ID (-10000)
#define COUPLEBREAK_SWT_ID (-10001)
#define COUPLEBREAK_SSWITCH_FPOS 0
#define COUPLEBREAK_SWAKING_FPOS 1

struct yarn_entry;
struct yarn_stream;

/* Of a target. */
bool yarn_couplebreak_is_event(int id);
/* `entry` lies in the stream's array, no copy of it; NULL: it is no target. */
const struct yarn_entry *yarn_couplebreak_origin(const struct yarn_entry *entry);
/* A position, or -1: of a target's id; of the id that the origin's event has in that stream. */
int yarn_couplebreak_id_to_flag_pos(int id);
int yarn_couplebreak_origin_id_to_flag_pos(const struct yarn_stream *stream, int id);
int yarn_couplebreak_flag_pos_to_id(int position); /* -1: none */
const char *yarn_couplebreak_event_name(int id);   /* NULL: none */

#ifdef __cplusplus
}
#endif
#endif
