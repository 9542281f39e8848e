/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * One entry of a call frame section: a CIE, or an FDE together with its CIE. The two sections that
 * have entries differ in how an FDE names its CIE and in what distinguishes the two.
 * Knows entries; does not know which one covers an address (cfi) nor what instructions do (row).
 *
 * Threads, signals: pure functions over bytes; safe anywhere.
 */
#pragma once

#include "unwind/view.h"

struct yarn_cfi_section {
    struct yarn_section section;
    bool is_debug_frame; /* else .eh_frame */
};

/* Where an entry lies and what it is. */
struct yarn_cfi_entry {
    uint64_t offset; /* of its length field */
    uint64_t next;   /* offset behind the entry */
    bool is_cie;
    uint64_t cie_offset;    /* of an FDE */
    uint64_t body;          /* offset behind the CIE pointer */
    struct yarn_span bytes; /* from `offset` to `next`; valid until the next CIE or FDE is read */
};

/* What a CIE says for its FDEs. */
struct yarn_cie {
    uint64_t offset;
    struct yarn_span instructions;
    uint64_t code_align;
    int64_t data_align;
    uint64_t return_register;
    uint8_t pointer_encoding;
    bool has_augmentation_size; /* augmentation 'z' */
    bool is_signal_frame;
};

struct yarn_fde {
    uint64_t start, end; /* linked addresses of the code that it covers */
    struct yarn_span cie_instructions;
    struct yarn_span instructions;
    uint64_t code_align;
    int64_t data_align;
    uint64_t return_register;
    uint8_t pointer_encoding; /* DW_EH_PE_* of addresses in instructions (DW_CFA_set_loc) */
    bool is_signal_frame;     /* augmentation 'S' */
    uint64_t eh_frame_offset; /* of the FDE in its section: for libunwind's proc info */
};

/* -ENOENT at the end of the section (its bytes, or the entry of length 0). */
YARN_MUST_CHECK int yarn_cfi_entry_read(const struct yarn_cfi_section *in, uint64_t offset,
                                        struct yarn_cfi_entry *ret_entry);

/* -ENOTSUP for an augmentation or a version that is not known. */
YARN_MUST_CHECK int yarn_cie_read(const struct yarn_cfi_section *in, uint64_t offset,
                                  struct yarn_cie *ret_cie);

/* `cie` is that of entry->cie_offset. */
YARN_MUST_CHECK int yarn_fde_read(const struct yarn_cfi_section *in,
                                  const struct yarn_cfi_entry *entry, const struct yarn_cie *cie,
                                  struct yarn_fde *ret_fde);
