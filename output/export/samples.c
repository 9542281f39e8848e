/* SPDX-License-Identifier: Apache-2.0 */
#include "output/export/samples.h"

#include <stdlib.h>

#include "output/base/array.h"

static void take_entry(const struct yarn_profile *profile, const struct yarn_timeline_entry *entry,
                       struct yarn_export_sample *ret)
{
    *ret = (struct yarn_export_sample){
        .time_ns = entry->time_ns,
        .weight = entry->weight,
        .count = 1,
        .stack = entry->stack,
        .thread = entry->thread,
        .comm = yarn_profile_comm_at(profile, entry->thread, entry->time_ns),
        .dump = entry->dump,
        .event = entry->event,
        .cpu = entry->cpu,
        .stack_end = entry->stack_end,
    };
}

static void take_cell(const struct yarn_profile *profile, const struct yarn_cell *cell,
                      struct yarn_export_sample *ret)
{
    const struct yarn_profile_thread *thread = &profile->threads[cell->thread];
    *ret = (struct yarn_export_sample){
        .weight = cell->weight,
        .count = cell->samples,
        .stack = cell->stack,
        .thread = cell->thread,
        .comm = thread->comm,
        .dump = thread->dump,
        .event = cell->event,
        .cpu = cell->cpu,
        .stack_end = cell->stack_end,
    };
}

static bool next(struct yarn_export_samples *samples, struct yarn_export_sample *ret)
{
    const struct yarn_export *export = samples->export;
    const struct yarn_timeline *timeline = export->timeline;
    if (!timeline) {
        if (samples->at >= export->profile->cells.count)
            return false;
        take_cell(export->profile, &export->profile->cells.cells[samples->at++], ret);
        return true;
    }
    while (samples->at < timeline->rows.count) {
        const struct yarn_timeline_entry *entry = yarn_timeline_at(timeline, samples->at++);
        if (entry->text)
            continue;
        take_entry(export->profile, entry, ret);
        return true;
    }
    return false;
}

static bool is_of_process(const struct yarn_export *export, uint32_t dump)
{
    return !export->process || export->process - 1 == dump;
}

bool yarn_export_next(struct yarn_export_samples *samples, struct yarn_export_sample *ret_sample)
{
    const struct yarn_choice *choice = samples->export->choice;
    struct yarn_export_sample sample;
    while (next(samples, &sample)) {
        if (!is_of_process(samples->export, sample.dump) ||
            !yarn_choice_has(choice, sample.event, sample.thread, sample.stack, sample.stack_end))
            continue;
        sample.root = yarn_profile_root_of(sample.stack, sample.stack_end);
        *ret_sample = sample;
        return true;
    }
    return false;
}

struct yarn_sum *yarn_export_totals(const struct yarn_export *export)
{
    struct yarn_export_samples samples = YARN_EXPORT_SAMPLES(export);
    struct yarn_export_sample sample;
    struct yarn_sum *totals = calloc(export->profile->nr_events + 1, sizeof *totals);
    while (totals && yarn_export_next(&samples, &sample)) {
        totals[sample.event].weight += sample.weight;
        totals[sample.event].samples += sample.count;
    }
    return totals;
}

int yarn_export_kernel(const struct yarn_export *export, struct yarn_kernel_time **ret_list,
                       size_t *ret_count)
{
    uint32_t event = yarn_kernel_time_event(export->profile);
    *ret_list = NULL;
    *ret_count = 0;
    if (export->is_part || event == YARN_DUMP_NONE || !export->choice->events[event])
        return 0;
    struct yarn_kernel_time *list;
    size_t all, count = 0;
    int err = yarn_kernel_time_of(export->profile, true, &list, &all);
    for (size_t i = 0; !err && i < all; i++) {
        if (is_of_process(export, list[i].dump))
            list[count++] = list[i];
    }
    if (!err) {
        *ret_list = list;
        *ret_count = count;
    }
    return err;
}

struct yarn_export_sample yarn_export_kernel_sample(const struct yarn_profile *profile,
                                                    const struct yarn_kernel_time *time)
{
    return (struct yarn_export_sample){
        .weight = time->ns,
        .stack = YARN_DUMP_NONE,
        .root = YARN_EXPORT_KERNEL_ROOT,
        .thread = time->thread,
        .comm = time->thread == YARN_DUMP_NONE ? profile->dumps[time->dump].comm
                                               : profile->threads[time->thread].comm,
        .dump = time->dump,
        .event = yarn_kernel_time_event(profile),
        .cpu = UINT16_MAX,
    };
}

int yarn_export_path(const struct yarn_profile *profile, uint32_t stack,
                     struct yarn_export_path *path)
{
    path->count = 0;
    for (; stack != YARN_DUMP_NONE; stack = profile->stacks[stack].parent) {
        if (YARN_ARRAY_PUT(&path->functions, &path->count, &path->capacity,
                           &(uint32_t){profile->stacks[stack].function}))
            return -ENOMEM;
    }
    return 0;
}

uint32_t yarn_export_main_dump(const struct yarn_profile *profile)
{
    const struct yarn_profile_dump *chief = yarn_profile_chief(profile);
    return chief ? (uint32_t)(chief - profile->dumps) : YARN_DUMP_NONE;
}
