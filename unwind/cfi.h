/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * DWARF call frame information: from a linked address to the FDE that covers it, and from there
 * to the row of register rules at the address. Reads .eh_frame (through .eh_frame_hdr's sorted
 * table where there is one, by an index or a scan otherwise) and .debug_frame. Bytes are untrusted.
 * Knows the encoding; does not know how a frame is stepped (rule, unwinder).
 *
 * Threads: pure functions over an image. Signals: safe while the image stays open.
 */
#pragma once

#include "unwind/cfi_entry.h"
#include "unwind/image.h"

/* -ENOENT: no FDE covers the address (absence, not failure). -EBADMSG: the bytes are malformed. */
YARN_MUST_CHECK int yarn_cfi_find(const struct yarn_image *image, uint64_t vaddr,
                                  struct yarn_fde *ret_fde);

/* Around an address that no FDE covers: those that none covers either, from where the last FDE
 * before it ends. False where no table or index says. */
bool yarn_cfi_gap(const struct yarn_image *image, uint64_t vaddr, uint64_t *ret_from,
                  uint64_t *ret_to);

/* Makes later searches in the image quicker: not by a scan for each address. */
void yarn_cfi_index_tables(struct yarn_image *image);
