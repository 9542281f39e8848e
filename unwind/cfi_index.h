/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The FDEs of a call frame section that has no sorted table of its own (.debug_frame, or .eh_frame
 * without its header), in order of address: 12 bytes each in pages of our own, 1 Mi of them at
 * most. Knows order; does not know what an FDE says beyond where its code begins.
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "core/base/base.h"

struct yarn_cfi_section;

struct yarn_cfi_index {
    uint64_t *keys;    /* owned: where the code starts, then the number in `offsets`; NULL: none */
    uint32_t *offsets; /* owned: of FDEs in the section, in its order */
    size_t count, capacity;
};

/* Reads the whole section. What is invalid is left out, and so is code above 16 TiB. Empty
 * where there is no memory. */
struct yarn_cfi_index yarn_cfi_index_of(const struct yarn_cfi_section *in);

/* How many FDEs begin at or before the address. */
size_t yarn_cfi_index_position(const struct yarn_cfi_index *index, uint64_t vaddr);

/* `position` is below the count. */
uint64_t yarn_cfi_index_start(const struct yarn_cfi_index *index, size_t position);
uint32_t yarn_cfi_index_offset(const struct yarn_cfi_index *index, size_t position);

/* Idempotent. */
void yarn_cfi_index_close(struct yarn_cfi_index *index);
