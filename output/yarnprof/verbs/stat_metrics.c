/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/verbs/stat_metrics.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "core/event/parse.h"
#include "output/yarnprof/events/encode.h"
#include "output/yarnprof/stream/status.h"
#include "output/yarnprof/verbs/launch.h"

enum { PATH_BYTES = 4096 + 512, FILE_BYTES_MAX = 1 << 18, GROUPS_MAX = 32, PLACES = 4 };

#define NO_KEY UINT32_MAX

struct yarn_stat_group {
    struct yarn_metric_file file;
    uint32_t keys[YARN_METRIC_NAMES_MAX]; /* NO_KEY: this machine does not know the event */
    const char *whys[YARN_METRIC_NAMES_MAX];
};

/* ---- where they are ---- */

struct places {
    char paths[PLACES][PATH_BYTES];
    size_t count;
};

static void find_places(struct places *places, const char *folder)
{
    char own[4096];
    bool has_own = yarn_launch_own_folder(own, sizeof own) == 0;
    places->count = 0;
    if (folder)
        (void)snprintf(places->paths[places->count++], PATH_BYTES, "%s", folder);
    if (has_own) {
        (void)snprintf(places->paths[places->count++], PATH_BYTES, "%s/metrics", own);
        (void)snprintf(places->paths[places->count++], PATH_BYTES, "%s/../%s/yarn/metrics", own,
                       YARN_DATADIR);
    }
    (void)snprintf(places->paths[places->count++], PATH_BYTES, "%s/yarn/metrics",
                   YARN_FULL_DATADIR);
}

/* The file of the group's name, whatever it ends in. */
static bool find_in(const char *folder, const char *group, size_t size, char *ret_path)
{
    DIR *dir = opendir(folder);
    bool is_found = false;
    if (!dir)
        return false;
    for (const struct dirent *entry; !is_found && (entry = readdir(dir));) {
        is_found = strncmp(entry->d_name, group, size) == 0 &&
                   (!entry->d_name[size] || entry->d_name[size] == '.');
        if (is_found &&
            snprintf(ret_path, PATH_BYTES, "%s/%s", folder, entry->d_name) >= PATH_BYTES)
            is_found = false;
    }
    (void)closedir(dir);
    return is_found;
}

static bool find_group(const struct places *places, const char *group, size_t size, char *ret_path)
{
    for (size_t i = 0; i < places->count; i++)
        if (find_in(places->paths[i], group, size, ret_path))
            return true;
    return false;
}

static int complain_missing(const struct places *places, const char *group, size_t size)
{
    yarn_complain("stat", "--metrics=%.*s: there is no such group; looked into:", (int)size, group);
    for (size_t i = 0; i < places->count; i++)
        yarn_complain("stat", "  %s", places->paths[i]);
    return YARN_STATUS_USAGE;
}

/* ---- their events ---- */

static struct yarn_event_list list;

