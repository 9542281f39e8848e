/* SPDX-License-Identifier: Apache-2.0 */
#include "output/export/page/entries.h"

#include <stdlib.h>

#include "output/base/array.h"
#include "output/export/page/html.h"
#include "output/export/page/numbers.h"

enum { INFOS_MAX = 10000 }; /* more are left out */

/* ---- which ---- */

struct thread {
    uint32_t tid, lane;
    uint64_t start_ns;
};

/* A stream, and how its threads and times are found in the profile. */
struct source {
    const struct yarn_page_entries *entries;
    struct yarn_stream *stream;
    uint32_t dump;
    int64_t shift_ns;       /* of the profile's times to the stream's */
    struct thread *threads; /* owned: by tid and start */
    size_t count, capacity;
};

static int by_tid_and_start(const void *a, const void *b)
{
    const struct thread *left = a, *right = b;
    if (left->tid != right->tid)
        return left->tid < right->tid ? -1 : 1;
    return (left->start_ns > right->start_ns) - (left->start_ns < right->start_ns);
}

static int source_init(struct source *source, const struct yarn_page_entries *entries,
                       size_t number)
{
    const struct yarn_profile *profile = entries->graph->sides[1].profile;
    struct yarn_stream *stream = entries->streams[number].stream;
    *source = (struct source){.entries = entries, .stream = stream, .dump = stream->dump};
    if (source->dump != YARN_DUMP_NONE)
        source->shift_ns =
            (int64_t)(profile->dumps[source->dump].process.start_ns - stream->start_ns);
    for (uint32_t i = 0; i < profile->nr_threads; i++) {
        const struct yarn_profile_thread *thread = &profile->threads[i];
        struct thread one = {thread->tid, entries->graph->lane_of[i], thread->start_ns};
        if (thread->dump == source->dump && one.lane != YARN_DUMP_NONE &&
            YARN_ARRAY_PUT(&source->threads, &source->count, &source->capacity, &one))
            return -ENOMEM;
    }
    if (source->count)
        qsort(source->threads, source->count, sizeof *source->threads, by_tid_and_start);
    return 0;
}

/* YARN_DUMP_NONE: it is no thread that is shown. */
static uint32_t lane_of(const struct source *source, const struct yarn_entry *entry)
{
    struct thread wanted = {.tid = (uint32_t)entry->pid,
                            .start_ns = entry->time_ns + (uint64_t)source->shift_ns};
    size_t low = 0, high = source->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_tid_and_start(&source->threads[middle], &wanted) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    /* What comes before the start is the first's. */
    if (low && source->threads[low - 1].tid == wanted.tid)
        return source->threads[low - 1].lane;
    return low < source->count && source->threads[low].tid == wanted.tid ? source->threads[low].lane
                                                                         : YARN_DUMP_NONE;
}

static bool is_shown(const struct source *source, const struct yarn_entry *entry)
{
    const struct yarn_sched_log *sched = source->entries->graph->sched;
    uint64_t time_ns = entry->time_ns + (uint64_t)source->shift_ns;
    bool is_sample = entry->event_id >= YARN_STREAM_ID_PLAIN && entry->event_id < YARN_STREAM_ID_IN;
    return source->dump != YARN_DUMP_NONE && !is_sample && time_ns >= sched->from_ns &&
           time_ns <= sched->to_ns;
}

typedef int entry_fn(void *self, const struct source *source, const struct yarn_entry *entry);

static int each(const struct yarn_page_entries *entries, size_t number, entry_fn *take, void *self)
{
    struct source source;
    size_t count;
    int err = source_init(&source, entries, number);
    const struct yarn_entry *list = yarn_stream_entries(source.stream, &count);
    for (size_t i = 0; !err && i < count; i++)
        if (is_shown(&source, &list[i]))
            err = take(self, &source, &list[i]);
    free(source.threads);
    return err;
}

/* ---- what they say ---- */

/* Where the text is among the list's; it is added if it is not there. */
static int number_of(struct yarn_strings *texts, struct yarn_table *numbers, const char *text,
                     size_t next, uint32_t *ret_text, uint32_t *ret_number)
{
    int err = numbers->slots ? 0 : yarn_table_open(numbers, 64, (size_t)1 << 20);
    if (!err)
        err = yarn_strings_intern(texts, yarn_span_of_text(text), ret_text);
    if (err)
        return err;
    *ret_number = yarn_table_find(numbers, *ret_text + 1);
    if (*ret_number != YARN_TABLE_NONE)
        return 0;
    *ret_number = (uint32_t)next;
    return yarn_table_put(numbers, *ret_text + 1, *ret_number);
}

