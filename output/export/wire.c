/* SPDX-License-Identifier: Apache-2.0 */
#include "output/export/wire.h"

#include <stdlib.h>

#include "output/base/array.h"

enum { VARINT = 0, FIXED64 = 1, DELIMITED = 2, VARINT_BYTES_MAX = 10, LENGTH_BYTES = 5 };

static void add(struct yarn_wire *wire, const void *bytes, size_t size)
{
    if (!wire->err)
        wire->err = YARN_ARRAY_RESERVE(&wire->bytes, &wire->capacity, wire->size + size + 1);
    if (wire->err)
        return;
    if (size)
        memcpy(wire->bytes + wire->size, bytes, size);
    wire->size += size;
}

static size_t encode(uint64_t value, uint8_t *ret_bytes)
{
    size_t size = 0;
    for (; value >= 0x80; value >>= 7)
        ret_bytes[size++] = (uint8_t)(value | 0x80);
    ret_bytes[size++] = (uint8_t)value;
    return size;
}

static void add_varint(struct yarn_wire *wire, uint64_t value)
{
    uint8_t bytes[VARINT_BYTES_MAX];
    add(wire, bytes, encode(value, bytes));
}

static void add_key(struct yarn_wire *wire, uint32_t field, unsigned kind)
{
    add_varint(wire, (uint64_t)field << 3 | kind);
}

void yarn_wire_u64(struct yarn_wire *wire, uint32_t field, uint64_t value)
{
    if (value)
        yarn_wire_set_u64(wire, field, value);
}

void yarn_wire_set_u64(struct yarn_wire *wire, uint32_t field, uint64_t value)
{
    add_key(wire, field, VARINT);
    add_varint(wire, value);
}

void yarn_wire_fixed64(struct yarn_wire *wire, uint32_t field, uint64_t value)
{
    uint8_t bytes[8];
    if (!value)
        return;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
    add_key(wire, field, FIXED64);
    add(wire, bytes, sizeof bytes);
}

void yarn_wire_bytes(struct yarn_wire *wire, uint32_t field, struct yarn_span bytes)
{
    add_key(wire, field, DELIMITED);
    add_varint(wire, bytes.size);
    add(wire, bytes.data, bytes.size);
}

void yarn_wire_fields(struct yarn_wire *wire, struct yarn_span fields)
{
    add(wire, fields.data, fields.size);
}

void yarn_wire_text(struct yarn_wire *wire, uint32_t field, const char *text)
{
    yarn_wire_bytes(wire, field, yarn_span_of_text(text));
}

void yarn_wire_packed(struct yarn_wire *wire, uint32_t field, const uint64_t *values, size_t count)
{
    if (!count)
        return;
    size_t begin = yarn_wire_begin(wire, field);
    for (size_t i = 0; i < count; i++)
        add_varint(wire, values[i]);
    yarn_wire_end(wire, begin);
}

/* Room for any length; what it does not take is closed up at the end. */
size_t yarn_wire_begin(struct yarn_wire *wire, uint32_t field)
{
    static const uint8_t room[LENGTH_BYTES];
    add_key(wire, field, DELIMITED);
    add(wire, room, sizeof room);
    return wire->size;
}

void yarn_wire_end(struct yarn_wire *wire, size_t begin)
{
    uint8_t length[VARINT_BYTES_MAX];
    if (wire->err)
        return;
    size_t size = wire->size - begin, bytes = encode(size, length);
    if (bytes > LENGTH_BYTES) {
        wire->err = -EFBIG;
        return;
    }
    uint8_t *at = wire->bytes + begin - LENGTH_BYTES;
    memcpy(at, length, bytes);
    memmove(at + bytes, wire->bytes + begin, size);
    wire->size -= LENGTH_BYTES - bytes;
}

void yarn_wire_fini(struct yarn_wire *wire)
{
    free(wire->bytes);
    *wire = YARN_WIRE_EMPTY;
}
