/* SPDX-License-Identifier: Apache-2.0 */
#include "output/export/trace_events.h"

#include <stdio.h>
#include <stdlib.h>

#include "output/base/array.h"
#include "output/export/trace_pages.h"

enum { CORES_MAX = 8192, NAMES_MAX = 1 << 22 };
#define UNKNOWN_PID UINT32_MAX

/* The kernel's format where long has 64 bits; for dumps without the kernel's own. */
static const char made_format[] =
    "name: sched_switch\nID: 60000\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
    "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
    "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
    "\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
    "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
    "\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
    "\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
    "\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n\n"
    "print fmt: \"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s ==> next_comm=%s "
    "next_pid=%d next_prio=%d\", REC->prev_comm, REC->prev_pid, REC->prev_prio, "
    "REC->prev_state ? \"S\" : \"R\", REC->next_comm, REC->next_pid, REC->next_prio\n";

static struct yarn_span name_in(struct yarn_span format)
{
    static const char key[] = "name: ";
    size_t at = sizeof key - 1;
    if (format.size <= at || memcmp(format.data, key, at) != 0)
        return (struct yarn_span){0};
    const uint8_t *end = memchr(format.data, '\n', format.size);
    return yarn_span_sub(format, at, end ? (size_t)(end - format.data) - at : 0);
}

static bool is_switch(struct yarn_span format)
{
    return yarn_span_equal(name_in(format), yarn_span_of_text("sched_switch"));
}

/* SYSTEM:NAME as it was opened; what is called otherwise is of the scheduler. */
static struct yarn_span system_in(struct yarn_span got)
{
    const uint8_t *colon = got.size ? memchr(got.data, ':', got.size) : NULL;
    return colon && colon != got.data ? yarn_span_sub(got, 0, (size_t)(colon - got.data))
                                      : yarn_span_of_text("sched");
}

static void keep_called(struct yarn_trace_field *kept, const char *name,
                        const struct yarn_trace_field *field)
{
    if (!kept->size && yarn_span_equal(field->name, yarn_span_of_text(name)))
        *kept = *field;
}

static void measure(struct yarn_trace_format *format)
{
    struct yarn_span rest = format->text;
    struct yarn_trace_field field;
    while (yarn_trace_format_next(&rest, &field)) {
        uint64_t end = (uint64_t)field.offset + field.size;
        format->raw_bytes = (uint32_t)yarn_u64_max(format->raw_bytes, end);
        format->has_more |= field.is_located || field.is_relative || !field.size;
        keep_called(&format->common_pid, "common_pid", &field);
        keep_called(&format->comm, "comm", &field);
        keep_called(&format->pid, "pid", &field);
    }
}

static const struct yarn_trace_format *find_format(const struct yarn_trace_events *events,
                                                   struct yarn_span text)
{
    for (size_t i = 0; i < events->nr_formats; i++)
        if (yarn_span_equal(events->formats[i].text, text))
            return &events->formats[i];
    return NULL;
}

static int add_format(struct yarn_trace_events *events, struct yarn_export *export,
                      struct yarn_span text, struct yarn_span system)
{
    struct yarn_trace_format format = {
        .text = text, .system = system, .id = yarn_trace_format_id(text)};
    if (!text.size || !format.id || find_format(events, text))
        return 0;
    for (size_t i = 0; i < events->nr_formats; i++) {
        if (events->formats[i].id != format.id &&
            !yarn_span_equal(name_in(events->formats[i].text), name_in(text)))
            continue;
        (void)snprintf(export->why, sizeof export->why,
                       "%.*s does not mean the same in all dumps: they are of different kernels",
                       (int)yarn_size_min(name_in(text).size, 64),
                       (const char *)name_in(text).data);
        return -ENOTSUP;
    }
    measure(&format);
    if (format.raw_bytes > YARN_TRACE_EVENT_MAX)
        return 0;
    return YARN_ARRAY_PUT(&events->formats, &events->nr_formats, &events->formats_capacity,
                          &format);
}

static int collect_formats(struct yarn_trace_events *events, struct yarn_export *export)
{
    const struct yarn_profile *profile = export->profile;
    int err = 0;
    for (size_t i = 0; i < profile->nr_dumps; i++) {
        for (size_t e = 0; !err && e < profile->dumps[i].nr_events; e++) {
            const struct yarn_profile_dump_event *event = &profile->dumps[i].events[e];
            struct yarn_span text = event->record.format;
            if (event->samples)
                err = add_format(events, export, text, system_in(event->record.got));
            const struct yarn_trace_format *found = err ? NULL : find_format(events, text);
            if (found)
                err = yarn_table_put(&events->by_text, (uintptr_t)text.data,
                                     (uint32_t)(found - events->formats));
        }
    }
    return err;
}

