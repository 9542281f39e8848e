/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/options/select.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "core/base/text.h"
#include "output/dump/reader.h"
#include "output/yarnprof/io/memory.h"
#include "output/yarnprof/io/new_file.h"
#include "output/yarnprof/io/numbers.h"
#include "output/yarnprof/io/progress.h"
#include "output/yarnprof/io/status.h"
#include "output/yarnprof/options/habits.h"
#include "output/yarnprof/options/misspelt.h"

static int open_lines(enum yarn_inlines inlines, bool view_has_lines, bool view_has_inlines,
                      struct yarn_load_options *options)
{
    bool is_on = inlines == YARN_INLINES_AUTO ? view_has_inlines : inlines == YARN_INLINES_ON;
    if (!is_on && !view_has_lines)
        return 0;
    options->has_no_inlines = !is_on;
    options->lines = yarn_lines_new(NULL);
    return options->lines ? 0 : -ENOMEM;
}

static void close_lines(const char *verb, struct yarn_load_options *options)
{
    const char *path;
    enum yarn_debuginfo_state why;
    for (size_t i = 0; options->lines && (path = yarn_lines_unknown(options->lines, i, &why)); i++)
        yarn_complain(verb, "%s: %s: its source lines are unknown", path,
                      why == YARN_DEBUGINFO_OTHER_FILE
                          ? "not the file that was recorded"
                          : "its debug information asks for more than any of this size");
    yarn_lines_free(options->lines);
    options->lines = NULL;
}

enum { RUN_BYTES = 256 };

/* The newest so far. */
struct newest {
    char path[PATH_MAX];
    struct timespec time;
    char run[RUN_BYTES]; /* of its recording; empty: unknown */
    bool is_of_runs;     /* there are dumps of several */
    bool is_any;
};

static int note_run(void *self, const struct yarn_dump_option *option)
{
    char *run = self;
    if (!yarn_span_equal(option->name, yarn_span_of_text("run")))
        return 0;
    (void)snprintf(run, RUN_BYTES, "%.*s", (int)yarn_u64_min(option->value.size, RUN_BYTES - 1),
                   (const char *)option->value.data);
    return 1;
}

/* Options come before what is recorded: no folder of dumps is read whole, and none that cannot be
 * read to its end is passed over. */
static int end_at_samples(void *self, const struct yarn_sample *samples, size_t count)
{
    (void)self, (void)samples, (void)count;
    return 1;
}

static int end_at_runs(void *self, const struct yarn_dump_run *runs, size_t count)
{
    (void)self, (void)runs, (void)count;
    return 1;
}

static bool is_dump(const char *path, char ret_run[RUN_BYTES])
{
    static const struct yarn_dump_visitor visitor = {
        .option = note_run, .samples = end_at_samples, .runs = end_at_runs};
    struct yarn_dump_summary summary;
    ret_run[0] = 0;
    return yarn_dump_read_file(path, &visitor, ret_run, &summary) >= 0 && summary.version_major;
}

static bool is_later(const struct timespec *one, const struct timespec *other)
{
    return one->tv_sec != other->tv_sec ? one->tv_sec > other->tv_sec
                                        : one->tv_nsec > other->tv_nsec;
}

static void offer(struct newest *newest, const char *path, const struct timespec *time)
{
    char run[RUN_BYTES];
    if (!is_dump(path, run))
        return;
    newest->is_of_runs |= newest->is_any && strcmp(run, newest->run) != 0;
    if (newest->is_any && !is_later(time, &newest->time))
        return;
    (void)snprintf(newest->path, sizeof newest->path, "%s", path);
    (void)strcpy(newest->run, run);
    newest->time = *time;
    newest->is_any = true;
}

static void look_into(struct newest *newest, const char *folder, bool is_deep);

/* A folder of one recording stands for its dumps. */
static void look_below(struct newest *newest, const char *path)
{
    struct newest below = {.is_any = false};
    look_into(&below, path, false);
    if (!below.is_any || (newest->is_any && !is_later(&below.time, &newest->time)))
        return;
    newest->time = below.time;
    newest->is_any = true;
    (void)strcpy(newest->run, below.run);
    (void)snprintf(newest->path, sizeof newest->path, "%s",
                   below.is_of_runs || !below.run[0] ? below.path : path);
}

static void look_into(struct newest *newest, const char *folder, bool is_deep)
{
    struct dirent *entry;
    DIR *entries = opendir(folder);
    while (entries && (entry = readdir(entries))) {
        char path[PATH_MAX];
        struct stat status;
        bool is_here = strcmp(folder, ".") == 0;
        int size = snprintf(path, sizeof path, "%s%s%s", is_here ? "" : folder, is_here ? "" : "/",
                            entry->d_name);
        if (entry->d_name[0] == '.' || size >= (int)sizeof path || stat(path, &status))
            continue;
        if (S_ISREG(status.st_mode))
            offer(newest, path, &status.st_mtim);
        else if (S_ISDIR(status.st_mode) && is_deep)
            look_below(newest, path);
    }
    if (entries)
        (void)closedir(entries);
}

