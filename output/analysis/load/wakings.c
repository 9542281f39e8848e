/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/load/wakings.h"

#include <stdlib.h>

#include "output/analysis/load/raw_threads.h"
#include "output/base/array.h"

static bool is_waking(struct yarn_span format)
{
    static const char name[] = "name: sched_waking\n";
    return format.size >= sizeof name - 1 && memcmp(format.data, name, sizeof name - 1) == 0;
}

/* False: the sample has no such number. */
static bool take_pid(const struct yarn_trace_fields *fields, const char *name, struct yarn_span raw,
                     uint32_t *ret_pid)
{
    uint64_t pid;
    bool has_pid = yarn_trace_fields_value(fields, name, raw, &pid);
    *ret_pid = has_pid ? (uint32_t)pid : 0;
    return has_pid;
}

int yarn_wakings_add(struct yarn_wakings *wakings, struct yarn_profile *profile,
                     const struct yarn_trace_fields *fields, uint32_t thread,
                     const struct yarn_sample *sample)
{
    struct yarn_span raw = yarn_span_of_bytes(sample->raw);
    struct yarn_waking waking = {
        .time_ns = sample->time_ns,
        .waker = {.thread = thread},
        .woken = {.thread = YARN_DUMP_NONE},
    };
    uint64_t flags = 0;
    int err = yarn_raw_threads_note(&profile->raw_comms, &profile->strings, fields, raw);
    if (err || !take_pid(fields, "common_pid", raw, &waking.waker.raw_pid))
        return err;
    if (thread != YARN_DUMP_NONE) {
        wakings->has_other_numbers |= profile->threads[thread].tid != waking.waker.raw_pid;
        err = yarn_table_remember(&wakings->threads, waking.waker.raw_pid, thread);
    }
    if (err || !is_waking(fields->format) || !take_pid(fields, "pid", raw, &waking.woken.raw_pid))
        return err;
    if (yarn_trace_fields_value(fields, "common_flags", raw, &flags))
        waking.flags = (uint8_t)flags;
    return YARN_ARRAY_PUT(&wakings->list, &wakings->count, &wakings->capacity, &waking);
}

int yarn_wakings_add_arrival(struct yarn_wakings *wakings, const struct yarn_trace_fields *fields,
                             const struct yarn_sample *sample)
{
    struct yarn_waking_arrival arrival = {
        .time_ns = sample->time_ns, .who = {.thread = YARN_DUMP_NONE}, .cpu = sample->cpu};
    if (!take_pid(fields, "next_pid", yarn_span_of_bytes(sample->raw), &arrival.who.raw_pid))
        return 0;
    return YARN_ARRAY_PUT(&wakings->arrivals, &wakings->nr_arrivals, &wakings->arrivals_capacity,
                          &arrival);
}

/* Threads by their number; those with one number follow each other. */
struct by_tid {
    struct yarn_table last;
    uint32_t *before; /* owned; of each thread; YARN_DUMP_NONE: it is the first */
};

static int index_threads(const struct yarn_profile *profile, struct by_tid *ret_index)
{
    *ret_index = (struct by_tid){.last = YARN_TABLE_CLOSED};
    ret_index->before = calloc(profile->nr_threads + 1, sizeof *ret_index->before);
    int err = ret_index->before ? 0 : -ENOMEM;
    for (size_t i = 0; !err && i < profile->nr_threads; i++) {
        uint32_t found = yarn_table_find(&ret_index->last, profile->threads[i].tid);
        ret_index->before[i] = found == YARN_TABLE_NONE ? YARN_DUMP_NONE : found;
        err = yarn_table_remember(&ret_index->last, profile->threads[i].tid, (uint32_t)i);
    }
    return err;
}

static bool lives_at(const struct yarn_profile_thread *thread, uint64_t time_ns)
{
    return time_ns >= thread->start_ns && (!thread->end_ns || time_ns <= thread->end_ns);
}

static void resolve(const struct yarn_wakings *wakings, const struct yarn_profile *profile,
                    const struct by_tid *index, uint64_t time_ns, struct yarn_waking_side *side)
{
    uint32_t found = yarn_table_find(&wakings->threads, side->raw_pid);
    if (side->thread == YARN_DUMP_NONE && found != YARN_TABLE_NONE &&
        lives_at(&profile->threads[found], time_ns))
        side->thread = found;
    if (side->thread == YARN_DUMP_NONE && !wakings->has_other_numbers) {
        found = yarn_table_find(&index->last, side->raw_pid);
        for (uint32_t at = found == YARN_TABLE_NONE ? YARN_DUMP_NONE : found;
             at != YARN_DUMP_NONE && side->thread == YARN_DUMP_NONE; at = index->before[at])
            if (lives_at(&profile->threads[at], time_ns))
                side->thread = at;
    }
}

