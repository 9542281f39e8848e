/* SPDX-License-Identifier: Apache-2.0 */
#include "output/export/trace_sched.h"

#include "output/trace/trace_sched.h"

static void put(FILE *file, const void *bytes, size_t size)
{
    if (size)
        (void)fwrite(bytes, 1, size, file);
}

static void put_process(FILE *file, const struct yarn_profile *profile,
                        const struct yarn_profile_dump *dump)
{
    const char *name = yarn_profile_text(profile, dump->comm);
    const struct yarn_trace_sched_process record = {
        .start_ns = dump->process.start_ns,
        .switches_lost = dump->trust.stored.value[YARN_DUMP_TOTAL_SWITCHES_LOST],
        .cut_ns = yarn_profile_dump_cut_ns(dump),
        .pid = dump->process.pid,
        .name_bytes = (uint32_t)strlen(name),
        .got_bytes = (uint32_t)dump->sched.got.size,
        .reason_bytes = (uint32_t)dump->sched.reason.size,
    };
    put(file, &record, sizeof record);
    put(file, name, record.name_bytes);
    put(file, dump->sched.got.data, record.got_bytes);
    put(file, dump->sched.reason.data, record.reason_bytes);
}

static void put_thread(FILE *file, const struct yarn_profile *profile,
                       const struct yarn_sched_life *life)
{
    const char *name = yarn_profile_text(profile, profile->threads[life->owner].comm);
    const struct yarn_trace_sched_thread record = {
        .birth_ns = life->birth_ns,
        .end_ns = life->end_ns,
        .cpu_ns = life->cpu_ns,
        .process = life->space,
        .tid = life->tid,
        .flags = (life->is_born ? YARN_TRACE_SCHED_BORN : 0u) |
                 (life->has_ended ? YARN_TRACE_SCHED_ENDED : 0u) |
                 (life->is_recorded ? YARN_TRACE_SCHED_RECORDED : 0u) |
                 (life->has_wakings ? YARN_TRACE_SCHED_WAKINGS : 0u),
        .name_bytes = (uint32_t)strlen(name),
    };
    put(file, &record, sizeof record);
    put(file, name, record.name_bytes);
}

static void put_span(FILE *file, const struct yarn_sched_log *sched,
                     const struct yarn_sched_span *span)
{
    const struct yarn_trace_sched_span record = {
        .begin_ns = span->begin_ns,
        .length_ns = span->length_ns,
        .process = sched->groups[span->group].space,
        .tid = sched->groups[span->group].tid,
        .cpu = span->cpu,
        .flags = (span->is_preempted ? YARN_TRACE_SCHED_PREEMPTED : 0u) |
                 (span->is_open ? YARN_TRACE_SCHED_OPEN : 0u),
    };
    put(file, &record, sizeof record);
}

static void put_reading(FILE *file, const struct yarn_sched_log *sched,
                        const struct yarn_sched_reading *reading)
{
    const struct yarn_trace_sched_reading record = {
        .time_ns = reading->time_ns,
        .run_ns = reading->run_ns,
        .wait_ns = reading->wait_ns,
        .process = sched->groups[reading->group].space,
        .tid = sched->groups[reading->group].tid,
    };
    put(file, &record, sizeof record);
}

static void put_waking(FILE *file, const struct yarn_sched_log *sched,
                       const struct yarn_sched_waking *waking)
{
    const struct yarn_trace_sched_waking record = {
        .time_ns = waking->time_ns,
        .process = sched->groups[waking->group].space,
        .tid = sched->groups[waking->group].tid,
        .waker_process = sched->groups[waking->waker].space,
        .waker = sched->groups[waking->waker].tid,
    };
    put(file, &record, sizeof record);
}

void yarn_trace_sched_put(FILE *file, const struct yarn_profile *profile,
                          const struct yarn_sched_log *sched)
{
    const struct yarn_trace_sched_head head = {
        .version = YARN_TRACE_SCHED_VERSION,
        .nr_processes = (uint32_t)profile->nr_dumps,
        .nr_threads = sched->nr_lives,
        .nr_spans = sched->nr_spans,
        .nr_readings = sched->nr_readings,
        .nr_gaps = sched->nr_gaps,
        .nr_wakings = sched->nr_wakings,
    };
    put(file, &head, sizeof head);
    for (size_t i = 0; i < profile->nr_dumps; i++)
        put_process(file, profile, &profile->dumps[i]);
    for (size_t i = 0; i < sched->nr_lives; i++)
        put_thread(file, profile, &sched->lives[i]);
    for (size_t i = 0; i < sched->nr_spans; i++)
        put_span(file, sched, &sched->spans[i]);
    for (size_t i = 0; i < sched->nr_readings; i++)
        put_reading(file, sched, &sched->readings[i]);
    for (size_t i = 0; i < sched->nr_gaps; i++) {
        const struct yarn_sched_gap *gap = &sched->gaps[i];
        put(file, &(struct yarn_trace_sched_gap){gap->from_ns, gap->to_ns, gap->space},
            sizeof(struct yarn_trace_sched_gap));
    }
    for (size_t i = 0; i < sched->nr_wakings; i++)
        put_waking(file, sched, &sched->wakings[i]);
}
