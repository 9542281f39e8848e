/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/views/stream_list.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "core/base/text.h"
#include "output/base/array.h"
#include "output/store/stream.h"
#include "output/text/legible.h"
#include "output/yarnprof/io/memory.h"
#include "output/yarnprof/io/status.h"
#include "output/yarnprof/options/select.h"
#include "output/yarnprof/show/table.h"

bool yarn_stream_path_is_trace(const char *path)
{
    static const char magic[] = "\x17\x08\x44tracing";
    char begin[sizeof magic - 1];
    struct stat status;
    /* Why only of files: what is read of a pipe is gone. */
    if (stat(path, &status) || !S_ISREG(status.st_mode))
        return false;
    FILE *file = fopen(path, "re");
    bool is_trace = file && fread(begin, 1, sizeof begin, file) == sizeof begin &&
                    memcmp(begin, magic, sizeof begin) == 0;
    if (file)
        (void)fclose(file);
    return is_trace;
}

int yarn_stream_list_kind(const char *verb, char *const *paths, bool *ret_is_trace)
{
    size_t nr_traces = 0, count = 0;
    for (; paths[count]; count++)
        nr_traces += yarn_stream_path_is_trace(paths[count]);
    *ret_is_trace = nr_traces != 0;
    if (!nr_traces || nr_traces == count)
        return -1;
    yarn_complain(verb, "a trace.dat and dumps cannot be shown together");
    return YARN_STATUS_USAGE;
}

/* Of lost events `sched` has a warning of its own. */
static void say_of_trace(const char *verb, const struct yarn_stream *stream)
{
    const struct yarn_trace_file *file = &stream->trace;
    if (file->has_ticks && !file->scale.mult)
        yarn_complain(verb, "%s: its clock does not count ns: each count is shown as one",
                      stream->path);
    if (file->nr_lost && strcmp(verb, "sched") != 0)
        yarn_complain(verb, "%s: %" PRIu64 " events were lost while it was recorded", stream->path,
                      file->nr_lost);
}

int yarn_stream_list_add(struct yarn_stream_list *streams, const char *verb, const char *path)
{
    char buffer[256] = "";
    struct yarn_text why = yarn_text_of(buffer, sizeof buffer);
    size_t first = streams->count;
    int err = yarn_stream_list_read(streams, path, YARN_STREAM_EACH, &why);
    if (err) {
        yarn_complain(verb, "%s: %s", path, buffer[0] ? buffer : yarn_memory_why(err));
        return YARN_STATUS_FAILED;
    }
    for (size_t i = first; i < streams->count; i++)
        say_of_trace(verb, streams->list[i]);
    return -1;
}

struct yarn_stream *yarn_stream_list_of_dump(const struct yarn_stream_list *streams, uint32_t dump)
{
    size_t low = 0, high = streams->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (streams->list[middle]->dump < dump)
            low = middle + 1;
        else
            high = middle;
    }
    return low < streams->count && streams->list[low]->dump == dump ? streams->list[low] : NULL;
}

static bool is_called(const struct yarn_stream *stream, const char *word, size_t size)
{
    char pid[16];
    const char *const names[] = {stream->path, yarn_path_base(stream->path), pid};
    (void)snprintf(pid, sizeof pid, "%u", stream->pid);
    for (size_t i = 0; i < YARN_COUNT_OF(names); i++)
        if (strlen(names[i]) == size && memcmp(names[i], word, size) == 0)
            return true;
    return false;
}

static int break_called(struct yarn_stream_list *streams, const char *verb, const char *word,
                        size_t size)
{
    bool is_found = false;
    int err = 0;
    for (size_t i = 0; !err && i < streams->count; i++) {
        if (size && !is_called(streams->list[i], word, size))
            continue;
        is_found = true;
        err = yarn_stream_couplebreak(streams->list[i], true);
    }
    if (!err && is_found)
        return -1;
    if (err)
        yarn_complain(verb, "%s", strerror(-err));
    else
        yarn_complain(verb, "--couplebreak: there is no stream %.*s", (int)size, word);
    return YARN_STATUS_FAILED;
}

int yarn_stream_list_couplebreak(struct yarn_stream_list *streams, const char *verb,
                                 const char *names)
{
    int status = -1;
    const char *at = names;
    do {
        size_t size = strcspn(at, ",");
        status = break_called(streams, verb, at, size);
        at += size + (at[size] == ',');
    } while (status < 0 && *at);
    return status;
}

static uint64_t start_of(const struct yarn_stream_list *streams)
{
    uint64_t start_ns = UINT64_MAX;
    for (size_t i = 0; i < streams->count; i++)
        if (streams->list[i]->entries.count)
            start_ns = yarn_u64_min(start_ns, streams->list[i]->start_ns);
    return start_ns;
}

