/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Waits: which threads are blocked and since when, by the kernel's switch records; which of them is
 * to be looked at; and what a look stands for. Each round, about one a period, looks at every
 * thread that is blocked and has not been looked at since it blocked. A look counts if no switch of
 * the thread lies between that and the look's end. It stands for the whole wait, or, where that was
 * shorter, for the time since the round before: a long wait is exact, and short ones are right in
 * the sum, because a wait is seen with the probability of its length over that time.
 *
 * A thread that is awake and has not come to run is still in its wait, but nobody can see where:
 * the one who looks has just taken the core from it. What such a look would have stood for is added
 * to the thread's next one.
 *
 * Where switch records do not come, because there are too many, rounds go on by the threads' own
 * clocks: a thread whose clock stood still since its look stands there yet, and another look stands
 * for the time since the round before.
 *
 * What a wait has lasted is written at the first update after the look and at each doubling, so
 * that a process that is killed loses half of it at most.
 *
 * Does not know how a thread is looked at, what a place is, or where it is written.
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "core/base/room.h"
#include "core/base/table.h"

enum { YARN_WAITS_MAX = 1 << 15, YARN_WAITS_LOOKS_MAX = 2000 /* a second */ };

enum yarn_wait_state {
    YARN_WAIT_UNKNOWN, /* until its next switch */
    YARN_WAIT_RUNNING, /* or it could: preempted, not run yet */
    YARN_WAIT_BLOCKED,
};

/* Where a thread waits: numbers of whoever looks. */
struct yarn_wait_place {
    uint32_t stack, stack_end;
    bool is_leaf_unknown;
    uint32_t epoch;   /* in which the stack's number is valid */
    uint32_t holder;  /* tid of the thread that has the lock; 0: none is known */
    uint64_t address; /* of the lock; 0 */
};

struct yarn_wait {
    uint32_t tid; /* 0: free */
    uint32_t cpu; /* on which it ran last */
    enum yarn_wait_state state;
    bool is_listed;                       /* to be looked at in the next round */
    bool is_written;                      /* the look counts */
    uint32_t before, after;               /* in the list */
    uint32_t nr_quiet_rounds;             /* in which it did not block */
    int fd;                               /* of whoever looks: -1 */
    uint64_t since_ns;                    /* of the state */
    uint64_t passed_ns;                   /* the round before the first that left it out; 0: none */
    uint64_t look_from_ns, look_until_ns; /* of the look that it has; 0: none */
    uint64_t round_ns;                    /* what a look stands for at least */
    uint64_t missed_ns;                   /* when a look came too late: it had just been woken; 0 */
    uint64_t owed_ns;                     /* weight of waits that were missed, for the next look */
    uint64_t written_ns;
    uint64_t cpu_ns;   /* by clock: the thread's own, at the round; 0: not known */
    uint64_t stood_ns; /* by clock: when it was last known to stand where the look saw it */
    struct yarn_wait_place place;
};

struct yarn_waits_listener {
    void *self;
    void (*write)(void *self, const struct yarn_wait *wait, uint64_t weight_ns, uint64_t time_ns);
    void (*release)(void *self, struct yarn_wait *wait); /* the thread has ended: its fd */
};

struct yarn_waits {
    struct yarn_waits_listener listener;
    struct yarn_room room; /* of struct yarn_wait */
    size_t count;          /* in use, free ones among them */
    uint32_t free;         /* the first of them, by `after`; NONE */
    uint32_t listed;       /* the first to be looked at; NONE */
    struct yarn_table of_tid;
    bool is_on, is_by_clock;
    uint64_t period_ns;
    uint64_t due_ns;              /* the next round */
    uint64_t round_ns, former_ns; /* the latest, and the one before: when they began */
    uint64_t grown_ns;            /* the soonest time at which a wait that is written has doubled */
    uint64_t second_ns, nr_looks; /* since then */
    uint64_t random;
    uint64_t waited_ns;        /* of all waits that have ended, looked at or not */
    uint64_t nr_open, open_ns; /* waits that have not; the sum of their begins */
    uint64_t nr_seen;          /* looks that counted */
    uint64_t nr_void;          /* looks that did not count: the thread moved meanwhile */
    size_t nr_unknown_threads; /* beyond the limit */
};

