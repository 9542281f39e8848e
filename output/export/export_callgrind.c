/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

#include "output/base/array.h"
#include "output/export/export.h"
#include "output/export/numbering.h"
#include "output/export/samples.h"

/*
 * Costs of lines, and of calls from lines, in callgrind's format 1; a column for each event. The
 * number of calls is unknown to a sampler: the samples seen below the call stand for it. A call
 * counts once a stack, and a function's call of itself not at all: readers would add it to what
 * the function spent already.
 */

struct cost {
    uint32_t function;
    uint32_t file; /* text of the profile; 0: unknown */
    uint32_t line;
    uint32_t callee; /* YARN_DUMP_NONE: the line itself */
    uint32_t values; /* first of its values */
    uint64_t count;  /* of samples */
    size_t counted;  /* 1 + the last sum of samples that counts in it */
};

struct callgrind {
    const struct yarn_export *export;
    struct yarn_sum *totals; /* owned */
    uint32_t *columns;       /* owned; of each event; YARN_DUMP_NONE: it has none */
    size_t nr_columns;
    struct cost *costs; /* owned array */
    size_t nr_costs, costs_capacity;
    uint64_t *values; /* owned array: a row a cost */
    size_t nr_values, values_capacity;
    struct yarn_table index; /* (frame, callee) to cost */
    struct yarn_numbering files, modules, functions;
    uint32_t *homes; /* owned; of each function: text of its file */
};

static int add_cost(struct callgrind *callgrind, uint64_t key, const struct cost *cost,
                    uint32_t *ret_cost)
{
    if (YARN_ARRAY_RESERVE(&callgrind->costs, &callgrind->costs_capacity, callgrind->nr_costs + 1))
        return -ENOMEM;
    if (YARN_ARRAY_RESERVE(&callgrind->values, &callgrind->values_capacity,
                           callgrind->nr_values + callgrind->nr_columns))
        return -ENOMEM;
    callgrind->costs[callgrind->nr_costs] = *cost;
    callgrind->costs[callgrind->nr_costs].values = (uint32_t)callgrind->nr_values;
    memset(&callgrind->values[callgrind->nr_values], 0,
           callgrind->nr_columns * sizeof *callgrind->values);
    callgrind->nr_values += callgrind->nr_columns;
    *ret_cost = (uint32_t)callgrind->nr_costs++;
    return yarn_table_put(&callgrind->index, key, *ret_cost);
}

/* `frame` is one of the profile or, behind them, a pseudo-function. */
static int count(struct callgrind *callgrind, uint32_t frame, uint32_t callee,
                 const struct yarn_export_sample *sample, size_t number)
{
    const struct yarn_profile *profile = callgrind->export->profile;
    uint64_t key = (uint64_t)frame << 32 | callee;
    uint32_t found = yarn_table_find(&callgrind->index, key);
    if (found == YARN_TABLE_NONE) {
        struct cost cost = {.function = frame - (uint32_t)profile->nr_frames, .callee = callee};
        if (frame < profile->nr_frames) {
            cost.function = profile->frames[frame].function;
            cost.file = profile->frames[frame].file;
            cost.line = profile->frames[frame].line;
        }
        int err = add_cost(callgrind, key, &cost, &found);
        if (err)
            return err;
    }
    struct cost *cost = &callgrind->costs[found];
    if (cost->counted == number + 1)
        return 0;
    cost->counted = number + 1;
    cost->count += sample->count;
    callgrind->values[cost->values + callgrind->columns[sample->event]] += sample->weight;
    return 0;
}

static int count_sample(struct callgrind *callgrind, const struct yarn_export_sample *sample,
                        size_t number)
{
    const struct yarn_profile *profile = callgrind->export->profile;
    uint32_t root_frame = (uint32_t)profile->nr_frames + sample->root;
    uint32_t callee = YARN_DUMP_NONE;
    int err = 0;
    for (uint32_t stack = sample->stack; !err && stack != YARN_DUMP_NONE;
         stack = profile->stacks[stack].parent) {
        uint32_t function = profile->stacks[stack].function;
        if (callee != function)
            err = count(callgrind, profile->stacks[stack].frame, callee, sample, number);
        callee = function;
    }
    if (!err && sample->root != YARN_DUMP_NONE)
        err = count(callgrind, root_frame, callee, sample, number);
    return err;
}

static int count_samples(struct callgrind *callgrind)
{
    struct yarn_export_samples samples = YARN_EXPORT_SAMPLES(callgrind->export);
    struct yarn_export_sample sample;
    int err = 0;
    for (size_t number = 0; !err && yarn_export_next(&samples, &sample); number++)
        err = count_sample(callgrind, &sample, number);
    return err;
}

