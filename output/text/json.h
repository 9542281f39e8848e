/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * JSON, written as it comes. A key of NULL means an item of an array (or the outermost value).
 * Texts and keys become legible, so the whole is UTF-8 and every reader takes it. Threads: one.
 */
#pragma once

#include <stdio.h>

#include "core/base/span.h"

struct yarn_json;

/* NULL: no memory. */
YARN_MUST_CHECK struct yarn_json *yarn_json_new(FILE *file);
/* Ends the line. */
void yarn_json_free(struct yarn_json *json);

void yarn_json_begin_object(struct yarn_json *json, const char *key);
void yarn_json_end_object(struct yarn_json *json);
void yarn_json_begin_array(struct yarn_json *json, const char *key);
void yarn_json_end_array(struct yarn_json *json);
void yarn_json_text(struct yarn_json *json, const char *key, const char *text);
void yarn_json_span(struct yarn_json *json, const char *key, struct yarn_span text);
/* An array of words; in the span each has a NUL behind it. */
void yarn_json_words(struct yarn_json *json, const char *key, struct yarn_span words);
/* NULL where the text is empty. */
void yarn_json_text_or_null(struct yarn_json *json, const char *key, const char *text);
void yarn_json_u64(struct yarn_json *json, const char *key, uint64_t value);
/* NULL unless `is_known`. */
void yarn_json_u64_if(struct yarn_json *json, const char *key, bool is_known, uint64_t value);
void yarn_json_i64(struct yarn_json *json, const char *key, int64_t value);
void yarn_json_real(struct yarn_json *json, const char *key, double value); /* 6 digits behind . */
void yarn_json_factor(struct yarn_json *json, const char *key, double value); /* all its digits */
void yarn_json_bool(struct yarn_json *json, const char *key, bool value);
void yarn_json_null(struct yarn_json *json, const char *key);
