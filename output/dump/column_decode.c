/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/column.h"
#include "output/dump/number_decoder.h"

static void decode_constant(struct yarn_cursor *cursor, uint64_t *ret_values, size_t count)
{
    uint64_t value = yarn_cursor_uleb(cursor);
    for (size_t i = 0; i < count; i++)
        ret_values[i] = value;
}

/* Most varints are one byte or two: those are read without the cursor's care for the rest. */
static uint64_t read_varint(struct yarn_cursor *cursor)
{
    const uint8_t *data = cursor->span.data;
    size_t at = cursor->at;
    if (cursor->failed || cursor->span.size - at < 2)
        return yarn_cursor_uleb(cursor);
    if (data[at] < 0x80) {
        cursor->at = at + 1;
        return data[at];
    }
    if (data[at + 1] < 0x80) {
        cursor->at = at + 2;
        return (uint64_t)(data[at] & 0x7f) | (uint64_t)data[at + 1] << 7;
    }
    return yarn_cursor_uleb(cursor);
}

static void decode_plain(struct yarn_cursor *cursor, uint64_t *ret_values, size_t count)
{
    for (size_t i = 0; i < count && !cursor->failed; i++)
        ret_values[i] = read_varint(cursor);
}

static void decode_delta(struct yarn_cursor *cursor, uint64_t *ret_values, size_t count)
{
    uint64_t value = 0;
    for (size_t i = 0; i < count && !cursor->failed; i++) {
        value += yarn_zigzag_to(read_varint(cursor));
        ret_values[i] = value;
    }
}

static void decode_recent(struct yarn_cursor *cursor, uint64_t *ret_values, size_t count)
{
    uint64_t next = 0;
    for (size_t i = 0; i < count && !cursor->failed; i++) {
        ret_values[i] = next - yarn_zigzag_to(read_varint(cursor));
        next = yarn_u64_max(next, ret_values[i] + 1);
    }
}

static void decode_mostly(struct yarn_cursor *cursor, uint64_t *ret_values, size_t count)
{
    uint64_t usual = yarn_cursor_uleb(cursor);
    uint64_t nr_others = yarn_cursor_uleb(cursor);
    size_t i = 0;
    for (uint64_t k = 0; k < nr_others; k++) {
        uint64_t gap = read_varint(cursor);
        if (cursor->failed || gap >= count - i) {
            cursor->failed = true;
            return;
        }
        for (size_t end = i + (size_t)gap; i < end; i++)
            ret_values[i] = usual;
        ret_values[i++] = read_varint(cursor);
    }
    while (i < count)
        ret_values[i++] = usual;
}

/* `is_delta`: the runs are of differences. */
static void decode_runs(struct yarn_cursor *cursor, uint64_t *ret_values, size_t count,
                        bool is_delta)
{
    uint64_t before = 0;
    size_t i = 0;
    while (i < count) {
        uint64_t length = read_varint(cursor);
        uint64_t value = read_varint(cursor);
        if (cursor->failed || !length || length > count - i) {
            cursor->failed = true;
            return;
        }
        for (size_t end = i + (size_t)length; i < end; i++) {
            before = is_delta ? before + yarn_zigzag_to(value) : value;
            ret_values[i] = before;
        }
    }
}

static uint64_t read_bits(const uint8_t *data, size_t bit, unsigned width)
{
    uint64_t value = 0;
    for (unsigned have = 0; have < width;) {
        unsigned skipped = (unsigned)(bit % 8);
        unsigned taken = width - have < 8 - skipped ? width - have : 8 - skipped;
        uint64_t piece = (uint64_t)(data[bit / 8] >> skipped) & ((1u << taken) - 1);
        value |= piece << have;
        have += taken;
        bit += taken;
    }
    return value;
}

static void decode_packed(struct yarn_cursor *cursor, uint64_t *ret_values, size_t count)
{
    uint64_t lowest = yarn_cursor_uleb(cursor);
    unsigned width = yarn_cursor_u8(cursor);
    if (width > 64)
        cursor->failed = true;
    struct yarn_span packed = yarn_cursor_span(cursor, ((uint64_t)count * width + 7) / 8);
    if (cursor->failed)
        return;
    for (size_t i = 0; i < count; i++)
        ret_values[i] = lowest + read_bits(packed.data, i * width, width);
}

static void decode_modelled(struct yarn_cursor *cursor, struct yarn_column_model *model,
                            enum yarn_column_encoding encoding, uint64_t *ret_values, size_t count)
{
    struct yarn_span bytes = yarn_cursor_span(cursor, yarn_cursor_uleb(cursor));
    if (!model)
        cursor->failed = true;
    if (cursor->failed)
        return;
    struct yarn_number_decoder decoder = yarn_number_decoder_begin(bytes);
    model->is_used = true;
    for (size_t i = 0; i < count; i++) {
        uint64_t value = yarn_number_decoder_take(&decoder, model);
        if (encoding == YARN_COLUMN_MODELLED_DELTA)
            value = model->before + yarn_zigzag_to(value);
        else if (encoding == YARN_COLUMN_MODELLED_RECENT)
            value = model->next - yarn_zigzag_to(value);
        yarn_column_model_follow(model, value);
        ret_values[i] = value;
    }
}

void yarn_column_decode(struct yarn_cursor *cursor, struct yarn_column_model *model,
                        uint64_t *ret_values, size_t count)
{
    if (!count || cursor->failed)
        return;
    enum yarn_column_encoding encoding = yarn_cursor_u8(cursor);
    switch (encoding) {
    case YARN_COLUMN_CONSTANT:
        decode_constant(cursor, ret_values, count);
        return;
    case YARN_COLUMN_PLAIN:
        decode_plain(cursor, ret_values, count);
        return;
    case YARN_COLUMN_DELTA:
        decode_delta(cursor, ret_values, count);
        return;
    case YARN_COLUMN_RUNS:
    case YARN_COLUMN_DELTA_RUNS:
        decode_runs(cursor, ret_values, count, encoding == YARN_COLUMN_DELTA_RUNS);
        return;
    case YARN_COLUMN_PACKED:
        decode_packed(cursor, ret_values, count);
        return;
    case YARN_COLUMN_RECENT:
        decode_recent(cursor, ret_values, count);
        return;
    case YARN_COLUMN_MOSTLY:
        decode_mostly(cursor, ret_values, count);
        return;
    case YARN_COLUMN_MODELLED:
    case YARN_COLUMN_MODELLED_DELTA:
    case YARN_COLUMN_MODELLED_RECENT:
        decode_modelled(cursor, model, encoding, ret_values, count);
        return;
    case YARN_COLUMN_ENCODING_COUNT:
        break;
    }
    cursor->failed = true;
}
