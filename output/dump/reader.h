/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Reads a dump front to back and hands each record to a visitor. Trusts nothing: every length and
 * number is checked before it is used; after damage it looks for the next whole chunk, says what
 * was passed over, and goes on. Memory is bounded by one chunk and the interning tables' own sizes.
 * A program may use it freely (malloc); it never runs in a host.
 *
 * Record spans are valid for the length of the visit only. References are resolved by the caller,
 * but the reader guarantees that they name records that came before, in the same epoch (modules and
 * events: in the same process). Where that record was lost with a damaged chunk, this is counted in
 * records_bad, and: a text is empty; a symbol's module and a sample's stack become YARN_DUMP_NONE
 * (its stack_end YARN_DUMP_STACK_FAILED); an event is made up, with its number only; a frame or
 * stack is not handed on. Numbers may have gaps; none is given twice, save for events and modules,
 * of which the last counts. Samples are in time order within one visit.
 *
 * A merged dump has many processes: each begins with reset (not the first) and process; where that
 * record was lost the process has pid 0.
 */
#pragma once

#include "output/dump/allowance.h"
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
    int (*symbol)(void *self, const struct yarn_dump_symbol *symbol);
    int (*frame)(void *self, const struct yarn_dump_frame *frame);
    int (*stack)(void *self, const struct yarn_dump_stack *stack);
    /* Many at a time, for speed. */
    int (*samples)(void *self, const struct yarn_dump_sample *samples, size_t count);
    /* A record, or a row of a list, that has a YARN_SHOWN, after its own: see shown.h. */
    int (*shown)(void *self, enum yarn_dump_record record, const void *thing);
    int (*chunk)(void *self, uint64_t offset); /* a chunk that lies there in the file comes next */
    int (*reset)(void *self); /* a new epoch: symbols, frames and stacks count from 0 again */
};

/* One thing that is wrong with a dump. */
struct yarn_dump_damage {
    uint64_t offset; /* in the file */
    uint64_t size;   /* bytes passed over for it */
    const char *why; /* a static sentence */
};

struct yarn_dump_summary {
    uint16_t version_major, version_minor;
    uint64_t file_bytes;
    uint64_t chunks;           /* read whole */
    uint64_t damaged_bytes;    /* passed over */
    uint64_t records_unknown;  /* of a later minor version: skipped, no damage */
    uint64_t records_bad;      /* malformed or naming what does not exist */
    uint64_t samples_nameless; /* of these: samples whose stack was lost with another chunk */
    size_t nr_damages;         /* may exceed what `damages` keeps */
    struct yarn_dump_damage damages[64];
    bool has_end;    /* an END record closed it */
    bool is_cut;     /* the file ends inside a chunk: the last write was interrupted */
    uint64_t cut_at; /* offset of the incomplete chunk, where is_cut */
};

/* -ENOEXEC: it is no dump, or of a later major version (`summary` tells); another negative errno:
 * it could not be read. Damage is no error: see *ret_summary, which is always filled. */
YARN_MUST_CHECK int yarn_dump_read_file(const char *path, const struct yarn_dump_visitor *visitor,
                                        void *self, struct yarn_dump_summary *ret_summary);
/* Within what is left, which `self` may spend of, too: what it leaves out is told where it sets
 * `is_short`. */
YARN_MUST_CHECK int yarn_dump_read_file_within(const char *path,
                                               struct yarn_dump_allowance *allowance,
                                               const struct yarn_dump_visitor *visitor, void *self,
                                               struct yarn_dump_summary *ret_summary);
YARN_MUST_CHECK int yarn_dump_read_bytes(struct yarn_span bytes,
                                         const struct yarn_dump_visitor *visitor, void *self,
                                         struct yarn_dump_summary *ret_summary);
