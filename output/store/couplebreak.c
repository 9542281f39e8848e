/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "output/store/spill.h"
#include "output/store/stream.h"

/* By position of the flag. */
static const struct {
    int id;
    enum yarn_stream_kind origin;
    const char *name;
} targets[] = {
    [COUPLEBREAK_SSWITCH_FPOS] = {COUPLEBREAK_SST_ID, YARN_STREAM_SWITCH,
                                  "couplebreak/sched_switch[target]"},
    [COUPLEBREAK_SWAKING_FPOS] = {COUPLEBREAK_SWT_ID, YARN_STREAM_WAKING,
                                  "couplebreak/sched_waking[target]"},
};

enum { NR_TARGETS = YARN_COUNT_OF(targets) };

int yarn_couplebreak_id_to_flag_pos(int id)
{
    for (int i = 0; i < NR_TARGETS; i++)
        if (targets[i].id == id)
            return i;
    return -1;
}

bool yarn_couplebreak_is_event(int id)
{
    return yarn_couplebreak_id_to_flag_pos(id) >= 0;
}

int yarn_couplebreak_flag_pos_to_id(int position)
{
    return position >= 0 && position < NR_TARGETS ? targets[position].id : -1;
}

const char *yarn_couplebreak_event_name(int id)
{
    int position = yarn_couplebreak_id_to_flag_pos(id);
    return position < 0 ? NULL : targets[position].name;
}

const struct yarn_entry *yarn_couplebreak_origin(const struct yarn_entry *entry)
{
    return entry && yarn_couplebreak_is_event(entry->event_id) ? entry - 1 : NULL;
}

static int position_of(const struct yarn_stream_event *event)
{
    for (int i = 0; event && event->target_pid.size && i < NR_TARGETS; i++)
        if (targets[i].origin == event->kind)
            return i;
    return -1;
}

int yarn_couplebreak_origin_id_to_flag_pos(const struct yarn_stream *stream, int id)
{
    return stream ? position_of(yarn_stream_event_by_id(stream, id)) : -1;
}

/* False: it has none. */
static bool make_target(const struct yarn_stream *stream, const struct yarn_entry *origin,
                        struct yarn_entry *ret_target)
{
    const struct yarn_stream_event *event = yarn_stream_event_by_id(stream, origin->event_id);
    int position = position_of(event);
    uint64_t pid;
    if (position < 0 ||
        !yarn_trace_field_value(&event->target_pid, yarn_stream_record(stream, origin), &pid))
        return false;
    *ret_target = *origin;
    ret_target->event_id = targets[position].id;
    ret_target->pid = yarn_stream_tid_of(stream, (uint32_t)pid);
    return true;
}

void yarn_stream_drop_pages(const struct yarn_stream *stream)
{
    yarn_sorter_drop(&stream->entries, 0);
    yarn_spill_drop_pages(stream->records);
}

static void drop_read(const struct yarn_stream *stream, size_t nr_read)
{
    if (nr_read % YARN_STREAM_DROP == 0)
        yarn_stream_drop_pages(stream);
}

static bool comes_in(const struct yarn_entry *entry)
{
    return entry->event_id == COUPLEBREAK_SST_ID || entry->event_id == YARN_STREAM_ID_IN;
}

/* Where nothing says where the woken thread comes in: where the kernel meant it to. */
static void place_as_meant(const struct yarn_stream *stream, struct yarn_entry *target)
{
    const struct yarn_stream_event *event = yarn_stream_event_of(stream, target);
    uint64_t cpu;
    if (yarn_trace_field_value(&event->target_cpu, yarn_stream_record(stream, target), &cpu))
        target->cpu = (int)cpu;
}

/* From the last to the first: where a thread comes in next is what was seen of it last. */
static int place_wakings(struct yarn_stream *stream)
{
    struct yarn_table next = YARN_TABLE_CLOSED;
    int err = 0;
    for (size_t i = stream->entries.count; !err && i-- > 0;) {
        struct yarn_entry *entry = &yarn_stream_list_of(stream)[i];
        drop_read(stream, i);
        if (comes_in(entry)) {
            err = yarn_table_remember(&next, (uint32_t)entry->pid, (uint32_t)entry->cpu);
        } else if (entry->event_id == COUPLEBREAK_SWT_ID) {
            uint32_t cpu = yarn_table_find(&next, (uint32_t)entry->pid);
            if (cpu == YARN_TABLE_NONE)
                place_as_meant(stream, entry);
            else
                entry->cpu = (int)cpu;
        }
    }
    yarn_table_close(&next);
    return err;
}

static void note_kinds(struct yarn_stream *stream)
{
    stream->nr_target_ids = 0;
    for (int i = 0; i < NR_TARGETS; i++)
        if (stream->flags & 1u << i)
            stream->target_ids[stream->nr_target_ids++] = targets[i].id;
}

/* Each target behind its origin, with its time and core: they stay in order. */
static int copy_with_targets(struct yarn_stream *stream, struct yarn_sorter *entries)
{
    int err = 0;
    for (size_t i = 0; !err && i < stream->entries.count; i++) {
        const struct yarn_entry *origin = &yarn_stream_list_of(stream)[i];
        struct yarn_entry target;
        drop_read(stream, i);
        err = yarn_sorter_add(entries, origin);
        if (err || !make_target(stream, origin, &target))
            continue;
        stream->flags |= 1u << yarn_couplebreak_id_to_flag_pos(target.event_id);
        err = yarn_sorter_add(entries, &target);
    }
    if (!err)
        err = yarn_sorter_sort(entries);
    return err ? err : yarn_sorter_gather(entries);
}

static int add_targets(struct yarn_stream *stream)
{
    struct yarn_sorter entries = {.order = stream->entries.order, .most = stream->entries.most};
    stream->flags = 0;
    int err = copy_with_targets(stream, &entries);
    if (err) {
        yarn_sorter_fini(&entries);
        return err;
    }
    yarn_sorter_fini(&stream->entries);
    stream->entries = entries;
    note_kinds(stream);
    return place_wakings(stream);
}

static void remove_targets(struct yarn_stream *stream)
{
    size_t count = 0;
    struct yarn_entry *entries = yarn_stream_list_of(stream);
    for (size_t i = 0; i < stream->entries.count; i++)
        if (!yarn_couplebreak_is_event(entries[i].event_id))
            entries[count++] = entries[i];
    stream->entries.count = count;
    stream->flags = 0;
    note_kinds(stream);
}

int yarn_stream_couplebreak(struct yarn_stream *stream, bool on)
{
    if (!stream)
        return -EINVAL;
    if (stream->is_on == on)
        return 0;
    int err = 0;
    if (on)
        err = add_targets(stream);
    if (!on || err)
        remove_targets(stream);
    stream->is_on = on && !err;
    return err;
}

unsigned yarn_stream_n_couplebreak_events(const struct yarn_stream *stream)
{
    return stream ? (unsigned)stream->nr_target_ids : 0;
}

uint32_t yarn_stream_couplebreak_flags(const struct yarn_stream *stream)
{
    return stream ? stream->flags : 0;
}

bool yarn_stream_couplebreak_is_on(const struct yarn_stream *stream)
{
    return stream && stream->is_on;
}

const int *yarn_stream_couplebreak_ids(const struct yarn_stream *stream, size_t *ret_count)
{
    if (ret_count)
        *ret_count = stream ? stream->nr_target_ids : 0;
    return stream ? stream->target_ids : NULL;
}