#define YARN_WAITS_CLOSED ((struct yarn_waits){.is_on = false})

YARN_MUST_CHECK int yarn_waits_open(struct yarn_waits *waits, uint64_t period_ns,
                                    const struct yarn_waits_listener *listener);

/* Idempotent. */
void yarn_waits_close(struct yarn_waits *waits);

/* Switch records come from now on, or come no more: what has been seen is written, as far as it is
 * sure. */
void yarn_waits_start(struct yarn_waits *waits, uint64_t now_ns);
void yarn_waits_stop(struct yarn_waits *waits, uint64_t now_ns);

/* They come no more, and rounds go on; the threads are those that were known, and that are added.
 */
void yarn_waits_go_by_clock(struct yarn_waits *waits, uint64_t now_ns);

/* Some records before that time are missing: waits that were seen grow no more. */
void yarn_waits_lose(struct yarn_waits *waits, uint64_t now_ns);

/* A thread that was there when the recording began, blocked or not. */
void yarn_waits_add(struct yarn_waits *waits, uint32_t tid, uint64_t now_ns);

/* Each in the order of time. */
void yarn_waits_on_out(struct yarn_waits *waits, uint32_t tid, uint64_t time_ns, bool is_preempted);
void yarn_waits_on_in(struct yarn_waits *waits, uint32_t tid, uint64_t time_ns, uint32_t cpu);
void yarn_waits_on_end(struct yarn_waits *waits, uint32_t tid, uint64_t time_ns);

/* All records before that time have been seen. */
void yarn_waits_update(struct yarn_waits *waits, uint64_t seen_ns);

/* A round: begin, then each thread of yarn_waits_next until that is NULL or there is no more time;
 * then end. A thread that was seen blocked is given to yarn_waits_add_look, another by
 * yarn_waits_miss. */
void yarn_waits_begin_round(struct yarn_waits *waits, uint64_t now_ns);
struct yarn_wait *yarn_waits_next(struct yarn_waits *waits, const struct yarn_wait *after);
void yarn_waits_add_look(struct yarn_waits *waits, struct yarn_wait *wait, uint64_t from_ns,
                         uint64_t until_ns, const struct yarn_wait_place *place);
/* It was awake. */
void yarn_waits_miss(struct yarn_waits *waits, struct yarn_wait *wait, uint64_t time_ns);
/* `rest`: the first that was left out; NULL: none. True where the period has been doubled. */
bool yarn_waits_end_round(struct yarn_waits *waits, const struct yarn_wait *rest, uint64_t now_ns);

/* By clock, of each thread in a round, with its clock: true where it stands where it was seen. Else
 * it is looked at; where its clock has moved meanwhile, the look is void. */
bool yarn_waits_stands(struct yarn_waits *waits, struct yarn_wait *wait, uint64_t cpu_ns);
void yarn_waits_void_look(struct yarn_waits *waits, struct yarn_wait *wait);

/* There were no rounds, because no thread ran: as if one had just found nothing new. */
void yarn_waits_skip(struct yarn_waits *waits, uint64_t now_ns);

/* The places that are known are of no use any more: the same waits are looked at once more. */
void yarn_waits_repeat_looks(struct yarn_waits *waits);

/* How long threads were blocked up to now, looked at or not. */
static inline uint64_t yarn_waits_sum_ns(const struct yarn_waits *waits, uint64_t now_ns)
{
    return waits->waited_ns + yarn_u64_minus(waits->nr_open * now_ns, waits->open_ns);
}

/* Whether the process has such a thread, as far as its records tell. */
bool yarn_waits_has(const struct yarn_waits *waits, uint32_t tid);
