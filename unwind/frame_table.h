/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * .eh_frame_hdr: where .eh_frame begins, and the sorted table of its FDEs, by the start of their
 * code. A page of the table is read when it is searched, and what each page begins with is kept:
 * so a search of hundreds of thousands of functions is one in some KiB of our own, and one in a
 * page. Bytes are untrusted. Knows order; does not know what an FDE says beyond that.
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "unwind/view.h"

struct yarn_frame_table {
    struct yarn_section entries;
    size_t count;     /* 0: there is no table, or one that no linker writes */
    uint64_t base;    /* what its numbers are relative to */
    uint64_t *starts; /* owned, by yarn_frame_table_index: of each page's code; 0: not read yet */
};

/* The linked address of .eh_frame; 0 where the header does not say. */
uint64_t yarn_frame_table_eh_frame(const struct yarn_section *header);

/* Reads the header only. */
struct yarn_frame_table yarn_frame_table_of(const struct yarn_section *header);

/* For a table that is searched often. Without memory it is searched without. */
void yarn_frame_table_index(struct yarn_frame_table *table);

/* How many FDEs begin at or before the address. SIZE_MAX where the file is out of reach, an
 * arbitrary number where the table is not sorted. */
size_t yarn_frame_table_position(const struct yarn_frame_table *table, uint64_t vaddr);

/* Linked addresses: where the code begins, and the FDE. 0 where the file is out of reach, or the
 * position is not below the count. */
uint64_t yarn_frame_table_start(const struct yarn_frame_table *table, size_t position);
uint64_t yarn_frame_table_fde(const struct yarn_frame_table *table, size_t position);

/* Idempotent. */
void yarn_frame_table_close(struct yarn_frame_table *table);
