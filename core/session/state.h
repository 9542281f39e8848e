/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The parts of a session: the attachments fill them, session.h is what may be done with it. Others
 * read the report, `statuses` and the counts.
 */
#pragma once

#include "core/base/arena.h"
#include "core/base/base.h"
#include "core/base/span.h"
#include "core/base/table.h"
#include "core/event/attr.h"
#include "core/event/event.h"
#include "core/record/merge.h"
#include "core/session/host_clock.h"
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
    int program;                   /* owned; of its filter at each sample (probe.c); -1: none */
    struct yarn_event holder;      /* of a tracepoint, as long as the session (session.c) */
    const char *reason;            /* of a refusal or of a difference, a sentence; or NULL */
    char why[YARN_SENTENCE_MAX];   /* the reason, where it names something */
    struct yarn_span format;       /* of a tracepoint: its file `format` */
    struct yarn_perf_count before; /* of those that were closed: their cores were offline */
};

struct yarn_attachment;

/* Reasons why no signal is sent meanwhile: it would disturb or end something. */
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
    bool has_core_back;     /* one was offline, or has come: counts of every thread lack a part */
    bool has_smaller_rings; /* since: the memory was too little for all threads */
    const char *failure;    /* what could not be done, a sentence; NULL while all is well */
    char sentence[YARN_SENTENCE_MAX]; /* the failure, where it names something */
    int failure_error;                /* its negative errno */
};

enum { YARN_TURNS_KEPT = 4 }; /* a drain lies between any two pairs */

/* NONE: of an event that has no turns. */
enum yarn_side { YARN_SIDE_FIRST, YARN_SIDE_ALTERNATES, YARN_SIDE_NONE };

/* See alternates.h. */
struct yarn_period_jitter {
    uint64_t at_ns;
    uint32_t part, former; /* of the period since then and before; 0: never varied */
    uint32_t nr_samples;   /* since then */
    uint32_t step;
};

/* See alternates.h. */
struct yarn_turns {
    bool may_vary;       /* so turns are taken */
    bool can_begin;      /* both sides write into a ring */
    bool is_unconfirmed; /* the latest */
    bool is_deep_wanted; /* the side with the deeper copies, from now on */
    enum yarn_side side; /* whose turn it is */
    unsigned count;
    struct yarn_turn {
        uint64_t from_ns, at_ns, to_ns; /* both sides ran in between */
        enum yarn_side side;            /* who came */
    } latest[YARN_TURNS_KEPT];
    uint64_t deep_ns;                    /* since when it stays; 0 */
    uint64_t next_ns;                    /* of the next turn */
    uint64_t nr_samples;                 /* at the latest */
    struct yarn_period_jitter jitter[2]; /* periods of each side */
};

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

/* See attach_per_core.c. */
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

/* The same. */
struct yarn_cpu_wide {
    bool is_on;
    int error;       /* negative errno of a refusal */
    uint32_t number; /* of the event that is a clock of each core */
    struct yarn_host_clock clock;
};

/* See switches.h. */
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
    struct yarn_event_status *statuses; /* of request->events; alternates behind */
    struct yarn_table numbers;          /* id of an event -> its number in `statuses` */
    struct yarn_timer_sampler *timer;   /* the timer sampler's; NULL under perf */
    struct yarn_thread_rings *threads;  /* of the strategy per-thread; NULL else */
    struct yarn_cpu_wide wide;          /* of the strategy per-core */
    struct yarn_switches switches;
    struct yarn_wake_switches wake_switches;
    struct yarn_group_reads *reads; /* of groups that are read with each sample; NULL: none */
    uint32_t watch_generation;      /* of the descriptors to poll */
    bool watches_machine;           /* by an event of every thread on every core */
    uint64_t machine_look_ns;       /* when these are looked at next */
    bool may_drop_events;           /* for want of descriptors */
    bool has_probed_features;       /* which features the kernel knows is found out */
    bool is_enabled, is_paused;     /* kept by the attachment per core */
    uint32_t nr_changes;            /* of how samples are taken, since the opening */
    uint64_t dropped_ns; /* the most that changes of periods have left without a sample */
    uint64_t nr_births;  /* of threads, as far as records said so */
    uint64_t nr_samples; /* read */
    struct yarn_growth growth;
    struct yarn_crowd {
        uint64_t look_ns;           /* when to look again */
        bool waits, has_long_turns; /* and the reader */
    } crowd;                        /* see crowd.h */
    struct yarn_alternates alternates;
    struct yarn_turns turns;
    uint64_t soon_ns; /* how soon to read again, beyond what the rings need; 0 */
    struct yarn_merge merge;
    const struct yarn_record_listener *listener; /* borrowed for a drain */
    struct yarn_session_doubles *doubles; /* threads may have two events of a kind; NULL: none */
};

