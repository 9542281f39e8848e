/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/verbs/stat_dump.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output/base/array.h"
#include "output/yarnprof/io/memory.h"
#include "output/yarnprof/io/status.h"
#include "output/yarnprof/options/select.h"

enum { ROWS_MAX = 512, TID_BITS = 22, PROCESS_BITS = 32, KEYS_MAX = 1 << 24 };

#define NO_ROW UINT32_MAX

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

/* ---- events ---- */

/* The PMUs of several kinds of core count one event for the user, under one name. */
static uint32_t find_row(const struct yarn_stat_dump *dump, const struct yarn_dump_event *event)
{
    for (uint32_t i = 0; i < dump->nr_rows; i++)
        if (yarn_span_equal(event->name, yarn_span_of_text(dump->rows[i].name)))
            return i;
    return NO_ROW;
}

static int add_row(struct yarn_stat_dump *dump, const struct yarn_dump_event *event)
{
    const struct yarn_stat_row row = {
        .name = (const char *)event->name.data,
        .unit = event->unit.size ? (const char *)event->unit.data : "",
        .scale = 1,
        .is_refused = true,
        .plus_minus = -1,
    };
    return dump->nr_rows == ROWS_MAX
               ? -ENOMEM
               : YARN_ARRAY_PUT(&dump->rows, &dump->nr_rows, &dump->rows_capacity, &row);
}

static int note_event(struct yarn_stat_dump *dump, const struct yarn_profile_dump_event *counted)
{
    const struct yarn_dump_event *event = &counted->record;
    uint32_t number = find_row(dump, event);
    if (number == NO_ROW) {
        int err = add_row(dump, event);
        if (err)
            return err;
        number = (uint32_t)dump->nr_rows - 1;
    }
    dump->row_of[counted->event] = number;
    struct yarn_stat_row *row = &dump->rows[number];
    row->is_user_only |= !!(event->flags & YARN_DUMP_EVENT_KERNEL_REFUSED);
    if (event->error && row->is_refused)
        row->why = event->reason.size ? (const char *)event->reason.data : "";
    else if (!event->error && row->is_refused) {
        row->is_refused = false;
        row->why = NULL;
    }
    return 0;
}

/* And the children of which nothing is in it; a clock's time of them is recorded. */
static int note_events(struct yarn_stat_dump *dump, const struct yarn_profile_dump *of)
{
    int err = 0;
    for (size_t i = 0; !err && i < of->nr_events; i++)
        if (yarn_profile_dump_event_is_counter(&of->events[i]))
            err = note_event(dump, &of->events[i]);
    for (size_t i = 0; i < dump->nr_rows; i++)
        if (strcmp(dump->rows[i].unit, "ns") != 0)
            dump->rows[i].nr_missed += of->trust.stored.value[YARN_DUMP_TOTAL_CHILDREN];
    return err;
}

/* ---- sums ---- */

/* Of one process: what was read of its events before, and the latest intervals that these and the
 * rows are in. */
struct sums {
    const struct yarn_profile_dump *of;
    struct {
        struct yarn_dump_count count;
        size_t nr_intervals;
    } * events;               /* owned; by number */
    size_t of_rows[ROWS_MAX]; /* intervals */
    uint64_t interval_ns;     /* end of the one before */
};

/* An event that comes again begins the next one, unless in this one the row is that of other kinds
 * of core, and the event's is missing. */
