/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Places in the source: a line of a file in one function or, where no line is known, a function as
 * a whole. Equal places are one. Knows texts and numbers; does not know where they come from.
 * Threads: one owner at a time.
 */
#pragma once

#include "output/analysis/value/strings.h"

struct yarn_place {
    uint32_t name;     /* "table.c:12"; "[main]" where the line is unknown */
    uint32_t file;     /* whole path; 0 where unknown */
    uint32_t line;     /* 0 where unknown */
    uint32_t function; /* the owner's number */
};

struct yarn_places {
    struct yarn_place *places; /* owned array */
    size_t count;
    size_t capacity;
    struct yarn_table lines; /* (file, line) to a number of its own */
    uint32_t nr_lines;
    struct yarn_table known;   /* (that number, function) to place */
    struct yarn_table unknown; /* function to place, where the line is unknown */
};

YARN_MUST_CHECK int yarn_places_init(struct yarn_places *places);
/* Idempotent. */
void yarn_places_fini(struct yarn_places *places);

/* Each finds or adds; gives the line its name, while the function brings its own, in brackets. */
YARN_MUST_CHECK int yarn_places_line(struct yarn_places *places, struct yarn_strings *strings,
                                     const struct yarn_place *line, uint32_t *ret_place);
YARN_MUST_CHECK int yarn_places_function(struct yarn_places *places, uint32_t function,
                                         uint32_t name, uint32_t *ret_place);
