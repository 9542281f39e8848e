/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/event/parse.h"
#include "output/yarnprof/command/spawn.h"
#include "output/yarnprof/events/encode.h"
#include "output/yarnprof/events/hint.h"
#include "output/yarnprof/io/status.h"
#include "output/yarnprof/options/arguments.h"
#include "output/yarnprof/options/command_line.h"
#include "output/yarnprof/options/habits.h"
#include "output/yarnprof/verbs/metric_groups.h"
#include "output/yarnprof/verbs/stat_dump.h"
#include "output/yarnprof/verbs/stat_metrics.h"
#include "output/yarnprof/verbs/verb.h"
#include "unwind/site/probe_sites.h"

enum {
    INTERVAL = YARN_ARGUMENT_OWN,
    REPEAT,
    BY,
    JSON,
    CSV,
    REPEAT_MAX = 10000,
    ARENA_BYTES = 8 << 20,
};

#define DEFAULT_EVENTS                                                                             \
    "task-clock,context-switches,cpu-migrations,page-faults,cycles,"                               \
    "instructions,branches,branch-misses"

static const char default_events[] = DEFAULT_EVENTS;
static const char default_and_caches[] =
    DEFAULT_EVENTS ",L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses";

struct request {
    struct yarn_out out;
    struct yarn_arena arena;
    const char *events_text, *groups_text, *metric_path;
    struct yarn_stat_groups groups;
    struct yarn_probe_sites probe_sites; /* of probes; open until nothing counts them */
    uint64_t interval_ns, nr_runs;
    struct yarn_stat_events events;
    struct yarn_stat_run run;
    struct yarn_stat *intervals; /* owned, with their rows */
    size_t nr_intervals;
    bool is_by_thread, has_dumps, has_caches;
    bool is_live; /* intervals are printed as they come */
    int err;
};

static const struct yarn_argument arguments[] = {
    {"events", 'e', "LIST", "what to count, in the syntax of record's (as perf stat)",
     YARN_ARGUMENT_INTO(struct request, events_text)},
    {"interval", 'I', "TIME", "tell each stretch of so long (a bare number: ms), too", INTERVAL},
    {"repeat", 'r', "N", "run it so often: the mean, and how near it is", REPEAT},
    {"metrics", 'M', "GROUP", "metrics of these groups, a comma list; list shows all",
     YARN_ARGUMENT_INTO(struct request, groups_text)},
    {"metric-path", 0, "DIR", "look there for groups, too, and first",
     YARN_ARGUMENT_INTO(struct request, metric_path)},
    {"by", 0, "KEY", "of dumps: thread", BY},
    {NULL, 'd', NULL, "the caches' events, too", YARN_ARGUMENT_INTO(struct request, has_caches)},
    {NULL, 'j', NULL, "the same as --format=json", JSON},
    {NULL, 'x', "SEPARATOR", "the same as --format=csv, whose separator is a comma", CSV},
    YARN_OUT_FORMAT_ARGUMENT,
    YARN_OUT_ARGUMENTS,
    {0},
};

static int take(void *self, int id, const char *value, const char **ret_right)
{
    struct request *request = self;
    size_t size = value ? strlen(value) : 0;
    switch (id) {
    case BY:
        *ret_right = "thread";
        request->is_by_thread = strcmp(value, "thread") == 0;
        return request->is_by_thread ? 0 : -EINVAL;
    case INTERVAL:
        *ret_right = "a time from 1ms to 1000h";
        return yarn_parse_duration_ms(value, size, &request->interval_ns) ||
                       request->interval_ns < YARN_NS_PER_MS ||
                       request->interval_ns > 3600000 * YARN_NS_PER_SECOND
                   ? -EINVAL
                   : 0;
    case REPEAT:
        *ret_right = "a number of runs from 1 to 10000";
        return yarn_parse_u64(value, size, &request->nr_runs) || !request->nr_runs ||
                       request->nr_runs > REPEAT_MAX
                   ? -EINVAL
                   : 0;
    case JSON:
        request->out.format = YARN_OUT_JSON;
        return 0;
    case CSV:
        *ret_right = ", (a comma): the form is --format=csv";
        request->out.format = YARN_OUT_CSV;
        return strcmp(value, ",") == 0 ? 0 : -EINVAL;
    default:
        return yarn_out_take(&request->out, id, value, ret_right);
    }
}

