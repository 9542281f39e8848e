/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A tracepoint's format and a sample's raw bytes, from a dump: any bytes. Fields and what they hold
 * lie inside, and are shown without harm. The raw bytes are what stands behind the first NUL.
 */
#include "core/event/trace_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        __builtin_trap();
}

static void require_inside(struct yarn_span part, struct yarn_span whole)
{
    require(!part.size || (part.data >= whole.data && part.size <= whole.size &&
                           (size_t)(part.data - whole.data) <= whole.size - part.size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char buffer[256];
    struct yarn_span whole = yarn_span_of(data, size);
    const uint8_t *end = size ? memchr(data, 0, size) : NULL;
    struct yarn_span format = yarn_span_sub(whole, 0, end ? (size_t)(end - data) : size);
    struct yarn_span raw = yarn_span_from(whole, format.size + (end ? 1 : 0));
    struct yarn_span rest = format;
    struct yarn_trace_field field;
    (void)yarn_trace_format_id(format);
    while (yarn_trace_format_next(&rest, &field)) {
        struct yarn_text text = yarn_text_of(buffer, sizeof buffer);
        require(field.name.size);
        require_inside(field.name, format);
        require_inside(yarn_trace_field_bytes(&field, raw), raw);
        yarn_trace_field_show(&field, raw, &text);
        require(text.size < sizeof buffer);
    }
    return 0;
}