static int compare(const void *a, const void *b)
{
    const struct cost *one = a, *other = b;
    if (one->function != other->function)
        return one->function < other->function ? -1 : 1;
    if (one->file != other->file)
        return one->file < other->file ? -1 : 1;
    if (one->line != other->line)
        return one->line < other->line ? -1 : 1;
    /* The line itself first. */
    return one->callee + 1 < other->callee + 1 ? -1 : one->callee + 1 > other->callee + 1;
}

/* Costs of one line are one: frames differ in addresses too. */
static void merge_costs(struct callgrind *callgrind)
{
    size_t kept = 0;
    if (callgrind->nr_costs)
        qsort(callgrind->costs, callgrind->nr_costs, sizeof *callgrind->costs, compare);
    for (size_t i = 0; i < callgrind->nr_costs; i++) {
        struct cost *into = kept ? &callgrind->costs[kept - 1] : NULL;
        const struct cost *cost = &callgrind->costs[i];
        if (!into || compare(into, cost) != 0) {
            callgrind->costs[kept++] = *cost;
            continue;
        }
        into->count += cost->count;
        for (size_t column = 0; column < callgrind->nr_columns; column++)
            callgrind->values[into->values + column] += callgrind->values[cost->values + column];
    }
    callgrind->nr_costs = kept;
}

/* "fn=(3) name" where it comes first, "fn=(3)" after that. */
static int put_position(struct callgrind *callgrind, const char *key,
                        struct yarn_numbering *numbering, uint32_t thing, const char *text)
{
    bool is_new = !yarn_numbering_has(numbering, thing);
    uint32_t number;
    int err = yarn_numbering_of(numbering, thing, &number);
    if (err)
        return err;
    (void)fprintf(callgrind->export->file, "%s=(%u)", key, number + 1);
    if (is_new) {
        (void)fputc(' ', callgrind->export->file);
        (void)fputs(text, callgrind->export->file);
    }
    (void)fputc('\n', callgrind->export->file);
    return 0;
}

static int put_file(struct callgrind *callgrind, const char *key, uint32_t file)
{
    return put_position(callgrind, key, &callgrind->files, file,
                        file ? yarn_profile_text(callgrind->export->profile, file) : "???");
}

static int put_module(struct callgrind *callgrind, const char *key, uint32_t function)
{
    const struct yarn_profile *profile = callgrind->export->profile;
    uint32_t module = profile->functions[function].module;
    return put_position(callgrind, key, &callgrind->modules, module,
                        yarn_profile_text(profile, profile->modules[module].path));
}

static int put_function(struct callgrind *callgrind, const char *key, uint32_t function)
{
    const struct yarn_profile *profile = callgrind->export->profile;
    return put_position(callgrind, key, &callgrind->functions, function,
                        yarn_profile_text(profile, profile->functions[function].name));
}

static int begin_function(struct callgrind *callgrind, uint32_t function)
{
    (void)fputc('\n', callgrind->export->file);
    int err = put_module(callgrind, "ob", function);
    if (!err)
        err = put_file(callgrind, "fl", callgrind->homes[function]);
    return err ? err : put_function(callgrind, "fn", function);
}

static int begin_call(struct callgrind *callgrind, const struct cost *cost)
{
    int err = put_module(callgrind, "cob", cost->callee);
    if (!err)
        err = put_file(callgrind, "cfi", callgrind->homes[cost->callee]);
    if (!err)
        err = put_function(callgrind, "cfn", cost->callee);
    (void)fprintf(callgrind->export->file, "calls=%" PRIu64 " 0\n", cost->count);
    return err;
}

static int put_costs(struct callgrind *callgrind)
{
    FILE *file = callgrind->export->file;
    uint32_t current = 0;
    int err = 0;
    for (size_t i = 0; !err && i < callgrind->nr_costs; i++) {
        const struct cost *cost = &callgrind->costs[i];
        if (i == 0 || cost->function != cost[-1].function) {
            err = begin_function(callgrind, cost->function);
            current = callgrind->homes[cost->function];
        }
        if (!err && cost->file && cost->file != current) {
            current = cost->file;
            err = put_file(callgrind, "fi", current);
        }
        if (!err && cost->callee != YARN_DUMP_NONE)
            err = begin_call(callgrind, cost);
        (void)fprintf(file, "%u", cost->line);
        for (size_t column = 0; column < callgrind->nr_columns; column++)
            (void)fprintf(file, " %" PRIu64, callgrind->values[cost->values + column]);
        (void)fputc('\n', file);
    }
    return err;
}

/* Names of events are letters and digits: "CpuClock". */
static void put_event_name(FILE *file, const char *name)
{
    bool is_start = true, is_empty = true;
    for (; *name; name++) {
        bool is_plain = isalnum((unsigned char)*name) && (unsigned char)*name < 0x80;
        if (is_plain && !(is_empty && isdigit((unsigned char)*name))) {
            (void)fputc(is_start ? toupper((unsigned char)*name) : *name, file);
            is_empty = false;
        }
        is_start = !is_plain;
    }
    if (is_empty)
        (void)fputs("Event", file);
}

