/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The names of the threads of a dump's process: one that is made has its maker's until it gets
 * another. Knows no records.
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "core/base/span.h"
#include "core/base/table.h"

struct yarn_thread_names {
    struct yarn_table places;      /* of tids */
    struct yarn_thread_name *rows; /* owned, and so are the names */
    size_t count, max;
    char *of_process; /* owned; NULL: unknown */
};

#define YARN_THREAD_NAMES_CLOSED ((struct yarn_thread_names){.places = YARN_TABLE_CLOSED})

/* Each: *ret_name is valid until the next call; NULL: unknown. *ret_is_news: it was not known to
 * live, or not by that name. 0 or -ENOMEM. */
YARN_MUST_CHECK int yarn_thread_names_begin(struct yarn_thread_names *names, uint32_t tid,
                                            uint32_t parent_tid, struct yarn_span name,
                                            const char **ret_name, bool *ret_is_news);
void yarn_thread_names_end(struct yarn_thread_names *names, uint32_t tid);

/* Another process begins, which executes that file. 0 or -ENOMEM. */
YARN_MUST_CHECK int yarn_thread_names_begin_process(struct yarn_thread_names *names,
                                                    struct yarn_span exe);
/* Idempotent. */
void yarn_thread_names_close(struct yarn_thread_names *names);
