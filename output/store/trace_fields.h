/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The fields of a tracepoint, read from its format once. Why: a format is text of the file's, up to
 * thousands of lines, which each sample would read again. Knows no sample. Threads: constant once
 * read.
 */
#pragma once

#include "core/event/trace_format.h"

struct yarn_trace_fields {
    struct yarn_span format; /* borrowed, as are the names in it */
    struct yarn_span flags;  /* of it: where its first __print_flags( begins; empty: it has none */
    size_t count;
    struct yarn_trace_field list[];
};

/* Owned: free(). The kernel's own most is 128 fields and the common ones: what is behind 160 is
 * left out. NULL: no memory. */
struct yarn_trace_fields *yarn_trace_fields_new(struct yarn_span format);

/* False: it has no such field, or `fields` is NULL. */
YARN_MUST_CHECK bool yarn_trace_fields_find(const struct yarn_trace_fields *fields,
                                            struct yarn_span name,
                                            struct yarn_trace_field *ret_field);
/* As a number: false where it is none, or does not lie in the sample. */
YARN_MUST_CHECK bool yarn_trace_field_value(const struct yarn_trace_field *field,
                                            struct yarn_span raw, uint64_t *ret_number);
YARN_MUST_CHECK bool yarn_trace_fields_value(const struct yarn_trace_fields *fields,
                                             const char *name, struct yarn_span raw,
                                             uint64_t *ret_number);

/* Gives the process of a thread of the first pid namespace. -ENOMEM and the like. */
typedef int yarn_trace_task_fn(void *self, uint32_t raw_pid, struct yarn_span comm);
/* Each thread that the sample has by number and name. What `take` returned. */
YARN_MUST_CHECK int yarn_trace_fields_tasks(const struct yarn_trace_fields *fields,
                                            struct yarn_span raw, yarn_trace_task_fn *take,
                                            void *self);
