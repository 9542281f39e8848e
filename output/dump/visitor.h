/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Who is given what a dump holds, record by record; reader.h says what is guaranteed of it.
 */
#pragma once

#include "output/dump/format.h"
#include "output/dump/types.h"

/* One for each record and each list of format.def: `process`, `option`, …; `runs`. Any may be NULL.
 * A non-zero return ends the reading and is what yarn_dump_read returns. */
struct yarn_dump_visitor {
#define YARN_RECORD(number, NAME, name, prose)                                                     \
    int (*name)(void *self, const struct yarn_dump_##name *thing);
#define YARN_LIST(number, NAME, names, row, prose)                                                 \
    int (*names)(void *self, const struct yarn_dump_##row *rows, size_t count);
#include "output/dump/format.def"
    /* Of the event of number alternate_of - 1, which what it takes and counts is handed on as. Not
     * given to `event`. */
    int (*alternate)(void *self, const struct yarn_dump_event *thing);
    int (*symbol)(void *self, const struct yarn_dump_symbol *symbol);
    int (*frame)(void *self, const struct yarn_dump_frame *frame);
    int (*stack)(void *self, const struct yarn_dump_stack *stack);
    /* Many at a time, for speed. */
    int (*samples)(void *self, const struct yarn_sample *samples, size_t count);
    /* A record, or a row of a list, that has a YARN_SHOWN, after its own: see shown.h. */
    int (*shown)(void *self, enum yarn_dump_record record, const void *thing);
    int (*chunk)(void *self, uint64_t offset); /* a chunk that lies there in the file comes next */
    int (*reset)(void *self); /* a new epoch: symbols, frames and stacks count from 0 again */
};