static int fail(const char *verb, const struct yarn_source_failure *failure, int err)
{
    bool is_limit = err == -ENOBUFS || err == -ENOMEM;
    yarn_complain(verb, "%s: %s%s", failure->path, is_limit ? yarn_memory_why(err) : failure->why,
                  err == -ENOENT ? "; yarnprof record -- COMMAND writes what is read" : "");
    return YARN_STATUS_FAILED;
}

static bool find_newest(const char *verb, struct newest *ret_newest)
{
    *ret_newest = (struct newest){.is_any = false};
    look_into(ret_newest, ".", true);
    if (!ret_newest->is_any)
        yarn_complain(verb, "no dump is named, and none is in this folder; see yarnprof %s --help",
                      verb);
    return ret_newest->is_any;
}

bool yarn_newest_find(const char *verb, char ret_path[PATH_MAX])
{
    struct newest newest;
    if (!find_newest(verb, &newest))
        return false;
    (void)strcpy(ret_path, newest.path);
    yarn_complain(verb, "%s is the newest here", newest.path);
    return true;
}

/* The other dumps of its run that lie beside it: how many. */
static size_t add_of_run(const struct newest *newest, struct yarn_sources *sources)
{
    struct yarn_source_failure failure;
    struct dirent *entry;
    char folder[PATH_MAX], path[PATH_MAX], run[RUN_BYTES];
    const char *slash = strrchr(newest->path, '/');
    int size = slash ? (int)(slash + 1 - newest->path) : 0;
    size_t count = 0;
    (void)snprintf(folder, sizeof folder, "%.*s", size, newest->path);
    DIR *entries = newest->run[0] ? opendir(size ? folder : ".") : NULL;
    while (entries && (entry = readdir(entries))) {
        bool is_whole =
            snprintf(path, sizeof path, "%s%s", folder, entry->d_name) < (int)sizeof path;
        if (!is_whole || entry->d_name[0] == '.' || strcmp(path, newest->path) == 0 ||
            !is_dump(path, run) || strcmp(run, newest->run) != 0 ||
            yarn_sources_add(sources, path, &failure))
            continue;
        yarn_new_file_keep(path);
        count++;
    }
    if (entries)
        (void)closedir(entries);
    return count;
}

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static int add_newest(const char *verb, struct yarn_sources *sources)
{
    struct newest newest;
    struct yarn_source_failure failure;
    if (!find_newest(verb, &newest))
        return YARN_STATUS_USAGE;
    yarn_new_file_keep(newest.path);
    int err = yarn_sources_add(sources, newest.path, &failure);
    if (err)
        return fail(verb, &failure, err);
    size_t count = is_folder(newest.path) ? 0 : add_of_run(&newest, sources);
    if (count)
        yarn_complain(verb, "%s is the newest here, with %lu more of its run", newest.path,
                      (unsigned long)count);
    else
        yarn_complain(verb, "%s is the newest here", newest.path);
    return -1;
}

int yarn_select_take(struct yarn_select *select, int id, const char *value, const char **ret_right)
{
    switch (id) {
    case YARN_ARGUMENT_EVENT:
    case YARN_ARGUMENT_THREAD:
    case YARN_ARGUMENT_PROCESS:
    case YARN_ARGUMENT_COMM:
    case YARN_ARGUMENT_MODULE: /* in the order of enum yarn_filter_by */
        select->filter.lists[id - YARN_ARGUMENT_EVENT] = value;
        return 0;
    case YARN_ARGUMENT_FUNCTION:
        *ret_right = "an extended regular expression";
        return yarn_filter_set_function(&select->filter, value, select->regex_fault,
                                        sizeof select->regex_fault);
    case YARN_ARGUMENT_TIME:
        *ret_right = "FROM..TO with times such as 1.5s or 200ms, FROM not after TO";
        return yarn_time_range_parse(value, &select->time);
    case YARN_ARGUMENT_INLINES:
        select->inlines = YARN_INLINES_ON;
        return 0;
    case YARN_ARGUMENT_NO_INLINES:
        select->inlines = YARN_INLINES_OFF;
        return 0;
    default:
        return -ENOENT;
    }
}

