/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/load/load_sched.h"

#include "output/analysis/time/coverage.h"
#include "output/base/array.h"

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

static int add_spans(struct yarn_loader *loader, const struct yarn_dump_run *runs, size_t count)
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

/* As perf script says them, blanks and all. */
static const char *const words[] = {
    [YARN_TIMELINE_SWITCH_IN] = "PERF_RECORD_SWITCH IN         ",
    [YARN_TIMELINE_SWITCH_OUT] = "PERF_RECORD_SWITCH OUT        ",
    [YARN_TIMELINE_SWITCH_PREEMPTED] = "PERF_RECORD_SWITCH OUT preempt",
};

static int add_switch(struct yarn_loader *loader, uint64_t time_ns, uint32_t thread, uint32_t cpu,
                      enum yarn_timeline_switch change)
{
    struct yarn_profile_dump *dump = yarn_loader_dump(loader);
    dump->last_ns = yarn_u64_max(dump->last_ns, time_ns);
    if (time_ns < loader->from_ns || time_ns > loader->to_ns)
        return 0;
    struct yarn_timeline_entry entry = {
        .time_ns = time_ns,
        .stack = YARN_DUMP_NONE,
        .thread = thread,
        .comm = loader->profile->threads[thread].comm,
        .dump = loader->dump,
        .cpu = (uint16_t)cpu,
        .change = (uint8_t)change,
    };
    int err = yarn_strings_intern(&loader->profile->strings, yarn_span_of_text(words[change]),
                                  &entry.text);
    return err ? err : yarn_timeline_add(loader->options->timeline, &entry);
}

/* A run is a switch in and one out, as far as that is known; one that goes on in another has no
 * out, and the other no in. */
static int add_run(struct yarn_loader *loader, const struct yarn_dump_run *run)
{
    uint32_t thread;
    uint64_t start_ns = run->time_ns + (uint64_t)loader->shift_ns;
    int err = yarn_loader_thread(loader, run->tid, &thread);
    if (err)
        return err;
    uint64_t *open_ns = &loader->profile->threads[thread].run_open_ns;
    if (*open_ns != start_ns)
        err = add_switch(loader, start_ns, thread, run->cpu, YARN_TIMELINE_SWITCH_IN);
    *open_ns = run->is_open && run->length_ns ? start_ns + run->length_ns : 0;
    if (err || run->is_open)
        return err;
    return add_switch(loader, start_ns + run->length_ns, thread, run->cpu,
                      run->is_preempted ? YARN_TIMELINE_SWITCH_PREEMPTED
                                        : YARN_TIMELINE_SWITCH_OUT);
}

int yarn_loader_on_runs(void *self, const struct yarn_dump_run *runs, size_t count)
{
    struct yarn_loader *loader = self;
    bool is_wanted = loader->options->timeline && loader->options->has_scheduling;
    int err = loader->options->sched ? add_spans(loader, runs, count) : 0;
    for (size_t i = 0; !err && is_wanted && i < count; i++)
        err = add_run(loader, &runs[i]);
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

int yarn_loader_sched_lost(struct yarn_loader *loader, const struct yarn_dump_lost *record)
{
    const struct yarn_sched_loss loss = {record->cpu, record->time_ns, 0};
    return loader->options->sched ? YARN_ARRAY_PUT(&loader->losses, &loader->nr_losses,
                                                   &loader->losses_capacity, &loss)
                                  : 0;
}

static bool is_before(const void *self, const void *a, const void *b)
{
    const struct yarn_sched_loss *one = a, *other = b;
    (void)self;
    return one->cpu != other->cpu ? one->cpu < other->cpu : one->time_ns < other->time_ns;
}

/* The first of the core that came at that time or later; NULL: there is none. */
static struct yarn_sched_loss *loss_since(struct yarn_loader *loader, uint32_t cpu,
                                          uint64_t time_ns)
{
    const struct yarn_sched_loss wanted = {cpu, time_ns, 0};
    size_t low = 0, high = loader->nr_losses;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (is_before(NULL, &loader->losses[middle], &wanted))
            low = middle + 1;
        else
            high = middle;
    }
    return low < loader->nr_losses && loader->losses[low].cpu == cpu ? &loader->losses[low] : NULL;
}