static bool find_field(struct yarn_span format, const char *name, struct yarn_trace_field *field)
{
    return yarn_trace_format_find(format, yarn_span_of_text(name), field);
}

/* Records that are made stand in the format of sched_switch that the others have. */
static int find_switching(struct yarn_trace_events *events, struct yarn_export *export)
{
    size_t at = 0;
    while (at < events->nr_formats && !is_switch(events->formats[at].text))
        at++;
    if (at == events->nr_formats) {
        int err =
            add_format(events, export, yarn_span_of_text(made_format), yarn_span_of_text("sched"));
        if (err)
            return err;
    }
    events->switching = at;
    struct yarn_span text = events->formats[at].text;
    if (find_field(text, "prev_comm", &events->prev.comm) &&
        find_field(text, "prev_pid", &events->prev.pid) &&
        find_field(text, "next_comm", &events->next.comm) &&
        find_field(text, "next_pid", &events->next.pid) &&
        find_field(text, "prev_state", &events->state) &&
        find_field(text, "common_type", &events->common_type) &&
        find_field(text, "common_pid", &events->common_pid))
        return 0;
    (void)snprintf(export->why, sizeof export->why, "a dump's format of sched_switch has no %s",
                   "prev_pid, next_pid or the like");
    return -ENOTSUP;
}

static const struct yarn_profile_dump_event *event_of(const struct yarn_profile *profile,
                                                      const struct yarn_timeline_entry *entry)
{
    const struct yarn_profile_dump *dump = &profile->dumps[entry->dump];
    for (size_t e = 0; e < dump->nr_events; e++)
        if (dump->events[e].event == entry->event)
            return &dump->events[e];
    return NULL;
}

static bool passes(const struct yarn_trace_events *events, const struct yarn_timeline_entry *entry)
{
    const struct yarn_choice *choice = events->export->choice;
    if (entry->cpu >= events->nr_cores)
        return false;
    if (entry->change)
        return choice->threads[entry->thread];
    return !entry->text && entry->detail &&
           yarn_choice_has(choice, entry->event, entry->thread, entry->stack, entry->stack_end);
}

/* The raw bytes of a sample, as many as its format speaks of; empty: it is none, or too short. */
static struct yarn_span raw_of(const struct yarn_trace_events *events,
                               const struct yarn_timeline_entry *entry,
                               const struct yarn_trace_format **ret_format)
{
    const struct yarn_profile *profile = events->export->profile;
    const struct yarn_profile_detail *detail = &profile->details[entry->detail - 1];
    const struct yarn_profile_dump_event *event = event_of(profile, entry);
    uint32_t at = event ? yarn_table_find(&events->by_text, (uintptr_t)event->record.format.data)
                        : YARN_TABLE_NONE;
    *ret_format = at == YARN_TABLE_NONE ? NULL : &events->formats[at];
    if (!*ret_format || !detail->raw || detail->raw_bytes < (*ret_format)->raw_bytes)
        return (struct yarn_span){0};
    size_t size = (*ret_format)->has_more ? detail->raw_bytes : (*ret_format)->raw_bytes;
    return yarn_span_of(detail->raw, size);
}

static uint32_t number_in(const struct yarn_trace_field *field, struct yarn_span raw)
{
    uint64_t number;
    if (!yarn_trace_field_number(field, yarn_trace_field_bytes(field, raw), 0, &number))
        return UNKNOWN_PID;
    return (uint32_t)number;
}

static uint64_t thread_key(const struct yarn_timeline_entry *entry, uint32_t tid)
{
    return (uint64_t)entry->dump << 32 | tid;
}

static int note_name(struct yarn_trace_events *events, uint32_t pid, struct yarn_span comm)
{
    uint32_t at = yarn_table_find(&events->name_index, pid);
    int err = 0;
    if (!pid || pid == UNKNOWN_PID || (at == YARN_TABLE_NONE && events->nr_names >= NAMES_MAX))
        return 0;
    if (at == YARN_TABLE_NONE) {
        struct yarn_trace_name name = {.pid = pid};
        at = (uint32_t)events->nr_names;
        err = YARN_ARRAY_PUT(&events->names, &events->nr_names, &events->names_capacity, &name);
        if (!err)
            err = yarn_table_put(&events->name_index, pid, at);
    }
    if (err)
        return err;
    struct yarn_trace_name *name = &events->names[at];
    size_t size = yarn_size_min(comm.size, sizeof name->comm - 1);
    memset(name->comm, 0, sizeof name->comm);
    if (size)
        memcpy(name->comm, comm.data, size);
    return 0;
}

