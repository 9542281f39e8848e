/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/unwinder.h"

#include "core/base/pages.h"
#include "unwind/beyond.h"
#include "unwind/join.h"
#include "unwind/walker.h"

/* Where the latest walk that nothing joined came to its end. */
struct cut {
    struct yarn_walk walk;
    uint32_t tid;
    bool is_open; /* not looked at since */
};

struct yarn_unwinder {
    struct yarn_walker walker;
    struct yarn_join join;
    struct yarn_beyond beyond;
    struct cut cut;
};

int yarn_unwinder_new(struct yarn_unwinder **ret_unwinder, enum yarn_unwinder_kind kind,
                      struct yarn_module_map *map)
{
    struct yarn_unwinder *unwinder = yarn_pages_map(sizeof *unwinder);
    if (!unwinder)
        return -ENOMEM;
    int err = yarn_walker_open(&unwinder->walker, kind, map);
    if (!err)
        err = yarn_join_open(&unwinder->join);
    if (!err)
        err = yarn_beyond_open(&unwinder->beyond, yarn_module_map_proc_self(map));
    if (err) {
        yarn_unwinder_free(unwinder);
        return err;
    }
    *ret_unwinder = unwinder;
    return 0;
}

void yarn_unwinder_free(struct yarn_unwinder *unwinder)
{
    if (!unwinder)
        return;
    yarn_beyond_close(&unwinder->beyond);
    yarn_join_close(&unwinder->join);
    yarn_walker_close(&unwinder->walker);
    yarn_pages_unmap(unwinder, sizeof *unwinder);
}

/* The trail has frames from `walked` on that the walk has not. */
static void join(struct yarn_unwinder *unwinder, unsigned walked, unsigned count,
                 struct yarn_frames *frames)
{
    struct yarn_walker *walker = &unwinder->walker;
    for (unsigned i = walked; i < count; i++)
        frames->frame[i] = yarn_walker_frame(walker, &walker->trail[i]);
    frames->first_joined = walked;
    frames->count = count;
    frames->end = YARN_UNWIND_JOINED;
}

bool yarn_unwinder_join(struct yarn_unwinder *unwinder, uint32_t tid, struct yarn_frames *frames)
{
    struct yarn_walker *walker = &unwinder->walker;
    unsigned walked = frames->count;
    if (frames->end != YARN_UNWIND_TRUNCATED || !walked)
        return false;
    const struct yarn_frame *last = &frames->frame[walked - 1];
    walker->trail[walked - 1] =
        yarn_walker_trail_frame(walker, last->ip, last->ip == last->lookup_ip, frames->last_place);
    unsigned count =
        yarn_join_complete(&unwinder->join, tid, walker->trail, walked, YARN_FRAMES_MAX);
    if (count == walked)
        return false;
    join(unwinder, walked, count, frames);
    return true;
}

static void learn(struct yarn_unwinder *unwinder, uint32_t tid, unsigned count, bool is_complete)
{
    yarn_join_learn(&unwinder->join, tid, unwinder->walker.trail, count, is_complete);
}

void yarn_unwinder_unwind(struct yarn_unwinder *unwinder, const struct yarn_registers *registers,
                          const struct yarn_stack_copy *stack, uint32_t tid,
                          struct yarn_frames *ret_frames)
{
    struct yarn_walker *walker = &unwinder->walker;
    struct yarn_walk walk = {.walker = walker};
    yarn_walker_refresh(walker);
    ret_frames->count = 0;
    if (!registers->valid) {
        const struct yarn_module *module = yarn_module_map_find(walker->map, registers->ip);
        ret_frames->frame[0] =
            (struct yarn_frame){.ip = registers->ip, .lookup_ip = registers->ip, .module = module};
        ret_frames->count = 1;
        ret_frames->end = YARN_UNWIND_NONE;
    } else {
        yarn_walker_walk(walker, registers, stack, ret_frames, &walk);
    }
    bool is_cut = ret_frames->end == YARN_UNWIND_TRUNCATED;
    bool is_complete = ret_frames->end == YARN_UNWIND_COMPLETE;
    if (is_cut || is_complete)
        learn(unwinder, tid, ret_frames->count, is_complete);
    ret_frames->first_joined = ret_frames->count;
    if (is_cut) {
        ret_frames->last_place = walker->trail[ret_frames->count - 1].place;
        if (!yarn_unwinder_join(unwinder, tid, ret_frames) && ret_frames->count < YARN_FRAMES_MAX)
            unwinder->cut = (struct cut){.walk = walk, .tid = tid, .is_open = true};
    }
}

bool yarn_unwinder_look_beyond(struct yarn_unwinder *unwinder,
                               const struct yarn_registers *registers,
                               const struct yarn_stack_copy *stack, uint32_t tid, uint64_t time_ns,
                               struct yarn_frames *scratch)
{
    struct yarn_walker *walker = &unwinder->walker;
    struct yarn_walk walk;
    if (!registers->valid)
        return false;
    yarn_walker_refresh(walker);
    scratch->count = 0;
    yarn_walker_walk(walker, registers, stack, scratch, &walk);
    if (scratch->end != YARN_UNWIND_TRUNCATED ||
        yarn_join_complete(&unwinder->join, tid, walker->trail, scratch->count, YARN_FRAMES_MAX) >
            scratch->count)
        return false;
    yarn_beyond_read(&unwinder->beyond, &walk, tid, time_ns);
    return true;
}

bool yarn_unwinder_join_beyond(struct yarn_unwinder *unwinder, uint32_t tid, uint64_t time_ns,
                               struct yarn_frames *frames)
{
    struct yarn_join_frame *trail = unwinder->walker.trail;
    unsigned walked = frames->count;
    if (frames->end != YARN_UNWIND_TRUNCATED || !walked)
        return false;
    const struct yarn_beyond_chain *chain =
        yarn_beyond_find(&unwinder->beyond, tid, time_ns, &trail[walked - 1]);
    if (!chain || walked - 1 + chain->count > YARN_FRAMES_MAX)
        return false;
    unsigned count = walked - 1 + chain->count;
    unwinder->cut.is_open = false;
    memcpy(&trail[walked - 1], chain->frame, chain->count * sizeof trail[0]);
    learn(unwinder, tid, count, chain->is_complete);
    if (!chain->is_complete)
        return yarn_unwinder_join(unwinder, tid, frames);
    join(unwinder, walked, count, frames);
    return true;
}

void yarn_unwinder_look_back(struct yarn_unwinder *unwinder, struct yarn_frames *scratch)
{
    struct yarn_walk *walk = &unwinder->cut.walk;
    if (!unwinder->cut.is_open)
        return;
    unwinder->cut.is_open = false;
    yarn_walker_refresh(&unwinder->walker);
    scratch->count = 1;
    scratch->end = YARN_UNWIND_TRUNCATED;
    walk->frames = scratch;
    if (yarn_beyond_follow(&unwinder->beyond, walk))
        yarn_join_add(&unwinder->join, unwinder->cut.tid, unwinder->walker.trail, scratch->count,
                      true);
}

bool yarn_unwinder_is_outermost(struct yarn_unwinder *unwinder, uint64_t lookup_ip)
{
    yarn_walker_refresh(&unwinder->walker);
    return yarn_rule_cache_find(&unwinder->walker.cache, lookup_ip).rule.kind == YARN_RULE_END;
}
