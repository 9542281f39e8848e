/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/walks.h"

#include "core/base/pages.h"
#include "core/sys/clock.h"
#include "preload/registers.h"

enum {
    YOUNG_NS = 5000000, /* a thread that does not run keeps its stack; an older one is given up */
    SHORTAGE = 1024,    /* of the largest copies: with all else they fill a record of 64 KiB */
};

int yarn_walks_open(struct yarn_walks *walks, struct yarn_module_map *map,
                    struct yarn_unwinder *unwinder, const struct yarn_session_spec *spec,
                    const struct yarn_record_layout *layout, size_t copy_bytes)
{
    struct yarn_frames *frames = yarn_pages_map(sizeof *frames);
    if (!frames)
        return -ENOMEM;
    *walks = (struct yarn_walks){
        .map = map,
        .unwinder = unwinder,
        .registers_mask = layout->registers_mask,
        .copy_bytes = copy_bytes,
        .is_asked = spec->stack != YARN_SESSION_STACK_NONE,
        .watch = yarn_watch_of(yarn_plan_rate(spec)),
        .frames = frames,
    };
    return 0;
}

void yarn_walks_close(struct yarn_walks *walks)
{
    yarn_pages_unmap(walks->frames, sizeof *walks->frames);
    walks->frames = NULL;
}

static void walk_chain(struct yarn_walks *walks, const struct yarn_wrapped *chain)
{
    struct yarn_frames *frames = walks->frames;
    uint64_t ip;
    frames->count = 0;
    for (size_t at = 0; yarn_wrapped_read(chain, at, &ip, sizeof ip); at += sizeof ip) {
        if (ip >= PERF_CONTEXT_MAX || frames->count == YARN_FRAMES_MAX)
            continue;
        uint64_t lookup_ip = ip - (frames->count ? 1 : 0);
        frames->frame[frames->count++] = (struct yarn_frame){
            .ip = ip,
            .lookup_ip = lookup_ip,
            .module = yarn_module_map_find(walks->map, lookup_ip),
        };
    }
    frames->first_joined = frames->count;
    if (!frames->count)
        frames->end = YARN_UNWIND_NONE;
    else if (yarn_unwinder_is_outermost(walks->unwinder,
                                        frames->frame[frames->count - 1].lookup_ip))
        frames->end = YARN_UNWIND_COMPLETE;
    else
        frames->end = YARN_UNWIND_TRUNCATED;
}

static bool read_copy(const struct yarn_walks *walks, const struct yarn_record_sample *sample,
                      struct yarn_registers *ret_registers, struct yarn_stack_copy *ret_stack)
{
    if (!yarn_registers_of(sample, walks->registers_mask, ret_registers))
        return false;
    *ret_stack = (struct yarn_stack_copy){
        .start = ret_registers->sp,
        .first = sample->stack.first,
        .second = sample->stack.second,
    };
    return true;
}

static void walk_copy(struct yarn_walks *walks, const struct yarn_record *record)
{
    struct yarn_frames *frames = walks->frames;
    struct yarn_registers registers;
    struct yarn_stack_copy stack;
    if (!read_copy(walks, &record->sample, &registers, &stack)) {
        frames->count = 0;
        frames->end = YARN_UNWIND_NONE;
        return;
    }
    yarn_unwinder_unwind(walks->unwinder, &registers, &stack, record->tid, frames);
    bool is_unknown = frames->end == YARN_UNWIND_TRUNCATED;
    yarn_watch_note(&walks->watch, record->time_ns, is_unknown);
    if (is_unknown &&
        yarn_unwinder_join_beyond(walks->unwinder, record->tid, record->time_ns, frames))
        yarn_watch_reward(&walks->watch);
}

void yarn_walks_glance(struct yarn_walks *walks, const struct yarn_record *record)
{
    struct yarn_registers registers;
    struct yarn_stack_copy stack;
    bool is_full = yarn_wrapped_size(&record->sample.stack) + SHORTAGE > walks->copy_bytes;
    if (!yarn_watch_see(&walks->watch, record->time_ns) || !is_full ||
        yarn_clock_ns(YARN_TIME_MONOTONIC) - record->time_ns > YOUNG_NS ||
        !read_copy(walks, &record->sample, &registers, &stack))
        return;
    if (yarn_unwinder_look_beyond(walks->unwinder, &registers, &stack, record->tid, record->time_ns,
                                  walks->frames))
        yarn_watch_alert(&walks->watch, record->time_ns);
}

/* The frame where the sample hit, alone: no stack was asked for, or none came. */
static void walk_ip(struct yarn_walks *walks, uint64_t ip)
{
    struct yarn_frames *frames = walks->frames;
    frames->frame[0] = (struct yarn_frame){
        .ip = ip, .lookup_ip = ip, .module = yarn_module_map_find(walks->map, ip)};
    frames->count = frames->first_joined = 1;
    frames->end = YARN_UNWIND_NONE;
}

/* The kernel could give neither registers nor chain: callers there are, but which is unknown. */
static void cut_off(struct yarn_frames *frames)
{
    frames->end = YARN_UNWIND_TRUNCATED;
    frames->first_joined = frames->count;
    frames->last_place = UINT64_MAX; /* odd, and no frame's: nothing is joined to it */
}

const struct yarn_frames *yarn_walks_of(struct yarn_walks *walks, const struct yarn_record *record,
                                        bool is_kernel)
{
    const struct yarn_record_sample *sample = &record->sample;
    if (sample->has_registers)
        walk_copy(walks, record);
    else
        walk_chain(walks, &sample->callchain);
    if (!walks->frames->count && !is_kernel)
        walk_ip(walks, sample->ip);
    if (walks->frames->end == YARN_UNWIND_NONE && walks->is_asked)
        cut_off(walks->frames);
    return walks->frames;
}

void yarn_walks_join_again(struct yarn_walks *walks, struct yarn_queued *queued)
{
    struct yarn_frames *frames = walks->frames;
    memcpy(frames->frame, queued->frame, queued->count * sizeof frames->frame[0]);
    frames->count = queued->count;
    frames->first_joined = queued->first_joined;
    frames->end = queued->end;
    frames->last_place = queued->last_place;
    if (!yarn_unwinder_join(walks->unwinder, queued->tid, frames))
        return;
    queued->count = frames->count;
    queued->first_joined = frames->first_joined;
    queued->end = frames->end;
    queued->frame = frames->frame;
}

void yarn_walks_look_back(struct yarn_walks *walks)
{
    yarn_unwinder_look_back(walks->unwinder, walks->frames);
}
