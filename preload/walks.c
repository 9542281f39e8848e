/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/walks.h"

#include "core/base/pages.h"
#include "preload/registers.h"

int yarn_walks_open(struct yarn_walks *walks, struct yarn_module_map *map,
                    struct yarn_unwinder *unwinder, uint64_t registers_mask)
{
    struct yarn_frames *frames = yarn_pages_map(sizeof *frames);
    if (!frames)
        return -ENOMEM;
    *walks = (struct yarn_walks){
        .map = map,
        .unwinder = unwinder,
        .registers_mask = registers_mask,
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

static void walk_copy(struct yarn_walks *walks, const struct yarn_record_sample *sample,
                      uint32_t tid)
{
    struct yarn_registers registers;
    if (!yarn_registers_of(sample, walks->registers_mask, &registers)) {
        walks->frames->count = 0;
        walks->frames->end = YARN_UNWIND_NONE;
        return;
    }
    struct yarn_stack_copy stack = {
        .start = registers.sp,
        .first = sample->stack.first,
        .second = sample->stack.second,
    };
    yarn_unwinder_unwind(walks->unwinder, &registers, &stack, tid, walks->frames);
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

const struct yarn_frames *yarn_walks_of(struct yarn_walks *walks, const struct yarn_record *record,
                                        bool is_kernel)
{
    const struct yarn_record_sample *sample = &record->sample;
    if (sample->has_registers)
        walk_copy(walks, sample, record->tid);
    else
        walk_chain(walks, &sample->callchain);
    if (!walks->frames->count && !is_kernel)
        walk_ip(walks, sample->ip);
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