/* It may be one of another machine: then what is made of it is unknown. Else the file is wrong. */
static bool is_unknown_here(const char *why)
{
    static const char *const begins[] = {"not a known event", "not a known tracepoint",
                                         "no tracepoints of", "not a term or event of the PMU"};
    for (size_t i = 0; i < YARN_COUNT_OF(begins); i++)
        if (strncmp(why, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

static void set_missing(struct yarn_stat_groups *groups, struct yarn_stat_group *group,
                        const struct yarn_metric_list *wanted, const struct yarn_parse_error *error)
{
    char text[400];
    (void)snprintf(text, sizeof text, "%.*s: %s", (int)error->size, wanted->text + error->at,
                   error->why);
    const char *why = yarn_arena_text(groups->arena, text, strlen(text));
    for (size_t i = 0; i < wanted->nr_names; i++) {
        group->keys[wanted->first_name + i] = NO_KEY;
        group->whys[wanted->first_name + i] = why ? why : "not known here";
    }
}

static int complain_fault(const char *path, unsigned line, const char *word, size_t size,
                          const char *why)
{
    yarn_complain("stat", "%s:%u: %.*s%s%s", path, line, (int)size, word, size ? ": " : "", why);
    return YARN_STATUS_USAGE;
}

static int add_list(struct yarn_stat_groups *groups, struct yarn_stat_group *group,
                    const struct yarn_metric_list *wanted, const char *path,
                    struct yarn_stat_events *events)
{
    struct yarn_parse_error error;
    char why[96];
    uint32_t key;
    int err = yarn_event_list_parse_on(yarn_encode_machine(), wanted->text, strlen(wanted->text),
                                       groups->arena, &list, &error);
    if (err == -EINVAL && is_unknown_here(error.why)) {
        set_missing(groups, group, wanted, &error);
        return -1;
    }
    if (err)
        return complain_fault(path, wanted->line, err == -EINVAL ? wanted->text + error.at : "",
                              err == -EINVAL ? error.size : 0,
                              err == -EINVAL ? error.why : strerror(-err));
    size_t nr_items = list.count ? (size_t)list.specs[list.count - 1].item + 1 : 0;
    (void)snprintf(why, sizeof why, "%zu names for %zu events", wanted->nr_names, nr_items);
    if (nr_items != wanted->nr_names)
        return complain_fault(path, wanted->line, "", 0, why);
    if (!yarn_stat_add_events(events, list.specs, list.count, &key))
        return complain_fault(path, wanted->line, "", 0, "more events than can be counted at once");
    for (size_t i = 0; i < wanted->nr_names; i++)
        group->keys[wanted->first_name + i] = key + (uint32_t)i;
    return -1;
}

/* ---- their files ---- */

static ssize_t read_file(const char *path, char *bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t size = 0, got = 1;
    if (fd < 0)
        return -errno;
    while (size < FILE_BYTES_MAX && got > 0) {
        got = read(fd, bytes + size, (size_t)(FILE_BYTES_MAX - size));
        size += got > 0 ? got : 0;
    }
    int err = got < 0 ? -errno : 0;
    (void)close(fd);
    return err ? err : size == FILE_BYTES_MAX ? -EFBIG : size;
}

static int load_file(struct yarn_stat_groups *groups, struct yarn_stat_group *group,
                     const char *path, struct yarn_stat_events *events)
{
    static char bytes[FILE_BYTES_MAX];
    struct yarn_metric_fault fault;
    ssize_t size = read_file(path, bytes);
    if (size < 0) {
        yarn_complain("stat", "%s: %s", path, strerror((int)-size));
        return YARN_STATUS_USAGE;
    }
    int err = yarn_metric_file_parse(yarn_span_of(bytes, (size_t)size), groups->arena, &group->file,
                                     &fault);
    if (err)
        return complain_fault(path, fault.line, "", 0,
                              err == -EINVAL ? fault.text : strerror(-err));
    int status = -1;
    for (size_t i = 0; i < group->file.nr_lists && status < 0; i++)
        status = add_list(groups, group, &group->file.lists[i], path, events);
    return status;
}

static int take_metrics(struct yarn_stat_groups *groups)
{
    for (size_t i = 0; i < groups->nr_groups; i++)
        groups->nr_metrics += groups->groups[i].file.nr_metrics;
    groups->metrics =
        YARN_ARENA_NEW(groups->arena, struct yarn_stat_metric, groups->nr_metrics + 1);
    if (groups->metrics)
        return -1;
    yarn_complain("stat", "%s", strerror(ENOMEM));
    return YARN_STATUS_FAILED;
}

int yarn_stat_groups_load(struct yarn_stat_groups *groups, const char *names, const char *folder,
                          struct yarn_stat_events *events)
{
    static struct places places;
    static char path[PATH_BYTES];
    int status = -1;
    groups->groups = YARN_ARENA_NEW(groups->arena, struct yarn_stat_group, GROUPS_MAX);
    find_places(&places, folder);
    for (size_t size; status < 0; names += size + 1) {
        size = strcspn(names, ",");
        if (!groups->groups || groups->nr_groups == GROUPS_MAX) {
            yarn_complain("stat", "more than %d metric groups", GROUPS_MAX);
            return YARN_STATUS_USAGE;
        }
        if (!size || memchr(names, '/', size) || names[0] == '.' ||
            !find_group(&places, names, size, path))
            return complain_missing(&places, names, size);
        status = load_file(groups, &groups->groups[groups->nr_groups++], path, events);
        if (!names[size])
            break;
    }
    return status < 0 ? take_metrics(groups) : status;
}

/* ---- values ---- */

/* Why an event has no value. */
struct missing {
    const char *event; /* "": `why` says it */
    const char *why;
};

/* PMUs beside each other have a row each. */
static double value_of(const struct yarn_stat_row *rows, const uint32_t *keys, size_t count,
                       uint32_t key, struct missing *ret_missing)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        if (keys[i] != key)
            continue;
        sum += rows[i].value;
        if (isnan(rows[i].value) && rows[i].why)
            *ret_missing = (struct missing){rows[i].name, rows[i].why};
    }
    return sum;
}

static const char *why_of(struct yarn_stat_groups *groups, const struct missing *missing)
{
    char text[512];
    (void)snprintf(text, sizeof text, "%s%s%s", missing->event, missing->event[0] ? ": " : "",
                   missing->why);
    const char *kept = yarn_arena_text(groups->arena, text, strlen(text));
    return kept ? kept : missing->why;
}

static void evaluate(struct yarn_stat_groups *groups, const struct yarn_stat_group *group,
                     const struct yarn_metric *metric, const double *values,
                     const struct missing *whys, struct yarn_stat_metric *ret_metric)
{
    *ret_metric = (struct yarn_stat_metric){
        .group = group->file.title ? group->file.title : "",
        .name = metric->name,
        .unit = metric->unit,
        .text = metric->text,
        .value = yarn_expression_evaluate(&metric->expression, values),
    };
    if (isfinite(ret_metric->value))
        return;
    int missing = yarn_expression_missing(&metric->expression, values);
    if (missing == YARN_METRIC_THREADS)
        ret_metric->why = "how many threads there were is not known from outside";
    else if (missing >= YARN_METRIC_VARIABLE_COUNT)
        ret_metric->why = why_of(groups, &whys[missing - YARN_METRIC_VARIABLE_COUNT]);
    else
        ret_metric->why = "it would be divided by 0";
}

void yarn_stat_groups_evaluate(struct yarn_stat_groups *groups, const struct yarn_stat_row *rows,
                               const uint32_t *keys, size_t count, double seconds)
{
    double values[YARN_METRIC_VARIABLE_COUNT + YARN_METRIC_NAMES_MAX] = {
        [YARN_METRIC_TIME] = seconds,
        [YARN_METRIC_THREADS] = NAN,
        [YARN_METRIC_CPUS] = (double)sysconf(_SC_NPROCESSORS_ONLN),
    };
    struct missing whys[YARN_METRIC_NAMES_MAX];
    size_t at = 0;
    for (size_t i = 0; i < groups->nr_groups; i++) {
        const struct yarn_stat_group *group = &groups->groups[i];
        for (size_t j = 0; j < group->file.nr_names; j++) {
            bool is_known = group->keys[j] != NO_KEY;
            whys[j] = (struct missing){"", is_known ? "not counted" : group->whys[j]};
            values[YARN_METRIC_VARIABLE_COUNT + j] =
                is_known ? value_of(rows, keys, count, group->keys[j], &whys[j]) : NAN;
        }
        for (size_t j = 0; j < group->file.nr_metrics; j++)
            evaluate(groups, group, &group->file.metrics[j], values, whys, &groups->metrics[at++]);
    }
}
