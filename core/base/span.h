/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A span is a borrowed run of bytes; a cursor reads one from front to back and never past its end.
 * Every byte that comes from a file, a ring or the environment is read through these: no other
 * code does pointer arithmetic on untrusted bytes. Multi-byte values are little-endian.
 *
 * A cursor that meets the end (or a malformed varint) becomes `failed`, yields zeros from then on
 * and stays so: a parser checks once, at the end of a group of reads.
 *
 * Threads, signals: pure functions over values; safe anywhere.
 */
#pragma once

#include "core/base/base.h"
#include "core/include/yarn/sample.h"

struct yarn_span {
    const uint8_t *data; /* borrowed */
    size_t size;
};

#define YARN_SPAN_EMPTY ((struct yarn_span){NULL, 0})

static inline struct yarn_span yarn_span_of(const void *data, size_t size)
{
    return (struct yarn_span){data, size};
}

/* The same under the public name. */
static inline struct yarn_span yarn_span_of_bytes(struct yarn_bytes bytes)
{
    return yarn_span_of(bytes.data, bytes.size);
}

static inline struct yarn_span yarn_span_of_text(const char *text)
{
    return (struct yarn_span){(const uint8_t *)text, strlen(text)};
}

/* A text whose owner keeps a NUL behind it. */
static inline const char *yarn_span_as_text(struct yarn_span span)
{
    return span.size ? (const char *)span.data : "";
}

/* A number for the bytes; `seed`: another one for each. */
static inline uint64_t yarn_span_hash(struct yarn_span span, uint64_t seed)
{
    uint64_t hash = yarn_hash_u64(seed ^ (span.size + 1));
    for (size_t at = 0; at < span.size; at += sizeof hash) {
        uint64_t word = 0;
        memcpy(&word, span.data + at, yarn_size_min(span.size - at, sizeof word));
        hash = yarn_hash_u64(hash ^ word) + at;
    }
    return hash;
}

/* Without overflow: true where [at, at + size) lies inside the span. */
static inline bool yarn_span_has(struct yarn_span span, uint64_t at, uint64_t size)
{
    return at <= span.size && size <= span.size - at;
}

/* The empty span where [at, at + size) does not lie inside. */
static inline struct yarn_span yarn_span_sub(struct yarn_span span, uint64_t at, uint64_t size)
{
    /* Why the pointer too: C has no sum of NULL and 0. */
    if (!span.data || !yarn_span_has(span, at, size))
        return YARN_SPAN_EMPTY;
    return yarn_span_of(span.data + at, (size_t)size);
}

/* From `at` to the end; empty where `at` lies behind it. */
static inline struct yarn_span yarn_span_from(struct yarn_span span, uint64_t at)
{
    return at <= span.size ? yarn_span_sub(span, at, span.size - at) : YARN_SPAN_EMPTY;
}

static inline bool yarn_span_equal(struct yarn_span a, struct yarn_span b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/* A copy of a fixed-size value; false (and *ret untouched) where the span is too short. */
static inline bool yarn_span_read(struct yarn_span span, uint64_t at, void *ret, size_t size)
{
    if (!yarn_span_has(span, at, size))
        return false;
    if (size)
        memcpy(ret, span.data + at, size);
    return true;
}

/* The text at `at` up to its NUL; NULL where the span ends before the NUL. */
static inline const char *yarn_span_text(struct yarn_span span, uint64_t at)
{
    if (at >= span.size || !memchr(span.data + at, 0, span.size - (size_t)at))
        return NULL;
    return (const char *)span.data + at;
}

struct yarn_cursor {
    struct yarn_span span;
    size_t at;
    bool failed;
};

static inline struct yarn_cursor yarn_cursor_of(struct yarn_span span)
{
    return (struct yarn_cursor){.span = span};
}

static inline size_t yarn_cursor_left(const struct yarn_cursor *cursor)
{
    return cursor->failed ? 0 : cursor->span.size - cursor->at;
}

static inline void yarn_cursor_read(struct yarn_cursor *cursor, void *ret, size_t size)
{
    if (cursor->failed || !yarn_span_read(cursor->span, cursor->at, ret, size)) {
        cursor->failed = true;
        memset(ret, 0, size);
        return;
    }
    cursor->at += size;
}

static inline void yarn_cursor_skip(struct yarn_cursor *cursor, uint64_t size)
{
    if (cursor->failed || !yarn_span_has(cursor->span, cursor->at, size))
        cursor->failed = true;
    else
        cursor->at += (size_t)size;
}

static inline struct yarn_span yarn_cursor_span(struct yarn_cursor *cursor, uint64_t size)
{
    size_t at = cursor->at;
    yarn_cursor_skip(cursor, size);
    return cursor->failed ? YARN_SPAN_EMPTY : yarn_span_sub(cursor->span, at, size);
}

static inline uint8_t yarn_cursor_u8(struct yarn_cursor *cursor)
{
    uint8_t value;
    yarn_cursor_read(cursor, &value, sizeof value);
    return value;
}

static inline uint16_t yarn_cursor_u16(struct yarn_cursor *cursor)
{
    uint16_t value;
    yarn_cursor_read(cursor, &value, sizeof value);
    return value;
}

static inline uint32_t yarn_cursor_u32(struct yarn_cursor *cursor)
{
    uint32_t value;
    yarn_cursor_read(cursor, &value, sizeof value);
    return value;
}

static inline uint64_t yarn_cursor_u64(struct yarn_cursor *cursor)
{
    uint64_t value;
    yarn_cursor_read(cursor, &value, sizeof value);
    return value;
}

/* Unsigned LEB128, at most 64 bits of value; bits beyond fail the cursor. */
static inline uint64_t yarn_cursor_uleb(struct yarn_cursor *cursor)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = yarn_cursor_u8(cursor);
        if (shift == 63 && byte > 1)
            break;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return cursor->failed ? 0 : value;
    }
    cursor->failed = true;
    return 0;
}

/* Signed LEB128 as DWARF has it. */
static inline int64_t yarn_cursor_sleb(struct yarn_cursor *cursor)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = yarn_cursor_u8(cursor);
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte & 0x80)
            continue;
        if (shift + 7 < 64 && (byte & 0x40))
            value |= ~UINT64_C(0) << (shift + 7);
        return cursor->failed ? 0 : (int64_t)value;
    }
    cursor->failed = true;
    return 0;
}

static inline const char *yarn_cursor_text(struct yarn_cursor *cursor)
{
    const char *text = cursor->failed ? NULL : yarn_span_text(cursor->span, cursor->at);
    if (!text) {
        cursor->failed = true;
        return "";
    }
    cursor->at += strlen(text) + 1;
    return text;
}
