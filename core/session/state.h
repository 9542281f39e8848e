/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a session consists of: the attachments fill it, session.h is what may be done with it.
 * Others read the report, `statuses` and the counts.
 */
#pragma once

#include "core/base/arena.h"
#include "core/base/table.h"
#include "core/event/attr.h"
#include "core/event/event.h"
#include "core/record/merge.h"
#include "core/session/host_clock.h"
#include "core/session/report.h"
#include "core/session/turn.h"

struct yarn_timer_sampler;
struct yarn_thread_rings;
struct yarn_group_reads;
struct yarn_session_doubles;

struct yarn_session_core {
    int cpu;
    struct yarn_event leader; /* a dummy on the reader thread: never hangs up */
    struct yarn_ring ring;    /* its mapping is owned */
    uint64_t machine_seen_ns; /* how long its events of every thread were enabled: last reading */
};

/* See growth.h. */
struct yarn_growth {
    size_t ring_bytes; /* what the cores' rings will be, or are */
    bool may_grow;
    bool is_refused;    /* for want of locked memory */
    bool is_late;       /* the reader: a ring was half full */
    bool is_moving;     /* events write to the former rings and to the new ones */
    int error;          /* negative errno by which it ended */
    size_t next;        /* event to be moved */
    uint64_t since_ns;  /* the first drain */
    uint64_t attach_ns; /* when those that rest may be moved; 0: they were */
};

/* See alternates.h. */
struct yarn_alternates {
    uint32_t first, count; /* numbers */
    uint32_t stack_bytes;  /* of their copies */
};

/* See cpu_wide.h. */
struct yarn_cpu_wide {
    bool is_on;
    int error;       /* negative errno of a refusal */
    uint32_t number; /* of the event that is a clock of each core */
    struct yarn_host_clock clock;
};

/* See wake_switches.h. */
struct yarn_wake_switches {
    struct yarn_session_core *cores; /* their leaders and rings */
    struct yarn_event *events;       /* of switches, on the host's threads */
    size_t nr_cores, nr_events;
    bool is_open, is_on;
};

/* See switches.h. */
struct yarn_switches {
    const char *reason; /* they were given up, a static sentence; NULL */
    bool is_open;
    struct yarn_perf_count before; /* of events of threads that are gone */
    struct yarn_switch_window {
        uint64_t start_ns, count;
    } * windows;   /* of each core, by its number; NULL: none is counted */
    bool are_many; /* more than the rate permits, in a window that was read */
    bool are_cut;
    uint64_t changed_ns;              /* when they were cut out, or turned on again */
    uint64_t checked_ns, nr_at_check; /* while they are cut out */
};

struct yarn_session {
    const struct yarn_session_request *request; /* borrowed */
    struct yarn_session_report report;
    struct yarn_arena arena;
    int *cpus; /* present */
    size_t nr_cpus;
    pid_t own_tid;     /* the reader's, which is not sampled; 0: it is */
    size_t nr_threads; /* listed at the opening, ours too */
    struct yarn_session_core *cores;
    size_t nr_cores;
    struct yarn_session_core *former_cores; /* others have taken their place; not empty yet */
    size_t nr_former_cores;
    struct yarn_event *events; /* on the host's threads */
    size_t nr_events, max_events;
    struct yarn_event_status
        *statuses;                     /* one for each of request->events; alternates behind them */
    struct yarn_table numbers;         /* id of an event -> its number in `statuses` */
    struct yarn_timer_sampler *timer;  /* the timer sampler's; NULL under perf */
    struct yarn_thread_rings *threads; /* of the strategy per-thread; NULL else */
    struct yarn_cpu_wide wide;         /* of the strategy per-core */
    struct yarn_switches switches;
    struct yarn_wake_switches wake_switches;
    struct yarn_group_reads *reads; /* of groups that are read with each sample; NULL: none */
    uint32_t watch_generation;      /* of the descriptors to poll */
    bool watches_machine;           /* by an event of every thread on every core */
    uint64_t machine_look_ns;       /* when these are looked at next */
    bool may_drop_events;           /* for want of descriptors */
    bool has_probed_features;       /* which features the kernel knows is found out */
    bool is_enabled;                /* kept by the attachment per core */
    uint32_t nr_changes;            /* of how samples are taken, since the opening */
    uint64_t dropped_ns; /* the most that changes of periods have left without a sample */
    uint64_t nr_births;  /* of threads, as far as records said so */
    uint64_t nr_samples; /* read */
    struct yarn_growth growth;
    struct yarn_alternates alternates;
    struct yarn_turns turns;
    uint64_t soon_ns; /* how soon to read again, beyond what the rings need; 0 */
    struct yarn_merge merge;
    const struct yarn_record_listener *listener; /* borrowed for a drain */
    struct yarn_session_doubles *doubles; /* threads may have two events of a kind; NULL: none */
};

#define YARN_SESSION_CLOSED ((struct yarn_session){.request = NULL})

/* Whether the event is a clock of each core (cpu_wide.h). */
static inline bool yarn_cpu_wide_is(const struct yarn_session *session, uint32_t number)
{
    return session->wide.is_on && number == session->wide.number;
}
