/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "output/yarnprof/io/numbers.h"
#include "output/yarnprof/views/report.h"

enum { SENTENCES = 3 };

static const char *name_of(const struct yarn_profile *profile, uint32_t function)
{
    return yarn_profile_text(profile, profile->functions[function].name);
}

void yarn_report_print_phases(const struct yarn_profile_report *report, const struct yarn_out *out)
{
    const struct yarn_profile *profile = report->profile;
    size_t count = 0;
    for (size_t i = 0; i < profile->nr_phases; i++) {
        const struct yarn_profile_phase *phase = &profile->phases[i];
        if (!report->choice->events[phase->event] || count++ >= SENTENCES)
            continue;
        if (count == 1)
            (void)fputc('\n', out->file);
        char *text = yarn_profile_phase_text(profile, phase);
        yarn_out_warn(out, "in phase with the clock: %s; another YARN_FREQUENCY shows which",
                      text ? text : "?");
        free(text);
    }
    if (count > SENTENCES)
        yarn_out_warn(out, "in phase with the clock: %s",
                      yarn_number_of_things(count - SENTENCES, "more function").text);
}

void yarn_report_put_phase(const struct yarn_profile *profile,
                           const struct yarn_profile_phase *phase, struct yarn_json *json)
{
    yarn_json_begin_object(json, NULL);
    yarn_json_text(json, "function", name_of(profile, phase->function));
    yarn_json_u64(json, "pid", profile->dumps[phase->dump].process.pid);
    yarn_json_text(json, "event", yarn_profile_text(profile, profile->events[phase->event].name));
    yarn_json_real(json, "percent", 100 * phase->shares[0]);
    yarn_json_real(json, "percent_by_alternate", 100 * phase->shares[1]);
    yarn_json_end_object(json);
}

void yarn_report_put_phases(const struct yarn_profile_report *report, struct yarn_json *json)
{
    const struct yarn_profile *profile = report->profile;
    yarn_json_begin_array(json, "in_phase");
    for (size_t i = 0; i < profile->nr_phases; i++)
        if (report->choice->events[profile->phases[i].event])
            yarn_report_put_phase(profile, &profile->phases[i], json);
    yarn_json_end_array(json);
}
