/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/profile/unnamed.h"

#include <stdio.h>

#include "output/analysis/value/runtime.h"

#define LEAST_PERCENT 10.0

struct counts {
    uint64_t samples, made, interpreted;
    const struct yarn_runtime *interpreter; /* that most of the interpreted are of */
    bool has_names;
};

static const struct yarn_runtime *interpreter_of(const struct yarn_profile *profile,
                                                 const struct yarn_profile_function *function)
{
    const struct yarn_runtime *runtime =
        function->module
            ? yarn_runtime_of(yarn_profile_text(profile, profile->modules[function->module].path))
            : NULL;
    return runtime && runtime->interprets ? runtime : NULL;
}

static void count(const struct yarn_profile *profile, struct counts *counts)
{
    for (size_t i = 0; i < profile->nr_frames; i++) {
        const struct yarn_profile_frame *frame = &profile->frames[i];
        const struct yarn_profile_function *function = &profile->functions[frame->function];
        const struct yarn_runtime *interpreter = interpreter_of(profile, function);
        const char *name = yarn_profile_text(profile, function->name);
        counts->has_names |= strncmp(name, YARN_RUNTIME_NAMED, sizeof YARN_RUNTIME_NAMED - 1) == 0;
        counts->samples += frame->leaf_samples;
        if (function->is_made)
            counts->made += frame->leaf_samples;
        if (!interpreter || !frame->leaf_samples)
            continue;
        counts->interpreted += frame->leaf_samples;
        counts->interpreter = interpreter;
    }
}

/* The runtime that generated the code: one whose file was mapped. NULL: unknown. */
static const struct yarn_runtime *maker_of(const struct yarn_profile *profile)
{
    for (size_t i = 0; i < profile->nr_dumps; i++) {
        const struct yarn_profile_dump *dump = &profile->dumps[i];
        for (size_t k = 0; k < dump->nr_modules; k++) {
            struct yarn_span path = dump->modules[k].path; /* a NUL is behind it */
            const struct yarn_runtime *runtime =
                path.size ? yarn_runtime_of((const char *)path.data) : NULL;
            if (runtime)
                return runtime;
        }
    }
    return NULL;
}

/* Whether record --jit has set its variable, in a recording at least. */
static bool is_set(const struct yarn_profile *profile, const struct yarn_runtime *runtime)
{
    for (size_t i = 0; i < profile->nr_dumps; i++) {
        const struct yarn_profile_dump *dump = &profile->dumps[i];
        for (size_t k = 0; k < dump->nr_options; k++) {
            const struct yarn_dump_option *option = &dump->options[k];
            if (yarn_span_equal(option->name, yarn_span_of_text("jit")) && option->value.size &&
                strstr((const char *)option->value.data, runtime->variable))
                return true;
        }
    }
    return false;
}

static void describe_way(const struct yarn_runtime *runtime, bool is_set, struct yarn_text *text)
{
    const char *note = runtime->note ? runtime->note : "", *deaf = is_set ? runtime->deaf : NULL;
    yarn_text_add_format(text, "%s gives its functions %snames%s", is_set ? "--jit" : runtime->way,
                         is_set ? "no " : "", is_set ? " here" : "");
    if (note[0] || deaf)
        yarn_text_add_format(text, " (%s%s%s%s)", note, note[0] && deaf ? "; " : "",
                             deaf ? deaf : "", deaf ? " ignore what it sets" : "");
    if (!is_set && runtime->is_safe)
        yarn_text_add(text, ", as does yarnprof record --jit");
}

static void describe(const struct yarn_profile *profile, const struct yarn_runtime *runtime,
                     double percent, const char *where, struct yarn_text *text)
{
    char share[32];
    (void)snprintf(share, sizeof share, "%.1f %%", percent);
    yarn_text_add_format(text, "%s of the samples are in %s%s%s: ", share,
                         runtime ? runtime->name : "", runtime ? "'s " : "", where);
    if (!runtime)
        yarn_text_add(text, "a switch of the runtime that writes /tmp/perf-PID.map gives names");
    else
        describe_way(runtime, is_set(profile, runtime), text);
}

bool yarn_unnamed_describe(const struct yarn_profile *profile, struct yarn_text *text)
{
    struct counts counts = {.samples = 0};
    count(profile, &counts);
    double made = counts.samples ? 100.0 * (double)counts.made / (double)counts.samples : 0;
    double interpreted =
        counts.samples ? 100.0 * (double)counts.interpreted / (double)counts.samples : 0;
    if (interpreted > LEAST_PERCENT && !counts.has_names && interpreted >= made)
        describe(profile, counts.interpreter, interpreted, "interpreter", text);
    else if (made > LEAST_PERCENT)
        describe(profile, maker_of(profile), made, "generated code without names", text);
    else
        return false;
    return true;
}