static int note_kind(struct yarn_page_entries *entries, const char *name, bool is_target)
{
    uint32_t text, number;
    int err =
        number_of(&entries->texts, &entries->kind_of, name, entries->nr_kinds, &text, &number);
    const struct yarn_page_kind kind = {text, is_target};
    if (err || number < entries->nr_kinds)
        return err;
    return YARN_ARRAY_PUT(&entries->kinds, &entries->nr_kinds, &entries->kinds_capacity, &kind);
}

static int note_info(struct yarn_page_entries *entries, struct yarn_stream *stream,
                     const struct yarn_entry *entry)
{
    const char *info = yarn_stream_info(stream, entry);
    uint32_t text, number;
    if (!info)
        return -ENOMEM;
    if (!*info || entries->nr_infos >= INFOS_MAX)
        return 0;
    int err =
        number_of(&entries->texts, &entries->info_of, info, entries->nr_infos, &text, &number);
    if (err || number < entries->nr_infos)
        return err;
    return YARN_ARRAY_PUT(&entries->infos, &entries->nr_infos, &entries->infos_capacity, &text);
}

static int count_one(void *self, const struct source *source, const struct yarn_entry *entry)
{
    (void)source;
    ((struct yarn_page_entries *)self)->nr_all += !yarn_couplebreak_is_event(entry->event_id);
    return 0;
}

static int note_one(void *self, const struct source *source, const struct yarn_entry *entry)
{
    int err = note_kind(self, yarn_stream_event_name(source->stream, entry),
                        yarn_couplebreak_is_event(entry->event_id));
    return err ? err : note_info(self, source->stream, entry);
}

static bool are_shown(const struct yarn_page_entries *entries)
{
    return entries->nr_all && entries->nr_all <= YARN_PAGE_ENTRIES_MAX;
}

/* YARN_TABLE_NONE: it was left out. */
static uint32_t number_in(struct yarn_strings *texts, const struct yarn_table *numbers,
                          const char *text)
{
    uint32_t known;
    if (!numbers->slots || !*text || yarn_strings_intern(texts, yarn_span_of_text(text), &known))
        return YARN_TABLE_NONE;
    return yarn_table_find(numbers, known + 1);
}

static uint32_t kind_of(struct yarn_page_entries *entries, const struct source *source,
                        const struct yarn_entry *entry)
{
    return number_in(&entries->texts, &entries->kind_of,
                     yarn_stream_event_name(source->stream, entry));
}

/* ---- too many ---- */

static int note_dense(void *self, const struct source *source, const struct yarn_entry *entry)
{
    bool is_target = yarn_couplebreak_is_event(entry->event_id);
    return is_target ? 0 : note_kind(self, yarn_stream_event_name(source->stream, entry), false);
}

static int count_dense(void *self, const struct source *source, const struct yarn_entry *entry)
{
    struct yarn_page_entries *entries = self;
    if (!yarn_couplebreak_is_event(entry->event_id))
        yarn_page_density_add(&entries->density, kind_of(entries, source, entry),
                              lane_of(source, entry), entry->time_ns + (uint64_t)source->shift_ns);
    return 0;
}

/* Of threads that came onto a core and left it, kinds 0 and 1. */
static void count_switches(struct yarn_page_entries *entries)
{
    const struct yarn_sched_log *sched = entries->graph->sched;
    for (size_t i = 0; i < sched->nr_lives; i++) {
        const struct yarn_sched_life *life = &sched->lives[i];
        uint32_t lane = entries->graph->lane_of[life->owner];
        for (size_t at = life->first; at < (size_t)life->first + life->count; at++) {
            const struct yarn_sched_span *span = &sched->spans[at];
            yarn_page_density_add(&entries->density, 0, lane, span->begin_ns);
            if (!span->is_open)
                yarn_page_density_add(&entries->density, 1, lane, span->begin_ns + span->length_ns);
        }
    }
}

static int each_of_all(struct yarn_page_entries *entries, entry_fn *take)
{
    int err = 0;
    for (size_t i = 0; !err && i < entries->nr_streams; i++)
        err = each(entries, i, take, entries);
    return err;
}

static int build_density(struct yarn_page_entries *entries)
{
    int err = entries->has_more ? note_kind(entries, "switch-in", false)
                                : each_of_all(entries, note_dense);
    if (!err && entries->has_more)
        err = note_kind(entries, "switch-out", false);
    if (!err)
        err = yarn_page_density_init(entries->graph, entries->nr_kinds, &entries->density);
    if (err || !entries->has_more)
        return err ? err : each_of_all(entries, count_dense);
    count_switches(entries);
    return 0;
}

