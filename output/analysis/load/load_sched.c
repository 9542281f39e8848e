/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/load/load_sched.h"

#include "output/analysis/time/coverage.h"

/* On the clock that all machines are brought to. */
static uint64_t shifted(const struct yarn_loader *loader, uint64_t time_ns)
{
    uint64_t back_ns = loader->shift_ns < 0 ? 0 - (uint64_t)loader->shift_ns : 0;
    return time_ns <= back_ns ? 0 : time_ns + (uint64_t)loader->shift_ns;
}

static void note_time(struct yarn_loader *loader, uint64_t time_ns, uint64_t length_ns)
{
    struct yarn_profile_dump *dump = yarn_loader_dump(loader);
    uint64_t end_ns = length_ns > UINT64_MAX - time_ns ? UINT64_MAX : time_ns + length_ns;
    dump->last_ns = yarn_u64_max(dump->last_ns, end_ns);
}

int yarn_loader_sched_runs(struct yarn_loader *loader, const struct yarn_dump_run *runs,
                           size_t count)
{
    loader->has_spans = loader->has_spans || count;
    int err = 0;
    for (size_t i = 0; !err && i < count; i++) {
        uint32_t thread; /* one is made up where no record named it */
        struct yarn_sched_span span = {
            .begin_ns = shifted(loader, runs[i].time_ns),
            .length_ns = runs[i].length_ns,
            .cpu = runs[i].cpu & ((UINT32_C(1) << 30) - 1),
            .is_preempted = runs[i].is_preempted && !runs[i].is_open,
            .is_open = runs[i].is_open,
        };
        note_time(loader, span.begin_ns, span.length_ns);
        err = yarn_loader_thread(loader, runs[i].tid, &thread);
        if (!err)
            err = yarn_sched_log_add_span(loader->options->sched, loader->dump, runs[i].tid, &span);
    }
    return err;
}

int yarn_loader_on_thread_times(void *self, const struct yarn_dump_thread_time *times, size_t count)
{
    struct yarn_loader *loader = self;
    int err = 0;
    for (size_t i = 0; loader->options->sched && !err && i < count; i++) {
        struct yarn_sched_reading reading = {
            .time_ns = shifted(loader, times[i].time_ns),
            .run_ns = times[i].run_ns,
            .wait_ns = times[i].wait_ns,
        };
        note_time(loader, reading.time_ns, 0);
        err = yarn_sched_log_add_reading(loader->options->sched, loader->dump, times[i].tid,
                                         &reading);
    }
    return err;
}

static int add_gap(struct yarn_loader *loader, uint64_t from_ns, uint64_t to_ns)
{
    const struct yarn_sched_gap gap = {from_ns, to_ns, loader->dump};
    return yarn_sched_log_add_gap(loader->options->sched, &gap);
}

int yarn_loader_sched_switches(struct yarn_loader *loader, const struct yarn_dump_switches *record)
{
    uint64_t since_ns = yarn_loader_dump(loader)->switches_off_ns;
    if (!loader->options->sched || !record->is_on || !since_ns)
        return 0;
    return add_gap(loader, since_ns, record->time_ns);
}

static int add_gaps(struct yarn_loader *loader, uint64_t end_ns)
{
    struct yarn_profile_dump *dump = yarn_loader_dump(loader);
    int err = dump->switches_off_ns ? add_gap(loader, dump->switches_off_ns, end_ns) : 0;
    for (size_t i = 0; !err && i < dump->nr_coverage; i++) {
        struct yarn_coverage_gap gap;
        if (yarn_coverage_gap_at(dump, i, &gap))
            err = add_gap(loader, gap.from_ns, gap.to_ns);
    }
    return err;
}

static bool has_switches(const struct yarn_loader *loader, const struct yarn_profile_dump *dump)
{
    return loader->has_spans || (dump->has_sched && dump->sched.got.size &&
                                 !yarn_span_equal(dump->sched.got, yarn_span_of_text("off")));
}

int yarn_loader_sched_end(struct yarn_loader *loader)
{
    struct yarn_profile *profile = loader->profile;
    struct yarn_profile_dump *dump = yarn_loader_dump(loader);
    if (!loader->options->sched)
        return 0;
    uint64_t end_ns = dump->has_end ? dump->end.time_ns : dump->last_ns;
    int err = add_gaps(loader, end_ns);
    for (size_t i = loader->first_thread; !err && i < profile->nr_threads; i++) {
        const struct yarn_profile_thread *thread = &profile->threads[i];
        const struct yarn_sched_life life = {
            .birth_ns = thread->start_ns,
            .end_ns = thread->has_ended ? thread->end_ns : end_ns,
            .cpu_ns = thread->cpu_ns,
            .space = loader->dump,
            .tid = thread->tid,
            .owner = (uint32_t)i,
            .is_born = thread->has_record && thread->parent_tid,
            .has_ended = thread->has_ended,
            .is_recorded = has_switches(loader, dump),
        };
        err = yarn_sched_log_add_life(loader->options->sched, &life);
    }
    loader->options->sched->from_ns = loader->from_ns;
    loader->options->sched->to_ns = loader->to_ns;
    return err;
}
