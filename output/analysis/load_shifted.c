/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/loader.h"

enum { SAMPLES_AT_ONCE = 256 };

/* 0 is "unknown". */
static void shift(const struct yarn_loader *loader, uint64_t *time_ns)
{
    uint64_t back_ns = loader->shift_ns < 0 ? 0 - (uint64_t)loader->shift_ns : 0;
    if (*time_ns)
        *time_ns = *time_ns <= back_ns ? 1 : *time_ns + (uint64_t)loader->shift_ns;
}

static int on_process(void *self, const struct yarn_dump_process *record)
{
    struct yarn_loader *loader = self;
    struct yarn_machines *machines = &loader->profile->machines;
    struct yarn_dump_process shifted = *record;
    char name[sizeof machines->list->name];
    loader->shift_ns = 0;
    if (record->pid) {
        yarn_machine_name(record, name);
        const struct yarn_machine *machine = yarn_machines_note(
            machines, name, (int64_t)(record->start_realtime_ns - record->start_ns));
        if (!machine)
            return -ENOMEM;
        loader->shift_ns = yarn_machines_shift_ns(machines, machine, loader->nr_machines);
    }
    shift(loader, &shifted.start_ns);
    shift(loader, &shifted.parent_start_ns);
    shift(loader, &shifted.predecessor_start_ns);
    return yarn_loader_visitor.process(self, &shifted);
}

#define SHIFTED(member)                                                                            \
    static int on_##member(void *self, const struct yarn_dump_##member *record)                    \
    {                                                                                              \
        struct yarn_dump_##member shifted = *record;                                               \
        shift(self, &shifted.time_ns);                                                             \
        return yarn_loader_visitor.member(self, &shifted);                                         \
    }

SHIFTED(count)
SHIFTED(thread)
SHIFTED(thread_name)
SHIFTED(thread_end)
SHIFTED(module)
SHIFTED(lost)
SHIFTED(throttle)
SHIFTED(message)
SHIFTED(coverage)
SHIFTED(totals)
SHIFTED(end)

static int on_samples(void *self, const struct yarn_dump_sample *samples, size_t count)
{
    struct yarn_loader *loader = self;
    struct yarn_dump_sample shifted[SAMPLES_AT_ONCE];
    int err = 0;
    if (!loader->shift_ns)
        return yarn_loader_visitor.samples(self, samples, count);
    for (size_t at = 0; !err && at < count; at += SAMPLES_AT_ONCE) {
        size_t part = yarn_size_min(count - at, SAMPLES_AT_ONCE);
        memcpy(shifted, samples + at, part * sizeof *samples);
        for (size_t i = 0; i < part; i++)
            shift(loader, &shifted[i].time_ns);
        err = yarn_loader_visitor.samples(self, shifted, part);
    }
    return err;
}

struct yarn_dump_visitor yarn_loader_shifted_visitor(void)
{
    struct yarn_dump_visitor visitor = yarn_loader_visitor;
    visitor.process = on_process;
    visitor.count = on_count;
    visitor.thread = on_thread;
    visitor.thread_name = on_thread_name;
    visitor.thread_end = on_thread_end;
    visitor.module = on_module;
    visitor.lost = on_lost;
    visitor.throttle = on_throttle;
    visitor.message = on_message;
    visitor.coverage = on_coverage;
    visitor.totals = on_totals;
    visitor.end = on_end;
    visitor.samples = on_samples;
    return visitor;
}
