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

struct yarn_beyond_room {
    struct yarn_beyond_chain chain[YARN_BEYOND_THREADS];
    uint8_t bytes[YARN_BEYOND_BYTES];
};

/* A return address of the copy and where it lies. */
struct witness {
    uint64_t address, word;
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
static unsigned collect(const struct yarn_walk *walk, unsigned walked,
                        struct witness *ret_witnesses)
{
    const struct yarn_join_frame *trail = walk->walker->trail;
    int offset = walk->walker->machine->return_offset;
    unsigned count = 0;
    for (unsigned i = walked - 1; i > 0 && count < WITNESSES; i--)
        if (!(trail[i - 1].place & 1))
            ret_witnesses[count++] = (struct witness){
                .address = trail[i - 1].place + (uint64_t)(int64_t)offset,
                .word = trail[i].ip,
            };
    return offset ? count : 0;
}

/* How many of them are where they were, from the first on. */
static unsigned count_in_place(const struct yarn_beyond *beyond, const struct witness *witnesses,
                               unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        uint64_t word;
        int err = yarn_own_memory_read(beyond->proc_self, witnesses[i].address, &word, sizeof word);
        if (err || word != witnesses[i].word)
            return i;
    }
    return count;
}

/* Asked when all is read: what is still there then was there all the while. */
static bool are_credible(const struct yarn_beyond *beyond, const struct witness *witnesses,
                         unsigned count, uint64_t time_ns)
{
    unsigned in_place = count_in_place(beyond, witnesses, count);
    if (in_place == count && count > WITNESSES_LEAST)
        return true;
    bool is_soon = yarn_clock_ns(YARN_TIME_MONOTONIC) - time_ns <= SOON_NS;
    return is_soon && (in_place >= WITNESSES_SOON || in_place == count);
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

static struct yarn_beyond_chain *chain_of(const struct yarn_beyond *beyond, uint32_t tid)
{
    return &beyond->room->chain[tid % YARN_BEYOND_THREADS];
}

static void keep(struct yarn_beyond *beyond, const struct yarn_walk *walk, unsigned walked,
                 uint32_t tid, uint64_t time_ns)
{
    struct yarn_beyond_chain *chain = chain_of(beyond, tid);
    unsigned count = walk->frames->count - walked + 1;
    chain->tid = tid;
    chain->time_ns = time_ns;
    chain->is_complete = walk->frames->end == YARN_UNWIND_COMPLETE && count <= YARN_BEYOND_FRAMES;
    chain->count = count <= YARN_BEYOND_FRAMES ? count : YARN_BEYOND_FRAMES;
    memcpy(chain->frame, &walk->walker->trail[walked - 1], chain->count * sizeof chain->frame[0]);
}

bool yarn_beyond_read(struct yarn_beyond *beyond, struct yarn_walk *walk, uint32_t tid,
                      uint64_t time_ns)
{
    struct witness witnesses[WITNESSES];
    const struct yarn_frames *frames = walk->frames;
    unsigned walked = frames->count;
    unsigned count = collect(walk, walked, witnesses);
    if (frames->end != YARN_UNWIND_TRUNCATED || walked == YARN_FRAMES_MAX ||
        count < WITNESSES_LEAST)
        return false;
    beyond->nr_reads++;
    walk_live(beyond, walk);
    bool is_whole = frames->end == YARN_UNWIND_COMPLETE || frames->end == YARN_UNWIND_TRUNCATED;
    if (!is_whole || frames->count == walked || !are_credible(beyond, witnesses, count, time_ns))
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
    const struct yarn_beyond_chain *chain = chain_of(beyond, tid);
    bool is_this = chain->tid == tid && chain->time_ns == time_ns &&
                   chain->frame[0].place == cut->place && chain->frame[0].ip == cut->ip;
    return is_this && time_ns ? chain : NULL;
}
