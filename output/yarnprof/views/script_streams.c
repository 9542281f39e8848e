/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/views/script_streams.h"

#include "output/analysis/profile/profile.h"
#include "output/text/legible.h"

static void print_entry(const struct yarn_script *script, struct yarn_stream *stream,
                        const struct yarn_entry *entry, FILE *file)
{
    bool is_own = yarn_stream_is_own(stream, entry->pid); /* else its process is not known */
    const struct yarn_script_line line = {
        .comm = yarn_stream_task(stream, entry),
        .pid = is_own ? yarn_stream_pid(stream) : (uint32_t)entry->pid,
        .tid = (uint32_t)entry->pid,
        .cpu = entry->cpu,
        .time_ns = entry->time_ns,
        .event = yarn_stream_event_name(stream, entry),
        .period = 1,
    };
    const char *info = yarn_stream_info(stream, entry);
    yarn_script_begin(script, &line, file);
    if (info && script->fields & 1u << YARN_SCRIPT_TRACE)
        yarn_legible_print(info, file);
    (void)fputc('\n', file);
}

void yarn_script_streams(const struct yarn_script *script, const struct yarn_stream_view *shown,
                         const struct yarn_out *out)
{
    for (size_t i = 0; i < script->streams->count; i++) {
        size_t count;
        struct yarn_stream *stream = script->streams->list[i];
        const struct yarn_entry *entries = yarn_stream_entries(stream, &count);
        struct yarn_stream_choice choice = yarn_stream_choice_of(script->streams, shown, i);
        for (size_t e = 0; e < count && !ferror(out->file); e++)
            if (yarn_stream_choice_passes(&choice, &entries[e]))
                print_entry(script, stream, &entries[e], out->file);
    }
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
static const struct yarn_entry *find_target(const struct yarn_stream *stream,
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

void yarn_script_target(const struct yarn_script *script, const struct yarn_timeline_entry *sample,
                        FILE *file)
{
    const struct yarn_profile *profile = script->profile;
    struct yarn_stream *stream = yarn_stream_list_of_dump(script->streams, sample->dump);
    const char *event = yarn_profile_text(profile, profile->events[sample->event].name);
    const struct yarn_entry *target = stream ? find_target(stream, sample, event) : NULL;
    const struct yarn_stream_view shown = {.profile = profile, .filter = script->filter};
    if (!target || !yarn_stream_view_has_thread(&shown, stream, target) ||
        !yarn_filter_list_has(script->filter->lists[YARN_FILTER_EVENT],
                              yarn_stream_event_name(stream, target)))
        return;
    print_entry(script, stream, target, file);
    (void)fputc('\n', file);
}
