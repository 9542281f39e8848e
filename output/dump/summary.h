/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What was found out of a dump as a file while it was read: how much of it is whole, and what is
 * wrong where. Threads: one owner at a time.
 */
#pragma once

#include "core/base/base.h"

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
