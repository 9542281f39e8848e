/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Messages in the wire format of protocol buffers, written field by field into memory: for formats
 * whose messages nest deeper than can be written in parts. A field that has its default is left
 * out, as the format has it. Threads: one owner at a time.
 */
#pragma once

#include "core/base/span.h"

struct yarn_wire {
    uint8_t *bytes; /* owned array */
    size_t size, capacity;
    int err; /* -ENOMEM: nothing is written any more */
};

#define YARN_WIRE_EMPTY ((struct yarn_wire){0})

void yarn_wire_u64(struct yarn_wire *wire, uint32_t field, uint64_t value);
/* A 0 is written, too, where one is other than none. */
void yarn_wire_set_u64(struct yarn_wire *wire, uint32_t field, uint64_t value);
void yarn_wire_fixed64(struct yarn_wire *wire, uint32_t field, uint64_t value);
/* Bytes, a text or a message: also where it is empty. */
void yarn_wire_bytes(struct yarn_wire *wire, uint32_t field, struct yarn_span bytes);
void yarn_wire_text(struct yarn_wire *wire, uint32_t field, const char *text);
/* Repeated and packed. */
void yarn_wire_packed(struct yarn_wire *wire, uint32_t field, const uint64_t *values, size_t count);

/* Fields that are written between are a message in that field. */
size_t yarn_wire_begin(struct yarn_wire *wire, uint32_t field);
void yarn_wire_end(struct yarn_wire *wire, size_t begin);

/* Fields as they stand. */
void yarn_wire_fields(struct yarn_wire *wire, struct yarn_span fields);

static inline struct yarn_span yarn_wire_span(const struct yarn_wire *wire)
{
    return yarn_span_of(wire->bytes, wire->size);
}

/* Idempotent. */
void yarn_wire_fini(struct yarn_wire *wire);
