/* SPDX-License-Identifier: Apache-2.0 */
#include "output/export/page/spans.h"

#include "output/base/array.h"

enum { PIECES = 4096, PIECE_LEAST_NS = 1000000 };

static int add_event(struct yarn_profile *profile)
{
    struct yarn_profile_event event = {.was_opened = true};
    uint32_t number;
    int err = yarn_strings_intern(&profile->strings, yarn_span_of_text("running"), &event.name);
    if (!err)
        err = yarn_strings_intern(&profile->strings, yarn_span_of_text("ns"), &event.unit);
    event.words = event.name;
    return err ? err : yarn_profile_event(profile, &event, &number);
}

/* One frame: the thread's name. */
static int stack_of(struct yarn_profile *profile, uint32_t thread, uint32_t *ret_stack)
{
    uint32_t function;
    int err = yarn_profile_function(profile, 0, profile->threads[thread].comm, &function);
    for (uint32_t i = 0; !err && i < profile->nr_stacks; i++) {
        *ret_stack = i;
        if (profile->stacks[i].function == function)
            return 0;
    }
    const struct yarn_profile_frame frame = {.function = function};
    const struct yarn_profile_stack stack = {YARN_DUMP_NONE, (uint32_t)profile->nr_frames,
                                             function};
    *ret_stack = (uint32_t)profile->nr_stacks;
    if (!err)
        err = YARN_ARRAY_PUT(&profile->frames, &profile->nr_frames, &profile->frames_capacity,
                             &frame);
    return err ? err
               : YARN_ARRAY_PUT(&profile->stacks, &profile->nr_stacks, &profile->stacks_capacity,
                                &stack);
}

/* The part of a span that is looked at, piece by piece. */
static int add_span(struct yarn_profile *profile, struct yarn_slices *slices,
                    struct yarn_timeline_entry *sample, uint64_t to_ns, uint64_t piece_ns)
{
    struct yarn_profile_event *event = &profile->events[sample->event];
    int err = 0;
    for (uint64_t at = sample->time_ns; !err && at < to_ns; at += piece_ns) {
        sample->time_ns = at;
        sample->weight = yarn_u64_min(piece_ns, to_ns - at);
        event->total += sample->weight;
        event->samples++;
        err = yarn_slices_take(slices, profile, sample);
    }
    return err;
}

static int add_life(struct yarn_profile *profile, const struct yarn_sched_log *sched,
                    const struct yarn_sched_life *life, struct yarn_slices *slices)
{
    uint64_t whole_ns = profile->end_ns - profile->start_ns;
    uint64_t piece_ns = yarn_u64_max(whole_ns / PIECES, PIECE_LEAST_NS);
    uint32_t stack;
    int err = stack_of(profile, life->owner, &stack);
    for (size_t i = life->first; !err && i < (size_t)life->first + life->count; i++) {
        const struct yarn_sched_span *span = &sched->spans[i];
        struct yarn_timeline_entry sample = {
            .time_ns = yarn_u64_max(span->begin_ns, sched->from_ns),
            .stack = stack,
            .thread = life->owner,
            .cpu = (uint16_t)span->cpu,
            .stack_end = YARN_DUMP_STACK_COMPLETE,
        };
        err = add_span(profile, slices, &sample,
                       yarn_u64_min(span->begin_ns + span->length_ns, sched->to_ns), piece_ns);
    }
    return err;
}

int yarn_page_spans_add(struct yarn_profile *profile, const struct yarn_sched_log *sched,
                        struct yarn_slices *slices)
{
    int err = add_event(profile);
    for (size_t i = 0; i < sched->nr_lives; i++)
        profile->end_ns = yarn_u64_max(profile->end_ns, sched->lives[i].end_ns);
    for (size_t i = 0; !err && i < sched->nr_lives; i++)
        err = add_life(profile, sched, &sched->lives[i], slices);
    return err;
}
