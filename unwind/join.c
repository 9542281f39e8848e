/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/join.h"

#include <assert.h>

#include "core/base/pages.h"
#include "unwind/coverage.h"

enum {
    FIRST_SETS_LOG2 = 5,
    SETS_LOG2_MAX = 12,
    WAYS = 8, /* a chain is broken by one missing frame: a single slot a place collides too often */
    AGE_MAX = 1 << 17, /* walks; older knowledge is not believed */
    DOUBT = 256,       /* walks for which a frame that changed its caller is not believed */
};

/* A frame that a later walk should have met and did not has ended; where another is there now, it
 * nearly always has the same caller. A chain with such frames is believed where any of these holds;
 * measured, see README.md. */
enum {
    ENDED_MAX = 4,  /* no more of its frames than these have ended */
    AGE_SURE = 32,  /* or all were met within so many walks */
    TIMES_SURE = 4, /* or each was met so often */
};

struct yarn_join_slot {
    uint64_t place; /* with function and tid: the frame */
    uint64_t caller_ip, caller_place;
    uint32_t caller_function;
    uint32_t tid, function;
    uint32_t walk;          /* when it was learnt or confirmed; 0: free */
    uint32_t doubted_until; /* walk */
    uint16_t nr_times;      /* that it was met with this caller, as far as it counts */
    bool is_caller_exact;
};

static_assert(sizeof(struct yarn_join_slot) == 48, "1.5 MiB in all");

struct yarn_join_tables {
    struct yarn_coverage coverage;
    struct yarn_join_slot slot[WAYS << SETS_LOG2_MAX]; /* in use as far as there are sets */
};

/* What a chain of joined frames rests upon. */
struct grounds {
    unsigned nr_ended;
    uint32_t age;      /* of its oldest knowledge */
    uint16_t nr_times; /* of its rarest frame */
};

static size_t bytes_of(unsigned sets_log2)
{
    return (WAYS * sizeof(struct yarn_join_slot)) << sets_log2;
}

static size_t bytes_in_use(const struct yarn_join *join)
{
    return offsetof(struct yarn_join_tables, slot) + bytes_of(join->sets_log2);
}

int yarn_join_open(struct yarn_join *join)
{
    struct yarn_join_tables *tables = yarn_pages_reserve(sizeof *tables);
    if (!tables)
        return -ENOMEM;
    *join = (struct yarn_join){.tables = tables, .sets_log2 = FIRST_SETS_LOG2};
    yarn_pages_count(bytes_in_use(join));
    return 0;
}

static struct yarn_join_slot *set_of(const struct yarn_join *join, uint32_t tid, uint64_t place,
                                     uint32_t function)
{
    uint64_t hash = yarn_hash_u64(place ^ (uint64_t)tid << 48 ^ (uint64_t)function << 20);
    return &join->tables->slot[(hash >> (64 - join->sets_log2)) * WAYS];
}

static struct yarn_join_slot *slot_of(struct yarn_join_slot *set, uint32_t tid,
                                      const struct yarn_join_frame *frame)
{
    for (unsigned i = 0; i < WAYS; i++)
        if (set[i].place == frame->place && set[i].function == frame->function &&
            set[i].tid == tid && set[i].walk)
            return &set[i];
    return NULL;
}

/* A free slot, or else the oldest. */
static struct yarn_join_slot *victim_of(const struct yarn_join *join, struct yarn_join_slot *set)
{
    struct yarn_join_slot *victim = &set[0];
    for (unsigned i = 1; i < WAYS && victim->walk; i++)
        if (!set[i].walk || join->nr_walks - set[i].walk > join->nr_walks - victim->walk)
            victim = &set[i];
    return victim;
}

/* To twice the sets, in place: each becomes two that lie behind all that are still to be moved. */
static void grow(struct yarn_join *join)
{
    size_t half = bytes_of(join->sets_log2), set = (size_t)1 << join->sets_log2;
    yarn_pages_populate((uint8_t *)join->tables + bytes_in_use(join), half);
    yarn_pages_count(half);
    join->sets_log2++;
    while (set-- > 0) {
        struct yarn_join_slot moved[WAYS];
        memcpy(moved, &join->tables->slot[set * WAYS], sizeof moved);
        memset(&join->tables->slot[set * WAYS], 0, sizeof moved);
        for (unsigned i = 0; i < WAYS && moved[i].walk; i++)
            *victim_of(join, set_of(join, moved[i].tid, moved[i].place, moved[i].function)) =
                moved[i];
    }
}

static bool is_fresh(const struct yarn_join *join, const struct yarn_join_slot *slot)
{
    return join->nr_walks - slot->walk <= AGE_MAX;
}

