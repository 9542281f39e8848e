/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/verbs/stat_dump.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output/dump/reader.h"
#include "output/yarnprof/io/memory.h"
#include "output/yarnprof/io/status.h"
#include "output/yarnprof/options/select.h"

enum { EVENTS_MAX = 4096, TID_BITS = 22, PROCESS_BITS = 32, ROWS_MAX = 512, KEYS_MAX = 1 << 24 };

#define ARENA_BYTES YARN_MIB(256)
#define NO_ROW UINT32_MAX

struct yarn_stat_dump_reader {
    struct yarn_stat_dump *dump;
    struct yarn_table places; /* row, process and thread -> its row of threads */
    struct yarn_dump_process process;
    uint64_t nr_processes;
    uint32_t rows[EVENTS_MAX];       /* of the process's events */
    size_t nr_intervals[EVENTS_MAX]; /* of them, with the latest that it is in */
    struct yarn_dump_count counts[EVENTS_MAX];
    struct {
        uint32_t tid;
        const char *name;
    } * names; /* owned; of the process's threads, the last of a number counts */
    size_t nr_names, names_capacity;
    uint64_t nr_children; /* that ended before they were recorded */
    uint64_t interval_ns; /* end of the one before */
};

bool yarn_stat_dump_is(const char *path)
{
    char magic[sizeof YARN_DUMP_MAGIC - 1];
    struct stat status;
    if (stat(path, &status))
        return false;
    if (S_ISDIR(status.st_mode))
        return true;
    int fd = S_ISREG(status.st_mode) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t got = fd < 0 ? 0 : read(fd, magic, sizeof magic);
    if (fd >= 0)
        (void)close(fd);
    if (got == (ssize_t)sizeof magic && memcmp(magic, YARN_DUMP_MAGIC, sizeof magic) == 0)
        return true;
    /* A damaged one: what is no program is no command either. */
    return S_ISREG(status.st_mode) && strstr(path, ".dump") && access(path, X_OK);
}

/* Room for one more, zeroed; NULL: no memory. */
static void *grow(void **array, size_t *count, size_t *capacity, size_t size)
{
    if (*count == *capacity) {
        size_t more = *capacity ? 2 * *capacity : 16;
        void *grown = realloc(*array, more * size);
        if (!grown)
            return NULL;
        *array = grown;
        *capacity = more;
    }
    return memset((char *)*array + size * (*count)++, 0, size);
}

static const char *keep(struct yarn_stat_dump *dump, struct yarn_span text)
{
    const char *kept = yarn_arena_text(&dump->arena, (const char *)text.data, text.size);
    return kept ? kept : "";
}

/* ---- events ---- */

/* The PMUs of several kinds of core count one event for the user, under one name. */
static uint32_t find_row(const struct yarn_stat_dump *dump, const struct yarn_dump_event *event)
{
    for (uint32_t i = 0; i < dump->nr_rows; i++)
        if (yarn_span_equal(event->name, yarn_span_of_text(dump->rows[i].name)))
            return i;
    return NO_ROW;
}

static int add_row(struct yarn_stat_dump_reader *reader, const struct yarn_dump_event *event)
{
    struct yarn_stat_dump *dump = reader->dump;
    struct yarn_stat_row *row =
        dump->nr_rows == ROWS_MAX
            ? NULL
            : grow((void **)&dump->rows, &dump->nr_rows, &dump->rows_capacity, sizeof *row);
    if (!row)
        return -ENOMEM;
    *row = (struct yarn_stat_row){
        .name = keep(dump, event->name),
        .unit = keep(dump, event->unit),
        .scale = 1,
        .is_refused = true,
        .plus_minus = -1,
    };
    return 0;
}

/* Who leads such a group has a period and is only a clock. */
static int on_event(void *self, const struct yarn_dump_event *event)
{
    struct yarn_stat_dump_reader *reader = self;
    struct yarn_stat_dump *dump = reader->dump;
    if (!(event->flags & YARN_DUMP_EVENT_IS_COUNTED) || event->period ||
        event->number >= EVENTS_MAX)
        return 0;
    if (reader->rows[event->number] == NO_ROW) {
        uint32_t number = find_row(dump, event);
        if (number == NO_ROW) {
            int err = add_row(reader, event);
            if (err)
                return err;
            number = (uint32_t)dump->nr_rows - 1;
        }
        reader->rows[event->number] = number;
    }
    struct yarn_stat_row *row = &dump->rows[reader->rows[event->number]];
    row->is_user_only |= !!(event->flags & YARN_DUMP_EVENT_KERNEL_REFUSED);
    if (event->error && row->is_refused)
        row->why = keep(dump, event->reason);
    else if (!event->error && row->is_refused) {
        row->is_refused = false;
        row->why = NULL;
    }
    return 0;
}

