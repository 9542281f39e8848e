/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "output/analysis/time/completeness.h"
#include "output/base/array.h"
#include "output/export/export.h"
#include "output/export/firefox_tables.h"
#include "output/export/tracks.h"

/*
 * The processed profile format of the Firefox Profiler, version 58; later programs bring it up to
 * date when they read it. A thread there is a thread and event here. Times are ms since the start.
 * Weights of clocks are ms of CPU time, and CPU deltas ns of it; other weights are counts.
 */

enum { FORMAT_VERSION = 58, GECKO_VERSION = 24 };

/* A note becomes a marker: a mark of the user's or what the profiler had to say, on the first
 * track of the thread that said it, else on the first of its dump. */
struct note {
    uint32_t track, dump;
    const struct yarn_dump_message *message; /* borrowed from the profile */
};

struct notes {
    struct note *list; /* owned array; by track, and then as they came */
    size_t count, capacity;
    size_t nr_taken;
};

static uint64_t key_of(uint32_t dump, uint32_t tid)
{
    return (uint64_t)dump << 32 | tid;
}

/* The first track of each thread, and of each dump as of thread 0. */
static int index_tracks(const struct yarn_profile *profile, const struct yarn_tracks *tracks,
                        struct yarn_table *index)
{
    int err = 0;
    for (size_t i = tracks->count; !err && i-- > 0;) {
        const struct yarn_profile_thread *thread = &profile->threads[tracks->list[i].thread];
        err = yarn_table_put(index, key_of(thread->dump, thread->tid), (uint32_t)i);
        if (!err)
            err = yarn_table_put(index, key_of(thread->dump, 0), (uint32_t)i);
    }
    return err;
}

static int add(struct notes *notes, const struct yarn_profile *profile,
               const struct yarn_table *index, uint32_t dump, uint32_t message)
{
    const struct yarn_dump_message *said = &profile->dumps[dump].messages[message];
    uint32_t track = yarn_table_find(index, key_of(dump, said->tid));
    if (track == YARN_TABLE_NONE)
        track = yarn_table_find(index, key_of(dump, 0));
    if (track == YARN_TABLE_NONE || said->kind == YARN_DUMP_MESSAGE_DEBUG)
        return 0;
    return YARN_ARRAY_PUT(&notes->list, &notes->count, &notes->capacity,
                          &(struct note){track, dump, said});
}

static int by_track(const void *a, const void *b)
{
    const struct note *one = a, *other = b;
    if (one->track != other->track)
        return one->track < other->track ? -1 : 1;
    return one->dump != other->dump        ? (one->dump < other->dump ? -1 : 1)
           : one->message < other->message ? -1
                                           : one->message > other->message;
}

static int notes_init(struct notes *notes, const struct yarn_profile *profile,
                      const struct yarn_tracks *tracks)
{
    struct yarn_table index = YARN_TABLE_CLOSED;
    int err = yarn_table_open(&index, 1024, (size_t)1 << 31);
    if (!err)
        err = index_tracks(profile, tracks, &index);
    for (uint32_t dump = 0; !err && dump < profile->nr_dumps; dump++) {
        for (uint32_t i = 0; !err && i < profile->dumps[dump].nr_messages; i++)
            err = add(notes, profile, &index, dump, i);
    }
    if (notes->count)
        qsort(notes->list, notes->count, sizeof *notes->list, by_track);
    yarn_table_close(&index);
    return err;
}

static struct note *notes_take(struct notes *notes, uint32_t track, size_t *ret_count)
{
    size_t first = notes->nr_taken;
    while (notes->nr_taken < notes->count && notes->list[notes->nr_taken].track == track)
        notes->nr_taken++;
    *ret_count = notes->nr_taken - first;
    return *ret_count ? &notes->list[first] : NULL;
}

static void notes_fini(struct notes *notes)
{
    free(notes->list);
    *notes = (struct notes){0};
}

struct firefox {
    const struct yarn_export *export;
    struct yarn_json *json;
    struct yarn_tracks tracks;
    struct yarn_firefox_tables tables;
    struct notes notes;
};

static double ms_since_start(const struct firefox *firefox, uint64_t time_ns)
{
    uint64_t start_ns = firefox->export->profile->start_ns;
    int64_t since_ns = time_ns > start_ns ? (int64_t)(time_ns - start_ns) : 0;
    return (double)since_ns / (double)YARN_NS_PER_MS;
}

static void put_ms_or_null(const struct firefox *firefox, const char *key, uint64_t time_ns)
{
    if (time_ns)
        yarn_json_real(firefox->json, key, ms_since_start(firefox, time_ns));
    else
        yarn_json_null(firefox->json, key);
}