static int parse_events(struct request *request, const char *text)
{
    static struct yarn_event_list list;
    struct yarn_parse_error error;
    uint32_t key;
    int err = yarn_events_understand(text, &request->arena, &list, &error);
    if (err == -EINVAL)
        yarn_complain("stat", "--events=%s: %.*s: %s (at %zu)", text, (int)error.size,
                      text + error.at, error.why, error.at + 1);
    else if (err)
        yarn_complain("stat", "%s", strerror(-err));
    if (err)
        return err == -EINVAL ? YARN_STATUS_USAGE : YARN_STATUS_FAILED;
    yarn_probe_sites_open(&request->probe_sites, &list, &request->arena, YARN_TRACEFS, false);
    return yarn_stat_add_events(&request->events, list.specs, list.count, &key) ? -1
                                                                                : YARN_STATUS_USAGE;
}

/* All that is to be counted, once. */
static int prepare(struct request *request)
{
    const char *text = request->events_text;
    int status = -1;
    if (!text && !request->groups_text)
        text = request->has_caches ? default_and_caches : default_events;
    if (text)
        status = parse_events(request, text);
    request->groups.arena = &request->arena;
    if (status < 0 && request->groups_text)
        status = yarn_stat_groups_load(&request->groups, request->groups_text, request->metric_path,
                                       &request->events);
    return status;
}

/* ---- where it goes ---- */

/* A table for people goes where the command's own output is not. */
static bool goes_to_stderr(const struct request *request)
{
    return request->out.format == YARN_OUT_TEXT && !request->out.path && !request->has_dumps;
}

static int open_out(struct request *request)
{
    struct yarn_out *out = &request->out;
    if (!goes_to_stderr(request))
        return yarn_out_open(out, "stat");
    out->file = stderr;
    out->is_terminal = isatty(STDERR_FILENO) == 1;
    out->has_color = out->color == YARN_OUT_COLOR_ALWAYS;
    return -1;
}

static int finish_out(struct request *request, int err)
{
    if (!goes_to_stderr(request))
        return yarn_out_finish(&request->out, "stat", err);
    request->out.file = NULL;
    return YARN_STATUS_OK;
}

static int print(struct request *request, const struct yarn_stat_totals *totals)
{
    size_t nr_intervals = request->is_live ? 0 : request->nr_intervals;
    int status = open_out(request);
    if (status >= 0)
        return status;
    yarn_stat_show(&request->out, totals, request->intervals, nr_intervals);
    return finish_out(request, 0);
}

/* ---- intervals ---- */

static int keep_interval(struct request *request, const struct yarn_stat *stat)
{
    size_t size = (request->nr_intervals + 1) * sizeof *request->intervals;
    struct yarn_stat *more = realloc(request->intervals, size);
    if (!more)
        return -ENOMEM;
    request->intervals = more;
    struct yarn_stat *kept = &more[request->nr_intervals];
    *kept = *stat;
    kept->rows = calloc(stat->nr_rows + 1, sizeof *kept->rows);
    kept->metrics = calloc(stat->nr_metrics + 1, sizeof *kept->metrics);
    request->nr_intervals++;
    if (!kept->rows || !kept->metrics)
        return -ENOMEM;
    memcpy(kept->rows, stat->rows, stat->nr_rows * sizeof *kept->rows);
    if (stat->nr_metrics)
        memcpy(kept->metrics, stat->metrics, stat->nr_metrics * sizeof *kept->metrics);
    return 0;
}

static void on_interval(void *self, const struct yarn_stat_row *rows, const uint32_t *keys,
                        size_t count, const struct yarn_stat_stretch *stretch, double at_seconds)
{
    struct request *request = self;
    struct yarn_stat stat = {
        .rows = request->run.rows,
        .nr_rows = count,
        .metrics = request->groups.metrics,
        .nr_metrics = request->groups.nr_metrics,
        .seconds = stretch->seconds,
        .at_seconds = at_seconds,
    };
    yarn_stat_groups_evaluate(&request->groups, rows, keys, count, stretch);
    if (!request->is_live) {
        request->err = request->err ? request->err : keep_interval(request, &stat);
        return;
    }
    request->out.file = stderr;
    yarn_stat_print_interval(&request->out, &stat, false);
}

/* ---- runs ---- */

struct sums {
    double *values; /* owned; of each run its rows' */
    double *walls;  /* owned */
    struct yarn_stat_row rows[YARN_STAT_EVENTS_MAX];
    double counts[YARN_STAT_EVENTS_MAX];
    double user_seconds, system_seconds, nr_threads;
    size_t nr_rows, nr_runs;
};