bool yarn_stream_view_has_thread(const struct yarn_stream_view *shown,
                                 const struct yarn_stream *stream, const struct yarn_entry *entry)
{
    if (!yarn_filter_is_by_thread(shown->filter))
        return true;
    bool is_own = yarn_stream_is_own(stream, entry->pid);
    return yarn_filter_has_task(shown->filter, shown->profile,
                                is_own ? stream->dump : YARN_DUMP_NONE,
                                yarn_stream_task(stream, entry), (uint32_t)entry->pid);
}

bool yarn_stream_choice_passes(struct yarn_stream_choice *choice, const struct yarn_entry *entry)
{
    const char *events = choice->shown->filter->lists[YARN_FILTER_EVENT];
    if (++choice->nr_read % YARN_STREAM_DROP == 0)
        yarn_stream_drop_pages(choice->stream);
    if (events && (!choice->has_last || choice->last_id != entry->event_id)) {
        choice->last_id = entry->event_id;
        choice->has_last = true;
        choice->last_passes =
            yarn_filter_list_has(events, yarn_stream_event_name(choice->stream, entry));
    }
    return (!events || choice->last_passes) && entry->time_ns >= choice->from_ns &&
           entry->time_ns <= choice->to_ns &&
           yarn_stream_view_has_thread(choice->shown, choice->stream, entry);
}

struct yarn_stream_choice yarn_stream_choice_of(const struct yarn_stream_list *streams,
                                                const struct yarn_stream_view *shown, size_t stream)
{
    struct yarn_stream_choice choice = {
        .shown = shown, .start_ns = start_of(streams), .stream = streams->list[stream]};
    yarn_time_range_on_clock(&shown->time, choice.start_ns, 0, &choice.from_ns, &choice.to_ns);
    return choice;
}

static bool has_any(const struct yarn_stream_list *streams, const struct yarn_stream_view *shown,
                    size_t stream)
{
    size_t count, i = 0;
    struct yarn_stream_choice choice = yarn_stream_choice_of(streams, shown, stream);
    const struct yarn_entry *entries = yarn_stream_entries(streams->list[stream], &count);
    while (i < count && !yarn_stream_choice_passes(&choice, &entries[i]))
        i++;
    yarn_stream_drop_pages(choice.stream);
    return i < count;
}

void yarn_stream_list_narrow(const struct yarn_stream_list *streams,
                             const struct yarn_profile *profile, struct yarn_filter *filter)
{
    for (int by = 0; by < YARN_FILTER_MODULE; by++) {
        struct yarn_filter alone = {0};
        alone.lists[by] = filter->lists[by];
        const struct yarn_stream_view shown = {profile, &alone, YARN_TIME_RANGE_ALL, 0};
        for (size_t i = 0; filter->lists[by] && i < streams->count; i++)
            if (has_any(streams, &shown, i))
                filter->lists[by] = NULL;
    }
}

/* An entry that is shown, and those before it. */
struct shown_entry {
    struct yarn_stream *stream;
    uint64_t start_ns;
    const struct yarn_entry *last; /* NULL: it is the stream's first */
    size_t count;                  /* of all streams */
};

static const struct yarn_entry *entry_of(const struct yarn_show_cell *cell)
{
    return cell->row;
}

static struct yarn_stream *stream_of(const struct yarn_show_cell *cell)
{
    return ((const struct shown_entry *)cell->self)->stream;
}

static void get_id(struct yarn_show_cell *cell)
{
    yarn_show_i64(cell, entry_of(cell)->event_id);
}

static void get_time(struct yarn_show_cell *cell)
{
    const struct yarn_entry *entry = entry_of(cell);
    uint64_t time_ns = entry->time_ns - ((const struct shown_entry *)cell->self)->start_ns;
    yarn_show_u64(cell, entry->time_ns);
    yarn_show_add(cell, "%" PRIu64 ".%06" PRIu64, time_ns / YARN_NS_PER_SECOND,
                  time_ns % YARN_NS_PER_SECOND / 1000);
}

static void get_cpu(struct yarn_show_cell *cell)
{
    yarn_show_i64(cell, entry_of(cell)->cpu);
    if (entry_of(cell)->cpu < 0)
        cell->text = "  -";
    else
        yarn_show_add(cell, "%03d", entry_of(cell)->cpu);
}

static void get_pid(struct yarn_show_cell *cell)
{
    yarn_show_i64(cell, entry_of(cell)->pid);
}

static void get_task(struct yarn_show_cell *cell)
{
    yarn_show_add(cell, "%s-%d", yarn_stream_task(stream_of(cell), entry_of(cell)),
                  entry_of(cell)->pid);
}

static void get_event(struct yarn_show_cell *cell)
{
    yarn_show_text(cell, yarn_stream_event_name(stream_of(cell), entry_of(cell)));
}

static void get_info(struct yarn_show_cell *cell)
{
    yarn_show_text_if(cell, yarn_stream_info(stream_of(cell), entry_of(cell)));
}

