/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The branches that came with samples, added up: by event, thread, and from where to where, how
 * often each was seen, how often it was mispredicted, and the cycles before it. A sample has up to
 * 32 of them, most of which are always the same. Bounded: where it is full the owner stores what
 * there is and begins anew. Knows records; does not know names or the dump.
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "core/record/record.h"

struct yarn_edge {
    uint64_t from, to; /* addresses */
    uint32_t event, tid;
    uint64_t count, mispredicted, cycles; /* cycles: 0 where the processor does not count them */
};

enum { YARN_EDGES_MAX = 4096 };

struct yarn_edges {
    struct yarn_edge *edges; /* owned, of YARN_EDGES_MAX; NULL until there is a branch */
    size_t count;
    struct yarn_table index; /* owned: hash of an edge -> its place */
    uint64_t until_ns;       /* of the latest sample */
    uint64_t nr_lost;        /* branches for which there was no memory */
};

/* The branches of a sample from number *at on, which becomes the first that is not in it. False
 * where there is no room for more: to be called again once they were stored. A stack of calls has
 * none. */
bool yarn_edges_add(struct yarn_edges *edges, const struct yarn_typed_record *record, size_t *at);

/* Removes all edges, keeps the memory. */
void yarn_edges_clear(struct yarn_edges *edges);
/* Idempotent. */
void yarn_edges_close(struct yarn_edges *edges);