static int note_side(struct yarn_trace_events *events, const struct yarn_trace_side *side,
                     struct yarn_span raw)
{
    return note_name(events, number_in(&side->pid, raw), yarn_trace_field_bytes(&side->comm, raw));
}

/* A sample's thread, by both of its numbers, and what it calls others. */
static int learn_from(struct yarn_trace_events *events, const struct yarn_timeline_entry *entry)
{
    const struct yarn_trace_format *format;
    int err = 0;
    struct yarn_span raw = raw_of(events, entry, &format);
    if (!raw.size)
        return 0;
    events->nr_events++;
    if (entry->thread != YARN_DUMP_NONE && format->common_pid.size) {
        uint32_t tid = events->export->profile->threads[entry->thread].tid;
        err = yarn_table_put(&events->raw_pids, thread_key(entry, tid),
                             number_in(&format->common_pid, raw));
    }
    if (!err && format == &events->formats[events->switching]) {
        err = note_side(events, &events->prev, raw);
        if (!err)
            err = note_side(events, &events->next, raw);
    } else if (!err && format->comm.size && format->pid.size) {
        const struct yarn_trace_side one = {.comm = format->comm, .pid = format->pid};
        err = note_side(events, &one, raw);
    }
    return err;
}

static uint32_t raw_pid_of(const struct yarn_trace_events *events,
                           const struct yarn_timeline_entry *entry)
{
    uint32_t tid = events->export->profile->threads[entry->thread].tid;
    uint32_t raw = yarn_table_find(&events->raw_pids, thread_key(entry, tid));
    return raw == YARN_TABLE_NONE ? tid : raw;
}

static const char *comm_of(const struct yarn_trace_events *events,
                           const struct yarn_timeline_entry *entry)
{
    const struct yarn_profile *profile = events->export->profile;
    return yarn_profile_text(profile, yarn_profile_comm_at(profile, entry->thread, entry->time_ns));
}

static int learn(struct yarn_trace_events *events)
{
    const struct yarn_timeline *timeline = events->export->timeline;
    int err = 0;
    for (size_t i = 0; !err && i < timeline->rows.count; i++) {
        const struct yarn_timeline_entry *entry = yarn_timeline_at(timeline, i);
        if (entry->cpu < CORES_MAX && (entry->change || entry->detail))
            events->nr_cores = yarn_size_max(events->nr_cores, (size_t)entry->cpu + 1);
        if (passes(events, entry) && !entry->change)
            err = learn_from(events, entry);
    }
    for (size_t i = 0; !err && i < timeline->rows.count; i++) {
        const struct yarn_timeline_entry *entry = yarn_timeline_at(timeline, i);
        if (!passes(events, entry) || !entry->change)
            continue;
        events->nr_events++;
        err =
            note_name(events, raw_pid_of(events, entry), yarn_span_of_text(comm_of(events, entry)));
    }
    return err;
}

/* Whatever fields call yarn's own threads. */
static int name_own(struct yarn_trace_events *events)
{
    const struct yarn_profile *profile = events->export->profile;
    int err = 0;
    for (size_t i = 0; !err && i < profile->nr_dumps; i++) {
        uint32_t pid = profile->dumps[i].sampler.own_tid;
        if (yarn_table_find(&events->name_index, pid) != YARN_TABLE_NONE)
            err = note_name(events, pid, yarn_span_of_text("[yarn]"));
    }
    return err;
}

int yarn_trace_events_init(struct yarn_trace_events *events, struct yarn_export *export)
{
    *events = (struct yarn_trace_events){.export = export,
                                         .by_text = YARN_TABLE_CLOSED,
                                         .raw_pids = YARN_TABLE_CLOSED,
                                         .name_index = YARN_TABLE_CLOSED};
    int err = yarn_table_open(&events->raw_pids, 64, (size_t)1 << 31);
    if (!err)
        err = yarn_table_open(&events->name_index, 64, (size_t)1 << 31);
    if (!err)
        err = yarn_table_open(&events->by_text, 64, (size_t)1 << 31);
    if (!err)
        err = collect_formats(events, export);
    if (!err)
        err = find_switching(events, export);
    if (!err)
        err = learn(events);
    if (!err)
        err = name_own(events);
    if (!err && !events->nr_events) {
        (void)snprintf(export->why, sizeof export->why,
                       "nothing of the scheduler is in it: neither switch records nor tracepoints "
                       "(YARN_SCHED)");
        err = -ENODATA;
    }
    if (!err) {
        events->on_cores = calloc(events->nr_cores, sizeof *events->on_cores);
        err = events->on_cores ? 0 : -ENOMEM;
    }
    return err;
}

