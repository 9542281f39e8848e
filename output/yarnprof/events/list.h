/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What yarnprof list prints: the catalogue, or what strings become. Threads: one.
 */
#pragma once

#include "core/event/parse.h"
#include "output/yarnprof/events/catalogue.h"
#include "output/yarnprof/io/out.h"

/* A string and what it became; `error.why` NULL: it was understood. */
struct yarn_list_answer {
    const char *asked; /* borrowed */
    struct yarn_event_list list;
    struct yarn_parse_error error;
};

void yarn_list_text(const struct yarn_catalogue *catalogue, const struct yarn_out *out);
/* As CSV or JSON. */
YARN_MUST_CHECK int yarn_list_data(const struct yarn_catalogue *catalogue,
                                   const struct yarn_out *out);

void yarn_list_answers_text(const struct yarn_list_answer *answers, size_t count,
                            const struct yarn_out *out);
YARN_MUST_CHECK int yarn_list_answers_json(const struct yarn_list_answer *answers, size_t count,
                                           const struct yarn_out *out);

/* What the event leaves out, "kernel"; NULL behind the last. */
const char *yarn_list_excluded(const struct yarn_event_spec *spec, size_t number);
