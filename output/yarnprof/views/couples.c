/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/views/couples.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "output/analysis/value/array.h"
#include "output/stream/stream.h"
#include "output/text/legible.h"
#include "output/yarnprof/stream/status.h"

bool yarn_couples_is_trace(const char *path)
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

int yarn_couples_kind(const char *verb, char *const *paths, bool *ret_is_trace)
{
    size_t nr_traces = 0, count = 0;
    for (; paths[count]; count++)
        nr_traces += yarn_couples_is_trace(paths[count]);
    *ret_is_trace = nr_traces != 0;
    if (!nr_traces || nr_traces == count)
        return -1;
    yarn_complain(verb, "a trace.dat and dumps cannot be shown together");
    return YARN_STATUS_USAGE;
}

/* Of lost events `sched` has a warning of its own. */
static void say_of_trace(const char *verb, const char *path, const struct yarn_stream *stream)
{
    const struct yarn_trace_file *file = &stream->trace;
    if (file->has_ticks && !file->scale.mult)
        yarn_complain(verb, "%s: its clock does not count ns: each count is shown as one", path);
    if (file->nr_lost && strcmp(verb, "sched") != 0)
        yarn_complain(verb, "%s: %" PRIu64 " events were lost while it was recorded", path,
                      file->nr_lost);
}

int yarn_couples_add(struct yarn_couples *couples, const char *verb, const char *path)
{
    bool is_trace = yarn_couples_is_trace(path);
    for (unsigned index = 0; !is_trace || !index; index++) {
        char buffer[256] = "";
        struct yarn_text why = yarn_text_of(buffer, sizeof buffer);
        struct yarn_couple_stream item = {.path = path};
        int err = yarn_stream_load(path, index, &why, &item.stream);
        if (err == -ENOENT && index)
            return -1;
        if (!err)
            say_of_trace(verb, path, item.stream);
        if (!err)
            err = YARN_ARRAY_PUT(&couples->list, &couples->count, &couples->capacity, &item);
        if (err) {
            yarn_complain(verb, "%s: %s", path, buffer[0] ? buffer : strerror(-err));
            return YARN_STATUS_FAILED;
        }
    }
    return -1;
}

static bool is_called(const struct yarn_couple_stream *item, const char *word, size_t size)
{
    char pid[16];
    const char *slash = strrchr(item->path, '/');
    const char *const names[] = {item->path, slash ? slash + 1 : item->path, pid};
    (void)snprintf(pid, sizeof pid, "%u", yarn_stream_pid(item->stream));
    for (size_t i = 0; i < YARN_COUNT_OF(names); i++)
        if (strlen(names[i]) == size && memcmp(names[i], word, size) == 0)
            return true;
    return false;
}

static int break_called(struct yarn_couples *couples, const char *verb, const char *word,
                        size_t size)
{
    bool is_found = false;
    int err = 0;
    for (size_t i = 0; !err && i < couples->count; i++) {
        if (size && !is_called(&couples->list[i], word, size))
            continue;
        is_found = true;
        err = yarn_stream_couplebreak(couples->list[i].stream, true);
    }
    if (!err && is_found)
        return -1;
    if (err)
        yarn_complain(verb, "%s", strerror(-err));
    else
        yarn_complain(verb, "--couplebreak: there is no stream %.*s", (int)size, word);
    return YARN_STATUS_FAILED;
}

int yarn_couples_break(struct yarn_couples *couples, const char *verb, const char *streams)
{
    int status = -1;
    const char *at = streams;
    do {
        size_t size = strcspn(at, ",");
        status = break_called(couples, verb, at, size);
        at += size + (at[size] == ',');
    } while (status < 0 && *at);
    return status;
}

void yarn_couples_fini(struct yarn_couples *couples)
{
    for (size_t i = 0; i < couples->count; i++)
        yarn_stream_free(couples->list[i].stream);
    free(couples->list);
    *couples = (struct yarn_couples){0};
}

static uint64_t start_of(const struct yarn_couples *couples)
{
    uint64_t start_ns = UINT64_MAX;
    for (size_t i = 0; i < couples->count; i++)
        if (couples->list[i].stream->nr_entries)
            start_ns = yarn_u64_min(start_ns, couples->list[i].stream->start_ns);
    return start_ns;
}

bool yarn_couples_passes(struct yarn_couples_choice *choice, const struct yarn_entry *entry)
{
    const char *events = choice->shown->events;
    if (events && (!choice->has_last || choice->last_id != entry->event_id)) {
        choice->last_id = entry->event_id;
        choice->has_last = true;
        choice->last_passes =
            yarn_filter_list_has(events, yarn_stream_event_name(choice->stream, entry));
    }
    return (!events || choice->last_passes) && entry->time_ns >= choice->from_ns &&
           entry->time_ns <= choice->to_ns;
}

struct yarn_couples_choice yarn_couples_choose(const struct yarn_couples *couples,
                                               const struct yarn_couples_shown *shown,
                                               size_t stream)
{
    struct yarn_couples_choice choice = {
        .shown = shown, .start_ns = start_of(couples), .stream = couples->list[stream].stream};
    yarn_time_range_on_clock(&shown->time, choice.start_ns, 0, &choice.from_ns, &choice.to_ns);
    return choice;
}

static void print_text(FILE *file, const char *text)
{
    struct yarn_legible legible;
    (void)fputs(yarn_legible(&legible, text ? text : ""), file);
    yarn_legible_fini(&legible);
}

