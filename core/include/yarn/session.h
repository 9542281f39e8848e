/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * SessionSpec, AttachmentStrategy, Reader, RecordListener, Session: events on every thread of the
 * own process, delivered to a listener on the thread that reads.
 *
 *     yarn_events_parse -> yarn_session_new -> attach -> start -> read … -> stop -> detach -> free
 *
 * Threads: attach, start, read and detach on one thread, which must outlive the attachment (the
 * rings' leaders are events on it); stop from any. Signals: yarn_session_stop is async-signal-safe.
 * After fork a session is dead in the child: every call returns -ECHILD, free frees memory only.
 */
#ifndef YARN_SESSION_H
#define YARN_SESSION_H

#include <yarn/event.h>
#include <yarn/record.h>

#ifdef __cplusplus
extern "C" {
#endif

struct yarn_session;

/* As recordings by the preload have them; what only those have is -EINVAL here. */
enum yarn_strategy {
    YARN_STRATEGY_AUTO, /* the cheaper one on this machine */
    YARN_STRATEGY_PER_CORE,
    YARN_STRATEGY_PER_THREAD,
    YARN_STRATEGY_CORES, /* recordings only: per core, with clocks of whole cores */
};
enum yarn_stacks {
    YARN_STACKS_NONE,
    YARN_STACKS_CHAIN, /* the kernel's frame-pointer chain */
    YARN_STACKS_COPY,  /* registers and a copy of the user stack */
    YARN_STACKS_CALLS, /* recordings only: the calls that the processor notes; else copies */
};
enum yarn_reader {
    YARN_READER_AUTO, /* poll, and timed where nothing wakes a poller */
    YARN_READER_POLL,
    YARN_READER_TIMED,
};

/* Zero means the default everywhere. */
struct yarn_session_spec {
    size_t size; /* sizeof of this struct, for later versions */
    enum yarn_strategy strategy;
    enum yarn_reader reader;
    enum yarn_stacks stacks;
    uint32_t stack_bytes;  /* of copy */
    size_t ring_bytes;     /* a core or thread; a power of two */
    uint64_t interval_ns;  /* the longest that a record stays in a ring: 100 ms */
    uint64_t frequency_hz; /* for events without a rate: 999 */
    unsigned max_rounds;   /* readings of the list of threads: 16 */
    bool includes_caller;  /* sample the reading thread, too */
};

struct yarn_listener {
    size_t size;
    void *self;
    /* In time order. `event`: index in the list, SIZE_MAX: none. Valid for the call. */
    void (*on_record)(void *self, size_t event, const struct yarn_record *record);
};

struct yarn_report {
    size_t size;
    size_t nr_threads;  /* attached */
    size_t nr_refused;  /* threads that could not be */
    unsigned nr_rounds; /* taken until the list was stable */
    bool is_stable;     /* false: max_rounds came first */
    size_t nr_rings, ring_bytes;
    uint64_t nr_records, nr_lost, nr_malformed;
    const char *strategy, *reader; /* as got */
    const char *reason;            /* of what was not got as asked, a sentence; or NULL */
};

int yarn_session_new(const struct yarn_events *events, const struct yarn_session_spec *spec,
                     const struct yarn_listener *listener, struct yarn_session **ret_session);
/* Opens everything, disabled. 0 where at least one event is on at least one thread. */
int yarn_session_attach(struct yarn_session *session);
int yarn_session_start(struct yarn_session *session);
/* Waits, then calls the listener: the number of records, 0 at the time-out; -ECANCELED once a stop
 * was asked for and all that lay in the rings was reported. timeout_ms -1: no time-out. */
int yarn_session_read(struct yarn_session *session, int timeout_ms);
/* A descriptor for poll(2) and for loops of one's own, the session's: readable where
 * yarn_session_read with a time-out of 0 is due, after interval_ns at the latest and before a ring
 * is full, and once a stop was asked for. Valid until detach. */
int yarn_session_descriptor(struct yarn_session *session);
void yarn_session_stop(struct yarn_session *session);
/* Closes events and rings; attach may follow. */
int yarn_session_detach(struct yarn_session *session);
void yarn_session_report(const struct yarn_session *session, struct yarn_report *ret_report);
/* Refusal of an event: negative errno and a sentence; 0 and NULL. */
int yarn_session_error(const struct yarn_session *session, size_t event, const char **ret_reason);
/* The status of an event, bits of enum yarn_event_status_bit, as attached; *ret_reason (may be
 * NULL) is a sentence, or NULL. */
uint32_t yarn_session_status(const struct yarn_session *session, size_t event,
                             const char **ret_reason);
/* Return addresses of a sample with a stack copy, innermost first; -ENODATA without one. */
int yarn_session_unwind(struct yarn_session *session, const struct yarn_record *record,
                        uint64_t *ret_addresses, size_t max);
void yarn_session_free(struct yarn_session *session);

#ifdef __cplusplus
}
#endif
#endif