/* Where the origin stands in the list, if it is there: right before its target. */
static void get_origin(struct yarn_show_cell *cell)
{
    const struct shown_entry *shown = cell->self;
    const struct yarn_entry *origin = yarn_couplebreak_origin(entry_of(cell));
    yarn_show_u64_if(cell, origin && origin == shown->last, shown->count - 1);
}

#define NAME(columns) .align = YARN_SHOW_NAME, .gap = 2, .width = columns

static const struct yarn_show_column columns[] = {
    YARN_SHOW_COLUMN("id", NULL, .get = get_id),
    YARN_SHOW_COLUMN("name", NULL, .get = get_event),
    YARN_SHOW_COLUMN("time_ns", "TIME", .get = get_time, .width = 8),
    YARN_SHOW_COLUMN("cpu", "CORE", .get = get_cpu, .align = YARN_SHOW_LEFT, .gap = 2, .width = 3),
    YARN_SHOW_COLUMN("pid", NULL, .get = get_pid),
    YARN_SHOW_COLUMN("origin", NULL, .get = get_origin),
    YARN_SHOW_COLUMN(NULL, "TASK", .get = get_task, NAME(22)),
    YARN_SHOW_COLUMN(NULL, "EVENT", .get = get_event, NAME(32)),
    YARN_SHOW_COLUMN(NULL, "INFO", .get = get_info, .align = YARN_SHOW_TAIL, .gap = 2),
    {0},
};

/* Why there is nothing to be seen of it. */
static void note_none(const struct yarn_stream_list *streams, FILE *file)
{
    for (size_t i = 0; i < streams->count; i++) {
        const struct yarn_stream *stream = streams->list[i];
        if (!stream->is_on || stream->nr_target_ids)
            continue;
        (void)fputs("no couples: ", file);
        yarn_legible_print(stream->path, file);
        if (stream->pid)
            (void)fprintf(file, " (pid %u)", stream->pid);
        (void)fputs(" has neither sched_switch nor sched_waking (YARN_SCHED=tracepoints)\n", file);
    }
}

static void put_entries(const struct yarn_stream_list *streams, size_t number,
                        const struct yarn_stream_view *shown, struct shown_entry *at,
                        const struct yarn_show_table *table)
{
    size_t count;
    struct yarn_stream_choice choice = yarn_stream_choice_of(streams, shown, number);
    at->stream = streams->list[number];
    at->start_ns = choice.start_ns;
    at->last = NULL;
    const struct yarn_entry *entries = yarn_stream_entries(at->stream, &count);
    for (size_t i = 0; i < count && (!shown->limit || at->count < shown->limit); i++) {
        if (!yarn_stream_choice_passes(&choice, &entries[i]))
            continue;
        yarn_show_row(table, &entries[i]);
        at->last = &entries[i];
        at->count++;
    }
    yarn_stream_drop_pages(at->stream);
}

void yarn_stream_list_print(const struct yarn_stream_list *streams,
                            const struct yarn_stream_view *shown, const struct yarn_out *out)
{
    struct shown_entry at = {.count = 0};
    struct yarn_show_table table = {.out = out, .self = &at, .parts = {columns}};
    bool is_text = out->format == YARN_OUT_TEXT, has_any = false;
    for (size_t i = 0; i < streams->count; i++)
        has_any |= yarn_stream_n_couplebreak_events(streams->list[i]) != 0;
    if (has_any || !is_text) {
        yarn_show_begin(&table, "events");
        for (size_t i = 0; i < streams->count; i++)
            put_entries(streams, i, shown, &at, &table);
        yarn_show_end(&table);
    }
    if (is_text)
        note_none(streams, out->file);
}

static void put_stream(const struct yarn_stream *stream, struct yarn_json *json)
{
    yarn_json_begin_object(json, NULL);
    yarn_json_u64(json, "pid", stream->pid);
    yarn_json_text(json, "path", stream->path);
    yarn_json_bool(json, "couplebreak_on", stream->is_on);
    yarn_json_u64(json, "n_couplebreak_events", stream->nr_target_ids);
    yarn_json_u64(json, "flags", stream->flags);
    yarn_json_begin_array(json, "ids");
    for (size_t i = 0; i < stream->nr_target_ids; i++)
        yarn_json_i64(json, NULL, stream->target_ids[i]);
    yarn_json_end_array(json);
    yarn_json_end_object(json);
}

void yarn_stream_list_json(const struct yarn_stream_list *streams,
                           const struct yarn_stream_view *shown, const struct yarn_out *out)
{
    yarn_json_begin_array(out->json, "streams");
    for (size_t i = 0; i < streams->count; i++)
        put_stream(streams->list[i], out->json);
    yarn_json_end_array(out->json);
    yarn_stream_list_print(streams, shown, out);
}