static struct yarn_join_slot *room_for(struct yarn_join *join, uint32_t tid,
                                       const struct yarn_join_frame *frame)
{
    for (;;) {
        struct yarn_join_slot *victim =
            victim_of(join, set_of(join, tid, frame->place, frame->function));
        if (!victim->walk || join->sets_log2 == SETS_LOG2_MAX)
            return victim;
        grow(join);
    }
}

static void learn_one(struct yarn_join *join, uint32_t tid, const struct yarn_join_frame *frame,
                      const struct yarn_join_frame *caller)
{
    struct yarn_join_slot *set = set_of(join, tid, frame->place, frame->function);
    struct yarn_join_slot *slot = slot_of(set, tid, frame);
    uint32_t doubted_until = 0;
    if (slot && is_fresh(join, slot)) {
        if (slot->caller_ip == caller->ip && slot->caller_place == caller->place) {
            slot->walk = join->nr_walks;
            slot->nr_times = (uint16_t)(slot->nr_times + (slot->nr_times < TIMES_SURE));
            return;
        }
        doubted_until = join->nr_walks + DOUBT;
    }
    if (!slot)
        slot = room_for(join, tid, frame);
    *slot = (struct yarn_join_slot){
        .place = frame->place,
        .caller_ip = caller->ip,
        .caller_place = caller->place,
        .caller_function = caller->function,
        .tid = tid,
        .function = frame->function,
        .walk = join->nr_walks,
        .doubted_until = doubted_until,
        .nr_times = 1,
        .is_caller_exact = caller->is_exact,
    };
}

void yarn_join_add(struct yarn_join *join, uint32_t tid, const struct yarn_join_frame *frames,
                   unsigned count, bool is_complete)
{
    static const struct yarn_join_frame none = {0};
    for (unsigned i = 0; i + 1 < count; i++)
        /* Onto another stack (a handler's own): where places do not grow, a chain could loop. */
        if (frames[i + 1].place > frames[i].place)
            learn_one(join, tid, &frames[i], &frames[i + 1]);
    if (is_complete && count)
        learn_one(join, tid, &frames[count - 1], &none);
}

void yarn_join_learn(struct yarn_join *join, uint32_t tid, const struct yarn_join_frame *frames,
                     unsigned count, bool is_complete)
{
    if (join->nr_walks++ == 0)
        yarn_pages_populate(join->tables, bytes_in_use(join));
    yarn_join_add(join, tid, frames, count, is_complete);
    uint64_t top = count > 1 ? frames[count - 2].place : 0;
    yarn_coverage_add(&join->tables->coverage, tid, is_complete ? UINT64_MAX : top, join->nr_walks);
}

/* False where it is unknown or doubted. */
static bool find_caller(const struct yarn_join *join, uint32_t tid,
                        const struct yarn_join_frame *frame, struct yarn_join_frame *ret_caller,
                        struct grounds *grounds)
{
    const struct yarn_join_slot *slot =
        slot_of(set_of(join, tid, frame->place, frame->function), tid, frame);
    if (!slot || !is_fresh(join, slot) || slot->doubted_until > join->nr_walks)
        return false;
    *ret_caller = (struct yarn_join_frame){
        .ip = slot->caller_ip,
        .place = slot->caller_place,
        .function = slot->caller_function,
        .is_exact = slot->is_caller_exact,
    };
    uint32_t seen = yarn_coverage_last(&join->tables->coverage, tid, slot->place);
    grounds->nr_ended += seen > slot->walk;
    uint32_t age = join->nr_walks - slot->walk;
    if (age > grounds->age)
        grounds->age = age;
    if (slot->nr_times < grounds->nr_times)
        grounds->nr_times = slot->nr_times;
    return true;
}

static bool are_believable(const struct grounds *grounds)
{
    return grounds->nr_ended <= ENDED_MAX || grounds->age <= AGE_SURE ||
           grounds->nr_times >= TIMES_SURE;
}

unsigned yarn_join_complete(const struct yarn_join *join, uint32_t tid,
                            struct yarn_join_frame *frames, unsigned count, unsigned capacity)
{
    struct grounds grounds = {.nr_times = UINT16_MAX};
    struct yarn_join_frame caller;
    if (count == 0)
        return count;
    for (unsigned at = count; at <= capacity; at++) {
        if (!find_caller(join, tid, &frames[at - 1], &caller, &grounds))
            return count;
        if (caller.ip == 0)
            return are_believable(&grounds) ? at : count;
        if (at < capacity)
            frames[at] = caller;
    }
    return count;
}

void yarn_join_close(struct yarn_join *join)
{
    if (!join->tables)
        return;
    yarn_pages_release(join->tables, sizeof *join->tables);
    yarn_pages_uncount(bytes_in_use(join));
    join->tables = NULL;
}
