/* SPDX-License-Identifier: Apache-2.0 */
#include "core/waits/waits.h"

#define NONE UINT32_MAX

enum {
    TIDS_FIRST = 64,
    TIDS_MAX = 4 * YARN_WAITS_MAX,
    QUIET_ROUNDS_MAX = 64, /* after so many a thread that runs is not looked at until it blocks */
    JITTER_SHARE = 4,      /* of the period, to both sides */
};

static struct yarn_wait *at(const struct yarn_waits *waits, uint32_t number)
{
    return (struct yarn_wait *)waits->room.base + number;
}

static uint32_t number_of(const struct yarn_waits *waits, const struct yarn_wait *wait)
{
    return (uint32_t)(wait - at(waits, 0));
}

int yarn_waits_open(struct yarn_waits *waits, uint64_t period_ns,
                    const struct yarn_waits_listener *listener)
{
    *waits = (struct yarn_waits){
        .listener = *listener,
        .free = NONE,
        .listed = NONE,
        .period_ns = period_ns,
        .due_ns = UINT64_MAX,
        .grown_ns = UINT64_MAX,
        .random = period_ns | 1,
    };
    yarn_room_open(&waits->room, YARN_WAITS_MAX * sizeof(struct yarn_wait));
    return yarn_table_open(&waits->of_tid, TIDS_FIRST, TIDS_MAX);
}

void yarn_waits_close(struct yarn_waits *waits)
{
    for (uint32_t i = 0; i < waits->count; i++)
        if (at(waits, i)->tid)
            waits->listener.release(waits->listener.self, at(waits, i));
    yarn_table_close(&waits->of_tid);
    yarn_room_close(&waits->room);
    *waits = YARN_WAITS_CLOSED;
}

/* ---- the list of those to be looked at ---- */

static void list(struct yarn_waits *waits, struct yarn_wait *wait)
{
    if (wait->is_listed)
        return;
    wait->is_listed = true;
    wait->before = NONE;
    wait->after = waits->listed;
    if (wait->after != NONE)
        at(waits, wait->after)->before = number_of(waits, wait);
    waits->listed = number_of(waits, wait);
}

static void unlist(struct yarn_waits *waits, struct yarn_wait *wait)
{
    if (!wait->is_listed)
        return;
    wait->is_listed = false;
    if (wait->before != NONE)
        at(waits, wait->before)->after = wait->after;
    else
        waits->listed = wait->after;
    if (wait->after != NONE)
        at(waits, wait->after)->before = wait->before;
}

/* ---- threads ---- */

static struct yarn_wait *find(const struct yarn_waits *waits, uint32_t tid)
{
    uint32_t number = yarn_table_find(&waits->of_tid, tid);
    return number == YARN_TABLE_NONE ? NULL : at(waits, number);
}

bool yarn_waits_has(const struct yarn_waits *waits, uint32_t tid)
{
    return find(waits, tid);
}

static struct yarn_wait *make(struct yarn_waits *waits, uint32_t tid)
{
    uint32_t number = waits->free;
    if (number == NONE) {
        number = (uint32_t)waits->count;
        if (!yarn_room_back(&waits->room, (waits->count + 1) * sizeof(struct yarn_wait)))
            return NULL;
    }
    if (yarn_table_put(&waits->of_tid, tid, number))
        return NULL;
    if (number == waits->count)
        waits->count++;
    else
        waits->free = at(waits, number)->after;
    *at(waits, number) = (struct yarn_wait){.tid = tid, .fd = -1, .before = NONE, .after = NONE};
    return at(waits, number);
}

static struct yarn_wait *find_or_make(struct yarn_waits *waits, uint32_t tid)
{
    struct yarn_wait *wait = find(waits, tid);
    if (!wait)
        wait = make(waits, tid);
    waits->nr_unknown_threads += !wait;
    return wait;
}

/* ---- waits ---- */

static bool has_look(const struct yarn_wait *wait)
{
    return wait->look_until_ns;
}

/* Of a wait that lasted, or has lasted, until `end_ns`. */
static uint64_t weight_ns(const struct yarn_wait *wait, uint64_t end_ns)
{
    return yarn_u64_max(yarn_u64_minus(end_ns, wait->since_ns), wait->round_ns);
}

static void write(struct yarn_waits *waits, struct yarn_wait *wait, uint64_t end_ns)
{
    uint64_t whole_ns = weight_ns(wait, end_ns);
    uint64_t more_ns = yarn_u64_minus(whole_ns, wait->written_ns) + wait->owed_ns;
    if (more_ns)
        waits->listener.write(waits->listener.self, wait, more_ns,
                              wait->is_written ? end_ns : wait->look_from_ns);
    waits->nr_seen += !wait->is_written;
    wait->written_ns = yarn_u64_max(wait->written_ns, whole_ns);
    wait->owed_ns = 0;
    wait->is_written = true;
}