static struct yarn_stat *interval_of(struct yarn_stat_dump *dump, struct sums *sums, uint32_t row,
                                     const struct yarn_dump_count *count)
{
    const size_t latest = dump->nr_intervals;
    struct yarn_stat interval = {
        .at_seconds = (double)(count->time_ns - sums->of->process.start_ns) / 1e9,
        .seconds = (double)(count->time_ns - sums->interval_ns) / 1e9,
    };
    if (latest &&
        (!dump->intervals[latest - 1].rows[row].name ||
         (sums->events[count->event].nr_intervals < latest && sums->of_rows[row] == latest)))
        return &dump->intervals[latest - 1];
    interval.rows = calloc(dump->nr_rows, sizeof *interval.rows);
    if (!interval.rows || YARN_ARRAY_PUT(&dump->intervals, &dump->nr_intervals,
                                         &dump->intervals_capacity, &interval)) {
        free(interval.rows);
        return NULL;
    }
    sums->interval_ns = count->time_ns;
    return &dump->intervals[latest];
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

static int add_count(struct yarn_stat_dump *dump, struct sums *sums,
                     const struct yarn_dump_count *count)
{
    const struct yarn_profile_dump_event *event = &sums->of->events[count->event];
    if (!yarn_profile_dump_event_is_counter(event))
        return 0;
    uint32_t number = dump->row_of[event->event];
    struct yarn_stat_row *row = &dump->rows[number];
    struct yarn_dump_count *before = &sums->events[count->event].count;
    struct yarn_stat_row part = *row;
    part.count = yarn_u64_minus(count->count, before->count);
    part.enabled_ns = yarn_u64_minus(count->time_enabled_ns, before->time_enabled_ns);
    part.running_ns = yarn_u64_minus(count->time_running_ns, before->time_running_ns);
    *before = *count;
    if (!part.count && row->enabled_ns && count->time_ns - sums->interval_ns < YARN_NS_PER_MS)
        return 0; /* the end, right behind the last interval's */
    struct yarn_stat *interval = interval_of(dump, sums, number, count);
    if (!interval)
        return -ENOMEM;
    sums->events[count->event].nr_intervals = sums->of_rows[number] = dump->nr_intervals;
    add_part(row, &interval->rows[number], &part);
    return 0;
}

static int add_counts(struct yarn_stat_dump *dump, const struct yarn_profile_dump *of)
{
    struct sums sums = {.of = of, .interval_ns = of->process.start_ns};
    sums.events = calloc(of->nr_events + 1, sizeof *sums.events);
    int err = sums.events ? 0 : -ENOMEM;
    for (size_t i = 0; !err && i < of->nr_counts; i++)
        err = add_count(dump, &sums, &of->counts[i]);
    free(sums.events);
    return err;
}

/* ---- threads ---- */

/* What one number of a process counted; `places`: row, process and thread to its row of threads. */
static int add_cell(struct yarn_stat_dump *dump, struct yarn_table *places,
                    const struct yarn_cell *cell)
{
    const struct yarn_profile *profile = &dump->profile;
    const struct yarn_profile_thread *thread = &profile->threads[cell->thread];
    uint32_t number = dump->row_of[cell->event];
    uint64_t key = (((uint64_t)number << PROCESS_BITS | thread->dump) << TID_BITS) | thread->tid;
    uint32_t place = yarn_table_find(places, key);
    if (place == YARN_TABLE_NONE) {
        struct yarn_stat_row row = dump->rows[number];
        place = (uint32_t)dump->nr_threads;
        row.count = row.nr_missed = 0;
        row.pid = profile->dumps[thread->dump].process.pid;
        row.tid = thread->tid;
        int err = YARN_ARRAY_PUT(&dump->threads, &dump->nr_threads, &dump->threads_capacity, &row);
        if (!err)
            err = yarn_table_put(places, key, place);
        if (err)
            return err;
    }
    dump->threads[place].count += cell->weight;
    dump->threads[place].thread = yarn_profile_text(profile, thread->comm);
    return 0;
}

/* ---- all of it ---- */

static void report_damage(const struct yarn_profile *profile)
{
    for (size_t i = 0; i < profile->nr_dumps; i++)
        if (profile->dumps[i].summary.nr_damages &&
            (!i || profile->dumps[i].path != profile->dumps[i - 1].path))
            yarn_complain("stat", "%s: damaged: what can be read is shown", profile->dumps[i].path);
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

static int add_all(struct yarn_stat_dump *dump)
{
    const struct yarn_profile *profile = &dump->profile;
    struct yarn_table places = YARN_TABLE_CLOSED;
    int err = yarn_table_open(&places, 1024, KEYS_MAX);
    dump->row_of = calloc(profile->nr_events + 1, sizeof *dump->row_of);
    if (!err && !dump->row_of)
        err = -ENOMEM;
    for (size_t i = 0; !err && i < profile->nr_dumps; i++)
        err = note_events(dump, &profile->dumps[i]);
    for (size_t i = 0; !err && i < profile->nr_dumps; i++)
        err = add_counts(dump, &profile->dumps[i]);
    for (size_t i = 0; !err && i < profile->cells.count; i++)
        err = add_cell(dump, &places, &profile->cells.cells[i]);
    yarn_table_close(&places);
    return err;
}

int yarn_stat_dump_load(struct yarn_stat_dump *dump, char *const *paths)
{
    const struct yarn_load_options options = {.has_counts = true, .has_no_code = true};
    *dump = (struct yarn_stat_dump){.nr_rows = 0};
    int status = yarn_select_load("stat", paths, &options, &dump->profile);
    if (status >= 0)
        return status;
    dump->is_loaded = true;
    report_damage(&dump->profile);
    int err = add_all(dump);
    finish(dump, dump->profile.nr_dumps == 1);
    if (!err && dump->nr_rows)
        return -1;
    yarn_complain("stat", "%s",
                  err ? yarn_memory_why(err)
                      : "nothing was counted there: YARN_COUNTERS was not set");
    return YARN_STATUS_FAILED;
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
    return YARN_ARRAY_PUT(&dump->threads, &dump->nr_threads, &dump->threads_capacity, &rest);
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
    if (dump->is_loaded)
        yarn_profile_fini(&dump->profile);
    free(dump->intervals);
    free(dump->rows);
    free(dump->row_of);
    free(dump->threads);
    *dump = (struct yarn_stat_dump){.nr_rows = 0};
}
