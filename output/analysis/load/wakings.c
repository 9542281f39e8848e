/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/load/wakings.h"

#include <stdlib.h>

#include "core/event/trace_format.h"
#include "output/analysis/value/array.h"

enum { TABLE_FIRST = 64, TABLE_MOST = 1 << 24 };

static bool read_pid(struct yarn_span format, const char *name, struct yarn_span raw,
                     uint32_t *ret_pid)
{
    struct yarn_trace_field field;
    uint64_t number;
    if (!yarn_trace_format_find(format, yarn_span_of_text(name), &field) ||
        !yarn_trace_field_number(&field, yarn_trace_field_bytes(&field, raw), 0, &number))
        return false;
    *ret_pid = (uint32_t)number;
    return true;
}

/* What is full remembers no more. */
static int put(struct yarn_table *table, uint32_t key, uint32_t value)
{
    int err = table->slots ? 0 : yarn_table_open(table, TABLE_FIRST, TABLE_MOST);
    if (!err)
        err = yarn_table_put(table, key, value);
    return err == -ENOSPC ? 0 : err;
}

static uint32_t find(const struct yarn_table *table, uint32_t key)
{
    return table->slots ? yarn_table_find(table, key) : YARN_TABLE_NONE;
}

/* PID and COMM are fields of the sample. */
static int note_comm(struct yarn_wakings *wakings, struct yarn_profile *profile,
                     struct yarn_span format, struct yarn_span raw, const char *pid_name,
                     const char *comm_name)
{
    struct yarn_trace_field field;
    uint32_t pid, comm;
    if (!read_pid(format, pid_name, raw, &pid) ||
        !yarn_trace_format_find(format, yarn_span_of_text(comm_name), &field))
        return 0;
    int err = yarn_strings_intern(&profile->strings, yarn_trace_field_bytes(&field, raw), &comm);
    return err ? err : put(&wakings->comms, pid, comm);
}

static bool is_waking(struct yarn_span format)
{
    static const char name[] = "name: sched_waking\n";
    return format.size >= sizeof name - 1 && memcmp(format.data, name, sizeof name - 1) == 0;
}

static int note_comms(struct yarn_wakings *wakings, struct yarn_profile *profile,
                      struct yarn_span format, struct yarn_span raw)
{
    int err = note_comm(wakings, profile, format, raw, "prev_pid", "prev_comm");
    if (!err)
        err = note_comm(wakings, profile, format, raw, "next_pid", "next_comm");
    return err ? err : note_comm(wakings, profile, format, raw, "pid", "comm");
}

int yarn_wakings_add(struct yarn_wakings *wakings, struct yarn_profile *profile,
                     struct yarn_span format, uint32_t thread,
                     const struct yarn_dump_sample *sample)
{
    struct yarn_waking waking = {
        .time_ns = sample->time_ns,
        .waker = {.thread = thread},
        .woken = {.thread = YARN_DUMP_NONE},
    };
    int err = note_comms(wakings, profile, format, sample->raw);
    if (err || !read_pid(format, "common_pid", sample->raw, &waking.waker.raw_pid))
        return err;
    if (thread != YARN_DUMP_NONE) {
        wakings->has_other_numbers |= profile->threads[thread].tid != waking.waker.raw_pid;
        err = put(&wakings->threads, waking.waker.raw_pid, thread);
    }
    if (err || !is_waking(format) || !read_pid(format, "pid", sample->raw, &waking.woken.raw_pid))
        return err;
    return YARN_ARRAY_PUT(&wakings->list, &wakings->count, &wakings->capacity, &waking);
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
        uint32_t found = find(&ret_index->last, profile->threads[i].tid);
        ret_index->before[i] = found == YARN_TABLE_NONE ? YARN_DUMP_NONE : found;
        err = put(&ret_index->last, profile->threads[i].tid, (uint32_t)i);
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
    uint32_t found = find(&wakings->threads, side->raw_pid);
    if (side->thread == YARN_DUMP_NONE && found != YARN_TABLE_NONE &&
        lives_at(&profile->threads[found], time_ns))
        side->thread = found;
    if (side->thread == YARN_DUMP_NONE && !wakings->has_other_numbers) {
        found = find(&index->last, side->raw_pid);
        for (uint32_t at = found == YARN_TABLE_NONE ? YARN_DUMP_NONE : found;
             at != YARN_DUMP_NONE && side->thread == YARN_DUMP_NONE; at = index->before[at])
            if (lives_at(&profile->threads[at], time_ns))
                side->thread = at;
    }
}

/* Where an event of the whole machine was open and lost nothing. */
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
                is_waking(event->record.format) && !event->count.lost)
                err = YARN_ARRAY_PUT(&wakings->covers, &wakings->nr_covers,
                                     &wakings->covers_capacity, &cover);
        }
    }
    return err;
}

static int settle(struct yarn_wakings *wakings, const struct yarn_profile *profile)
{
    struct by_tid index;
    int err = index_threads(profile, &index);
    for (size_t i = 0; !err && i < wakings->count; i++) {
        struct yarn_waking *waking = &wakings->list[i];
        resolve(wakings, profile, &index, waking->time_ns, &waking->waker);
        resolve(wakings, profile, &index, waking->time_ns, &waking->woken);
    }
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
    return yarn_sched_log_add_waking(sched, threads[woken].dump, threads[woken].tid,
                                     waking->time_ns,
                                     is_foreign ? YARN_SCHED_FOREIGN : threads[waker].dump,
                                     is_foreign ? waking->waker.raw_pid : threads[waker].tid);
}

int yarn_wakings_give(struct yarn_wakings *wakings, const struct yarn_profile *profile,
                      struct yarn_sched_log *sched)
{
    int err = settle(wakings, profile);
    for (size_t i = 0; !err && i < wakings->count; i++)
        err = give(&wakings->list[i], profile, sched);
    for (size_t i = 0; !err && i < sched->nr_lives; i++)
        sched->lives[i].has_wakings =
            covers(wakings, sched->lives[i].birth_ns, sched->lives[i].end_ns);
    return err;
}

void yarn_wakings_fini(struct yarn_wakings *wakings)
{
    free(wakings->list);
    free(wakings->covers);
    yarn_table_close(&wakings->threads);
    yarn_table_close(&wakings->comms);
    *wakings = YARN_WAKINGS_EMPTY;
}