static void add_run(struct sums *sums, const struct yarn_stat_run *run)
{
    sums->nr_rows = run->nr_rows;
    for (size_t i = 0; i < run->nr_rows; i++) {
        sums->values[sums->nr_runs * YARN_STAT_EVENTS_MAX + i] = run->rows[i].value;
        sums->counts[i] += (double)run->rows[i].count;
        sums->rows[i].enabled_ns += run->rows[i].enabled_ns;
        sums->rows[i].running_ns += run->rows[i].running_ns;
    }
    sums->walls[sums->nr_runs++] = run->wall_seconds;
    sums->user_seconds += run->user_seconds;
    sums->system_seconds += run->system_seconds;
    sums->nr_threads += run->nr_threads;
}

static double mean_of(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return count ? sum / (double)count : 0;
}

/* The last run's rows become the mean of all. */
static void finish_rows(struct sums *sums, struct yarn_stat_run *run)
{
    double *values = sums->values + sums->nr_runs * YARN_STAT_EVENTS_MAX; /* room for one more */
    for (size_t i = 0; i < sums->nr_rows && sums->nr_runs > 1; i++) {
        struct yarn_stat_row *row = &run->rows[i];
        for (size_t j = 0; j < sums->nr_runs; j++)
            values[j] = sums->values[j * YARN_STAT_EVENTS_MAX + i];
        row->count = (uint64_t)(sums->counts[i] / (double)sums->nr_runs + 0.5);
        row->enabled_ns = sums->rows[i].enabled_ns;
        row->running_ns = sums->rows[i].running_ns;
        row->value = mean_of(values, sums->nr_runs);
        row->plus_minus = row->is_refused ? -1 : yarn_stat_plus_minus(values, sums->nr_runs);
    }
}

static int run_all(struct request *request, struct sums *sums, char *const argv[])
{
    int interrupted = YARN_STATUS_SIGNAL + SIGINT;
    request->run.events = &request->events;
    request->run.interval_ns = request->interval_ns ? request->interval_ns : UINT64_MAX;
    request->run.on_interval = on_interval;
    request->run.follows_threads = request->groups.need_threads;
    request->run.self = request;
    for (uint64_t i = 0; i < request->nr_runs; i++) {
        int err = yarn_stat_run(&request->run, argv);
        if (err)
            return err;
        add_run(sums, &request->run);
        if (request->run.status == interrupted || yarn_spawn_is_told_to_end())
            break;
    }
    return 0;
}

/* As one line, which a shell would take. */
static char *line_of(char *const argv[])
{
    size_t size = 0, at = 0;
    for (size_t i = 0; argv[i]; i++)
        size += strlen(argv[i]) + 1;
    char *words = malloc(size + 1);
    if (!words)
        return NULL;
    for (size_t i = 0; argv[i]; at += strlen(argv[i++]) + 1)
        (void)strcpy(words + at, argv[i]);
    char *line = yarn_command_line(yarn_span_of(words, at ? at - 1 : 0));
    free(words);
    return line;
}

static int complain_of_failure(const char *name, int err)
{
    const struct yarn_habit *habit = err == -ENOENT ? yarn_habit_find("stat", name) : NULL;
    if (habit && habit->way)
        yarn_complain("stat", "there is no command %s: %s", name, habit->way);
    else
        yarn_complain("stat", "%s: %s", name, strerror(-err));
    return err == -ENOENT ? YARN_STATUS_NO_COMMAND : YARN_STATUS_CANNOT_RUN;
}

static int show(struct request *request, struct sums *sums, char *const argv[])
{
    char *line = line_of(argv);
    finish_rows(sums, &request->run);
    double nr_runs = (double)sums->nr_runs;
    struct yarn_stat_totals totals = {
        .stat = {.rows = request->run.rows,
                 .nr_rows = request->run.nr_rows,
                 .metrics = request->groups.metrics,
                 .nr_metrics = request->groups.nr_metrics,
                 .seconds = mean_of(sums->walls, sums->nr_runs)},
        .command = line ? line : argv[0],
        .status = request->run.status,
        .nr_runs = (unsigned)sums->nr_runs,
        .user_seconds = sums->user_seconds / nr_runs,
        .system_seconds = sums->system_seconds / nr_runs,
        .plus_minus_seconds = yarn_stat_plus_minus(sums->walls, sums->nr_runs),
    };
    const struct yarn_stat_stretch all = {totals.stat.seconds, sums->nr_threads / nr_runs};
    yarn_stat_groups_evaluate(&request->groups, request->run.rows, request->run.row_keys,
                              request->run.nr_rows, &all);
    int status = request->err ? finish_out(request, request->err) : print(request, &totals);
    yarn_command_line_free(line);
    (void)status; /* complained of; the command's own is what counts */
    return request->run.status;
}

