/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The counterpart of span.h for writing: bytes appended to a buffer of fixed capacity that the
 * caller owns. A write that does not fit writes nothing and sets `full`, which stays set until
 * reset: the caller checks once after a group of writes and flushes. Multi-byte values are
 * little-endian.
 */
#pragma once

#include "core/base/span.h"

struct yarn_byte_buffer {
    uint8_t *data; /* borrowed */
    size_t capacity;
    size_t size;
    bool full;
};

static inline struct yarn_byte_buffer yarn_bytes_of(void *data, size_t capacity)
{
    return (struct yarn_byte_buffer){.data = data, .capacity = capacity};
}

static inline size_t yarn_bytes_room(const struct yarn_byte_buffer *bytes)
{
    return bytes->full ? 0 : bytes->capacity - bytes->size;
}

static inline struct yarn_span yarn_bytes_span(const struct yarn_byte_buffer *bytes)
{
    return yarn_span_of(bytes->data, bytes->size);
}

static inline void yarn_bytes_reset(struct yarn_byte_buffer *bytes)
{
    bytes->size = 0;
    bytes->full = false;
}

static inline void yarn_bytes_put(struct yarn_byte_buffer *bytes, const void *data, size_t size)
{
    if (yarn_bytes_room(bytes) < size) {
        bytes->full = true;
        return;
    }
    if (size)
        memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

static inline void yarn_bytes_u8(struct yarn_byte_buffer *bytes, uint8_t value)
{
    yarn_bytes_put(bytes, &value, sizeof value);
}

static inline void yarn_bytes_u16(struct yarn_byte_buffer *bytes, uint16_t value)
{
    yarn_bytes_put(bytes, &value, sizeof value);
}

static inline void yarn_bytes_u32(struct yarn_byte_buffer *bytes, uint32_t value)
{
    yarn_bytes_put(bytes, &value, sizeof value);
}

static inline void yarn_bytes_u64(struct yarn_byte_buffer *bytes, uint64_t value)
{
    yarn_bytes_put(bytes, &value, sizeof value);
}

static inline void yarn_bytes_uleb(struct yarn_byte_buffer *bytes, uint64_t value)
{
    uint8_t encoded[10];
    size_t size = 0;
    do {
        encoded[size++] = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        value >>= 7;
    } while (value);
    yarn_bytes_put(bytes, encoded, size);
}

/* Length as uleb, then the bytes. */
static inline void yarn_bytes_sized(struct yarn_byte_buffer *bytes, struct yarn_span span)
{
    uint8_t *data = bytes->data;
    size_t before = bytes->size;
    yarn_bytes_uleb(bytes, span.size);
    yarn_bytes_put(bytes, span.data, span.size);
    if (bytes->full && data)
        bytes->size = before;
}
