/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>

#include "output/analysis/load/loader.h"
#include "output/base/array.h"

enum { END_MAX = 200 };

/* "function+0x1f (module)". */
static const char *text_of(const struct yarn_profile *profile, uint32_t number, char *text)
{
    if (number == YARN_DUMP_NONE)
        return "[unknown]";
    const struct yarn_profile_frame *frame = &profile->frames[number];
    const struct yarn_profile_function *function = &profile->functions[frame->function];
    const char *module = yarn_profile_text(profile, profile->modules[function->module].base);
    if (function->is_unknown)
        (void)snprintf(text, END_MAX, "[unknown] (%.60s)", module);
    else
        (void)snprintf(text, END_MAX, "%.100s+0x%" PRIx64 " (%.60s)",
                       yarn_profile_text(profile, function->name), frame->address - frame->start,
                       module);
    return text;
}

static int note(struct yarn_loader *loader, const struct yarn_profile_branch *branch,
                uint64_t time_ns)
{
    const struct yarn_profile *profile = loader->profile;
    char from[END_MAX], to[END_MAX];
    return yarn_loader_note(loader, time_ns, branch->thread, YARN_DUMP_NONE,
                            "YARN_branch %.80s: %s -> %s count %" PRIu64 " mispredicted %" PRIu64
                            " cycles %" PRIu64,
                            yarn_profile_text(profile, profile->events[branch->event].name),
                            text_of(profile, branch->from, from), text_of(profile, branch->to, to),
                            branch->count, branch->mispredicted, branch->cycles);
}

static uint32_t frame_of(const struct yarn_loader *loader, uint32_t number)
{
    uint32_t frame =
        number == YARN_DUMP_NONE ? YARN_NUMBER_NONE : yarn_number_map_find(&loader->frames, number);
    return frame == YARN_NUMBER_NONE ? YARN_DUMP_NONE : frame;
}

/* Sums of many are numbers of 64 bits. */
static uint64_t bounded(uint64_t amount)
{
    return yarn_u64_min(amount, UINT64_C(1) << 40);
}

static int add(struct yarn_loader *loader, const struct yarn_dump_branch *row)
{
    struct yarn_profile *profile = loader->profile;
    const struct yarn_profile_dump *dump = yarn_loader_dump(loader);
    uint64_t time_ns = row->time_ns + (uint64_t)loader->shift_ns;
    if (row->event >= dump->nr_events || time_ns < loader->from_ns || time_ns > loader->to_ns)
        return 0;
    struct yarn_profile_branch branch = {
        .event = dump->events[row->event].event,
        .from = frame_of(loader, row->from),
        .to = frame_of(loader, row->to),
        .count = bounded(row->count),
        .mispredicted = bounded(row->mispredicted),
        .cycles = bounded(row->cycles),
    };
    int err = yarn_loader_thread(loader, row->tid, &branch.thread);
    if (!err && loader->options->timeline)
        err = note(loader, &branch, time_ns);
    if (err || !loader->options->has_branches)
        return err;
    return YARN_ARRAY_PUT(&profile->branches, &profile->nr_branches, &profile->branches_capacity,
                          &branch);
}

int yarn_loader_on_branches(void *self, const struct yarn_dump_branch *branches, size_t count)
{
    struct yarn_loader *loader = self;
    bool is_wanted = loader->options->timeline || loader->options->has_branches;
    int err = 0;
    for (size_t i = 0; !err && is_wanted && i < count; i++)
        err = add(loader, &branches[i]);
    return err;
}
