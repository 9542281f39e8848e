/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a session asked of the kernel and what it got: each step down, each refusal, with its errno
 * and a sentence. Filled by the session and its attachments, printed by the layer on top.
 */
#pragma once

#include "core/base/span.h"
#include "core/event/event.h"
#include "core/session/plan.h"

enum { YARN_SENTENCE_MAX = 512 };

/* The status of an event of the request: what became of its spec. */
struct yarn_event_status {
    struct yarn_event_spec spec;   /* as got: the fallback's where `auto` fell back */
    int error;                     /* errno of the refusal; 0 where it is open */
    uint32_t alternate;            /* number of the one of it (alternates.h); 0: none */
    uint32_t alternate_of;         /* 1 + number of the one that it is of; 0: of none */
    bool copies_instead;           /* of the stack of calls that was asked for (LBR) */
    bool is_kernel_refused;        /* it was wanted, too: the user's part alone was permitted */
    int program;                   /* owned; of its filter at each sample (filters.h); -1: none */
    struct yarn_event holder;      /* of a tracepoint, as long as the session (tracepoints.h) */
    const char *reason;            /* of a refusal or of a difference, a sentence; or NULL */
    char why[YARN_SENTENCE_MAX];   /* the reason, where it names something */
    struct yarn_span format;       /* of a tracepoint: its file `format` */
    struct yarn_perf_count before; /* of those that were closed: their cores were offline */
};

struct yarn_attachment;

/* What a signal would disturb or end, so that none is sent meanwhile. */
enum yarn_session_hold {
    YARN_SESSION_HOLD_TRACER = 1, /* a debugger, or valgrind */
    YARN_SESSION_HOLD_STACK = 2,  /* an alternate stack that is too small */
    YARN_SESSION_HOLD_SIGNAL = 4, /* the host handles it */
    YARN_SESSION_HOLD_MASK = 8,   /* threads block it, for stretches */
};

struct yarn_session_report {
    struct yarn_plan asked, got;
    uint32_t features;      /* enum yarn_attr_feature that the kernel took */
    size_t nr_threads;      /* attached at the start */
    size_t nr_late_threads; /* appeared while attaching: may have inherited events, too */
    unsigned nr_scans;      /* of the list of threads, while attaching */
    bool is_stable;         /* the last of them found none that was new */
    size_t nr_rings;
    const struct yarn_attachment *attachment; /* the sampler and its strategy, by name */
    struct yarn_plan_estimate estimate;       /* of what the strategies cost */
    const char *refusal;       /* why it is not the one asked for first, a static sentence; NULL */
    int refusal_error;         /* the negative errno */
    size_t nr_refused_threads; /* the most at once that could not be sampled */
    int thread_refusal;        /* the negative errno of one of them */
    uint32_t holds;         /* a mask of enum yarn_session_hold: why the timers were off at times */
    bool lacks_growth;      /* the cores' rings stay as small as they were at first: likewise */
    bool has_core_back;     /* one was offline, or has come: what events of every thread on it
                             * counted until they were opened is missing */
    bool has_smaller_rings; /* since: the memory was too little for all threads */
    const char *failure;    /* what could not be done, a sentence; NULL while all is well */
    char sentence[YARN_SENTENCE_MAX]; /* the failure, where it names something */
    int failure_error;                /* its negative errno */
};
