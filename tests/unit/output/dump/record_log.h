/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Records as lines of text, one each, with every field: what was written and what was read can be
 * compared as texts. Threads: one owner.
 */
#pragma once

#include "output/dump/reader.h"

struct record_log {
    char *text; /* owned; NUL-terminated; NULL while empty */
    size_t size;
    size_t capacity;
};

/* Logs each record that it is given; `self` is a struct record_log. */
extern const struct yarn_dump_visitor record_log_visitor;

void record_log_free(struct record_log *log);

/* In order of text, for comparisons in which order does not count. */
void record_log_sort(struct record_log *log);

/* How many lines begin with this. */
size_t record_log_count(const struct record_log *log, const char *begin);
