/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/verbs/stat_run.h"

#include <math.h>

#include "core/sys/file.h"
#include "core/sys/perf.h"
#include "core/sys/process.h"
#include "output/yarnprof/command/spawn.h"

enum { CPUS_MAX = 8192, ARENA_BYTES = 1 << 20 };

/* How many threads a command and its children have, from its exec on: the kernel's records of each
 * that is made and each that ends, in a small ring a cpu. */

/* Records of 1,600 threads a cpu until they are taken. */
#define YARN_TASK_RING_BYTES YARN_KIB(128)
#define YARN_TASK_POLL_NS (YARN_NS_PER_SECOND / 10)

struct yarn_task_count {
    struct yarn_task_ring {
        int fd;
        struct yarn_ring ring;
    } * rings; /* of the arena */
    size_t nr_rings;
    struct yarn_arena arena;
    uint64_t all, ended;   /* from the exec on */
    uint64_t ended_before; /* the stretch */
    bool is_unknown;       /* the kernel refused the rings, or they were full */
};

#define YARN_TASK_COUNT_CLOSED ((struct yarn_task_count){.rings = NULL})

static int open_ring(struct yarn_task_ring *ring, pid_t pid, int cpu)
{
    struct perf_event_mmap_page *page;
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attr,
        .config = PERF_COUNT_SW_DUMMY,
        .sample_period = 1,
        .disabled = 1,
        .inherit = 1,
        .enable_on_exec = 1,
        .exclude_kernel = 1,
        .task = 1,
    };
    int fd = yarn_perf_open(&attr, pid, cpu, -1);
    if (fd < 0)
        return fd;
    int err = yarn_perf_map(fd, YARN_TASK_RING_BYTES, &page);
    if (err) {
        yarn_file_close(fd);
        return err;
    }
    const uint8_t *data = (const uint8_t *)page + page->data_offset;
    *ring = (struct yarn_task_ring){fd, yarn_ring_of(page, data, YARN_TASK_RING_BYTES)};
    return 0;
}

static int open_rings(struct yarn_task_count *count, pid_t pid)
{
    int *cpus = YARN_ARENA_NEW(&count->arena, int, CPUS_MAX);
    count->rings = YARN_ARENA_NEW(&count->arena, struct yarn_task_ring, CPUS_MAX);
    if (!cpus || !count->rings)
        return -ENOMEM;
    size_t nr_cpus = yarn_process_online_cpus(cpus, CPUS_MAX);
    int err = nr_cpus ? 0 : -ENODEV;
    for (size_t i = 0; i < nr_cpus && !err; i++) {
        err = open_ring(&count->rings[i], pid, cpus[i]);
        count->nr_rings += !err;
    }
    return err;
}

static void open_task_count(struct yarn_task_count *count, pid_t pid)
{
    *count = YARN_TASK_COUNT_CLOSED;
    yarn_arena_open(&count->arena, ARENA_BYTES);
    count->all = 1;
    count->is_unknown = open_rings(count, pid);
}

static void drain(struct yarn_task_count *count, struct yarn_ring *ring)
{
    struct perf_event_header header;
    struct yarn_wrapped record;
    enum yarn_ring_next next;
    yarn_ring_begin(ring);
    while ((next = yarn_ring_peek(ring, &header, &record)) == YARN_RING_RECORD) {
        count->all += header.type == PERF_RECORD_FORK;
        count->ended += header.type == PERF_RECORD_EXIT;
        count->is_unknown |= header.type == PERF_RECORD_LOST;
        yarn_ring_take(ring, &header);
    }
    count->is_unknown |= next == YARN_RING_BROKEN;
    yarn_ring_commit(ring);
}

static void poll_task_count(struct yarn_task_count *count)
{
    for (size_t i = 0; i < count->nr_rings; i++)
        drain(count, &count->rings[i].ring);
}

static double all_tasks(struct yarn_task_count *count)
{
    poll_task_count(count);
    return count->is_unknown ? NAN : (double)count->all;
}

static double end_task_stretch(struct yarn_task_count *count)
{
    double in_stretch = all_tasks(count) - (double)count->ended_before;
    count->ended_before = count->ended;
    return in_stretch;
}

static void close_task_count(struct yarn_task_count *count)
{
    for (size_t i = 0; i < count->nr_rings; i++) {
        yarn_perf_unmap(count->rings[i].ring.page, YARN_TASK_RING_BYTES);
        yarn_file_close(count->rings[i].fd);
    }
    yarn_arena_close(&count->arena);
    *count = YARN_TASK_COUNT_CLOSED;
}