/* ---- sums ---- */

/* In the latest interval the row is that of other kinds of core, and the event's is missing. */
static bool is_completed_by(const struct yarn_stat_dump_reader *reader, uint32_t event)
{
    const size_t latest = reader->dump->nr_intervals;
    for (size_t i = 0; reader->nr_intervals[event] < latest && i < EVENTS_MAX; i++)
        if (reader->rows[i] == reader->rows[event] && reader->nr_intervals[i] == latest)
            return true;
    return false;
}

/* An event that comes again begins the next one. */
static struct yarn_stat *interval_of(struct yarn_stat_dump_reader *reader, uint32_t event,
                                     uint64_t time_ns)
{
    struct yarn_stat_dump *dump = reader->dump;
    struct yarn_stat *interval =
        dump->nr_intervals ? &dump->intervals[dump->nr_intervals - 1] : NULL;
    if (interval && (!interval->rows[reader->rows[event]].name || is_completed_by(reader, event)))
        return interval;
    interval = grow((void **)&dump->intervals, &dump->nr_intervals, &dump->intervals_capacity,
                    sizeof *interval);
    if (!interval)
        return NULL;
    interval->rows = calloc(ROWS_MAX, sizeof *interval->rows);
    if (!interval->rows) {
        dump->nr_intervals--;
        return NULL;
    }
    interval->at_seconds = (double)(time_ns - reader->process.start_ns) / 1e9;
    interval->seconds = (double)(time_ns - reader->interval_ns) / 1e9;
    reader->interval_ns = time_ns;
    return interval;
}

/* Kinds of core take turns, so their times add up to one's. */
static void add_part(struct yarn_stat_row *row, struct yarn_stat_row *of_interval,
                     struct yarn_stat_row *part)
{
    const struct yarn_stat_row before = *of_interval;
    row->count += part->count;
    row->running_ns += part->running_ns;
    part->count += before.count;
    part->running_ns += before.running_ns;
    part->enabled_ns = yarn_u64_max(part->enabled_ns, before.enabled_ns);
    row->enabled_ns += part->enabled_ns - before.enabled_ns;
    yarn_stat_scale(part);
    part->value = isnan(part->value) && !part->enabled_ns ? 0 : part->value;
    *of_interval = *part;
}

static int on_count(void *self, const struct yarn_dump_count *count)
{
    struct yarn_stat_dump_reader *reader = self;
    if (count->event >= EVENTS_MAX || reader->rows[count->event] == NO_ROW)
        return 0;
    uint32_t number = reader->rows[count->event];
    struct yarn_stat_row *row = &reader->dump->rows[number];
    struct yarn_dump_count *before = &reader->counts[count->event];
    struct yarn_stat_row part = *row;
    part.count = count->count - yarn_u64_min(before->count, count->count);
    part.enabled_ns =
        count->time_enabled_ns - yarn_u64_min(before->time_enabled_ns, count->time_enabled_ns);
    part.running_ns =
        count->time_running_ns - yarn_u64_min(before->time_running_ns, count->time_running_ns);
    *before = *count;
    if (!part.count && row->enabled_ns && count->time_ns - reader->interval_ns < YARN_NS_PER_MS)
        return 0; /* the end, right behind the last interval's */
    struct yarn_stat *interval = interval_of(reader, count->event, count->time_ns);
    if (!interval)
        return -ENOMEM;
    reader->nr_intervals[count->event] = reader->dump->nr_intervals;
    add_part(row, &interval->rows[number], &part);
    return 0;
}

/* ---- threads ---- */

static const char *name_of(const struct yarn_stat_dump_reader *reader, uint32_t tid)
{
    for (size_t i = reader->nr_names; i-- > 0;)
        if (reader->names[i].tid == tid)
            return reader->names[i].name;
    return "";
}

