/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/views/script_twins.h"

#include <inttypes.h>

#include "output/analysis/profile/profile.h"
#include "output/text/legible.h"

static bool has(const struct yarn_script *script, enum yarn_script_field field)
{
    return script->fields & (1u << field);
}

static void print_text(FILE *file, const char *text)
{
    struct yarn_legible legible;
    (void)fputs(yarn_legible(&legible, text ? text : ""), file);
    yarn_legible_fini(&legible);
}

static void print_ids(const struct yarn_script *script, unsigned pid, int tid, FILE *file)
{
    if (has(script, YARN_SCRIPT_PID) && has(script, YARN_SCRIPT_TID))
        (void)fprintf(file, "%7u/%-7d ", pid, tid);
    else if (has(script, YARN_SCRIPT_PID))
        (void)fprintf(file, "%7u ", pid);
    else if (has(script, YARN_SCRIPT_TID))
        (void)fprintf(file, "%7d ", tid);
}

static void print_entry(const struct yarn_script *script, struct yarn_stream *stream,
                        const struct yarn_entry *entry, FILE *file)
{
    uint32_t pid = yarn_stream_pid(stream);
    if (has(script, YARN_SCRIPT_COMM)) {
        print_text(file, yarn_stream_task(stream, entry));
        (void)fputc(' ', file);
    }
    if (!yarn_stream_is_own(stream, entry->pid)) /* of another process: of which is not known */
        pid = (uint32_t)entry->pid;
    print_ids(script, pid, entry->pid, file);
    if (has(script, YARN_SCRIPT_CPU) && entry->cpu >= 0)
        (void)fprintf(file, "[%03d] ", entry->cpu);
    if (has(script, YARN_SCRIPT_TIME))
        (void)fprintf(file, "%5" PRIu64 ".%06" PRIu64 ": ", entry->time_ns / YARN_NS_PER_SECOND,
                      entry->time_ns % YARN_NS_PER_SECOND / 1000);
    if (has(script, YARN_SCRIPT_PERIOD))
        (void)fprintf(file, "%10d ", 1);
    if (has(script, YARN_SCRIPT_EVENT)) {
        print_text(file, yarn_stream_event_name(stream, entry));
        (void)fputs(": ", file);
    }
    if (has(script, YARN_SCRIPT_TRACE))
        print_text(file, yarn_stream_info(stream, entry));
    (void)fputc('\n', file);
}

static bool thread_passes(const struct yarn_filter *filter, const struct yarn_stream *stream,
                          const struct yarn_entry *entry)
{
    char pid[16], process[16];
    const char *task = yarn_stream_task(stream, entry);
    (void)snprintf(pid, sizeof pid, "%d", entry->pid);
    (void)snprintf(process, sizeof process, "%u", yarn_stream_pid(stream));
    return (!filter->threads || yarn_filter_list_has(filter->threads, task) ||
            yarn_filter_list_has(filter->threads, pid)) &&
           (!filter->comms || yarn_filter_list_has(filter->comms, task)) &&
           (!filter->processes || yarn_filter_list_has(filter->processes, process));
}

void yarn_script_streams(const struct yarn_script *script, const struct yarn_couples_shown *shown,
                         const struct yarn_out *out)
{
    for (size_t i = 0; i < script->couples->count; i++) {
        size_t count;
        struct yarn_stream *stream = script->couples->list[i].stream;
        const struct yarn_entry *entries = yarn_stream_entries(stream, &count);
        struct yarn_couples_choice choice = yarn_couples_choose(script->couples, shown, i);
        for (size_t e = 0; e < count && !ferror(out->file); e++)
            if (yarn_couples_passes(&choice, &entries[e]) &&
                thread_passes(script->filter, stream, &entries[e]))
                print_entry(script, stream, &entries[e], out->file);
    }
}

static struct yarn_stream *stream_of(const struct yarn_script *script, uint32_t dump)
{
    const struct yarn_dump_process *process = &script->profile->dumps[dump].process;
    for (size_t i = 0; i < script->couples->count; i++) {
        struct yarn_stream *stream = script->couples->list[i].stream;
        if (stream->pid == process->pid && stream->start_ns == process->start_ns)
            return stream;
    }
    return NULL;
}

static size_t first_at(const struct yarn_entry *entries, size_t count, uint64_t time_ns)
{
    size_t low = 0;
    while (low < count) {
        size_t middle = low + (count - low) / 2;
        if (entries[middle].time_ns < time_ns)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

/* A core has one event of a kind at a time. */
static const struct yarn_entry *find_twin(const struct yarn_stream *stream,
                                          const struct yarn_timeline_entry *sample,
                                          const char *event)
{
    size_t count;
    int id;
    const struct yarn_entry *entries = yarn_stream_entries(stream, &count);
    if (yarn_stream_find_event(stream, event, &id))
        return NULL;
    for (size_t i = first_at(entries, count, sample->time_ns);
         i < count && entries[i].time_ns == sample->time_ns; i++) {
        const struct yarn_entry *origin = yarn_couplebreak_origin(&entries[i]);
        if (origin && origin->event_id == id && origin->cpu == sample->cpu)
            return &entries[i];
    }
    return NULL;
}

void yarn_script_twin(const struct yarn_script *script, const struct yarn_timeline_entry *sample,
                      FILE *file)
{
    const struct yarn_profile *profile = script->profile;
    struct yarn_stream *stream = stream_of(script, sample->dump);
    const char *event = yarn_profile_text(profile, profile->events[sample->event].name);
    const struct yarn_entry *twin = stream ? find_twin(stream, sample, event) : NULL;
    const struct yarn_filter *filter = script->filter;
    if (!twin || !thread_passes(filter, stream, twin) ||
        (filter->events &&
         !yarn_filter_list_has(filter->events, yarn_stream_event_name(stream, twin))))
        return;
    print_entry(script, stream, twin, file);
    (void)fputc('\n', file);
}