static const char no_counter[] =
    "never counted: others held the counters all the time, so ask for fewer events at once";
static const char not_pinned[] =
    "pinned, and no counter was free for it: leave out D, or ask for fewer events";

bool yarn_stat_add_events(struct yarn_stat_events *events, const struct yarn_event_spec *specs,
                          size_t count, uint32_t *ret_key)
{
    uint8_t nr_groups = 0;
    if (count > YARN_STAT_EVENTS_MAX - events->count)
        return false;
    *ret_key = events->nr_keys;
    for (size_t i = 0; i < events->count; i++)
        nr_groups = (uint8_t)yarn_u64_max(nr_groups, events->specs[i].group);
    for (size_t i = 0; i < count; i++) {
        struct yarn_event_spec *spec = &events->specs[events->count];
        *spec = specs[i];
        spec->group = spec->group ? (uint8_t)(spec->group + nr_groups) : 0;
        events->keys[events->count++] = *ret_key + spec->item;
        events->nr_keys = (uint32_t)yarn_u64_max(events->nr_keys, *ret_key + spec->item + 1);
    }
    return true;
}

struct reading {
    int error;
    struct yarn_perf_count count;
};

struct counting {
    struct yarn_stat_run *run;
    struct yarn_task_count tasks;
    struct reading now[YARN_STAT_EVENTS_MAX], before[YARN_STAT_EVENTS_MAX];
};

static void read_all(struct counting *counting)
{
    const struct yarn_counter_set *set = &counting->run->set;
    for (size_t i = 0; i < set->count; i++) {
        struct reading *reading = &counting->now[i];
        reading->error = yarn_counter_set_read(set, i, &reading->count);
    }
}

static struct yarn_stat_row row_of(const struct yarn_counter *counter,
                                   const struct reading *reading, const struct reading *before)
{
    double scale = counter->spec.scale;
    struct yarn_stat_row row = {
        .name = counter->spec.name,
        .unit = counter->spec.unit,
        .scale = scale > 0 ? scale : 1,
        /* The clocks take no notice of who is left out. */
        .is_user_only = counter->is_kernel_refused && !counter->spec.is_clock,
        .is_refused = reading->error,
        .plus_minus = -1,
    };
    if (counter->error)
        row.why = counter->reason;
    else if (reading->error)
        row.why = not_pinned;
    if (row.is_refused)
        return row;
    row.count = reading->count.count;
    row.enabled_ns = reading->count.time_enabled_ns;
    row.running_ns = reading->count.time_running_ns;
    if (before && !before->error) {
        row.count -= before->count.count;
        row.enabled_ns -= before->count.time_enabled_ns;
        row.running_ns -= before->count.time_running_ns;
    }
    return row;
}

/* Kinds of core take turns, so their times add up to one's; PMUs beside each other run at once. */
static void join(struct yarn_stat_row *row, const struct yarn_stat_row *other, bool takes_turns)
{
    if (other->is_refused) {
        row->why = row->why ? row->why : other->why;
        return;
    }
    if (row->is_refused) {
        const char *why = row->why;
        *row = *other;
        row->why = why;
        return;
    }
    row->count += other->count;
    row->running_ns += other->running_ns;
    row->enabled_ns = takes_turns ? yarn_u64_max(row->enabled_ns, other->enabled_ns)
                                  : row->enabled_ns + other->enabled_ns;
    row->is_user_only |= other->is_user_only;
}

static struct yarn_stat_row *find_row(struct yarn_stat_run *run, uint32_t key, const char *name)
{
    for (size_t i = 0; i < run->nr_rows; i++)
        if (run->row_keys[i] == key && strcmp(run->rows[i].name, name) == 0)
            return &run->rows[i];
    return NULL;
}

/* An interval in which nothing of the command was on a cpu is one of 0 and not an unknown one. */
static void finish_row(struct yarn_stat_row *row, bool is_interval)
{
    yarn_stat_scale(row);
    if (row->is_refused || !isnan(row->value))
        return;
    if (is_interval && !row->enabled_ns)
        row->value = 0;
    else
        row->why = no_counter;
}

