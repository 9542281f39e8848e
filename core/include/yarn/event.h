/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * EventSpec: what is to be measured, parsed from the words of YARN_EVENTS. A value without a
 * kernel. All functions of libyarn return 0 (or a count) or a negative errno, keep errno, print
 * nothing and take NULL in every _free and _close.
 *
 * Threads: a list is immutable; any number of threads may use it. Signals: not safe.
 */
#ifndef YARN_EVENT_H
#define YARN_EVENT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct yarn_events; /* opaque: an ordered list of EventSpecs */

struct yarn_fault {
    size_t at, size; /* the words at fault, in the text that was parsed */
    char text[240];  /* one sentence, with the nearest name where there is one */
};

/* The status of an event, what became of it: bits; 0: it is as it was asked for. */
enum yarn_event_status_bit {
    YARN_EVENT_REFUSED = 1,           /* it is not measured at all */
    YARN_EVENT_MERGED = 2,            /* its occurrences are those of another event of the list */
    YARN_EVENT_USER_ONLY = 4,         /* the user's part alone: the kernel's is not permitted */
    YARN_EVENT_MULTIPLEXED = 8,       /* it was on a counter at times only */
    YARN_EVENT_CHILDREN_MISSING = 16, /* recordings only: children ended before they were */
};

/* -EINVAL with *ret_fault filled (may be NULL). */
int yarn_events_parse(const char *text, struct yarn_events **ret_events,
                      struct yarn_fault *ret_fault);
size_t yarn_events_count(const struct yarn_events *events);
/* As views show it: no two events that were asked for as two have one name. */
const char *yarn_events_name(const struct yarn_events *events, size_t index);
const char *yarn_events_asked(const struct yarn_events *events, size_t index); /* its words */
const char *yarn_events_unit(const struct yarn_events *events, size_t index);  /* "ns", "events" */
/* The attr of an event, disabled, not inherited, without a group: what it counts, how often it is
 * sampled, and which of its kind's fields a sample has (of a symbol the address in this process).
 * The caller adds what else he wants before he opens it (stacks, read_format), and hands the whole
 * to yarn_record_decode. `size`: sizeof *ret_attr. -EOPNOTSUPP: it is no event of the kernel, or
 * cannot be had here; -E2BIG: `size` is too small for it. */
struct perf_event_attr;
int yarn_events_attr(const struct yarn_events *events, size_t index,
                     struct perf_event_attr *ret_attr, size_t size);
void yarn_events_free(struct yarn_events *events);

#ifdef __cplusplus
}
#endif
#endif
