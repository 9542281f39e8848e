/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/load/load_stream.h"
#include "output/analysis/value/array.h"
#include "output/trace/trace_sched.h"

struct section {
    struct yarn_cursor cursor;
    struct yarn_profile *profile;
    struct yarn_stream *stream;
    struct yarn_sched_log *sched;
    struct yarn_table *comms; /* of wakers of other processes, by raw pid */
    const char *name;         /* owned by the profile's strings */
    uint32_t first_dump;
    struct yarn_trace_sched_head head;
};

/* Texts that follow their record. */
static int take_name(struct section *section, uint32_t size, uint32_t *ret_text)
{
    struct yarn_span name = yarn_cursor_span(&section->cursor, size);
    if (section->cursor.failed)
        return -EBADMSG;
    return yarn_strings_intern(&section->profile->strings, name, ret_text);
}

static int take_text(struct section *section, uint32_t size, struct yarn_span *ret_text)
{
    struct yarn_span text = yarn_cursor_span(&section->cursor, size);
    const char *kept = yarn_strings_keep(&section->profile->strings, text);
    if (section->cursor.failed)
        return -EBADMSG;
    if (kept)
        *ret_text = yarn_span_of(kept, size);
    return kept ? 0 : -ENOMEM;
}

/* *process becomes a dump of the profile. */
static bool find_process(const struct section *section, uint32_t *process)
{
    bool is_there = !section->cursor.failed && *process < section->head.nr_processes;
    *process += section->first_dump;
    return is_there;
}

static int take_process(struct section *section)
{
    struct yarn_profile *profile = section->profile;
    struct yarn_trace_sched_process record;
    struct yarn_profile_dump dump = {.path = section->name};
    yarn_cursor_read(&section->cursor, &record, sizeof record);
    dump.process.pid = record.pid;
    dump.process.start_ns = record.start_ns;
    dump.switches_cut_ns = record.cut_ns;
    dump.trust.stored.value[YARN_DUMP_TOTAL_SWITCHES_LOST] = record.switches_lost;
    dump.has_sched = record.got_bytes != 0;
    int err = take_name(section, record.name_bytes, &dump.comm);
    if (!err)
        err = take_text(section, record.got_bytes, &dump.sched.got);
    if (!err)
        err = take_text(section, record.reason_bytes, &dump.sched.reason);
    if (err)
        return err;
    if (!profile->nr_dumps || record.start_ns < profile->start_ns)
        profile->start_ns = record.start_ns;
    return YARN_ARRAY_PUT(&profile->dumps, &profile->nr_dumps, &profile->dumps_capacity, &dump);
}

static int take_thread(struct section *section)
{
    struct yarn_profile *profile = section->profile;
    struct yarn_trace_sched_thread record;
    yarn_cursor_read(&section->cursor, &record, sizeof record);
    if (!find_process(section, &record.process))
        return -EBADMSG;
    struct yarn_profile_thread thread = {
        .dump = record.process,
        .tid = record.tid,
        .last_comm = YARN_COMM_NONE,
        .has_record = true,
        .has_ended = record.flags & YARN_TRACE_SCHED_ENDED,
        .start_ns = record.birth_ns,
        .end_ns = record.flags & YARN_TRACE_SCHED_ENDED ? record.end_ns : 0,
        .cpu_ns = record.cpu_ns,
    };
    const struct yarn_sched_life life = {
        .birth_ns = record.birth_ns,
        .end_ns = record.end_ns,
        .cpu_ns = record.cpu_ns,
        .space = record.process,
        .tid = record.tid,
        .owner = (uint32_t)profile->nr_threads,
        .is_born = record.flags & YARN_TRACE_SCHED_BORN,
        .has_ended = record.flags & YARN_TRACE_SCHED_ENDED,
        .is_recorded = record.flags & YARN_TRACE_SCHED_RECORDED,
        .has_wakings = record.flags & YARN_TRACE_SCHED_WAKINGS,
    };
    int err = take_name(section, record.name_bytes, &thread.comm);
    if (!err)
        err = YARN_ARRAY_PUT(&profile->threads, &profile->nr_threads, &profile->threads_capacity,
                             &thread);
    return err ? err : yarn_sched_log_add_life(section->sched, &life);
}

