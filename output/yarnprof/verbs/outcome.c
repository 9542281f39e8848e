/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/verbs/outcome.h"

#include <stdio.h>

#include "output/text/legible.h"
#include "output/yarnprof/io/numbers.h"

static void say_nothing(const struct yarn_outcome *outcome, struct yarn_text *line)
{
    const struct yarn_unrecorded *unrecorded = &outcome->unrecorded;
    if (outcome->fault) {
        yarn_text_add_format(line, "nothing was recorded: %s", outcome->fault);
        return;
    }
    yarn_text_add_format(line, "nothing was recorded in %s: ", unrecorded->folder);
    yarn_unrecorded_why(unrecorded, line);
}

/* Where one waits for samples, a dump without any is as bad as none. */
static void say_why(const struct yarn_outcome *outcome, const struct yarn_written *written,
                    struct yarn_text *line)
{
    const struct yarn_options *options = outcome->unrecorded.options;
    bool wants_samples = !options->counters[0] && options->sched.kind <= YARN_SCHED_SWITCH;
    if (written->fault[0])
        yarn_text_add_format(line, ": %s", written->fault);
    else if (!written->samples && wants_samples) {
        yarn_text_add(line, ": ");
        yarn_unrecorded_why(&outcome->unrecorded, line);
    }
}

static void say_written(const struct yarn_outcome *outcome, const struct yarn_written *written,
                        struct yarn_text *line)
{
    bool has_samples = written->samples || written->is_unread;
    yarn_text_add_format(line, "%s in ", yarn_number_of_things(written->samples, "sample").text);
    yarn_text_add_format(line, "%s, %s", yarn_number_of_things(written->nr_dumps, "dump").text,
                         yarn_number_bytes(written->bytes).text);
    if (written->nr_failed)
        yarn_text_add_format(line, "; %lu ended early", (unsigned long)written->nr_failed);
    say_why(outcome, written, line);
    if (written->events[0])
        yarn_text_add_format(line, "; %s", written->events);
    yarn_text_add_format(line, "; see: yarnprof %s %s", has_samples ? "report" : "info",
                         written->path);
}

void yarn_outcome_report(const struct yarn_outcome *outcome, const struct yarn_written *written)
{
    char bytes[4 * 4096];
    struct yarn_legible legible;
    struct yarn_text line = yarn_text_of(bytes, sizeof bytes);
    if (written->is_unread)
        yarn_text_add_format(&line, "%s, not to be read back; see: yarnprof verify %s",
                             yarn_number_of_things(written->nr_dumps, "dump").text, written->path);
    else if (written->nr_dumps)
        say_written(outcome, written, &line);
    else
        say_nothing(outcome, &line);
    (void)fprintf(stderr, "[yarn: %s]\n", yarn_legible(&legible, bytes));
    yarn_legible_fini(&legible);
}
