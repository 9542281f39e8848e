/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Call frame sections made by hand, for tests: entries appended one by one, the table of
 * .eh_frame_hdr over them, and an image that has these sections and nothing else.
 */
#pragma once

#include "unwind/image.h"

enum { MADE_CFI_BYTES = 4096, MADE_CFI_VADDR = 0x10000, MADE_CFI_HDR_VADDR = 0x8000 };

struct made_cfi {
    uint8_t frame[MADE_CFI_BYTES]; /* at MADE_CFI_VADDR */
    size_t frame_size;
    uint8_t header[MADE_CFI_BYTES]; /* at MADE_CFI_HDR_VADDR */
    size_t header_size;
    bool is_debug_frame;
    size_t cie; /* offset of the last */
};

/* Augmentation "zR" with pc-relative addresses of 4 bytes in .eh_frame, none in .debug_frame. */
void made_cfi_cie(struct made_cfi *made, uint8_t return_register, int8_t data_align,
                  struct yarn_span instructions);
/* As made_cfi_cie with augmentation "zRS". */
void made_cfi_cie_signal(struct made_cfi *made, uint8_t return_register, int8_t data_align,
                         struct yarn_span instructions);
/* Of the last CIE. Its offset. */
size_t made_cfi_fde(struct made_cfi *made, uint64_t start, uint64_t size,
                    struct yarn_span instructions);
void made_cfi_end(struct made_cfi *made);
/* One row of the table; rows are added in order of address. */
void made_cfi_row(struct made_cfi *made, uint64_t start, size_t fde);

/* Borrows from `made`. */
struct yarn_image made_cfi_image(const struct made_cfi *made);

#define MADE_BYTES(...)                                                                            \
    yarn_span_of((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))
