/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/load/loader.h"

enum { SAMPLES_AT_ONCE = 256 };

/* 0 is "unknown". */
static void shift(const struct yarn_loader *loader, uint64_t *time_ns)
{
    uint64_t back_ns = loader->shift_ns < 0 ? 0 - (uint64_t)loader->shift_ns : 0;
    if (*time_ns)
        *time_ns = *time_ns <= back_ns ? 1 : *time_ns + (uint64_t)loader->shift_ns;
}

/* The clock that all machines are brought to. */
static int note_machine(struct yarn_loader *loader, const struct yarn_dump_process *record)
{
    struct yarn_machines *machines = &loader->profile->machines;
    char name[sizeof machines->list->name];
    loader->shift_ns = 0;
    if (!record->pid)
        return 0;
    yarn_machine_name(record, name);
    const struct yarn_machine *machine =
        yarn_machines_note(machines, name, (int64_t)(record->start_realtime_ns - record->start_ns));
    if (!machine)
        return -ENOMEM;
    loader->shift_ns = yarn_machines_shift_ns(machines, machine, loader->nr_machines);
    return 0;
}

/* The times of a record, which is the caller's. */
static void shift_times(const struct yarn_loader *loader, enum yarn_dump_record record, void *thing)
{
    size_t count;
    const struct yarn_dump_field *fields = yarn_dump_fields_of(record, &count);
    for (size_t i = 0; i < count && loader->shift_ns; i++) {
        uint64_t time_ns;
        if (fields[i].kind != YARN_DUMP_KIND_TIME)
            continue;
        yarn_dump_field_gather(&fields[i], thing, 0, 1, 0, &time_ns);
        shift(loader, &time_ns);
        (void)yarn_dump_field_scatter(&fields[i], &time_ns, 1, 0, thing, 0);
    }
}

#define YARN_RECORD(number, NAME, name, prose)                                                     \
    static int on_##name(void *self, const struct yarn_dump_##name *record)                        \
    {                                                                                              \
        struct yarn_dump_##name shifted = *record;                                                 \
        shift_times(self, YARN_DUMP_RECORD_##NAME, &shifted);                                      \
        int err = yarn_loader_keep(self, YARN_DUMP_RECORD_##NAME, &shifted);                       \
        return err || !yarn_loader_visitor.name ? err : yarn_loader_visitor.name(self, &shifted);  \
    }
#include "output/dump/format.def"

static int on_first(void *self, const struct yarn_dump_process *record)
{
    struct yarn_loader *loader = self;
    struct yarn_dump_process shifted = *record;
    int err = note_machine(loader, record);
    if (err)
        return err;
    shift(loader, &shifted.start_ns);
    shift(loader, &shifted.parent_start_ns);
    shift(loader, &shifted.predecessor_start_ns);
    shift(loader, &shifted.birth_ns);
    return on_process(self, &shifted);
}

static int on_samples(void *self, const struct yarn_sample *samples, size_t count)
{
    struct yarn_loader *loader = self;
    struct yarn_sample shifted[SAMPLES_AT_ONCE];
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

static int on_shown(void *self, enum yarn_dump_record record, const void *thing)
{
    struct yarn_dump_shown_at at = yarn_dump_shown_at(record, thing);
    shift(self, &at.time_ns);
    return yarn_loader_show(self, record, thing, &at);
}

struct yarn_dump_visitor yarn_loader_shifted_visitor(const struct yarn_load_options *options)
{
    struct yarn_dump_visitor visitor = yarn_loader_visitor;
#define YARN_RECORD(number, NAME, name, prose) visitor.name = on_##name;
#include "output/dump/format.def"
    visitor.process = on_first;
    visitor.samples = on_samples;
    visitor.shown = on_shown;
    if (options->has_no_code) {
        visitor.symbol = NULL;
        visitor.frame = NULL;
        visitor.stack = NULL;
        visitor.code_name = NULL;
    }
    return visitor;
}
