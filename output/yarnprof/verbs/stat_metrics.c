/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/verbs/stat_metrics.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "core/event/parse.h"
#include "output/yarnprof/events/encode.h"
#include "output/yarnprof/io/status.h"
#include "output/yarnprof/verbs/metric_groups.h"

enum { GROUPS_MAX = 32 };

#define NO_KEY UINT32_MAX

struct yarn_stat_group {
    struct yarn_metric_file file;
    uint32_t keys[YARN_METRIC_NAMES_MAX]; /* NO_KEY: this machine does not know the event */
    const char *whys[YARN_METRIC_NAMES_MAX];
};

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

static bool needs_threads(const struct yarn_metric_file *file)
{
    for (size_t i = 0; i < file->nr_metrics; i++)
        if (yarn_expression_needs(&file->metrics[i].expression, YARN_METRIC_THREADS))
            return true;
    return false;
}

static int take_metrics(struct yarn_stat_groups *groups)
{
    for (size_t i = 0; i < groups->nr_groups; i++) {
        groups->nr_metrics += groups->groups[i].file.nr_metrics;
        groups->need_threads |= needs_threads(&groups->groups[i].file);
    }
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
    static char path[YARN_METRIC_PATH_MAX];
    int status = -1;
    groups->groups = YARN_ARENA_NEW(groups->arena, struct yarn_stat_group, GROUPS_MAX);
    for (size_t size; status < 0; names += size + 1) {
        size = strcspn(names, ",");
        if (!groups->groups || groups->nr_groups == GROUPS_MAX) {
            yarn_complain("stat", "more than %d metric groups", GROUPS_MAX);
            return YARN_STATUS_USAGE;
        }
        struct yarn_stat_group *group = &groups->groups[groups->nr_groups++];
        status =
            yarn_metric_group_load("stat", names, size, folder, groups->arena, &group->file, path);
        for (size_t i = 0; status < 0 && i < group->file.nr_lists; i++)
            status = add_list(groups, group, &group->file.lists[i], path, events);
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
        ret_metric->why = "how many threads there were could not be counted: the kernel refused "
                          "its records of them, or some were lost";
    else if (missing >= YARN_METRIC_VARIABLE_COUNT)
        ret_metric->why = why_of(groups, &whys[missing - YARN_METRIC_VARIABLE_COUNT]);
    else
        ret_metric->why = "it would be divided by 0";
}

void yarn_stat_groups_evaluate(struct yarn_stat_groups *groups, const struct yarn_stat_row *rows,
                               const uint32_t *keys, size_t count,
                               const struct yarn_stat_stretch *stretch)
{
    double values[YARN_METRIC_VARIABLE_COUNT + YARN_METRIC_NAMES_MAX] = {
        [YARN_METRIC_TIME] = stretch->seconds,
        [YARN_METRIC_THREADS] = stretch->nr_threads,
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
