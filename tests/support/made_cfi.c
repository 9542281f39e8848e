/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/made_cfi.h"

static void put(uint8_t *bytes, size_t *size, const void *data, size_t data_size)
{
    memcpy(bytes + *size, data, data_size);
    *size += data_size;
}

static void put_frame(struct made_cfi *made, const void *data, size_t size)
{
    put(made->frame, &made->frame_size, data, size);
}

static size_t begin(struct made_cfi *made, uint32_t id)
{
    size_t at = made->frame_size;
    uint32_t size = 0;
    put_frame(made, &size, sizeof size);
    put_frame(made, &id, sizeof id);
    return at;
}

/* Pads with DW_CFA_nop and writes the length. */
static void end(struct made_cfi *made, size_t at)
{
    while (made->frame_size % 8)
        made->frame[made->frame_size++] = 0;
    uint32_t size = (uint32_t)(made->frame_size - at - sizeof size);
    memcpy(made->frame + at, &size, sizeof size);
}

static void put_cie(struct made_cfi *made, const char *letters, uint8_t return_register,
                    int8_t data_align, struct yarn_span instructions)
{
    const uint8_t version = 1, code_align = 1, augmentation[] = {1, 0x1b};
    made->cie = begin(made, made->is_debug_frame ? UINT32_MAX : 0);
    put_frame(made, &version, 1);
    put_frame(made, letters, strlen(letters) + 1);
    put_frame(made, &code_align, 1);
    uint8_t align = (uint8_t)data_align & 0x7f;
    put_frame(made, &align, 1);
    put_frame(made, &return_register, 1);
    if (letters[0])
        put_frame(made, augmentation, sizeof augmentation);
    put_frame(made, instructions.data, instructions.size);
    end(made, made->cie);
}

void made_cfi_cie(struct made_cfi *made, uint8_t return_register, int8_t data_align,
                  struct yarn_span instructions)
{
    put_cie(made, made->is_debug_frame ? "" : "zR", return_register, data_align, instructions);
}

void made_cfi_cie_signal(struct made_cfi *made, uint8_t return_register, int8_t data_align,
                         struct yarn_span instructions)
{
    put_cie(made, "zRS", return_register, data_align, instructions);
}

size_t made_cfi_fde(struct made_cfi *made, uint64_t start, uint64_t size,
                    struct yarn_span instructions)
{
    size_t at = made->frame_size;
    if (made->is_debug_frame) {
        (void)begin(made, (uint32_t)made->cie);
        put_frame(made, &start, sizeof start);
        put_frame(made, &size, sizeof size);
    } else {
        (void)begin(made, (uint32_t)(at + sizeof(uint32_t) - made->cie));
        uint32_t relative = (uint32_t)(start - (MADE_CFI_VADDR + made->frame_size));
        uint32_t size_32 = (uint32_t)size;
        const uint8_t augmentation_size = 0;
        put_frame(made, &relative, sizeof relative);
        put_frame(made, &size_32, sizeof size_32);
        put_frame(made, &augmentation_size, 1);
    }
    put_frame(made, instructions.data, instructions.size);
    end(made, at);
    return at;
}

void made_cfi_end(struct made_cfi *made)
{
    const uint32_t none = 0;
    put_frame(made, &none, sizeof none);
}

void made_cfi_row(struct made_cfi *made, uint64_t start, size_t fde)
{
    enum { COUNT_AT = 8 };
    if (!made->header_size) {
        /* version; .eh_frame pc-relative, count absolute, table relative to here */
        const uint8_t head[] = {1, 0x1b, 0x03, 0x3b, 0, 0, 0, 0, 0, 0, 0, 0};
        put(made->header, &made->header_size, head, sizeof head);
    }
    int32_t row[2] = {(int32_t)((int64_t)start - MADE_CFI_HDR_VADDR),
                      (int32_t)(MADE_CFI_VADDR + (int64_t)fde - MADE_CFI_HDR_VADDR)};
    put(made->header, &made->header_size, row, sizeof row);
    made->header[COUNT_AT]++;
}

struct yarn_image made_cfi_image(const struct made_cfi *made)
{
    struct yarn_image image = {0};
    struct yarn_section frame = {.bytes = yarn_span_of(made->frame, made->frame_size),
                                 .vaddr = MADE_CFI_VADDR};
    if (made->is_debug_frame)
        image.debug_frame = frame;
    else
        image.eh_frame = frame;
    if (made->header_size)
        image.eh_frame_hdr = (struct yarn_section){
            .bytes = yarn_span_of(made->header, made->header_size), .vaddr = MADE_CFI_HDR_VADDR};
    return image;
}
