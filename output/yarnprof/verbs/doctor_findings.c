/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/verbs/doctor_findings.h"

#include <stdarg.h>
#include <stdio.h>

#include "output/text/json.h"
#include "output/yarnprof/io/columns.h"

enum { SUBJECT_WIDTH = 12 };

static const char *const states[] = {
    [YARN_FINDING_GOOD] = "ok", [YARN_FINDING_LIMIT] = "limited", [YARN_FINDING_BAD] = "fails"};

struct yarn_finding *yarn_findings_add(struct yarn_findings *findings,
                                       enum yarn_finding_state state, const char *subject,
                                       const char *format, ...)
{
    size_t last = YARN_FINDINGS_MAX - 1;
    struct yarn_finding *finding = &findings->list[yarn_size_min(findings->count, last)];
    va_list args;
    findings->count = yarn_size_min(findings->count, last) + 1;
    *finding = (struct yarn_finding){.state = state, .subject = subject};
    va_start(args, format);
    (void)vsnprintf(finding->what, sizeof finding->what, format, args);
    va_end(args);
    return finding;
}

void yarn_findings_mend(struct yarn_findings *findings, const char *format, ...)
{
    struct yarn_finding *finding = &findings->list[findings->count - 1];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(finding->mend, sizeof finding->mend, format, args);
    va_end(args);
}

enum yarn_finding_state yarn_findings_worst(const struct yarn_findings *findings)
{
    enum yarn_finding_state worst = YARN_FINDING_GOOD;
    for (size_t i = 0; i < findings->count; i++)
        if (findings->list[i].state > worst)
            worst = findings->list[i].state;
    return worst;
}

static void print_text(const struct yarn_findings *findings, const struct yarn_out *out)
{
    static const char *const verdicts[] = {
        [YARN_FINDING_GOOD] = "works",
        [YARN_FINDING_LIMIT] = "works, with limits",
        [YARN_FINDING_BAD] = "would not work",
    };
    for (size_t i = 0; i < findings->count; i++) {
        const struct yarn_finding *finding = &findings->list[i];
        bool is_good = finding->state == YARN_FINDING_GOOD;
        (void)fprintf(out->file, "%s%-7s%s  %-*s  ",
                      is_good ? "" : yarn_out_paint(out, YARN_PAINT_WARNING),
                      states[finding->state], is_good ? "" : yarn_out_plain(out), SUBJECT_WIDTH,
                      finding->subject);
        yarn_print_cut(out, finding->what, 0);
        if (finding->mend[0]) {
            (void)fputs("; ", out->file);
            yarn_print_cut(out, finding->mend, 0);
        }
        (void)fputc('\n', out->file);
    }
    (void)fprintf(out->file, "%s\n", verdicts[yarn_findings_worst(findings)]);
}

static int print_json(const struct yarn_findings *findings, const struct yarn_out *out)
{
    struct yarn_json *json = yarn_json_new(out->file);
    if (!json)
        return -ENOMEM;
    yarn_json_begin_object(json, NULL);
    yarn_json_begin_array(json, "findings");
    for (size_t i = 0; i < findings->count; i++) {
        const struct yarn_finding *finding = &findings->list[i];
        yarn_json_begin_object(json, NULL);
        yarn_json_text(json, "subject", finding->subject);
        yarn_json_text(json, "state", states[finding->state]);
        yarn_json_text(json, "what", finding->what);
        yarn_json_text_or_null(json, "mend", finding->mend);
        yarn_json_end_object(json);
    }
    yarn_json_end_array(json);
    yarn_json_text(json, "verdict", states[yarn_findings_worst(findings)]);
    yarn_json_end_object(json);
    yarn_json_free(json);
    return 0;
}

int yarn_findings_print(const struct yarn_findings *findings, const struct yarn_out *out)
{
    if (out->format == YARN_OUT_JSON)
        return print_json(findings, out);
    print_text(findings, out);
    return 0;
}
