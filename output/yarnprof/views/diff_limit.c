/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/views/diff_limit.h"

#include <math.h>
#include <stdlib.h>

int yarn_diff_limit_parse(struct yarn_diff_limit *limit, const char *text)
{
    char *end;
    *limit = (struct yarn_diff_limit){.text = text, .percent = strtod(text, &end)};
    if (end == text || !(limit->percent >= 0) || isinf(limit->percent))
        return -EINVAL;
    end += *end == '%';
    if (!*end)
        return 0;
    if (*end != ':' || !end[1] || regcomp(&limit->function, end + 1, REG_EXTENDED | REG_NOSUB))
        return -EINVAL;
    limit->has_function = true;
    return 0;
}

void yarn_diff_limit_fini(struct yarn_diff_limit *limit)
{
    if (limit->has_function)
        regfree(&limit->function);
    limit->has_function = false;
}

static double growth_of(const struct yarn_change *change)
{
    if (change->values[0] > 0)
        return 100 * change->change / change->values[0];
    return change->change > 0 ? INFINITY : 0;
}

/* The spread of a mean falls with the root of the number of runs. */
static size_t runs_that_tell(const struct yarn_diff *diff, double seen_percent, double percent)
{
    size_t now = yarn_size_max(1, yarn_size_min(diff->nr_runs[0], diff->nr_runs[1]));
    double times = seen_percent / percent;
    if (!(seen_percent > percent) || !(times < 1e4))
        return 0;
    return (size_t)ceil((double)now * times * times);
}

static void look_at(const struct yarn_diff_limit *limit, const struct yarn_change *change,
                    uint32_t event, const struct yarn_diff_row *row,
                    struct yarn_diff_verdict *verdict)
{
    double percent = growth_of(change);
    if (change->is_noise || percent <= limit->percent ||
        (verdict->is_exceeded && percent <= verdict->percent))
        return;
    verdict->is_exceeded = true;
    verdict->event = event;
    verdict->row = row;
    verdict->percent = percent;
}

/* How well the total is known that is known least. */
static void look_at_total(const struct yarn_diff *diff, const struct yarn_diff_limit *limit,
                          const struct yarn_change *change, struct yarn_diff_verdict *verdict)
{
    double reach = (change->high - change->low) / 2;
    double percent = change->values[0] > 0 ? 100 * reach / change->values[0] : 0;
    if (percent <= verdict->seen_percent)
        return;
    verdict->seen_percent = percent;
    verdict->nr_runs = runs_that_tell(diff, percent, limit->percent);
}

struct yarn_diff_verdict yarn_diff_judge(const struct yarn_diff *diff,
                                         const struct yarn_diff_options *options,
                                         const struct yarn_diff_limit *limit)
{
    struct yarn_diff_verdict verdict = {.row = NULL};
    enum yarn_diff_scale scale = yarn_diff_scale_of_total(options->scale);
    for (uint32_t i = 0; i < diff->nr_events; i++) {
        if (yarn_diff_event_is_missing(&diff->events[i]))
            continue;
        verdict.nr_judged++;
        if (limit->has_function)
            continue;
        look_at(limit, &diff->events[i].changes[scale], i, NULL, &verdict);
        look_at_total(diff, limit, &diff->events[i].changes[scale], &verdict);
    }
    for (size_t i = 0; limit->has_function && i < diff->count; i++) {
        const struct yarn_diff_row *row = &diff->rows[i];
        if (regexec(&limit->function, diff->match.functions[row->function].name, 0, NULL, 0))
            continue;
        verdict.nr_matching++;
        look_at(limit, &row->changes[options->scale][options->part], row->event, row, &verdict);
    }
    return verdict;
}

void yarn_diff_verdict_print(const struct yarn_diff *diff, const struct yarn_diff_limit *limit,
                             const struct yarn_diff_verdict *verdict, FILE *file)
{
    if (!verdict->nr_judged) {
        (void)fputs("nothing was judged: no event with samples was recorded on both sides\n", file);
        return;
    }
    if (limit->has_function && !verdict->nr_matching) {
        (void)fprintf(file, "passed: no function is called %s\n", strchr(limit->text, ':') + 1);
        return;
    }
    if (!verdict->is_exceeded) {
        (void)fprintf(file, "passed: %s grew by more than %g %% beyond noise",
                      limit->has_function ? "no such function" : "no total", limit->percent);
        if (verdict->nr_runs)
            (void)fprintf(file, "; %.1f %% is within it: about %zu runs a side would tell",
                          verdict->seen_percent, verdict->nr_runs);
        (void)fputc('\n', file);
        return;
    }
    const char *what =
        verdict->row ? diff->match.functions[verdict->row->function].name : "the total";
    (void)fprintf(file, "failed: %s of %s ", what, diff->events[verdict->event].name);
    if (isinf(verdict->percent))
        (void)fputs("is new", file);
    else
        (void)fprintf(file, "grew by %.1f %%", verdict->percent);
    (void)fprintf(file, ", more than %g %%\n", limit->percent);
}

void yarn_diff_verdict_put(const struct yarn_diff *diff, const struct yarn_diff_limit *limit,
                           const struct yarn_diff_verdict *verdict, struct yarn_json *json)
{
    yarn_json_begin_object(json, "fail_on");
    yarn_json_text(json, "asked", limit->text);
    yarn_json_u64(json, "events", verdict->nr_judged);
    yarn_json_bool(json, "failed", verdict->is_exceeded);
    if (verdict->is_exceeded) {
        yarn_json_text(json, "event", diff->events[verdict->event].name);
        if (verdict->row)
            yarn_json_text(json, "function", diff->match.functions[verdict->row->function].name);
        else
            yarn_json_null(json, "function");
        if (isinf(verdict->percent))
            yarn_json_null(json, "percent");
        else
            yarn_json_real(json, "percent", verdict->percent);
    }
    if (limit->has_function)
        yarn_json_u64(json, "functions", verdict->nr_matching);
    else
        yarn_json_real(json, "within_noise_percent", verdict->seen_percent);
    yarn_json_u64_if(json, "runs_that_would_tell", verdict->nr_runs, verdict->nr_runs);
    yarn_json_end_object(json);
}