int yarn_page_entries_build(const struct yarn_page_graph *graph,
                            const struct yarn_page_stream *streams, size_t nr_streams,
                            uint64_t nr_unread, struct yarn_page_entries *ret_entries)
{
    *ret_entries = (struct yarn_page_entries){.graph = graph,
                                              .streams = streams,
                                              .nr_streams = nr_streams,
                                              .nr_all = nr_unread,
                                              .has_more = nr_unread != 0,
                                              .kind_of = YARN_TABLE_CLOSED,
                                              .info_of = YARN_TABLE_CLOSED};
    int err = yarn_strings_init(&ret_entries->texts);
    if (!err && !nr_unread)
        err = each_of_all(ret_entries, count_one);
    if (!err && are_shown(ret_entries))
        err = each_of_all(ret_entries, note_one);
    else if (!err && ret_entries->nr_all)
        err = build_density(ret_entries);
    if (err)
        yarn_page_entries_fini(ret_entries);
    return err;
}

void yarn_page_entries_fini(struct yarn_page_entries *entries)
{
    yarn_strings_fini(&entries->texts);
    yarn_table_close(&entries->kind_of);
    yarn_table_close(&entries->info_of);
    free(entries->kinds);
    free(entries->infos);
    yarn_page_density_fini(&entries->density);
    *entries =
        (struct yarn_page_entries){.kind_of = YARN_TABLE_CLOSED, .info_of = YARN_TABLE_CLOSED};
}

/* ---- written ---- */

void yarn_page_entries_put_streams(const struct yarn_page_entries *entries, FILE *file)
{
    for (size_t i = 0; i < entries->nr_streams; i++) {
        const struct yarn_page_stream *item = &entries->streams[i];
        (void)fprintf(file, "<li data-pid=%u data-on=%d data-kinds=%u>",
                      yarn_stream_pid(item->stream), item->is_on,
                      yarn_stream_n_couplebreak_events(item->stream));
        yarn_html_text(file, item->stream->path);
        (void)fputs("</li>\n", file);
    }
}

void yarn_page_entries_put_kinds(const struct yarn_page_entries *entries, FILE *file)
{
    for (size_t i = 0; i < entries->nr_kinds; i++) {
        (void)fprintf(file, "<li data-target=%d>", entries->kinds[i].is_target);
        yarn_html_text(file, yarn_strings_text(&entries->texts, entries->kinds[i].name));
        (void)fputs("</li>\n", file);
    }
}

void yarn_page_entries_put_infos(const struct yarn_page_entries *entries, FILE *file)
{
    for (size_t i = 0; i < entries->nr_infos; i++) {
        (void)fputs("<li>", file);
        yarn_html_text(file, yarn_strings_text(&entries->texts, entries->infos[i]));
        (void)fputs("</li>\n", file);
    }
}

struct writing {
    struct yarn_page_entries *entries;
    struct yarn_packed *packed;
    uint64_t count;
    uint64_t last_ns;
};

static int count_written(void *self, const struct source *source, const struct yarn_entry *entry)
{
    (void)source;
    (void)entry;
    ((struct writing *)self)->count++;
    return 0;
}

static int write_one(void *self, const struct source *source, const struct yarn_entry *entry)
{
    struct writing *writing = self;
    struct yarn_page_entries *entries = writing->entries;
    uint64_t time_ns = entry->time_ns + (uint64_t)source->shift_ns;
    const char *info = yarn_stream_info(source->stream, entry);
    yarn_packed_signed(writing->packed, (int64_t)(time_ns - writing->last_ns));
    yarn_packed_number(writing->packed, kind_of(entries, source, entry));
    yarn_packed_number(writing->packed, lane_of(source, entry) + 1);
    yarn_packed_number(writing->packed, (uint32_t)entry->pid);
    yarn_packed_number(writing->packed, (uint32_t)(entry->cpu + 1));
    yarn_packed_number(writing->packed,
                       number_in(&entries->texts, &entries->info_of, info ? info : "") + 1);
    writing->last_ns = time_ns;
    return 0;
}

int yarn_page_entries_write(struct yarn_page_entries *entries, struct yarn_packed *packed)
{
    struct writing writing = {.entries = entries, .packed = packed};
    int err = 0;
    yarn_packed_number(packed, entries->nr_all);
    yarn_packed_number(packed, entries->has_more);
    if (entries->nr_all > YARN_PAGE_ENTRIES_MAX)
        yarn_page_density_write(&entries->density, packed);
    for (size_t i = 0; !err && i < entries->nr_streams; i++) {
        writing.count = 0;
        writing.last_ns = yarn_page_numbers_first_ns(entries->graph);
        if (are_shown(entries))
            err = each(entries, i, count_written, &writing);
        yarn_packed_number(packed, writing.count);
        if (!err && writing.count)
            err = each(entries, i, write_one, &writing);
    }
    return err;
}