static int on_name(struct yarn_stat_dump_reader *reader, uint32_t tid, struct yarn_span comm)
{
    const char *name = keep(reader->dump, comm);
    struct yarn_stat_dump *dump = reader->dump;
    if (!grow((void **)&reader->names, &reader->nr_names, &reader->names_capacity,
              sizeof *reader->names))
        return -ENOMEM;
    reader->names[reader->nr_names - 1].tid = tid;
    reader->names[reader->nr_names - 1].name = name;
    for (size_t i = 0; i < dump->nr_threads; i++)
        if (dump->threads[i].tid == tid && dump->threads[i].pid == reader->process.pid)
            dump->threads[i].thread = name;
    return 0;
}

static int on_thread(void *self, const struct yarn_dump_thread *thread)
{
    return on_name(self, thread->tid, thread->comm);
}

static int on_thread_name(void *self, const struct yarn_dump_thread_name *thread)
{
    return on_name(self, thread->tid, thread->comm);
}

static struct yarn_stat_row *thread_row(struct yarn_stat_dump_reader *reader, uint32_t number,
                                        uint32_t tid)
{
    struct yarn_stat_dump *dump = reader->dump;
    uint64_t key = (((uint64_t)number << PROCESS_BITS | reader->nr_processes) << TID_BITS) | tid;
    uint32_t place = yarn_table_find(&reader->places, key);
    if (place != YARN_TABLE_NONE)
        return &dump->threads[place];
    struct yarn_stat_row *row =
        grow((void **)&dump->threads, &dump->nr_threads, &dump->threads_capacity, sizeof *row);
    if (!row || yarn_table_put(&reader->places, key, (uint32_t)dump->nr_threads - 1))
        return NULL;
    *row = dump->rows[number];
    row->count = row->nr_missed = 0;
    row->pid = reader->process.pid;
    row->tid = tid;
    row->thread = name_of(reader, tid);
    return row;
}

static int on_samples(void *self, const struct yarn_sample *samples, size_t count)
{
    struct yarn_stat_dump_reader *reader = self;
    for (size_t i = 0; i < count; i++) {
        if (samples[i].event >= EVENTS_MAX || reader->rows[samples[i].event] == NO_ROW)
            continue;
        struct yarn_stat_row *row =
            thread_row(reader, reader->rows[samples[i].event], samples[i].tid);
        if (!row)
            return -ENOMEM;
        row->count += samples[i].weight;
    }
    return 0;
}

/* A clock's time of them is recorded. */
static void add_missed(struct yarn_stat_dump_reader *reader)
{
    for (size_t i = 0; i < reader->dump->nr_rows; i++)
        if (strcmp(reader->dump->rows[i].unit, "ns") != 0)
            reader->dump->rows[i].nr_missed += reader->nr_children;
    reader->nr_children = 0;
}

static int on_totals(void *self, const struct yarn_dump_totals *totals)
{
    struct yarn_stat_dump_reader *reader = self;
    reader->nr_children = totals->value[YARN_DUMP_TOTAL_CHILDREN];
    return 0;
}

static void clear_events(struct yarn_stat_dump_reader *reader)
{
    memset(reader->counts, 0, sizeof reader->counts);
    memset(reader->nr_intervals, 0, sizeof reader->nr_intervals);
    for (size_t i = 0; i < EVENTS_MAX; i++)
        reader->rows[i] = NO_ROW;
}

static int on_process(void *self, const struct yarn_dump_process *process)
{
    struct yarn_stat_dump_reader *reader = self;
    add_missed(reader);
    reader->process = *process;
    reader->interval_ns = process->start_ns;
    reader->nr_processes++;
    reader->nr_names = 0;
    clear_events(reader);
    return 0;
}

/* ---- all of it ---- */

static const struct yarn_dump_visitor visitor = {
    .process = on_process,
    .event = on_event,
    .count = on_count,
    .thread = on_thread,
    .thread_name = on_thread_name,
    .samples = on_samples,
    .totals = on_totals,
};

static int read_all(struct yarn_stat_dump_reader *reader, const struct yarn_sources *sources)
{
    struct yarn_dump_summary summary;
    for (size_t i = 0; i < sources->count; i++) {
        const char *path = sources->list[i].path;
        clear_events(reader); /* a damaged dump may have counts, and no process before them */
        int err = yarn_dump_read_file(path, &visitor, reader, &summary);
        if (err) {
            yarn_complain("stat", "%s: %s", path, yarn_memory_why(err));
            return YARN_STATUS_FAILED;
        }
        if (summary.nr_damages)
            yarn_complain("stat", "%s: damaged: what can be read is shown", path);
    }
    return -1;
}

