/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/join.h"

#include <assert.h>

#include "core/base/pages.h"

enum {
    SETS_LOG2 = 12,
    WAYS = 8, /* a chain is broken by one missing frame: a single slot a place collides too often */
    SLOTS = WAYS << SETS_LOG2,
    AGE_MAX = 1 << 17, /* walks; older knowledge is not believed */
    DOUBT = 256,       /* walks for which a frame that changed its caller is not believed */
    FULL_EVERY = 1,    /* walks: then also what is known already is made young again */
};

struct yarn_join_slot {
    uint64_t place; /* with function and tid: the frame */
    struct yarn_join_frame caller;
    uint32_t tid, function;
    uint32_t walk;          /* when it was learnt or confirmed; 0: free */
    uint32_t doubted_until; /* walk */
};

static_assert(sizeof(struct yarn_join_slot) == 48, "1.5 MiB in all");

int yarn_join_open(struct yarn_join *join)
{
    struct yarn_join_slot *slots = yarn_pages_map(SLOTS * sizeof *slots);
    if (!slots)
        return -ENOMEM;
    *join = (struct yarn_join){.slots = slots};
    return 0;
}

static struct yarn_join_slot *set_of(const struct yarn_join *join, uint32_t tid,
                                     const struct yarn_join_frame *frame)
{
    uint64_t hash =
        yarn_hash_u64(frame->place ^ (uint64_t)tid << 48 ^ (uint64_t)frame->function << 20);
    return &join->slots[(hash >> (64 - SETS_LOG2)) * WAYS];
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

static bool is_fresh(const struct yarn_join *join, const struct yarn_join_slot *slot)
{
    return join->nr_walks - slot->walk <= AGE_MAX;
}

/* False where it was known already. */
static bool learn_one(struct yarn_join *join, uint32_t tid, const struct yarn_join_frame *frame,
                      const struct yarn_join_frame *caller)
{
    struct yarn_join_slot *set = set_of(join, tid, frame), *slot = slot_of(set, tid, frame);
    uint32_t doubted_until = 0;
    if (slot && is_fresh(join, slot)) {
        if (slot->caller.ip == caller->ip && slot->caller.place == caller->place) {
            slot->walk = join->nr_walks;
            return false;
        }
        doubted_until = join->nr_walks + DOUBT;
    }
    if (!slot)
        slot = victim_of(join, set);
    *slot = (struct yarn_join_slot){.place = frame->place,
                                    .caller = *caller,
                                    .tid = tid,
                                    .function = frame->function,
                                    .walk = join->nr_walks,
                                    .doubted_until = doubted_until};
    return true;
}

/* False where the frame's caller was known already. */
static bool learn_at(struct yarn_join *join, uint32_t tid, const struct yarn_join_frame *frames,
                     unsigned count, unsigned at)
{
    static const struct yarn_join_frame none = {0};
    bool is_last = at + 1 == count;
    /* Onto another stack (a handler's own): where places do not grow, a chain could be a loop. */
    if (!is_last && frames[at + 1].place <= frames[at].place)
        return true;
    return learn_one(join, tid, &frames[at], is_last ? &none : &frames[at + 1]);
}

void yarn_join_learn(struct yarn_join *join, uint32_t tid, const struct yarn_join_frame *frames,
                     unsigned count, bool is_complete)
{
    /* Not each 64th by count: threads that are sampled in turn would never have one. */
    bool is_full = yarn_hash_u64(++join->nr_walks) % FULL_EVERY == 0;
    unsigned end =
        is_complete ? count : count - (count > 0); /* the cut frame's caller is unknown */
    unsigned at = 0;
    /* Most of a stack is as it was in the sample before: it is enough to go on from either end to
     * what is known already. What may lie new between two known pieces waits for a full pass. */
    while (at < end && (learn_at(join, tid, frames, count, at) || is_full))
        at++;
    while (end > at && learn_at(join, tid, frames, count, end - 1))
        end--;
}

static const struct yarn_join_frame *caller_of(const struct yarn_join *join, uint32_t tid,
                                               const struct yarn_join_frame *frame)
{
    const struct yarn_join_slot *slot = slot_of(set_of(join, tid, frame), tid, frame);
    if (!slot || !is_fresh(join, slot) || slot->doubted_until > join->nr_walks)
        return NULL;
    return &slot->caller;
}

unsigned yarn_join_complete(const struct yarn_join *join, uint32_t tid,
                            struct yarn_join_frame *frames, unsigned count, unsigned capacity)
{
    if (count == 0)
        return count;
    for (unsigned at = count; at <= capacity; at++) {
        const struct yarn_join_frame *caller = caller_of(join, tid, &frames[at - 1]);
        if (!caller)
            return count;
        if (caller->ip == 0)
            return at;
        if (at < capacity)
            frames[at] = *caller;
    }
    return count;
}

void yarn_join_close(struct yarn_join *join)
{
    yarn_pages_unmap(join->slots, SLOTS * sizeof *join->slots);
    join->slots = NULL;
}