/* The format's word for time is of ms; only a clock's is CPU time. */
static void put_weights(const struct firefox *firefox, const struct yarn_track *track)
{
    const struct yarn_profile *profile = firefox->export->profile;
    const struct yarn_profile_event *event = &profile->events[track->event];
    bool is_time = strcmp(yarn_profile_text(profile, event->unit), "ns") == 0;
    struct yarn_track_walk walk = yarn_track_begin(track, firefox->export);
    struct yarn_export_sample sample;
    struct yarn_json *json = firefox->json;
    yarn_json_text(json, "weightType", is_time ? "tracing-ms" : "samples");
    yarn_json_begin_array(json, "weight");
    while (yarn_track_next(&walk, &sample)) {
        if (is_time)
            yarn_json_real(json, NULL, (double)sample.weight / (double)YARN_NS_PER_MS);
        else
            yarn_json_u64(json, NULL, sample.weight);
    }
    yarn_json_end_array(json);
    if (!(event->flags & YARN_DUMP_EVENT_IS_CLOCK))
        return;
    yarn_json_begin_array(json, "threadCPUDelta");
    walk = yarn_track_begin(track, firefox->export);
    while (yarn_track_next(&walk, &sample))
        yarn_json_u64(json, NULL, sample.weight);
    yarn_json_end_array(json);
}

static int put_samples(struct firefox *firefox, const struct yarn_track *track)
{
    struct yarn_json *json = firefox->json;
    int err = 0;
    yarn_json_begin_object(json, "samples");
    yarn_json_u64(json, "length", track->count);
    yarn_json_begin_array(json, "stack");
    struct yarn_track_walk walk = yarn_track_begin(track, firefox->export);
    struct yarn_export_sample sample;
    while (!err && yarn_track_next(&walk, &sample)) {
        uint32_t stack = 0;
        err = yarn_firefox_stack(&firefox->tables, &sample, &stack);
        yarn_json_u64(json, NULL, stack);
    }
    yarn_json_end_array(json);
    yarn_json_begin_array(json, "time");
    walk = yarn_track_begin(track, firefox->export);
    while (yarn_track_next(&walk, &sample))
        yarn_json_real(json, NULL, ms_since_start(firefox, sample.time_ns));
    yarn_json_end_array(json);
    put_weights(firefox, track);
    yarn_json_end_object(json);
    return err;
}

static const char *kind_of(const struct yarn_dump_message *message)
{
    static const char *const kinds[YARN_DUMP_MESSAGE_KIND_COUNT] = {"error", "warning", "info",
                                                                    "debug", "mark"};
    return message->kind < YARN_DUMP_MESSAGE_KIND_COUNT ? kinds[message->kind] : "message";
}

enum column { COLUMN_DATA, COLUMN_NAME, COLUMN_START, COLUMN_END, COLUMN_ZERO };

static int put_message(struct firefox *firefox, enum column column,
                       const struct yarn_dump_message *message)
{
    struct yarn_json *json = firefox->json;
    uint32_t name = 0;
    int err = 0;
    switch (column) {
    case COLUMN_DATA:
        yarn_json_begin_object(json, NULL);
        yarn_json_text(json, "type", "yarn");
        yarn_json_span(json, "text", message->text);
        yarn_json_end_object(json);
        break;
    case COLUMN_NAME:
        err = yarn_firefox_string(&firefox->tables, kind_of(message), &name);
        yarn_json_u64(json, NULL, name);
        break;
    case COLUMN_START:
        yarn_json_real(json, NULL, ms_since_start(firefox, message->time_ns));
        break;
    case COLUMN_END:
        yarn_json_null(json, NULL);
        break;
    case COLUMN_ZERO:
        yarn_json_u64(json, NULL, 0);
        break;
    }
    return err;
}

static int put_markers(struct firefox *firefox, const struct yarn_track *track)
{
    static const struct {
        const char *key;
        enum column column;
    } columns[] = {
        {"data", COLUMN_DATA},   {"name", COLUMN_NAME},  {"startTime", COLUMN_START},
        {"endTime", COLUMN_END}, {"phase", COLUMN_ZERO}, {"category", COLUMN_ZERO},
    };
    uint32_t number = (uint32_t)(track - firefox->tracks.list);
    size_t count;
    const struct note *notes = notes_take(&firefox->notes, number, &count);
    int err = 0;
    yarn_json_begin_object(firefox->json, "markers");
    yarn_json_u64(firefox->json, "length", count);
    for (size_t i = 0; !err && i < YARN_COUNT_OF(columns); i++) {
        yarn_json_begin_array(firefox->json, columns[i].key);
        for (size_t k = 0; !err && k < count; k++)
            err = put_message(firefox, columns[i].column, notes[k].message);
        yarn_json_end_array(firefox->json);
    }
    yarn_json_end_object(firefox->json);
    return err;
}