/* By clock: what has come together since the look. */
static void write_owed(struct yarn_waits *waits, struct yarn_wait *wait)
{
    if (!has_look(wait) || !wait->owed_ns)
        return;
    waits->listener.write(waits->listener.self, wait, wait->owed_ns,
                          wait->is_written ? wait->stood_ns : wait->look_from_ns);
    waits->nr_seen += !wait->is_written;
    wait->written_ns += wait->owed_ns;
    wait->owed_ns = 0;
    wait->is_written = true;
}

/* Whether the look saw the wait that the records tell of. */
static bool counts(const struct yarn_wait *wait, uint64_t end_ns)
{
    return wait->state == YARN_WAIT_BLOCKED && has_look(wait) &&
           wait->since_ns <= wait->look_from_ns && wait->look_until_ns <= end_ns;
}

/* Whether the wait that ends was met by a look that could not see it, or saw it go. */
static bool is_owed(const struct yarn_wait *wait, uint64_t time_ns)
{
    uint64_t met_ns = has_look(wait) ? wait->look_from_ns : wait->missed_ns;
    return wait->state == YARN_WAIT_BLOCKED && met_ns && wait->since_ns <= met_ns &&
           met_ns <= time_ns;
}

static void drop_look(struct yarn_waits *waits, struct yarn_wait *wait)
{
    waits->nr_void += has_look(wait) && !wait->is_written;
    wait->look_from_ns = wait->look_until_ns = wait->written_ns = 0;
    wait->is_written = false;
    list(waits, wait);
}

/* The state ends. A look that is younger than that may be of the next one. */
static void leave(struct yarn_waits *waits, struct yarn_wait *wait, uint64_t time_ns)
{
    bool is_of_next = has_look(wait) && wait->look_from_ns >= time_ns;
    if (is_of_next)
        return;
    if (counts(wait, time_ns))
        write(waits, wait, time_ns);
    else if (is_owed(wait, time_ns))
        wait->owed_ns += weight_ns(wait, time_ns);
    if (wait->missed_ns < time_ns)
        wait->missed_ns = 0;
    drop_look(waits, wait);
}

static void enter(struct yarn_waits *waits, struct yarn_wait *wait, enum yarn_wait_state state,
                  uint64_t time_ns)
{
    if (wait->state == YARN_WAIT_BLOCKED) {
        waits->nr_open--;
        waits->open_ns -= wait->since_ns;
    }
    wait->state = state;
    wait->since_ns = time_ns;
    if (state == YARN_WAIT_BLOCKED) {
        waits->nr_open++;
        waits->open_ns += time_ns;
    }
}

/* The wait, if it is one, has lasted until then. */
static void end_wait(struct yarn_waits *waits, const struct yarn_wait *wait, uint64_t time_ns)
{
    if (wait->state == YARN_WAIT_BLOCKED)
        waits->waited_ns += yarn_u64_minus(time_ns, wait->since_ns);
}

static bool follows_records(const struct yarn_waits *waits)
{
    return waits->is_on && !waits->is_by_clock;
}

void yarn_waits_on_out(struct yarn_waits *waits, uint32_t tid, uint64_t time_ns, bool is_preempted)
{
    struct yarn_wait *wait = follows_records(waits) ? find_or_make(waits, tid) : NULL;
    if (!wait)
        return;
    if (wait->state == YARN_WAIT_BLOCKED) /* the record of its coming in is missing */
        enter(waits, wait, YARN_WAIT_UNKNOWN, time_ns);
    leave(waits, wait, time_ns);
    enter(waits, wait, is_preempted ? YARN_WAIT_RUNNING : YARN_WAIT_BLOCKED, time_ns);
    if (!is_preempted)
        wait->nr_quiet_rounds = 0;
}

void yarn_waits_on_in(struct yarn_waits *waits, uint32_t tid, uint64_t time_ns, uint32_t cpu)
{
    struct yarn_wait *wait = follows_records(waits) ? find_or_make(waits, tid) : NULL;
    if (!wait)
        return;
    leave(waits, wait, time_ns);
    end_wait(waits, wait, time_ns);
    enter(waits, wait, YARN_WAIT_RUNNING, time_ns);
    wait->cpu = cpu;
}

