/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/view.h"

enum {
    PIECE = 4096,      /* of the window's size */
    TEXT_WINDOW = 256, /* has the end of most texts */
};

/* In whole windows: mostly more is wanted of what lies beside it. */
bool yarn_section_read(const struct yarn_section *section, uint64_t at, void *ret, size_t size)
{
    uint8_t *to = ret;
    if (!section->view)
        return yarn_span_read(section->bytes, at, ret, size);
    if (!yarn_span_has(section->bytes, at, size))
        return false;
    while (size) {
        uint64_t first = at / PIECE * PIECE;
        struct yarn_span bytes = yarn_section_window(
            section, first, yarn_u64_min(PIECE, section->bytes.size - first), YARN_WINDOW_READ);
        bytes = yarn_span_from(bytes, at - first);
        size_t part = yarn_size_min(size, bytes.size);
        if (!part)
            return false;
        memcpy(to, bytes.data, part);
        to += part;
        at += part;
        size -= part;
    }
    return true;
}

const char *yarn_section_text(const struct yarn_section *section, uint64_t at, unsigned number)
{
    if (!section->view || at >= section->bytes.size)
        return yarn_span_text(section->bytes, at);
    for (uint64_t size = TEXT_WINDOW;; size *= 4) {
        size = yarn_u64_min(size, section->bytes.size - at);
        struct yarn_span bytes = yarn_section_window(section, at, size, number);
        const char *text = yarn_span_text(bytes, 0);
        if (text || !bytes.size || size == section->bytes.size - at)
            return text;
    }
}