static void put_head(const struct callgrind *callgrind)
{
    const struct yarn_profile *profile = callgrind->export->profile;
    FILE *file = callgrind->export->file;
    uint32_t dump = yarn_export_main_dump(profile);
    (void)fprintf(file, "# callgrind format\nversion: 1\ncreator: yarn %s\n",
                  callgrind->export->version);
    if (dump != YARN_DUMP_NONE) {
        (void)fprintf(file, "pid: %u\ncmd: ", profile->dumps[dump].process.pid);
        (void)fputs(yarn_profile_text(profile, profile->dumps[dump].program), file);
        (void)fputc('\n', file);
    }
    uint64_t kernel_ns = 0;
    for (size_t i = 0; i < profile->nr_dumps; i++)
        kernel_ns += profile->dumps[i].trust.kernel_ns;
    if (kernel_ns)
        (void)fprintf(file, "desc: Not sampled: %" PRIu64 " ns of CPU time in the kernel\n",
                      kernel_ns);
    (void)fputs("positions: line\n", file);
    for (size_t i = 0; i < profile->nr_events; i++) {
        if (callgrind->columns[i] == YARN_DUMP_NONE)
            continue;
        (void)fputs("event: ", file);
        put_event_name(file, yarn_profile_text(profile, profile->events[i].name));
        (void)fputs(" : ", file);
        (void)fputs(yarn_profile_text(profile, profile->events[i].name), file);
        (void)fprintf(file, " (%s)\n", yarn_profile_text(profile, profile->events[i].unit));
    }
    (void)fputs("events:", file);
    for (size_t i = 0; i < profile->nr_events; i++) {
        if (callgrind->columns[i] == YARN_DUMP_NONE)
            continue;
        (void)fputc(' ', file);
        put_event_name(file, yarn_profile_text(profile, profile->events[i].name));
    }
    (void)fputc('\n', file);
}

static void put_totals(const struct callgrind *callgrind, const char *key)
{
    FILE *file = callgrind->export->file;
    (void)fprintf(file, "%s:", key);
    for (size_t i = 0; i < callgrind->export->profile->nr_events; i++) {
        if (callgrind->columns[i] != YARN_DUMP_NONE)
            (void)fprintf(file, " %" PRIu64, callgrind->totals[i].weight);
    }
    (void)fputc('\n', file);
}

static void choose_columns(struct callgrind *callgrind)
{
    const struct yarn_profile *profile = callgrind->export->profile;
    for (size_t i = 0; i < profile->nr_events; i++) {
        bool is_last_chance = i + 1 == profile->nr_events && !callgrind->nr_columns;
        bool is_used = callgrind->totals[i].samples || is_last_chance;
        callgrind->columns[i] = is_used ? (uint32_t)callgrind->nr_columns++ : YARN_DUMP_NONE;
    }
}

static int callgrind_init(struct callgrind *callgrind)
{
    const struct yarn_profile *profile = callgrind->export->profile;
    callgrind->totals = yarn_export_totals(callgrind->export);
    callgrind->columns = calloc(profile->nr_events + 1, sizeof *callgrind->columns);
    callgrind->homes = calloc(profile->nr_functions + 1, sizeof *callgrind->homes);
    if (!callgrind->totals || !callgrind->columns || !callgrind->homes)
        return -ENOMEM;
    choose_columns(callgrind);
    for (size_t i = 0; i < profile->nr_frames; i++) {
        uint32_t *home = &callgrind->homes[profile->frames[i].function];
        if (!*home)
            *home = profile->frames[i].file;
    }
    int err = yarn_table_open(&callgrind->index, 1024, (size_t)1 << 31);
    if (!err)
        err = yarn_numbering_init(&callgrind->files, profile->strings.count);
    if (!err)
        err = yarn_numbering_init(&callgrind->modules, profile->nr_modules);
    return err ? err : yarn_numbering_init(&callgrind->functions, profile->nr_functions);
}

static void callgrind_fini(struct callgrind *callgrind)
{
    yarn_table_close(&callgrind->index);
    yarn_numbering_fini(&callgrind->files);
    yarn_numbering_fini(&callgrind->modules);
    yarn_numbering_fini(&callgrind->functions);
    free(callgrind->totals);
    free(callgrind->columns);
    free(callgrind->costs);
    free(callgrind->values);
    free(callgrind->homes);
}

int yarn_export_callgrind(struct yarn_export *export)
{
    struct callgrind callgrind = {.export = export, .index = YARN_TABLE_CLOSED};
    int err = callgrind_init(&callgrind);
    if (!err)
        err = count_samples(&callgrind);
    if (!err) {
        merge_costs(&callgrind);
        put_head(&callgrind);
        put_totals(&callgrind, "summary");
        err = put_costs(&callgrind);
        (void)fputc('\n', export->file);
        put_totals(&callgrind, "totals");
    }
    callgrind_fini(&callgrind);
    return err;
}