void yarn_waits_on_end(struct yarn_waits *waits, uint32_t tid, uint64_t time_ns)
{
    struct yarn_wait *wait = find(waits, tid);
    if (!wait)
        return;
    if (waits->is_by_clock)
        write_owed(waits, wait);
    leave(waits, wait, time_ns);
    enter(waits, wait, YARN_WAIT_UNKNOWN, time_ns);
    unlist(waits, wait);
    waits->listener.release(waits->listener.self, wait);
    yarn_table_remove(&waits->of_tid, tid);
    wait->tid = 0;
    wait->after = waits->free;
    waits->free = number_of(waits, wait);
}

static void plan_round(struct yarn_waits *waits, uint64_t now_ns)
{
    waits->random ^= waits->random << 13;
    waits->random ^= waits->random >> 7;
    waits->random ^= waits->random << 17;
    uint64_t jitter_ns = waits->period_ns / JITTER_SHARE;
    waits->due_ns =
        now_ns + waits->period_ns - jitter_ns + (waits->random >> 16) % (2 * jitter_ns + 1);
}

/* It may be running: then a look says so, and its next switch is one out. */
static void assume_blocked(struct yarn_waits *waits, struct yarn_wait *wait, uint64_t now_ns)
{
    enter(waits, wait, YARN_WAIT_BLOCKED, now_ns);
    wait->passed_ns = 0;
    list(waits, wait);
}

void yarn_waits_lose(struct yarn_waits *waits, uint64_t now_ns)
{
    for (uint32_t i = 0; i < waits->count; i++) {
        struct yarn_wait *wait = at(waits, i);
        if (!wait->tid)
            continue;
        drop_look(waits, wait);
        assume_blocked(waits, wait, now_ns);
    }
}

void yarn_waits_add(struct yarn_waits *waits, uint32_t tid, uint64_t now_ns)
{
    struct yarn_wait *wait = find_or_make(waits, tid);
    if (wait && wait->state == YARN_WAIT_UNKNOWN && !waits->is_by_clock)
        assume_blocked(waits, wait, now_ns);
    if (wait && waits->is_by_clock)
        list(waits, wait);
}

static void start(struct yarn_waits *waits, uint64_t now_ns, bool is_by_clock)
{
    waits->is_on = true;
    waits->is_by_clock = is_by_clock;
    waits->random ^= now_ns << 1;
    waits->round_ns = waits->second_ns = now_ns;
    waits->nr_looks = 0;
    plan_round(waits, now_ns);
}

void yarn_waits_start(struct yarn_waits *waits, uint64_t now_ns)
{
    if (follows_records(waits))
        return;
    yarn_waits_stop(waits, now_ns);
    yarn_waits_lose(waits, now_ns); /* what was before */
    start(waits, now_ns, false);
}

void yarn_waits_go_by_clock(struct yarn_waits *waits, uint64_t now_ns)
{
    yarn_waits_stop(waits, now_ns);
    start(waits, now_ns, true);
    for (uint32_t i = 0; i < waits->count; i++)
        at(waits, i)->cpu_ns = at(waits, i)->owed_ns = 0;
}

void yarn_waits_stop(struct yarn_waits *waits, uint64_t now_ns)
{
    if (!waits->is_on)
        return;
    for (uint32_t i = 0; i < waits->count; i++) {
        struct yarn_wait *wait = at(waits, i);
        if (!wait->tid)
            continue;
        if (waits->is_by_clock)
            write_owed(waits, wait);
        else if (counts(wait, now_ns))
            write(waits, wait, now_ns);
        end_wait(waits, wait, now_ns);
        enter(waits, wait, YARN_WAIT_UNKNOWN, now_ns);
        drop_look(waits, wait);
    }
    waits->is_on = waits->is_by_clock = false;
    waits->due_ns = waits->grown_ns = UINT64_MAX;
}

/* A wait near its doubling goes along, so that waits that began together are written together. */
static bool is_due(const struct yarn_wait *wait, uint64_t seen_ns)
{
    return !wait->is_written || wait->since_ns + wait->written_ns + wait->written_ns / 2 <= seen_ns;
}

static void update(struct yarn_waits *waits, struct yarn_wait *wait, uint64_t seen_ns)
{
    if (wait->state != YARN_WAIT_BLOCKED && wait->look_until_ns <= seen_ns) {
        drop_look(waits, wait);
        return;
    }
    if (counts(wait, seen_ns) && is_due(wait, seen_ns))
        write(waits, wait, seen_ns);
    /* When it will have lasted twice what is written of it. */
    uint64_t next_ns =
        wait->is_written ? wait->since_ns + 2 * wait->written_ns : wait->look_until_ns;
    waits->grown_ns = yarn_u64_min(waits->grown_ns, next_ns);
}