/* Where an event of the whole machine was open on every core and lost nothing. */
static int find_covers(struct yarn_wakings *wakings, const struct yarn_profile *profile)
{
    int err = 0;
    for (size_t i = 0; i < profile->nr_dumps; i++) {
        const struct yarn_profile_dump *dump = &profile->dumps[i];
        for (size_t e = 0; !err && e < dump->nr_events; e++) {
            const struct yarn_profile_dump_event *event = &dump->events[e];
            struct yarn_wakings_cover cover = {dump->process.start_ns,
                                               yarn_u64_max(dump->last_ns, dump->end.time_ns)};
            if (event->record.flags & YARN_DUMP_EVENT_IS_OF_MACHINE && !event->record.error &&
                is_waking(event->record.format) && !event->count.lost && !event->count.is_in_error)
                err = YARN_ARRAY_PUT(&wakings->covers, &wakings->nr_covers,
                                     &wakings->covers_capacity, &cover);
        }
    }
    return err;
}

static int resolve_all(struct yarn_wakings *wakings, const struct yarn_profile *profile)
{
    struct by_tid index;
    int err = index_threads(profile, &index);
    for (size_t i = 0; !err && i < wakings->count; i++) {
        struct yarn_waking *waking = &wakings->list[i];
        resolve(wakings, profile, &index, waking->time_ns, &waking->waker);
        resolve(wakings, profile, &index, waking->time_ns, &waking->woken);
    }
    for (size_t i = 0; !err && i < wakings->nr_arrivals; i++)
        if (wakings->arrivals[i].who.raw_pid)
            resolve(wakings, profile, &index, wakings->arrivals[i].time_ns,
                    &wakings->arrivals[i].who);
    if (!err)
        err = find_covers(wakings, profile);
    yarn_table_close(&index.last);
    free(index.before);
    return err;
}

static bool covers(const struct yarn_wakings *wakings, uint64_t from_ns, uint64_t to_ns)
{
    for (size_t i = 0; i < wakings->nr_covers; i++)
        if (wakings->covers[i].from_ns <= from_ns && to_ns <= wakings->covers[i].to_ns)
            return true;
    return false;
}

static int give(const struct yarn_waking *waking, const struct yarn_profile *profile,
                struct yarn_sched_log *sched)
{
    const struct yarn_profile_thread *threads = profile->threads;
    uint32_t woken = waking->woken.thread, waker = waking->waker.thread;
    bool is_foreign = waker == YARN_DUMP_NONE;
    if (woken == YARN_DUMP_NONE)
        return 0;
    const struct yarn_sched_waker by =
        yarn_sched_waker_of(is_foreign ? YARN_SCHED_FOREIGN : threads[waker].dump,
                            is_foreign ? waking->waker.raw_pid : threads[waker].tid, waking->flags);
    return yarn_sched_log_add_waking(sched, threads[woken].dump, threads[woken].tid,
                                     waking->time_ns, &by);
}

int yarn_wakings_add_to_log(struct yarn_wakings *wakings, const struct yarn_profile *profile,
                            struct yarn_sched_log *sched)
{
    int err = resolve_all(wakings, profile);
    for (size_t i = 0; !err && i < wakings->count; i++)
        err = give(&wakings->list[i], profile, sched);
    for (size_t i = 0; !err && i < sched->nr_lives; i++)
        sched->lives[i].has_wakings =
            covers(wakings, sched->lives[i].birth_ns, sched->lives[i].end_ns);
    for (size_t i = 0; !err && i < wakings->nr_arrivals; i++) {
        const struct yarn_waking_arrival *from = &wakings->arrivals[i];
        const struct yarn_sched_arrival arrival = {
            from->time_ns, from->cpu, {from->who.thread, from->who.raw_pid}};
        err = yarn_sched_cores_add(&sched->cores, &arrival);
    }
    return err;
}

void yarn_wakings_fini(struct yarn_wakings *wakings)
{
    free(wakings->list);
    free(wakings->arrivals);
    free(wakings->covers);
    yarn_table_close(&wakings->threads);
    *wakings = YARN_WAKINGS_EMPTY;
}