bool yarn_select_is_part(const struct yarn_select *select)
{
    const struct yarn_filter *filter = &select->filter;
    const struct yarn_time_range *time = &select->time;
    return yarn_filter_is_by_thread(filter) || yarn_filter_is_by_function(filter) ||
           time->from_ns || time->from_is_absolute || time->to_ns != UINT64_MAX;
}

void yarn_select_fini(struct yarn_select *select)
{
    yarn_filter_fini(&select->filter);
    for (size_t i = 0; i < YARN_COUNT_OF(select->choices); i++)
        yarn_choice_fini(&select->choices[i]);
}

static void report_damage(const char *verb, const struct yarn_profile_dump *dump)
{
    const struct yarn_dump_summary *summary = &dump->summary;
    if (!summary->nr_damages)
        return;
    const struct yarn_dump_damage *first = &summary->damages[0];
    yarn_complain(verb,
                  "%s: damaged at offset %" PRIu64 ": %s; %" PRIu64
                  " bytes skipped in all, the rest is shown",
                  dump->path, first->offset, first->why, summary->damaged_bytes);
}

/* What was reported when the dump was merged is reported again. */
static void report_from(const char *verb, const struct yarn_profile_dump *dump)
{
    for (size_t i = 0; i < dump->nr_froms; i++) {
        const struct yarn_dump_from *from = &dump->froms[i];
        if (from->nr_damages)
            yarn_complain(verb,
                          "%s: %s, merged into it, was damaged at offset %" PRIu64 ": %s; %" PRIu64
                          " bytes skipped in all, the rest is shown",
                          dump->path, (const char *)from->path.data, from->damage_at,
                          (const char *)from->damage.data, from->damaged_bytes);
    }
}

int yarn_select_sources(const char *verb, char *const *paths, struct yarn_sources *sources)
{
    struct yarn_source_failure failure;
    yarn_memory_bound();
    int status = *paths ? -1 : add_newest(verb, sources);
    if (status >= 0)
        return status;
    for (; *paths; paths++) {
        yarn_new_file_keep(*paths); /* also where it cannot be read */
        int err = yarn_sources_add(sources, *paths, &failure);
        const struct yarn_habit *habit = err == -ENOENT ? yarn_habit_find(verb, *paths) : NULL;
        if (habit && habit->way) {
            yarn_complain(verb, "there is no %s: %s", *paths, habit->way);
            return YARN_STATUS_USAGE;
        }
        if (err)
            return fail(verb, &failure, err);
    }
    yarn_sources_sort(sources);
    if (sources->nr_empty)
        yarn_complain(verb, "%s skipped: a recording that did not begin, or was cut at once",
                      yarn_number_of_things(sources->nr_empty, "empty file").text);
    return -1;
}

static void show_progress(void *self, uint64_t done, uint64_t all)
{
    yarn_progress_show(self, done, all);
}

static int load(const char *verb, const struct yarn_sources *sources,
                const struct yarn_load_options *options, struct yarn_profile *ret_profile)
{
    struct yarn_source_failure failure;
    struct yarn_profile profile;
    int err = yarn_profile_init(&profile);
    if (err) {
        yarn_complain(verb, "%s", strerror(-err));
        return YARN_STATUS_FAILED;
    }
    struct yarn_progress progress = yarn_progress_begin("reading");
    struct yarn_load_options shown = *options;
    yarn_new_file_allow(yarn_sources_bytes(sources));
    for (size_t i = 0; i < sources->count; i++)
        yarn_new_file_keep(sources->list[i].path);
    shown.show_progress = show_progress;
    shown.progress_self = &progress;
    err = yarn_profile_load(&profile, sources, &shown, &failure);
    yarn_progress_end(&progress);
    if (err) {
        yarn_profile_fini(&profile);
        return fail(verb, &failure, err);
    }
    *ret_profile = profile;
    return -1;
}

int yarn_select_load(const char *verb, char *const *paths, const struct yarn_load_options *options,
                     struct yarn_profile *ret_profile)
{
    struct yarn_sources sources = {0};
    int status = yarn_select_sources(verb, paths, &sources);
    if (status < 0)
        status = load(verb, &sources, options, ret_profile);
    yarn_sources_fini(&sources);
    return status;
}

void yarn_select_report_damage(const char *verb, const struct yarn_profile *profile)
{
    for (size_t i = 0; i < profile->nr_dumps; i++) {
        /* Why: a merged file is many dumps of one summary. */
        if (!i || profile->dumps[i].path != profile->dumps[i - 1].path)
            report_damage(verb, &profile->dumps[i]);
        report_from(verb, &profile->dumps[i]);
    }
}