static void make_rows(struct counting *counting, bool is_interval)
{
    struct yarn_stat_run *run = counting->run;
    run->nr_rows = 0;
    for (size_t i = 0; i < run->set.count; i++) {
        const struct yarn_counter *counter = &run->set.counters[i];
        struct yarn_stat_row row =
            row_of(counter, &counting->now[i], is_interval ? &counting->before[i] : NULL);
        struct yarn_stat_row *same = find_row(run, run->events->keys[i], row.name);
        if (same) {
            join(same, &row, !counter->spec.is_of_cpus);
            continue;
        }
        run->row_keys[run->nr_rows] = run->events->keys[i];
        run->rows[run->nr_rows++] = row;
    }
    for (size_t i = 0; i < run->nr_rows; i++)
        finish_row(&run->rows[i], is_interval);
}

static double seconds_of(uint64_t ns)
{
    return (double)ns / (double)YARN_NS_PER_SECOND;
}

static void report_interval(struct counting *counting, double seconds, double at_seconds)
{
    struct yarn_stat_run *run = counting->run;
    read_all(counting);
    make_rows(counting, true);
    memcpy(counting->before, counting->now, sizeof counting->before);
    const struct yarn_stat_stretch stretch = {seconds, end_task_stretch(&counting->tasks)};
    run->on_interval(run->self, run->rows, run->row_keys, run->nr_rows, &stretch, at_seconds);
}

/* True: the command has ended. */
static bool wait_until(struct counting *counting, struct yarn_spawn *spawn, uint64_t next_ns)
{
    for (;;) {
        uint64_t now_ns = yarn_spawn_now_ns();
        uint64_t left_ns = next_ns > now_ns ? next_ns - now_ns : 0;
        bool follows = counting->run->follows_threads;
        uint64_t wait_ns = follows ? yarn_u64_min(left_ns, YARN_TASK_POLL_NS) : left_ns;
        bool is_over =
            yarn_spawn_wait(spawn, next_ns == UINT64_MAX && !follows ? UINT64_MAX : wait_ns);
        poll_task_count(&counting->tasks);
        if (is_over || wait_ns == left_ns)
            return is_over;
    }
}

/* Until the command ends, which also ends the last interval. */
static void watch(struct counting *counting, struct yarn_spawn *spawn)
{
    uint64_t interval_ns = counting->run->interval_ns;
    double before = 0;
    for (uint64_t nr = 1; interval_ns != UINT64_MAX; nr++) {
        bool is_over = wait_until(counting, spawn, spawn->begin_ns + nr * interval_ns);
        uint64_t end_ns = is_over ? spawn->end_ns : yarn_spawn_now_ns();
        double at = seconds_of(end_ns - spawn->begin_ns);
        report_interval(counting, at - before, at);
        before = at;
        if (is_over)
            return;
    }
    if (!wait_until(counting, spawn, UINT64_MAX))
        return;
}

static double seconds_of_time(const struct timeval *time)
{
    return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

static int run_counted(struct counting *counting, char *const argv[])
{
    struct yarn_stat_run *run = counting->run;
    struct yarn_spawn spawn;
    int err = yarn_spawn_start(&spawn, argv, NULL, NULL);
    if (err)
        return err;
    struct yarn_counter_plan plan = {
        .tids = &spawn.pid, .nr_tids = 1, .reach = YARN_COUNTER_OF_TREE, .starts_at_exec = true};
    int open_err = yarn_counter_set_open(&run->set, run->events->specs, run->events->count, &plan);
    if (run->follows_threads)
        open_task_count(&counting->tasks, spawn.pid);
    yarn_counter_set_enable(&run->set);
    yarn_spawn_release(&spawn);
    watch(counting, &spawn);
    yarn_counter_set_disable(&run->set);
    run->nr_threads = all_tasks(&counting->tasks);
    close_task_count(&counting->tasks);
    err = yarn_spawn_finish(&spawn, &run->status);
    run->wall_seconds = seconds_of(spawn.end_ns - spawn.begin_ns);
    run->user_seconds = seconds_of_time(&spawn.usage.ru_utime);
    run->system_seconds = seconds_of_time(&spawn.usage.ru_stime);
    return err ? err : open_err;
}

int yarn_stat_run(struct yarn_stat_run *run, char *const argv[])
{
    static struct counting counting;
    memset(&counting, 0, sizeof counting);
    counting.run = run;
    counting.tasks.is_unknown = !run->follows_threads;
    yarn_stat_run_fini(run);
    int err = run_counted(&counting, argv);
    if (err)
        return err;
    read_all(&counting);
    make_rows(&counting, false);
    return 0;
}

void yarn_stat_run_fini(struct yarn_stat_run *run)
{
    yarn_counter_set_close(&run->set);
    run->nr_rows = 0;
}