#define YARN_SESSION_CLOSED ((struct yarn_session){.request = NULL})

/* Whether the event is a clock of each core (attach_per_core.c). */
static inline bool yarn_cpu_wide_is(const struct yarn_session *session, uint32_t number)
{
    return session->wide.is_on && number == session->wide.number;
}

/* Whether it is of every thread on a core, and inherited by none. */
static inline bool yarn_session_is_of_core(const struct yarn_session *session, uint32_t number)
{
    return session->request->of_cores || session->statuses[number].spec.is_of_machine ||
           yarn_cpu_wide_is(session, number);
}

/* Groups of events: they stand beside each other among the session's, the leader first. An event
 * alone is a group of one. */

/* The leader's number, and the one behind the last of the group that begins at `first`. */
static inline uint32_t yarn_group_first(const struct yarn_session *session, uint32_t number)
{
    uint8_t group = session->statuses[number].spec.group;
    while (group && number && session->statuses[number - 1].spec.group == group)
        number--;
    return number;
}

static inline uint32_t yarn_group_end(const struct yarn_session *session, uint32_t first)
{
    uint32_t end = first + 1;
    uint8_t group = session->statuses[first].spec.group;
    while (group && end < session->request->nr_events && session->statuses[end].spec.group == group)
        end++;
    return end;
}

/* Switch records: on each thread and core one more inherited event, a dummy that writes a record
 * when the thread comes onto the core and when it leaves it. Of its own, so that it can be turned
 * off without the clock. It is the first thing that is given up: what refuses it refuses nothing
 * else. A tree is followed by it, with all records that takes, so that what the kernel
 * lost of the others are samples: there it stays, and takes turns with a light alternate. */

enum {
    YARN_SWITCHES_NUMBER = 0x7fffffff, /* of such an event: it has no samples */
    YARN_TREE_CPUS_FEW = 16,
};

/* Whether a tree has that event: each process that is made costs what its events on all cores cost,
 * so on many cores its clock has all records. */
static inline bool yarn_switches_follow_tree(const struct yarn_session *session)
{
    return session->request->follows_tree &&
           (session->request->can_pause || session->request->of_cores ||
            session->nr_cpus <= YARN_TREE_CPUS_FEW);
}

static inline bool yarn_switches_is_of(const struct yarn_event *event)
{
    return event->number == YARN_SWITCHES_NUMBER;
}

/* An alternate is an event of its own, numbered behind those of the request (alternates.h). */
static inline bool yarn_alternates_is_one(const struct yarn_session *session, uint32_t number)
{
    return number - session->alternates.first < session->alternates.count;
}

/* The side whose turn it may be: of events that have an alternate, and of these. */
static inline enum yarn_side yarn_alternates_side(const struct yarn_session *session,
                                                  uint32_t number)
{
    if (yarn_alternates_is_one(session, number))
        return YARN_SIDE_ALTERNATES;
    bool is_first = number < session->request->nr_events
                        ? session->statuses[number].alternate
                        : number == YARN_SWITCHES_NUMBER && yarn_switches_follow_tree(session) &&
                              session->alternates.count;
    return is_first ? YARN_SIDE_FIRST : YARN_SIDE_NONE;
}

/* The event whose alternate it is; else itself. */
static inline uint32_t yarn_alternates_first(const struct yarn_session *session, uint32_t number)
{
    return yarn_alternates_is_one(session, number) ? session->statuses[number].alternate_of - 1
                                                   : number;
}

/* True where they are wanted and not given up. */
static inline bool yarn_switches_are_recorded(const struct yarn_session *session)
{
    return session->request->records_switches && !session->switches.reason &&
           (!session->request->follows_tree || yarn_switches_follow_tree(session));
}