int yarn_select_load_view(const char *verb, const struct yarn_select *select, unsigned shown,
                          char *const *paths, struct yarn_load_options *options,
                          struct yarn_profile *ret_profile)
{
    options->time = select->time;
    int err = open_lines(select->inlines, shown & YARN_SELECT_LINES, shown & YARN_SELECT_INLINES,
                         options);
    if (err) {
        yarn_complain(verb, "%s", strerror(-err));
        return YARN_STATUS_FAILED;
    }
    int status = yarn_select_load(verb, paths, options, ret_profile);
    close_lines(verb, options);
    if (status < 0) {
        yarn_select_report_damage(verb, ret_profile);
        yarn_misspelt_report(verb, ret_profile);
    }
    return status;
}

/* The time that is looked at has none of the samples that there are. */
static bool is_time_in_vain(const struct yarn_select *select,
                            const struct yarn_profile *const profiles[], size_t count)
{
    const struct yarn_time_range *time = &select->time;
    uint64_t nr_all = 0, nr_seen = 0;
    if (!time->from_ns && !time->from_is_absolute && time->to_ns == UINT64_MAX)
        return false;
    for (size_t at = 0; at < count; at++) {
        for (size_t i = 0; i < profiles[at]->nr_dumps; i++)
            nr_all += profiles[at]->dumps[i].trust.samples;
        for (size_t i = 0; i < profiles[at]->nr_events; i++)
            nr_seen += profiles[at]->events[i].samples;
    }
    return nr_all && !nr_seen;
}

/* "--event: nothing in what is read matches; it has cpu-clock, page-faults". */
static void report_in_vain(const char *verb, const char *option,
                           const struct yarn_profile *const profiles[], size_t count)
{
    char bytes[512] = "";
    struct yarn_text text = yarn_text_of(bytes, sizeof bytes);
    bool is_event = strcmp(option, "event") == 0;
    for (size_t at = 0; is_event && at < count; at++)
        for (size_t i = 0; i < profiles[at]->nr_events; i++) {
            const char *name = yarn_profile_text(profiles[at], profiles[at]->events[i].name);
            if (!strstr(bytes, name))
                yarn_text_add_format(&text, "%s%s", text.size ? ", " : "; it has ", name);
        }
    yarn_complain(verb, "--%s: nothing in what is read matches%s", option, bytes);
}

static int choose(const char *verb, struct yarn_select *select, const struct yarn_filter *known,
                  const struct yarn_profile *const profiles[], size_t count, bool has_time)
{
    const char *option = yarn_filter_in_vain(known, profiles, count);
    int err = 0;
    if (!option && has_time && is_time_in_vain(select, profiles, count))
        option = "time";
    for (size_t i = 0; !option && !err && i < count; i++)
        err = yarn_choice_init(&select->choices[i], profiles[i], &select->filter);
    if (option)
        report_in_vain(verb, option, profiles, count);
    else if (err)
        yarn_complain(verb, "%s", yarn_memory_why(err));
    return option || err ? YARN_STATUS_FAILED : -1;
}

int yarn_select_choose(const char *verb, struct yarn_select *select,
                       const struct yarn_profile *const profiles[], size_t count)
{
    return choose(verb, select, &select->filter, profiles, count, true);
}

int yarn_select_choose_records(const char *verb, struct yarn_select *select,
                               const struct yarn_filter *known, const struct yarn_profile *profile)
{
    return choose(verb, select, known, &profile, 1, false);
}

int yarn_select_show(const char *verb, struct yarn_select *select, unsigned shown,
                     char *const *paths, struct yarn_load_options *options,
                     yarn_select_show_fn *show, void *self)
{
    struct yarn_profile profile;
    int status = yarn_select_load_view(verb, select, shown, paths, options, &profile);
    if (status >= 0)
        return status;
    status = yarn_select_choose(verb, select, (const struct yarn_profile *const[]){&profile}, 1);
    if (status < 0)
        status = show(self, &profile);
    yarn_profile_fini(&profile);
    return status;
}

static int take_limit(struct yarn_view *view, const char *value, const char **ret_right)
{
    uint64_t limit;
    *ret_right = "a number of rows";
    int err = yarn_parse_u64(value, strlen(value), &limit);
    if (err)
        return err;
    view->limit = (size_t)limit;
    view->has_limit = true;
    return 0;
}

int yarn_view_take(struct yarn_view *view, int id, const char *value, const char **ret_right)
{
    if (id == YARN_ARGUMENT_LIMIT)
        return take_limit(view, value, ret_right);
    int err = yarn_select_take(&view->select, id, value, ret_right);
    return err == -ENOENT ? yarn_out_take(&view->out, id, value, ret_right) : err;
}

size_t yarn_view_limit(const struct yarn_view *view, size_t of_text)
{
    if (view->has_limit)
        return view->limit;
    return view->out.format == YARN_OUT_TEXT ? of_text : 0;
}
