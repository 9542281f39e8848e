/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/join.h"

#include "core/base/pages.h"

enum {
    SLOTS_LOG2 = 15,
    SLOTS = 1 << SLOTS_LOG2,
    EPOCH_LOG2 = 16, /* walks: the age of knowledge is counted in these */
    FULL_EVERY = 64, /* walks: then also what is known already is made young again */
};

struct yarn_join_slot {
    uint64_t ip, sp;
    struct yarn_join_frame caller;
    uint32_t tid;
    uint16_t epoch; /* 0: free */
};

int yarn_join_open(struct yarn_join *join)
{
    struct yarn_join_slot *slots = yarn_pages_map(SLOTS * sizeof *slots);
    if (!slots)
        return -ENOMEM;
    *join = (struct yarn_join){.slots = slots};
    return 0;
}

static uint16_t epoch_of(const struct yarn_join *join)
{
    return (uint16_t)((join->nr_walks >> EPOCH_LOG2) + 1);
}

static struct yarn_join_slot *slot_of(const struct yarn_join *join, uint32_t tid,
                                      const struct yarn_join_frame *frame)
{
    uint64_t hash = yarn_hash_u64(frame->ip ^ (frame->sp << 20 | frame->sp >> 44) ^ tid);
    return &join->slots[hash >> (64 - SLOTS_LOG2)];
}

static bool is_of(const struct yarn_join_slot *slot, uint32_t tid,
                  const struct yarn_join_frame *frame)
{
    return slot->ip == frame->ip && slot->sp == frame->sp && slot->tid == tid && slot->epoch;
}

/* False where it was known already. */
static bool learn_one(struct yarn_join *join, uint32_t tid, const struct yarn_join_frame *frame,
                      const struct yarn_join_frame *caller)
{
    struct yarn_join_slot *slot = slot_of(join, tid, frame);
    uint16_t epoch = epoch_of(join);
    if (is_of(slot, tid, frame) && slot->caller.ip == caller->ip && slot->caller.sp == caller->sp &&
        slot->epoch == epoch)
        return false;
    *slot = (struct yarn_join_slot){
        .ip = frame->ip, .sp = frame->sp, .caller = *caller, .tid = tid, .epoch = epoch};
    return true;
}

/* False where the frame's caller was known already. */
static bool learn_at(struct yarn_join *join, uint32_t tid, const struct yarn_join_frame *frames,
                     unsigned count, unsigned at)
{
    static const struct yarn_join_frame none = {0};
    bool is_last = at + 1 == count;
    /* Onto another stack (a handler's own): where sp does not grow, a chain could be a loop. */
    if (!is_last && frames[at + 1].sp <= frames[at].sp)
        return true;
    return learn_one(join, tid, &frames[at], is_last ? &none : &frames[at + 1]);
}

void yarn_join_learn(struct yarn_join *join, uint32_t tid, const struct yarn_join_frame *frames,
                     unsigned count, bool is_complete)
{
    bool is_full = join->nr_walks++ % FULL_EVERY == 0;
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
    const struct yarn_join_slot *slot = slot_of(join, tid, frame);
    if (!is_of(slot, tid, frame) || (uint16_t)(epoch_of(join) - slot->epoch) > 1)
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