static void print_entry(struct yarn_stream *stream, const struct yarn_entry *entry,
                        uint64_t start_ns, FILE *file)
{
    char task[64];
    uint64_t time_ns = entry->time_ns - start_ns;
    (void)snprintf(task, sizeof task, "%s-%d", yarn_stream_task(stream, entry), entry->pid);
    (void)fprintf(file, "%" PRIu64 ".%06" PRIu64 "  ", time_ns / YARN_NS_PER_SECOND,
                  time_ns % YARN_NS_PER_SECOND / 1000);
    if (entry->cpu < 0)
        (void)fputs("  -  ", file);
    else
        (void)fprintf(file, "%03d  ", entry->cpu);
    struct yarn_legible legible;
    (void)fprintf(file, "%-22s  ", yarn_legible(&legible, task));
    yarn_legible_fini(&legible);
    (void)fprintf(file, "%-32s  ", yarn_legible(&legible, yarn_stream_event_name(stream, entry)));
    yarn_legible_fini(&legible);
    print_text(file, yarn_stream_info(stream, entry));
    (void)fputc('\n', file);
}

/* Why there is nothing to be seen of it. */
static void note_none(const struct yarn_couples *couples, FILE *file)
{
    for (size_t i = 0; i < couples->count; i++) {
        const struct yarn_couple_stream *item = &couples->list[i];
        if (!yarn_stream_couplebreak_is_on(item->stream) ||
            yarn_stream_n_couplebreak_events(item->stream))
            continue;
        (void)fputs("no couples: ", file);
        print_text(file, item->path);
        if (yarn_stream_pid(item->stream))
            (void)fprintf(file, " (pid %u)", yarn_stream_pid(item->stream));
        (void)fputs(" has neither sched_switch nor sched_waking (YARN_SCHED=tracepoints)\n", file);
    }
}

void yarn_couples_text(const struct yarn_couples *couples, const struct yarn_couples_shown *shown,
                       const struct yarn_out *out)
{
    size_t nr_shown = 0;
    bool has_any = false;
    for (size_t i = 0; i < couples->count; i++)
        has_any |= yarn_stream_n_couplebreak_events(couples->list[i].stream) != 0;
    if (has_any)
        (void)fprintf(out->file, "%8s  %s  %-22s  %-32s  %s\n", "TIME", "CORE", "TASK", "EVENT",
                      "INFO");
    for (size_t i = 0; has_any && i < couples->count; i++) {
        size_t count;
        struct yarn_stream *stream = couples->list[i].stream;
        struct yarn_couples_choice choice = yarn_couples_choose(couples, shown, i);
        const struct yarn_entry *entries = yarn_stream_entries(stream, &count);
        for (size_t e = 0; e < count && (!shown->limit || nr_shown < shown->limit); e++) {
            if (!yarn_couples_passes(&choice, &entries[e]))
                continue;
            print_entry(stream, &entries[e], choice.start_ns, out->file);
            nr_shown++;
        }
    }
    note_none(couples, out->file);
}

static void put_stream(const struct yarn_couple_stream *item, struct yarn_json *json)
{
    size_t count;
    const int *ids = yarn_stream_couplebreak_ids(item->stream, &count);
    yarn_json_begin_object(json, NULL);
    yarn_json_u64(json, "pid", yarn_stream_pid(item->stream));
    yarn_json_text(json, "path", item->path);
    yarn_json_bool(json, "couplebreak_on", yarn_stream_couplebreak_is_on(item->stream));
    yarn_json_u64(json, "n_couplebreak_events", yarn_stream_n_couplebreak_events(item->stream));
    yarn_json_u64(json, "flags", yarn_stream_couplebreak_flags(item->stream));
    yarn_json_begin_array(json, "ids");
    for (size_t i = 0; i < count; i++)
        yarn_json_i64(json, NULL, ids[i]);
    yarn_json_end_array(json);
    yarn_json_end_object(json);
}

/* `origin` is where the origin stands in the list, if it is there. */
static void put_entry(const struct yarn_stream *stream, const struct yarn_entry *entry,
                      bool has_origin, size_t origin, struct yarn_json *json)
{
    yarn_json_begin_object(json, NULL);
    yarn_json_i64(json, "id", entry->event_id);
    yarn_json_text(json, "name", yarn_stream_event_name(stream, entry));
    yarn_json_u64(json, "time_ns", entry->time_ns);
    yarn_json_i64(json, "cpu", entry->cpu);
    yarn_json_i64(json, "pid", entry->pid);
    yarn_json_u64_if(json, "origin", has_origin, origin);
    yarn_json_end_object(json);
}

static size_t put_events(const struct yarn_couples *couples, size_t number,
                         const struct yarn_couples_shown *shown, size_t nr_shown,
                         struct yarn_json *json)
{
    size_t count;
    const struct yarn_stream *stream = couples->list[number].stream;
    const struct yarn_entry *entries = yarn_stream_entries(stream, &count), *last = NULL;
    struct yarn_couples_choice choice = yarn_couples_choose(couples, shown, number);
    for (size_t i = 0; i < count && (!shown->limit || nr_shown < shown->limit); i++) {
        const struct yarn_entry *origin = yarn_couplebreak_origin(&entries[i]);
        if (!yarn_couples_passes(&choice, &entries[i]))
            continue;
        put_entry(stream, &entries[i], origin && origin == last, nr_shown - 1, json);
        last = &entries[i];
        nr_shown++;
    }
    return nr_shown;
}

int yarn_couples_json(const struct yarn_couples *couples, const struct yarn_couples_shown *shown,
                      struct yarn_json *json)
{
    size_t nr_shown = 0;
    yarn_json_begin_array(json, "streams");
    for (size_t i = 0; i < couples->count; i++)
        put_stream(&couples->list[i], json);
    yarn_json_end_array(json);
    yarn_json_begin_array(json, "events");
    for (size_t i = 0; i < couples->count; i++)
        nr_shown = put_events(couples, i, shown, nr_shown, json);
    yarn_json_end_array(json);
    return 0;
}