/* Why not a list of those that have a look: they are gone through only when one has doubled. */
void yarn_waits_update(struct yarn_waits *waits, uint64_t seen_ns)
{
    if (seen_ns < waits->grown_ns)
        return;
    waits->grown_ns = UINT64_MAX;
    for (uint32_t i = 0; i < waits->count; i++) {
        struct yarn_wait *wait = at(waits, i);
        if (wait->tid && has_look(wait))
            update(waits, wait, seen_ns);
    }
}

/* ---- rounds ---- */

void yarn_waits_begin_round(struct yarn_waits *waits, uint64_t now_ns)
{
    waits->former_ns = waits->round_ns;
    waits->round_ns = now_ns;
}

void yarn_waits_skip(struct yarn_waits *waits, uint64_t now_ns)
{
    waits->round_ns = now_ns;
    plan_round(waits, now_ns);
}

struct yarn_wait *yarn_waits_next(struct yarn_waits *waits, const struct yarn_wait *after)
{
    uint32_t number = after ? after->after : waits->listed;
    for (; number != NONE; number = at(waits, number)->after) {
        struct yarn_wait *wait = at(waits, number);
        bool is_running = wait->state == YARN_WAIT_RUNNING;
        if (waits->is_by_clock)
            return wait;
        if (wait->state != YARN_WAIT_BLOCKED &&
            !(is_running && wait->nr_quiet_rounds < QUIET_ROUNDS_MAX))
            continue;
        wait->nr_quiet_rounds += is_running;
        return wait;
    }
    return NULL;
}

/* The time since the round before. */
static void stand_for(const struct yarn_waits *waits, struct yarn_wait *wait)
{
    wait->round_ns = waits->round_ns - (wait->passed_ns ? wait->passed_ns : waits->former_ns);
    wait->passed_ns = 0;
}

void yarn_waits_miss(struct yarn_waits *waits, struct yarn_wait *wait, uint64_t time_ns)
{
    stand_for(waits, wait);
    wait->missed_ns = time_ns;
}

static void pass_round(struct yarn_waits *waits, struct yarn_wait *wait)
{
    wait->owed_ns += wait->round_ns;
    wait->stood_ns = yarn_u64_max(waits->round_ns, wait->look_from_ns);
    waits->waited_ns += wait->round_ns;
}

void yarn_waits_add_look(struct yarn_waits *waits, struct yarn_wait *wait, uint64_t from_ns,
                         uint64_t until_ns, const struct yarn_wait_place *place)
{
    if (!wait->is_written && !waits->is_by_clock)
        stand_for(waits, wait);
    wait->look_from_ns = from_ns;
    wait->look_until_ns = until_ns;
    wait->missed_ns = 0;
    wait->place = *place;
    if (waits->is_by_clock) {
        pass_round(waits, wait);
        waits->nr_looks++;
        return;
    }
    unlist(waits, wait);
    waits->grown_ns = yarn_u64_min(waits->grown_ns, until_ns);
    waits->nr_looks++;
}

bool yarn_waits_stands(struct yarn_waits *waits, struct yarn_wait *wait, uint64_t cpu_ns)
{
    bool stands = has_look(wait) && wait->cpu_ns == cpu_ns;
    stand_for(waits, wait);
    wait->cpu_ns = cpu_ns;
    if (stands)
        pass_round(waits, wait);
    if (!stands || wait->owed_ns >= wait->written_ns)
        write_owed(waits, wait);
    if (!stands)
        drop_look(waits, wait);
    return stands;
}

void yarn_waits_void_look(struct yarn_waits *waits, struct yarn_wait *wait)
{
    pass_round(waits, wait);
    waits->nr_void++;
}

void yarn_waits_repeat_looks(struct yarn_waits *waits)
{
    for (uint32_t i = 0; i < waits->count; i++) {
        at(waits, i)->cpu_ns = 0;
        if (at(waits, i)->tid)
            list(waits, at(waits, i));
    }
}

/* Twice as long from now on, where a second had more looks than there may be. */
static bool slow_down(struct yarn_waits *waits, uint64_t now_ns)
{
    bool is_much = waits->nr_looks > YARN_WAITS_LOOKS_MAX;
    if (!is_much && now_ns - waits->second_ns < YARN_NS_PER_SECOND)
        return false;
    waits->second_ns = now_ns;
    waits->nr_looks = 0;
    if (is_much)
        waits->period_ns *= 2;
    return is_much;
}

bool yarn_waits_end_round(struct yarn_waits *waits, const struct yarn_wait *rest, uint64_t now_ns)
{
    for (uint32_t i = rest ? number_of(waits, rest) : NONE; i != NONE; i = at(waits, i)->after)
        if (!at(waits, i)->passed_ns)
            at(waits, i)->passed_ns = waits->former_ns;
    bool is_slower = slow_down(waits, now_ns);
    plan_round(waits, now_ns);
    return is_slower;
}