/* Why a number behind it: a pid may come again, with exec or in another dump. */
static void print_pid(const struct yarn_profile *profile, uint32_t dump, char *ret_text,
                      size_t size)
{
    uint32_t pid = profile->dumps[dump].process.pid;
    unsigned before = 0;
    for (uint32_t i = 0; i < dump; i++)
        before += profile->dumps[i].process.pid == pid;
    (void)snprintf(ret_text, size, before ? "%u.%u" : "%u", pid, before);
}

static void put_thread_head(const struct firefox *firefox, const struct yarn_track *track,
                            bool is_first_event)
{
    const struct yarn_profile *profile = firefox->export->profile;
    const struct yarn_profile_thread *thread = &profile->threads[track->thread];
    const struct yarn_profile_dump *dump = &profile->dumps[thread->dump];
    const char *comm = yarn_profile_text(profile, track->comm);
    const char *event = yarn_profile_text(profile, profile->events[track->event].name);
    struct yarn_json *json = firefox->json;
    char name[256], tid[128], pid[32];
    (void)snprintf(name, sizeof name, is_first_event ? "%.100s %u" : "%.100s %u (%.100s)", comm,
                   thread->tid, event);
    (void)snprintf(tid, sizeof tid, is_first_event ? "%u" : "%u:%.64s", thread->tid, event);
    print_pid(profile, thread->dump, pid, sizeof pid);
    yarn_json_text(json, "name", name);
    yarn_json_bool(json, "isMainThread", is_first_event && thread->tid == dump->process.pid);
    yarn_json_text(json, "processName", yarn_profile_text(profile, dump->program));
    yarn_json_text(json, "processType", "default");
    yarn_json_text(json, "pid", pid);
    yarn_json_text(json, "tid", tid);
    yarn_json_real(json, "processStartupTime", ms_since_start(firefox, dump->process.start_ns));
    put_ms_or_null(firefox, "processShutdownTime", dump->has_end ? dump->end.time_ns : 0);
    yarn_json_real(json, "registerTime", ms_since_start(firefox, thread->start_ns));
    put_ms_or_null(firefox, "unregisterTime", thread->end_ns);
    yarn_json_begin_array(json, "pausedRanges");
    yarn_json_end_array(json);
}

static int put_threads(struct firefox *firefox)
{
    struct yarn_json *json = firefox->json;
    int err = 0;
    yarn_json_begin_array(json, "threads");
    for (size_t i = 0; !err && i < firefox->tracks.count && !ferror(firefox->export->file); i++) {
        const struct yarn_track *track = &firefox->tracks.list[i];
        yarn_json_begin_object(json, NULL);
        put_thread_head(firefox, track, i == 0 || track[-1].thread != track->thread);
        err = put_samples(firefox, track);
        if (!err)
            err = put_markers(firefox, track);
        if (!err)
            err = yarn_firefox_put_thread(&firefox->tables, json);
        yarn_json_end_object(json);
    }
    yarn_json_end_array(json);
    return err;
}

static void put_categories(struct yarn_json *json)
{
    static const char *const categories[][2] = {
        [YARN_FIREFOX_OTHER] = {"Other", "grey"},
        [YARN_FIREFOX_USER] = {"User", "yellow"},
        [YARN_FIREFOX_KERNEL] = {"Kernel", "orange"},
        [YARN_FIREFOX_MISSING] = {"Missing", "darkgrey"},
    };
    yarn_json_begin_array(json, "categories");
    for (size_t i = 0; i < YARN_COUNT_OF(categories); i++) {
        yarn_json_begin_object(json, NULL);
        yarn_json_text(json, "name", categories[i][0]);
        yarn_json_text(json, "color", categories[i][1]);
        yarn_json_begin_array(json, "subcategories");
        yarn_json_text(json, NULL, "Other");
        yarn_json_end_array(json);
        yarn_json_end_object(json);
    }
    yarn_json_end_array(json);
}

static void put_marker_schema(struct yarn_json *json)
{
    yarn_json_begin_array(json, "markerSchema");
    yarn_json_begin_object(json, NULL);
    yarn_json_text(json, "name", "yarn");
    yarn_json_text(json, "tooltipLabel", "{marker.name}: {marker.data.text}");
    yarn_json_text(json, "tableLabel", "{marker.data.text}");
    yarn_json_text(json, "chartLabel", "{marker.data.text}");
    yarn_json_begin_array(json, "display");
    yarn_json_text(json, NULL, "marker-chart");
    yarn_json_text(json, NULL, "marker-table");
    yarn_json_text(json, NULL, "timeline-overview");
    yarn_json_end_array(json);
    yarn_json_begin_array(json, "fields");
    yarn_json_begin_object(json, NULL);
    yarn_json_text(json, "key", "text");
    yarn_json_text(json, "label", "Text");
    yarn_json_text(json, "format", "string");
    yarn_json_end_object(json);
    yarn_json_end_array(json);
    yarn_json_end_object(json);
    yarn_json_end_array(json);
}