void yarn_trace_events_fini(struct yarn_trace_events *events)
{
    yarn_table_close(&events->raw_pids);
    yarn_table_close(&events->name_index);
    yarn_table_close(&events->by_text);
    free(events->formats);
    free(events->names);
    free(events->on_cores);
    *events = (struct yarn_trace_events){.by_text = YARN_TABLE_CLOSED,
                                         .raw_pids = YARN_TABLE_CLOSED,
                                         .name_index = YARN_TABLE_CLOSED};
}

static void set_number(const struct yarn_trace_field *field, uint64_t number, uint8_t *raw)
{
    memcpy(raw + field->offset, &number, yarn_size_min(field->size, sizeof number));
}

static void set_side(const struct yarn_trace_side *side, uint32_t pid, const char *comm,
                     uint8_t *raw)
{
    set_number(&side->pid, pid, raw);
    if (side->comm.size)
        (void)snprintf((char *)raw + side->comm.offset, side->comm.size, "%s", comm);
}

/* The other half of a switch that only one side of was recorded. */
static size_t make_switch(const struct yarn_trace_events *events,
                          const struct yarn_timeline_entry *entry, uint32_t pid, uint8_t *raw)
{
    const struct yarn_trace_format *format = &events->formats[events->switching];
    bool is_in = entry->change == YARN_TIMELINE_SWITCH_IN;
    memset(raw, 0, format->raw_bytes);
    set_number(&events->common_type, format->id, raw);
    set_number(&events->common_pid, is_in ? 0 : pid, raw);
    set_number(&events->state, entry->change == YARN_TIMELINE_SWITCH_OUT, raw);
    set_side(is_in ? &events->next : &events->prev, pid, comm_of(events, entry), raw);
    set_side(is_in ? &events->prev : &events->next, 0, "not-recorded", raw);
    return format->raw_bytes;
}

static bool is_told_by(const struct yarn_profile_dump *dump, uint64_t time_ns, bool by_any)
{
    for (size_t e = 0; e < dump->nr_events; e++) {
        const struct yarn_profile_dump_event *event = &dump->events[e];
        bool is_of_machine = event->record.flags & YARN_DUMP_EVENT_IS_OF_MACHINE;
        if (event->samples && is_switch(event->record.format) && (by_any || is_of_machine))
            return by_any || (time_ns >= dump->process.start_ns && time_ns <= dump->last_ns);
    }
    return false;
}

/* A dump with sched_switch of its own has who left a core, and also who came in where it came in
 * for a thread of the dump; one of the whole machine has all of the time that it covers. */
static bool is_told(const struct yarn_trace_events *events, const struct yarn_timeline_entry *entry,
                    uint32_t pid)
{
    const struct yarn_profile *profile = events->export->profile;
    for (size_t i = 0; i < profile->nr_dumps; i++)
        if (is_told_by(&profile->dumps[i], entry->time_ns, false))
            return true;
    if (entry->change == YARN_TIMELINE_SWITCH_IN)
        return events->on_cores[entry->cpu] == pid;
    return is_told_by(&profile->dumps[entry->dump], entry->time_ns, true);
}

static int take_switch(struct yarn_trace_events *events, const struct yarn_timeline_entry *entry,
                       yarn_trace_event_fn *take, void *self)
{
    uint8_t raw[YARN_TRACE_EVENT_MAX];
    uint32_t pid = raw_pid_of(events, entry);
    if (is_told(events, entry, pid))
        return 0;
    events->on_cores[entry->cpu] = entry->change == YARN_TIMELINE_SWITCH_IN ? pid : UNKNOWN_PID;
    events->nr_made++;
    return take(self, entry->cpu, entry->time_ns,
                yarn_span_of(raw, make_switch(events, entry, pid, raw)));
}

static int take_sample(struct yarn_trace_events *events, const struct yarn_timeline_entry *entry,
                       yarn_trace_event_fn *take, void *self)
{
    const struct yarn_trace_format *format;
    struct yarn_span raw = raw_of(events, entry, &format);
    if (!raw.size)
        return 0;
    if (format == &events->formats[events->switching])
        events->on_cores[entry->cpu] = number_in(&events->next.pid, raw);
    return take(self, entry->cpu, entry->time_ns, raw);
}

int yarn_trace_events_each(struct yarn_trace_events *events, yarn_trace_event_fn *take, void *self)
{
    const struct yarn_timeline *timeline = events->export->timeline;
    int err = 0;
    events->nr_made = 0;
    memset(events->on_cores, 0xff, events->nr_cores * sizeof *events->on_cores);
    for (size_t i = 0; !err && i < timeline->rows.count; i++) {
        const struct yarn_timeline_entry *entry = yarn_timeline_at(timeline, i);
        if (!passes(events, entry))
            continue;
        err = entry->change ? take_switch(events, entry, take, self)
                            : take_sample(events, entry, take, self);
    }
    return err;
}
