/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "output/analysis/load/loader.h"
#include "output/base/array.h"

/* One event is enough: the first that has an alternate is the main clock. */
static bool is_judged(struct yarn_loader *loader, uint32_t event)
{
    const struct yarn_profile_dump *dump = yarn_loader_dump(loader);
    if (loader->phase_event == YARN_DUMP_NONE && dump->events[event].alternate_period)
        loader->phase_event = event;
    return loader->phase_event == event;
}

int yarn_loader_note_phase(struct yarn_loader *loader, const struct yarn_sample *sample,
                           uint32_t stack)
{
    if (!is_judged(loader, sample->event))
        return 0;
    const struct yarn_clock_phase_sample noted = {
        .time_ns = sample->time_ns,
        .weight = sample->weight,
        .number = stack == YARN_DUMP_NONE ? YARN_FUNCTION_NO_STACK
                                          : loader->profile->stacks[stack].function,
        .example = stack,
        .is_alternate = sample->flags & YARN_SAMPLE_ALTERNATE,
    };
    return yarn_clock_phase_add(&loader->phase, &noted);
}

int yarn_loader_end_phase(struct yarn_loader *loader)
{
    struct yarn_profile *profile = loader->profile;
    struct yarn_clock_phase *phase = &loader->phase;
    struct yarn_clock_phase_verdict verdict;
    int err = 0;
    yarn_clock_phase_end(phase);
    for (size_t i = 0; !err && i < phase->nr_rows; i++) {
        const struct yarn_clock_phase_row *row = &phase->rows[i];
        if (!yarn_clock_phase_judge(phase, row, &verdict))
            continue;
        profile->nr_judged++;
        if (!yarn_clock_phase_is_sure(verdict.chance, profile->nr_judged))
            continue;
        const struct yarn_profile_phase found = {
            .dump = loader->dump,
            .event = yarn_loader_dump(loader)->events[loader->phase_event].event,
            .function = row->example == YARN_DUMP_NONE ? YARN_FUNCTION_NO_STACK
                                                       : profile->stacks[row->example].function,
            .shares = {verdict.shares[0], verdict.shares[1]},
            .chance = verdict.chance,
        };
        err = YARN_ARRAY_PUT(&profile->phases, &profile->nr_phases, &profile->phases_capacity,
                             &found);
    }
    yarn_clock_phase_clear(phase);
    loader->phase_event = YARN_DUMP_NONE;
    return err;
}

static int by_difference(const void *left, const void *right)
{
    const struct yarn_profile_phase *a = left, *b = right;
    double one = fabs(a->shares[1] - a->shares[0]), other = fabs(b->shares[1] - b->shares[0]);
    return one > other ? -1 : one < other;
}

void yarn_loader_rank_phases(struct yarn_profile *profile)
{
    size_t nr_sure = 0;
    for (size_t i = 0; i < profile->nr_phases; i++)
        if (yarn_clock_phase_is_sure(profile->phases[i].chance, profile->nr_judged))
            profile->phases[nr_sure++] = profile->phases[i];
    profile->nr_phases = nr_sure;
    if (nr_sure)
        qsort(profile->phases, nr_sure, sizeof *profile->phases, by_difference);
}