static double interval_ms(const struct yarn_profile *profile)
{
    uint64_t period = profile->nr_events ? profile->events[0].period : 0;
    uint64_t frequency = profile->nr_events ? profile->events[0].frequency : 0;
    if (frequency)
        return 1000.0 / (double)frequency;
    if (profile->nr_events && profile->events[0].flags & YARN_DUMP_EVENT_IS_CLOCK && period)
        return (double)period / (double)YARN_NS_PER_MS;
    return 1;
}

static void put_units(struct yarn_json *json)
{
    yarn_json_begin_object(json, "sampleUnits");
    yarn_json_text(json, "time", "ms");
    yarn_json_text(json, "eventDelay", "ms");
    yarn_json_text(json, "threadCPUDelta", "ns");
    yarn_json_end_object(json);
}

/* Completeness, which the profiler shows with what it says about a profile. */
static void put_extra(const struct firefox *firefox)
{
    struct yarn_json *json = firefox->json;
    struct yarn_completeness completeness = yarn_completeness_of(firefox->export->profile);
    if (!completeness.count)
        return;
    yarn_json_begin_array(json, "extra");
    yarn_json_begin_object(json, NULL);
    yarn_json_text(json, "label", "Missing");
    yarn_json_begin_array(json, "entries");
    for (size_t i = 0; i < completeness.count; i++) {
        const struct yarn_completeness_row *row = &completeness.rows[i];
        bool is_time = row->unit == YARN_COMPLETENESS_NS;
        yarn_json_begin_object(json, NULL);
        yarn_json_text(json, "label", row->what);
        yarn_json_text(json, "format", is_time ? "duration" : "integer");
        yarn_json_real(json, "value", (double)row->count / (is_time ? (double)YARN_NS_PER_MS : 1));
        yarn_json_end_object(json);
    }
    yarn_json_end_array(json);
    yarn_json_end_object(json);
    yarn_json_end_array(json);
}

static void put_meta(const struct firefox *firefox)
{
    const struct yarn_profile *profile = firefox->export->profile;
    const struct yarn_profile_dump *dump = profile->nr_dumps ? &profile->dumps[0] : NULL;
    uint32_t main_dump = yarn_export_main_dump(profile);
    struct yarn_json *json = firefox->json;
    yarn_json_begin_object(json, "meta");
    yarn_json_real(json, "interval", interval_ms(profile));
    yarn_json_real(json, "startTime",
                   dump ? (double)dump->process.start_realtime_ns / (double)YARN_NS_PER_MS : 0);
    yarn_json_u64(json, "processType", 0);
    yarn_json_u64(json, "stackwalk", 1);
    yarn_json_u64(json, "version", GECKO_VERSION);
    yarn_json_u64(json, "preprocessedProfileVersion", FORMAT_VERSION);
    yarn_json_text(json, "product",
                   dump ? yarn_profile_text(profile, profile->dumps[main_dump].program) : "yarn");
    yarn_json_text(json, "importedFrom", "yarn");
    yarn_json_text(json, "platform", "Linux");
    if (dump)
        yarn_json_span(json, "oscpu", dump->process.kernel);
    yarn_json_bool(json, "symbolicated", true);
    yarn_json_bool(json, "usesOnlyOneStackType", true);
    yarn_json_bool(json, "sourceCodeIsNotOnSearchfox", true);
    put_categories(json);
    put_marker_schema(json);
    put_units(json);
    put_extra(firefox);
    yarn_json_end_object(json);
}

static int put_all(struct firefox *firefox)
{
    yarn_json_begin_object(firefox->json, NULL);
    put_meta(firefox);
    int err = put_threads(firefox);
    if (!err)
        err = yarn_firefox_put_shared(&firefox->tables, firefox->json);
    yarn_json_end_object(firefox->json);
    return err;
}

int yarn_export_firefox(struct yarn_export *export)
{
    struct firefox firefox = {.export = export};
    int err = yarn_tracks_init(&firefox.tracks, export);
    if (!err)
        err = yarn_firefox_tables_init(&firefox.tables, export);
    if (!err)
        err = notes_init(&firefox.notes, export->profile, &firefox.tracks);
    if (!err) {
        firefox.json = yarn_json_new(export->file);
        err = firefox.json ? 0 : -ENOMEM;
    }
    if (!err) {
        err = put_all(&firefox);
        yarn_json_free(firefox.json);
    }
    yarn_firefox_tables_fini(&firefox.tables);
    yarn_tracks_fini(&firefox.tracks);
    notes_fini(&firefox.notes);
    return err;
}
