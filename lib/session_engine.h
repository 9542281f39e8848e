/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The engine of core/session as the library's session needs it: the same that the preload runs, on
 * the thread of the caller. Its types are hidden here because those of the public header have the
 * same names.
 *
 * Knows attaching, waiting and draining; does not know the public structs (session.c).
 * Threads: one owner at a time. Signals: only yarn_session_engine_stop is async-signal-safe.
 */
#pragma once

#include "core/base/arena.h"
#include "core/include/yarn/record.h"

struct yarn_events;
struct yarn_session_engine;

/* As core/session numbers them. */
enum { YARN_SESSION_ENGINE_NONE, YARN_SESSION_ENGINE_COPY, YARN_SESSION_ENGINE_CHAIN };

/* The other choices are as in core/base/choices.h. */
struct yarn_session_engine_spec {
    const struct yarn_events *events; /* borrowed for the call */
    unsigned strategy, reader, stack;
    uint32_t stack_bytes;
    size_t ring_bytes;
    uint64_t interval_ns, frequency_hz;
    unsigned max_rounds;
    bool includes_caller;
};

struct yarn_session_engine_listener {
    void *self;
    /* As in yarn/session.h; a sample's period is what it stands for. */
    void (*record)(void *self, size_t event, const struct yarn_record *record);
};

struct yarn_session_engine_report {
    size_t nr_threads, nr_refused, nr_rings, ring_bytes;
    unsigned nr_rounds;
    bool is_stable;
    uint64_t nr_lost, nr_malformed;
    const char *strategy, *reader, *reason;
};

/* Lies in `arena`, as do the copies of all texts. -EINVAL: what the spec asks for cannot be. */
YARN_MUST_CHECK int yarn_session_engine_new(struct yarn_arena *arena,
                                            const struct yarn_session_engine_spec *spec,
                                            const struct yarn_session_engine_listener *listener,
                                            struct yarn_session_engine **ret_engine);

YARN_MUST_CHECK int yarn_session_engine_attach(struct yarn_session_engine *engine);
YARN_MUST_CHECK int yarn_session_engine_start(struct yarn_session_engine *engine);
YARN_MUST_CHECK int yarn_session_engine_read(struct yarn_session_engine *engine, int timeout_ms);
void yarn_session_engine_stop(struct yarn_session_engine *engine);
void yarn_session_engine_detach(struct yarn_session_engine *engine);

void yarn_session_engine_report(const struct yarn_session_engine *engine,
                                struct yarn_session_engine_report *ret_report);
int yarn_session_engine_error(const struct yarn_session_engine *engine, size_t event,
                              const char **ret_reason);

/* Of all events alike: what a sample with a stack copy has. */
uint64_t yarn_session_engine_registers(void);

/* `is_child`: after fork, where descriptors and rings are the parent's. The arena stays. */
void yarn_session_engine_fini(struct yarn_session_engine *engine, bool is_child);