/* Of several processes the intervals are not the same ones. */
static void finish(struct yarn_stat_dump *dump, bool is_one)
{
    for (size_t i = 0; i < dump->nr_rows; i++) {
        yarn_stat_scale(&dump->rows[i]);
        if (isnan(dump->rows[i].value) && !dump->rows[i].why)
            dump->rows[i].why = "never counted";
    }
    for (size_t i = 0; i < dump->nr_intervals; i++) {
        dump->intervals[i].nr_rows = dump->nr_rows;
        for (size_t j = 0; j < dump->nr_rows; j++)
            if (!dump->intervals[i].rows[j].name) {
                dump->intervals[i].rows[j] = dump->rows[j];
                dump->intervals[i].rows[j].count = 0;
                dump->intervals[i].rows[j].value = dump->rows[j].is_refused ? NAN : 0;
            }
    }
    for (size_t i = 0; !is_one && i < dump->nr_intervals; i++)
        free(dump->intervals[i].rows);
    dump->nr_intervals = is_one ? dump->nr_intervals : 0;
}

int yarn_stat_dump_load(struct yarn_stat_dump *dump, char *const *paths)
{
    struct yarn_sources sources = {0};
    *dump = (struct yarn_stat_dump){.nr_rows = 0};
    yarn_arena_open(&dump->arena, ARENA_BYTES);
    int status = yarn_select_sources("stat", paths, &sources);
    dump->reader = calloc(1, sizeof *dump->reader);
    if (status < 0 && dump->reader && !yarn_table_open(&dump->reader->places, 1024, KEYS_MAX)) {
        dump->reader->dump = dump;
        status = read_all(dump->reader, &sources);
        add_missed(dump->reader);
        finish(dump, dump->reader->nr_processes == 1);
    }
    if (status < 0 && !dump->nr_rows) {
        yarn_complain("stat", "nothing was counted there: YARN_COUNTERS was not set");
        status = YARN_STATUS_FAILED;
    }
    yarn_sources_fini(&sources);
    return status;
}

/* What the process has counted and is in no thread's sample. */
static int add_rest(struct yarn_stat_dump *dump, uint32_t number)
{
    struct yarn_stat_row rest = dump->rows[number];
    for (size_t i = 0; i < dump->nr_threads; i++)
        if (dump->threads[i].name == rest.name)
            rest.count -= yarn_u64_min(rest.count, dump->threads[i].count);
    rest.thread = "[in no thread]";
    yarn_stat_scale(&rest);
    struct yarn_stat_row *row =
        grow((void **)&dump->threads, &dump->nr_threads, &dump->threads_capacity, sizeof *row);
    if (!row)
        return -ENOMEM;
    *row = rest;
    return 0;
}

static int compare(const void *left, const void *right)
{
    const struct yarn_stat_row *a = left, *b = right;
    int by_name = strcmp(a->name, b->name);
    if (by_name)
        return by_name;
    if (!a->tid != !b->tid)
        return a->tid ? -1 : 1; /* the rest comes last */
    return (a->count < b->count) - (a->count > b->count);
}

int yarn_stat_dump_by_thread(struct yarn_stat_dump *dump, struct yarn_stat *ret_stat)
{
    for (size_t i = 0; i < dump->nr_threads; i++) {
        const struct yarn_stat_row *row = NULL;
        for (size_t j = 0; j < dump->nr_rows && !row; j++)
            row = dump->rows[j].name == dump->threads[i].name ? &dump->rows[j] : NULL;
        if (!row)
            continue;
        dump->threads[i].enabled_ns = row->enabled_ns;
        dump->threads[i].running_ns = row->running_ns;
        yarn_stat_scale(&dump->threads[i]);
    }
    for (uint32_t i = 0; i < dump->nr_rows; i++)
        if (add_rest(dump, i))
            return -ENOMEM;
    qsort(dump->threads, dump->nr_threads, sizeof *dump->threads, compare);
    *ret_stat = (struct yarn_stat){.rows = dump->threads, .nr_rows = dump->nr_threads};
    return 0;
}

void yarn_stat_dump_fini(struct yarn_stat_dump *dump)
{
    for (size_t i = 0; i < dump->nr_intervals; i++)
        free(dump->intervals[i].rows);
    if (dump->reader) {
        yarn_table_close(&dump->reader->places);
        free(dump->reader->names);
    }
    free(dump->reader);
    free(dump->intervals);
    free(dump->rows);
    free(dump->threads);
    yarn_arena_close(&dump->arena);
    *dump = (struct yarn_stat_dump){.nr_rows = 0};
}
