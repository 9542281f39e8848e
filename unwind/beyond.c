/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/beyond.h"

#include "core/base/pages.h"
#include "core/sys/clock.h"
#include "core/sys/own_memory.h"
#include "unwind/fallback.h"

/* How many return addresses right below the cut have to be where the copy has them: all that are
 * looked at, or for a while a few; measured, see README.md. */
enum {
    WITNESSES = 8,
    WITNESSES_SOON = 3,
    WITNESSES_LEAST = 2,     /* where the walk has no more of them */
    SOON_NS = 500000,        /* from the sample to the end of the reading */
    FIRST_BYTES = 32 * 1024, /* mostly enough */
};

/* Chains in the order in which they were seen, their frames too. */
struct yarn_beyond_room {
    struct yarn_beyond_chain chain[YARN_BEYOND_CHAINS];
    unsigned nr_chains; /* so far */
    unsigned nr_frames; /* in use, of this round */
    struct yarn_join_frame frame[YARN_BEYOND_FRAMES];
    uint8_t bytes[YARN_BEYOND_BYTES];
};

/* A return address of the copy and where it lies. */
struct witness {
    uint64_t address, word;
};

struct evidence {
    struct witness witness[WITNESSES];
    unsigned count;
    uint64_t mask; /* of the words */
};

int yarn_beyond_open(struct yarn_beyond *beyond, int proc_self)
{
    struct yarn_beyond_room *room = yarn_pages_map(sizeof *room);
    if (!room)
        return -ENOMEM;
    *beyond = (struct yarn_beyond){.proc_self = proc_self, .room = room};
    return 0;
}

void yarn_beyond_close(struct yarn_beyond *beyond)
{
    yarn_pages_unmap(beyond->room, sizeof *beyond->room);
    beyond->room = NULL;
}

/* Outermost first; an odd place does not tell where the return address lies. */
static void collect(const struct yarn_walk *walk, unsigned walked, struct evidence *ret_evidence)
{
    struct yarn_walker *walker = walk->walker;
    const struct yarn_join_frame *trail = walker->trail;
    ret_evidence->count = 0;
    ret_evidence->mask = walker->machine->address;
    for (unsigned i = walked - 1; i > 0 && ret_evidence->count < WITNESSES; i--) {
        int64_t offset;
        struct yarn_cached_rule found = yarn_walker_rule(walker, &trail[i - 1]);
        if (!(trail[i - 1].place & 1) &&
            walker->machine->find_return(&found.rule, trail[i - 1].is_exact, &offset))
            ret_evidence->witness[ret_evidence->count++] = (struct witness){
                .address = trail[i - 1].place + (uint64_t)offset,
                .word = trail[i].ip,
            };
    }
}

/* How many of them are where they were, from the first on. */
static unsigned count_in_place(const struct yarn_beyond *beyond, const struct evidence *evidence)
{
    for (unsigned i = 0; i < evidence->count; i++) {
        uint64_t word;
        const struct witness *witness = &evidence->witness[i];
        int err = yarn_own_memory_read(beyond->proc_self, witness->address, &word, sizeof word);
        if (err || (word & evidence->mask) != witness->word)
            return i;
    }
    return evidence->count;
}

/* Asked when all is read: what is still there then was there all the while. */
static bool is_credible(const struct yarn_beyond *beyond, const struct evidence *evidence,
                        uint64_t time_ns)
{
    unsigned in_place = count_in_place(beyond, evidence);
    bool are_all = in_place == evidence->count;
    if (are_all && in_place > WITNESSES_LEAST)
        return true;
    bool is_soon = yarn_clock_ns(YARN_TIME_MONOTONIC) - time_ns <= SOON_NS;
    return is_soon && (in_place >= WITNESSES_SOON || are_all);
}

