/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "core/event/parse.h"
#include "output/yarnprof/events/encode.h"
#include "output/yarnprof/events/hint.h"
#include "output/yarnprof/events/list.h"
#include "output/yarnprof/events/usable.h"
#include "output/yarnprof/io/status.h"
#include "output/yarnprof/options/arguments.h"
#include "output/yarnprof/verbs/verb.h"

enum { FREQUENCY_HZ = 999 }; /* YARN_FREQUENCY's default */

static const struct yarn_argument arguments[] = {
    YARN_OUT_FORMAT_ARGUMENT,
    YARN_OUT_ARGUMENTS,
    {0},
};

static int show_catalogue(struct yarn_out *out)
{
    struct yarn_catalogue catalogue;
    int err = yarn_catalogue_make(&catalogue);
    if (err) {
        yarn_complain("list", "%s", strerror(-err));
        return YARN_STATUS_FAILED;
    }
    int status = yarn_out_open(out, "list");
    if (status < 0) {
        yarn_list_print(&catalogue, out);
        status = yarn_out_finish(out, "list", 0);
    }
    yarn_catalogue_fini(&catalogue);
    return status;
}

/* `auto` is what a recording here makes of it. */
static void rate(struct yarn_event_spec *spec)
{
    struct yarn_usable usable = {.is_usable = true};
    struct yarn_event_spec cycles = *spec;
    yarn_event_spec_apply_rate(&cycles, FREQUENCY_HZ);
    if (spec->is_auto)
        yarn_usable_ask(&cycles, &usable);
    if (!usable.is_usable)
        yarn_event_spec_fall_back(spec);
    yarn_event_spec_apply_rate(spec, FREQUENCY_HZ);
}

/* False where the string is at fault. */
static bool answer(struct yarn_list_answer *answer, struct yarn_arena *arena, const char *text)
{
    *answer = (struct yarn_list_answer){.asked = text};
    int err = yarn_events_understand(text, arena, &answer->list, &answer->error);
    if (err)
        yarn_complain("list", "%s: at %zu: %s", text, answer->error.at + 1, answer->error.why);
    for (size_t i = 0; i < answer->list.count; i++)
        rate(&answer->list.specs[i]);
    return !err;
}

static int show_answers(struct yarn_out *out, char *const strings[])
{
    struct yarn_arena arena;
    size_t count = 0;
    bool is_understood = true;
    while (strings[count])
        count++;
    struct yarn_list_answer *answers = calloc(count, sizeof *answers);
    if (!answers)
        return YARN_STATUS_FAILED;
    yarn_arena_open(&arena, YARN_MIB(256));
    for (size_t i = 0; i < count; i++)
        is_understood &= answer(&answers[i], &arena, strings[i]);
    int status = yarn_out_open(out, "list");
    if (status < 0) {
        yarn_list_print_answers(answers, count, out);
        status = yarn_out_finish(out, "list", 0);
    }
    yarn_arena_close(&arena);
    free(answers);
    return status == YARN_STATUS_OK && !is_understood ? YARN_STATUS_USAGE : status;
}

static int run(void *self, char **operands)
{
    struct yarn_out *out = self;
    if (operands[0] && out->format == YARN_OUT_CSV) {
        yarn_complain("list", "--format=csv: of strings, text or json would be right");
        return YARN_STATUS_USAGE;
    }
    return operands[0] ? show_answers(out, operands) : show_catalogue(out);
}

const struct yarn_command yarn_verb_list = {
    .verb = "list",
    .operands = "[STRING...]",
    .about = "Every event that can be named here, whether this user can have it, and if not, why "
             "and what would\nchange it. Of each STRING: what it becomes, without recording.",
    .arguments = arguments,
    .take = yarn_out_take,
    .request_bytes = sizeof(struct yarn_out),
    .run = run,
};
