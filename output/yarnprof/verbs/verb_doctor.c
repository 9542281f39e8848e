/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/config/options.h"
#include "output/yarnprof/io/status.h"
#include "output/yarnprof/options/arguments.h"
#include "output/yarnprof/options/misspelt.h"
#include "output/yarnprof/show/table.h"
#include "output/yarnprof/verbs/doctor.h"
#include "output/yarnprof/verbs/verb.h"

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

static enum yarn_finding_state worst_of(const struct yarn_findings *findings)
{
    enum yarn_finding_state worst = YARN_FINDING_GOOD;
    for (size_t i = 0; i < findings->count; i++)
        if (findings->list[i].state > worst)
            worst = findings->list[i].state;
    return worst;
}

static void get_state(struct yarn_show_cell *cell)
{
    const struct yarn_finding *finding = cell->row;
    yarn_show_text(cell, states[finding->state]);
    if (finding->state != YARN_FINDING_GOOD)
        cell->paint = YARN_PAINT_WARNING;
}

static void get_what(struct yarn_show_cell *cell)
{
    yarn_show_text(cell, ((const struct yarn_finding *)cell->row)->what);
}

static void get_mend(struct yarn_show_cell *cell)
{
    yarn_show_text_if(cell, ((const struct yarn_finding *)cell->row)->mend);
}

static void get_sentence(struct yarn_show_cell *cell)
{
    const struct yarn_finding *finding = cell->row;
    yarn_show_add(cell, "%s%s%s", finding->what, finding->mend[0] ? "; " : "", finding->mend);
}

static const struct yarn_show_column columns[] = {
    YARN_SHOW_COLUMN(NULL, "", .get = get_state, .align = YARN_SHOW_LEFT, .width = 7),
    YARN_SHOW_COLUMN("subject", "", YARN_SHOW_MEMBER(struct yarn_finding, subject),
                     .align = YARN_SHOW_LEFT, .gap = 2, .width = 12),
    YARN_SHOW_COLUMN("state", NULL, .get = get_state),
    YARN_SHOW_COLUMN("what", NULL, .get = get_what),
    YARN_SHOW_COLUMN("mend", NULL, .get = get_mend),
    YARN_SHOW_COLUMN(NULL, "", .get = get_sentence, .align = YARN_SHOW_TAIL, .gap = 2),
    {0},
};

static void print_findings(const struct yarn_findings *findings, const struct yarn_out *out)
{
    static const char *const verdicts[] = {
        [YARN_FINDING_GOOD] = "works",
        [YARN_FINDING_LIMIT] = "works, with limits",
        [YARN_FINDING_BAD] = "would not work",
    };
    const struct yarn_show_table table = {.out = out, .parts = {columns}};
    if (out->json)
        yarn_json_begin_array(out->json, "findings");
    for (size_t i = 0; i < findings->count; i++)
        yarn_show_row(&table, &findings->list[i]);
    yarn_show_end(&table);
    if (out->json)
        yarn_json_text(out->json, "verdict", states[worst_of(findings)]);
    else
        (void)fprintf(out->file, "%s\n", verdicts[worst_of(findings)]);
}

static const struct yarn_argument arguments[] = {
    YARN_OUT_NO_CSV_ARGUMENT,
    YARN_OUT_ARGUMENTS,
    {0},
};

static void report_fault(struct yarn_findings *findings, const struct yarn_option_fault *fault)
{
    char bytes[512];
    struct yarn_text text = yarn_text_of(bytes, sizeof bytes);
    yarn_option_fault_describe(fault, &text);
    yarn_findings_add(findings, YARN_FINDING_BAD, "variable", "%s", bytes + strlen("yarn: "));
}

/* False: one is bad, and nothing would be recorded. */
static bool check_variables(struct yarn_findings *findings, struct yarn_arena *arena,
                            struct yarn_options *ret_options)
{
    extern char **environ;
    struct yarn_option_fault fault;
    int err = yarn_options_from_env(ret_options, arena, environ, &fault);
    if (err == -EINVAL)
        report_fault(findings, &fault);
    for (size_t i = 0; !err && i < ret_options->nr_warnings; i++) {
        char bytes[256];
        struct yarn_text text = yarn_text_of(bytes, sizeof bytes);
        yarn_misspelt_describe(yarn_span_of_text(ret_options->warnings[i]), &text);
        yarn_findings_add(findings, YARN_FINDING_LIMIT, "variable", "%s", bytes);
    }
    return !err;
}

static void check_recording(struct yarn_findings *findings, const struct yarn_options *options,
                            const char *preload)
{
    struct yarn_doctor_trial trial;
    int err = yarn_doctor_trial_run(&trial, preload, options);
    if (err && trial.is_unrun) {
        yarn_findings_add(findings, YARN_FINDING_BAD, "recording", "no process can be started: %s",
                          strerror(-err));
        yarn_findings_mend(findings, YARN_DOCTOR_MORE_TASKS);
    } else if (err) {
        yarn_findings_add(findings, YARN_FINDING_LIMIT, "recording",
                          "a trial could not be made: %s", strerror(-err));
        yarn_findings_mend(findings, "TMPDIR=FOLDER names one that can be written to");
    } else
        yarn_doctor_check_trial(findings, options, &trial);
    yarn_doctor_trial_fini(&trial);
}

static void look(struct yarn_findings *findings, const char *name)
{
    struct yarn_arena arena;
    struct yarn_options options;
    char preload[4096];
    yarn_arena_open(&arena, 4 * YARN_OPTIONS_ARENA_BYTES);
    bool is_valid = check_variables(findings, &arena, &options);
    bool has_place = yarn_doctor_check_place(findings, preload, sizeof preload);
    if (!is_valid)
        yarn_options_default(&options);
    if (name)
        yarn_doctor_check_command(findings, &options, name);
    yarn_doctor_check_start(findings, &options);
    yarn_doctor_check_folder(findings, &options);
    if (is_valid && has_place)
        check_recording(findings, &options, preload);
    yarn_arena_close(&arena);
}

static int run(void *self, char **operands)
{
    static struct yarn_findings findings;
    static const int statuses[] = {
        [YARN_FINDING_GOOD] = 0, [YARN_FINDING_LIMIT] = 1, [YARN_FINDING_BAD] = 2};
    struct yarn_out *out = self;
    if (operands[0] && strcmp(operands[0], YARN_DOCTOR_TRIAL_WORD) == 0) {
        yarn_doctor_trial_work();
        return YARN_STATUS_OK;
    }
    look(&findings, operands[0]);
    int status = yarn_out_open(out, "doctor");
    if (status >= 0)
        return status;
    print_findings(&findings, out);
    status = yarn_out_finish(out, "doctor", 0);
    return status == YARN_STATUS_OK ? statuses[worst_of(&findings)] : status;
}

const struct yarn_command yarn_verb_doctor = {
    .verb = "doctor",
    .operands = "[[--] COMMAND...]",
    .about = "What would be recorded of the command by this user on this machine under the "
             "variables that are\nset, and how well: one line a finding, with the setting that "
             "mends it. The command is not run; a\ntenth of a second of other work is recorded. "
             "Status 0: works, 1: with limits, 2: would not.",
    .arguments = arguments,
    .stops_at_operand = true,
    .take = yarn_out_take_no_csv,
    .request_bytes = sizeof(struct yarn_out),
    .run = run,
};