/* Outwards from the cut, a little at first. */
static void walk_live(struct yarn_beyond *beyond, struct yarn_walk *walk)
{
    uint64_t start = walk->registers.sp;
    size_t size = 0;
    for (size_t want = FIRST_BYTES; want <= YARN_BEYOND_BYTES; want = want * 8) {
        size_t got;
        uint8_t *to = beyond->room->bytes + size;
        if (yarn_own_memory_read_some(beyond->proc_self, start + size, to, want - size, &got))
            return;
        size += got;
        struct yarn_stack_copy stack = {
            .start = start,
            .first = yarn_span_of(beyond->room->bytes, size),
        };
        yarn_walker_go_on(walk, &stack);
        if (walk->frames->end != YARN_UNWIND_TRUNCATED || size < want)
            return;
    }
}

/* Room for so many frames, which older chains then have no more. */
static struct yarn_join_frame *take_room(struct yarn_beyond_room *room, unsigned count)
{
    if (room->nr_frames + count > YARN_BEYOND_FRAMES)
        room->nr_frames = 0;
    struct yarn_join_frame *begin = &room->frame[room->nr_frames];
    for (unsigned i = 0; i < YARN_BEYOND_CHAINS; i++) {
        struct yarn_beyond_chain *other = &room->chain[i];
        if (other->frame < begin + count && begin < other->frame + other->count)
            other->time_ns = 0;
    }
    room->nr_frames += count;
    return begin;
}

static void keep(struct yarn_beyond *beyond, const struct yarn_walk *walk, unsigned walked,
                 uint32_t tid, uint64_t time_ns)
{
    struct yarn_beyond_room *room = beyond->room;
    unsigned all = walk->frames->count - walked + 1;
    unsigned count = all < YARN_BEYOND_CHAIN_FRAMES ? all : YARN_BEYOND_CHAIN_FRAMES;
    struct yarn_join_frame *frames = take_room(room, count);
    memcpy(frames, &walk->walker->trail[walked - 1], count * sizeof *frames);
    room->chain[room->nr_chains++ % YARN_BEYOND_CHAINS] = (struct yarn_beyond_chain){
        .tid = tid,
        .time_ns = time_ns,
        .is_complete = walk->frames->end == YARN_UNWIND_COMPLETE && count == all,
        .count = count,
        .frame = frames,
    };
}

bool yarn_beyond_read(struct yarn_beyond *beyond, struct yarn_walk *walk, uint32_t tid,
                      uint64_t time_ns)
{
    struct evidence evidence;
    const struct yarn_frames *frames = walk->frames;
    unsigned walked = frames->count;
    collect(walk, walked, &evidence);
    if (frames->end != YARN_UNWIND_TRUNCATED || walked == YARN_FRAMES_MAX ||
        evidence.count < WITNESSES_LEAST)
        return false;
    beyond->nr_reads++;
    walk_live(beyond, walk);
    bool is_whole = frames->end == YARN_UNWIND_COMPLETE || frames->end == YARN_UNWIND_TRUNCATED;
    if (!is_whole || frames->count == walked || !is_credible(beyond, &evidence, time_ns))
        return false;
    keep(beyond, walk, walked, tid, time_ns);
    beyond->nr_believed++;
    return true;
}

bool yarn_beyond_follow(struct yarn_beyond *beyond, struct yarn_walk *walk)
{
    struct yarn_walker *walker = walk->walker;
    const struct yarn_frames *frames = walk->frames;
    uint64_t callee;
    walk_live(beyond, walk);
    const struct yarn_join_frame *cut = &walker->trail[0], *caller = &walker->trail[1];
    return frames->end == YARN_UNWIND_COMPLETE && frames->count > 1 && !(cut->place & 1) &&
           yarn_fallback_call(walker->map, walker->machine, caller->ip, &callee) &&
           (uint32_t)callee == cut->function;
}

const struct yarn_beyond_chain *yarn_beyond_find(const struct yarn_beyond *beyond, uint32_t tid,
                                                 uint64_t time_ns,
                                                 const struct yarn_join_frame *cut)
{
    for (unsigned i = 0; i < YARN_BEYOND_CHAINS; i++) {
        const struct yarn_beyond_chain *chain = &beyond->room->chain[i];
        if (time_ns && chain->time_ns == time_ns && chain->tid == tid &&
            chain->frame[0].place == cut->place && chain->frame[0].ip == cut->ip)
            return chain;
    }
    return NULL;
}
