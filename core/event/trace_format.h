/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A tracepoint's file `format`, and the raw bytes of its samples read by it: the fields as they are
 * stated there, size and sign and all. Both are untrusted. Knows the text; does not know where it
 * lies (core/session) nor how a field is shown.
 *
 * Threads, signals: pure functions over values; safe anywhere.
 */
#pragma once

#include "core/base/span.h"
#include "core/base/text.h"

struct yarn_trace_field {
    struct yarn_span name;
    uint32_t offset, size;
    uint32_t element_bytes; /* less than `size`: an array */
    bool is_signed;
    bool is_text;     /* of characters */
    bool is_pointer;  /* read as hexadecimal */
    bool is_common;   /* each tracepoint has it */
    bool is_located;  /* __data_loc: its four bytes say where the data are */
    bool is_relative; /* __rel_loc: so, from behind themselves on */
};

/* The next field of *rest, which begins as the whole text. False: there is none. */
YARN_MUST_CHECK bool yarn_trace_format_next(struct yarn_span *rest,
                                            struct yarn_trace_field *ret_field);

YARN_MUST_CHECK bool yarn_trace_format_find(struct yarn_span format, struct yarn_span name,
                                            struct yarn_trace_field *ret_field);

/* perf_event_attr.config; 0 where the text does not say it. */
uint64_t yarn_trace_format_id(struct yarn_span format);

/* The field's bytes in a sample; empty where they do not lie inside. A text ends at its NUL. */
struct yarn_span yarn_trace_field_bytes(const struct yarn_trace_field *field, struct yarn_span raw);

/* Element `at` of them as a number, sign-extended; false behind the last. */
YARN_MUST_CHECK bool yarn_trace_field_number(const struct yarn_trace_field *field,
                                             struct yarn_span bytes, size_t at,
                                             uint64_t *ret_number);

/* As views and keys have it: a number, hexadecimal for a pointer, the text, or the elements of an
 * array with commas between them. */
void yarn_trace_field_show(const struct yarn_trace_field *field, struct yarn_span raw,
                           struct yarn_text *text);
