/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The visitor is given what a dump holds, record by record (reader.h says what is guaranteed of
 * it), and the summary of it as a file: how much of it is whole, and what is wrong where.
 */
#pragma once

#include "output/dump/format.h"
#include "output/dump/types.h"

/* One thing that is wrong with a dump. */
struct yarn_dump_damage {
    uint64_t offset; /* in the file */
    uint64_t size;   /* bytes skipped for it */
    const char *why; /* a static sentence */
};

struct yarn_dump_summary {
    uint16_t version_major, version_minor;
    uint64_t file_bytes;
    uint64_t chunks;           /* read whole */
    uint64_t damaged_bytes;    /* skipped */
    uint64_t records_unknown;  /* of a later minor version: skipped, no damage */
    uint64_t records_bad;      /* malformed or naming what does not exist */
    uint64_t samples_nameless; /* of these: samples whose stack was lost with another chunk */
    size_t nr_damages;         /* may exceed what `damages` keeps */
    struct yarn_dump_damage damages[64];
    bool has_end;    /* an END record closed it */
    bool is_cut;     /* the file ends inside a chunk: the last write was interrupted */
    uint64_t cut_at; /* offset of the incomplete chunk, where is_cut */
};

void yarn_dump_summary_add_damage(struct yarn_dump_summary *summary, uint64_t offset, uint64_t size,
                                  const char *why);

/* One for each record and each list of format.def: `process`, `option`, …; `runs`. Any may be NULL.
 * A non-zero return ends the reading and is what yarn_dump_read returns. */
struct yarn_dump_visitor {
#define YARN_RECORD(number, NAME, name, prose)                                                     \
    int (*name)(void *self, const struct yarn_dump_##name *thing);
#define YARN_LIST(number, NAME, names, row, prose)                                                 \
    int (*names)(void *self, const struct yarn_dump_##row *rows, size_t count);
#include "core/base/base.h"
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
