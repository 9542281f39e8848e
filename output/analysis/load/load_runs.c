/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/load/load_sched.h"

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
    int err = loader->options->sched ? yarn_loader_sched_runs(loader, runs, count) : 0;
    for (size_t i = 0; !err && is_wanted && i < count; i++)
        err = add_run(loader, &runs[i]);
    return err;
}
