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

void yarn_list_print(const struct yarn_catalogue *catalogue, const struct yarn_out *out);
/* As text or JSON. */
void yarn_list_print_answers(const struct yarn_list_answer *answers, size_t count,
                             const struct yarn_out *out);