/* Any thread may have run on the core between the last that is known of it and what was written
 * when there was room again. A thread's own ring says nothing of a core. */
static int add_losses(struct yarn_loader *loader)
{
    const struct yarn_profile_dump *dump = yarn_loader_dump(loader);
    const struct yarn_sched_log *sched = loader->options->sched;
    int err = 0;
    if (!dump->trust.switches_lost ||
        yarn_span_equal(dump->sampler.strategy, yarn_span_of_text("per-thread")))
        return 0;
    err = YARN_ARRAY_SORT(&loader->losses, &loader->losses_capacity, loader->nr_losses, is_before,
                          NULL);
    for (size_t i = loader->first_span; !err && i < sched->nr_spans; i++) {
        const struct yarn_sched_span *span = &sched->spans[i];
        uint64_t end_ns = span->begin_ns + span->length_ns;
        struct yarn_sched_loss *loss = loss_since(loader, span->cpu, end_ns);
        if (loss)
            loss->from_ns = yarn_u64_max(loss->from_ns, end_ns);
    }
    for (size_t i = 0; !err && i < loader->nr_losses; i++) {
        const struct yarn_sched_loss *loss = &loader->losses[i];
        bool is_first = !i || loss[-1].cpu != loss->cpu;
        uint64_t before_ns = is_first ? dump->process.start_ns : loss[-1].time_ns;
        err = add_gap(loader, yarn_u64_max(loss->from_ns, before_ns), loss->time_ns);
    }
    return err;
}

static int add_gaps(struct yarn_loader *loader, uint64_t end_ns)
{
    struct yarn_profile_dump *dump = yarn_loader_dump(loader);
    int err = dump->switches_off_ns ? add_gap(loader, dump->switches_off_ns, end_ns) : 0;
    if (!err)
        err = add_losses(loader);
    loader->nr_losses = 0;
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
    bool has_losses = dump->trust.lost || dump->trust.switches_lost;
    int err = add_gaps(loader, end_ns);
    for (size_t i = loader->first_thread; !err && i < profile->nr_threads; i++) {
        const struct yarn_profile_thread *thread = &profile->threads[i];
        uint64_t over_ns = thread->has_ended ? thread->end_ns : end_ns;
        /* Threads that were there at the begin have a record: it is lost with others, and the
         * thread known from its first span on. */
        bool is_birth_lost = !thread->has_record && has_losses;
        const struct yarn_sched_life life = {
            .birth_ns = is_birth_lost ? over_ns : thread->start_ns,
            .end_ns = over_ns,
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

/* 0: no thread holds what it waits for, as far as is known. */
static uint32_t holder_of(struct yarn_loader *loader, const struct yarn_sample *sample)
{
    const struct yarn_dump_event *event = &yarn_loader_dump(loader)->events[sample->event].record;
    const bool may_have = event->flags & YARN_DUMP_EVENT_IS_OFF_CPU;
    uint64_t holder = 0;
    if (may_have && yarn_trace_fields_value(yarn_loader_fields(loader, sample->event), "holder",
                                            yarn_span_of_bytes(sample->raw), &holder))
        return (uint32_t)holder;
    return 0;
}

int yarn_loader_sched_lock_sample(struct yarn_loader *loader, const struct yarn_sample *sample,
                                  uint32_t stack)
{
    const struct yarn_sched_lock_sample added = {
        .place = stack, .time_ns = sample->time_ns, .ns = sample->weight};
    uint32_t holder = holder_of(loader, sample);
    if (!holder)
        return 0;
    return yarn_sched_log_add_lock_sample(loader->options->sched, loader->dump, sample->tid, holder,
                                          &added);
}