static int count(struct request *request, char *const argv[])
{
    static struct sums sums;
    size_t room = request->nr_runs + 2 + request->nr_runs / YARN_STAT_EVENTS_MAX;
    request->is_live = goes_to_stderr(request);
    sums.values = calloc(room, YARN_STAT_EVENTS_MAX * sizeof *sums.values);
    sums.walls = calloc(room, sizeof *sums.walls);
    int err = sums.values && sums.walls ? run_all(request, &sums, argv) : -ENOMEM;
    int status = err ? complain_of_failure(argv[0], err) : show(request, &sums, argv);
    free(sums.values);
    free(sums.walls);
    yarn_stat_run_fini(&request->run);
    return status;
}

/* ---- dumps ---- */

static int show_dumps(struct request *request, char *const *paths)
{
    static struct yarn_stat_dump dump;
    struct yarn_stat_totals totals = {.nr_runs = 1, .plus_minus_seconds = -1};
    int status = yarn_stat_dump_load(&dump, paths);
    int err = 0;
    if (status < 0) {
        totals.stat = (struct yarn_stat){.rows = dump.rows, .nr_rows = dump.nr_rows};
        if (request->is_by_thread)
            err = yarn_stat_dump_by_thread(&dump, &totals.stat);
        else
            request->intervals = dump.intervals, request->nr_intervals = dump.nr_intervals;
        request->has_dumps = true;
        status = err ? complain_of_failure("by thread", err) : print(request, &totals);
        request->intervals = NULL;
        request->nr_intervals = 0;
    }
    yarn_stat_dump_fini(&dump);
    return status;
}

static const char *option_of_command(const struct request *request)
{
    return request->events_text   ? "--events"
           : request->groups_text ? "--metrics"
           : request->metric_path ? "--metric-path"
           : request->interval_ns ? "--interval"
           : request->nr_runs > 1 ? "--repeat"
                                  : NULL;
}

/* Its options may stand behind it, too. */
static int run_dumps(struct request *request, char **operands)
{
    struct yarn_command behind = yarn_verb_stat;
    int nr_operands = 0, first;
    while (operands[nr_operands])
        nr_operands++;
    behind.stops_at_operand = false;
    int status = yarn_command_parse(&behind, request, nr_operands + 1, operands - 1, &first);
    const char *option = option_of_command(request);
    if (status >= 0)
        return status;
    if (!option)
        return show_dumps(request, operands - 1 + first);
    yarn_complain("stat", "%s is of a command; of a dump there is what YARN_COUNTERS counted",
                  option);
    return YARN_STATUS_USAGE;
}

static int run_command(struct request *request, char *const argv[])
{
    if (request->interval_ns && request->nr_runs > 1) {
        yarn_complain("stat", "--interval and --repeat do not go together");
        return YARN_STATUS_USAGE;
    }
    if (request->is_by_thread) {
        yarn_complain("stat", "--by=thread is of dumps that were recorded with YARN_COUNTERS");
        return YARN_STATUS_USAGE;
    }
    int status = prepare(request);
    return status < 0 ? count(request, argv) : status;
}

static void fini(void *self)
{
    struct request *request = self;
    for (size_t i = 0; i < request->nr_intervals; i++) {
        free(request->intervals[i].rows);
        free(request->intervals[i].metrics);
    }
    free(request->intervals);
    yarn_probe_sites_close(&request->probe_sites);
    yarn_arena_close(&request->arena);
}

static int run(void *self, char **operands)
{
    struct request *request = self;
    yarn_arena_open(&request->arena, ARENA_BYTES);
    if (request->groups_text && strcmp(request->groups_text, "list") == 0)
        return yarn_metric_groups_list("stat", request->metric_path);
    if (!operands[0]) {
        yarn_complain("stat",
                      "no command is named: yarnprof stat -- COMMAND; see yarnprof stat --help");
        return YARN_STATUS_USAGE;
    }
    bool is_command = strcmp(operands[-1], "--") == 0;
    return !is_command && yarn_stat_dump_is(operands[0]) ? run_dumps(request, operands)
                                                         : run_command(request, operands);
}

const struct yarn_command yarn_verb_stat = {
    .verb = "stat",
    .operands = "[--] COMMAND...\n       yarnprof stat [--by=thread] FILE...",
    .about = "Runs the command, counts its events from outside, with all its threads and children, "
             "and gives\nthe command's own exit status. The table goes to standard error, json and "
             "csv to standard\noutput. What cannot be counted says why. Of a FILE, a dump: what "
             "YARN_COUNTERS "
             "counted.",
    .arguments = arguments,
    .stops_at_operand = true,
    .take = take,
    .initial = &(const struct request){.nr_runs = 1},
    .request_bytes = sizeof(struct request),
    .run = run,
    .fini = fini,
};