static int take_span(struct section *section)
{
    struct yarn_trace_sched_span record;
    yarn_cursor_read(&section->cursor, &record, sizeof record);
    if (!find_process(section, &record.process))
        return -EBADMSG;
    const struct yarn_sched_span span = {
        .begin_ns = record.begin_ns,
        .length_ns = record.length_ns,
        .cpu = record.cpu & ((UINT32_C(1) << 30) - 1),
        .is_preempted = (record.flags & YARN_TRACE_SCHED_PREEMPTED) != 0,
        .is_open = (record.flags & YARN_TRACE_SCHED_OPEN) != 0,
    };
    return yarn_sched_log_add_span(section->sched, record.process, record.tid, &span);
}

static int take_reading(struct section *section)
{
    struct yarn_trace_sched_reading record;
    yarn_cursor_read(&section->cursor, &record, sizeof record);
    if (!find_process(section, &record.process))
        return -EBADMSG;
    const struct yarn_sched_reading reading = {
        .time_ns = record.time_ns, .run_ns = record.run_ns, .wait_ns = record.wait_ns};
    return yarn_sched_log_add_reading(section->sched, record.process, record.tid, &reading);
}

static int take_gap(struct section *section)
{
    struct yarn_trace_sched_gap record;
    yarn_cursor_read(&section->cursor, &record, sizeof record);
    uint32_t process = (uint32_t)yarn_u64_min(record.process, UINT32_MAX);
    if (!find_process(section, &process))
        return -EBADMSG;
    return yarn_sched_log_add_gap(section->sched,
                                  &(struct yarn_sched_gap){record.from_ns, record.to_ns, process});
}

static int note_waker(struct section *section, uint32_t raw_pid)
{
    const struct yarn_entry named = {.pid = (int)raw_pid};
    uint32_t comm;
    int err =
        yarn_strings_intern(&section->profile->strings,
                            yarn_span_of_text(yarn_stream_task(section->stream, &named)), &comm);
    return err ? err : yarn_table_remember(section->comms, raw_pid, comm);
}

static int take_waking(struct section *section)
{
    struct yarn_trace_sched_waking record;
    int err = 0;
    yarn_cursor_read(&section->cursor, &record, sizeof record);
    if (!find_process(section, &record.process))
        return -EBADMSG;
    if (record.waker_process == UINT32_MAX) {
        record.waker_process = YARN_SCHED_FOREIGN;
        err = note_waker(section, record.waker);
    } else if (!find_process(section, &record.waker_process)) {
        return -EBADMSG;
    }
    return err ? err
               : yarn_sched_log_add_waking(section->sched, record.process, record.tid,
                                           record.time_ns, record.waker_process, record.waker);
}

static int take_each(struct section *section, uint64_t count, int (*take)(struct section *))
{
    int err = 0;
    for (uint64_t i = 0; !err && i < count; i++)
        err = take(section);
    return err;
}

int yarn_profile_load_trace_sched(struct yarn_profile *profile, const char *name,
                                  struct yarn_stream *stream, struct yarn_sched_log *sched,
                                  struct yarn_table *comms)
{
    struct section section = {
        .cursor = yarn_cursor_of(stream->trace.sched),
        .profile = profile,
        .stream = stream,
        .sched = sched,
        .comms = comms,
        .name = yarn_strings_keep(&profile->strings, yarn_span_of_text(name)),
        .first_dump = (uint32_t)profile->nr_dumps,
    };
    const struct yarn_trace_sched_head *head = &section.head;
    yarn_cursor_read(&section.cursor, &section.head, sizeof section.head);
    int err = section.cursor.failed || head->version != YARN_TRACE_SCHED_VERSION ? -EBADMSG : 0;
    /* Why: a process without a thread takes forty times its bytes here. */
    if (!err && head->nr_processes > head->nr_threads)
        err = -EBADMSG;
    if (!err && !section.name)
        err = -ENOMEM;
    for (uint32_t i = 0; !err && i < head->nr_processes; i++)
        err = take_process(&section);
    if (!err)
        err = take_each(&section, head->nr_threads, take_thread);
    if (!err)
        err = take_each(&section, head->nr_spans, take_span);
    if (!err)
        err = take_each(&section, head->nr_readings, take_reading);
    if (!err)
        err = take_each(&section, head->nr_gaps, take_gap);
    if (!err)
        err = take_each(&section, head->nr_wakings, take_waking);
    if (err != -EBADMSG)
        return err;
    return yarn_trace_refuse(&stream->trace,
                             (uint64_t)(stream->trace.sched.data - stream->trace.bytes.data) +
                                 section.cursor.at,
                             "what it says of threads beside its events is damaged");
}
