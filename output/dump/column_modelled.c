/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/column.h"
#include "output/dump/number_encoder.h"

enum { SIZE_MAX_BYTES = 4 }; /* of a column's size as a varint */

static bool is_small_constant(const uint64_t *values, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (values[i] != values[0])
            return false;
    }
    return values[0] < 1 << 14;
}

static void encode_numbers(struct yarn_bytes *bytes, struct yarn_column_model *model,
                           enum yarn_column_encoding encoding, const uint64_t *values, size_t count)
{
    struct yarn_number_encoder encoder = yarn_number_encoder_begin(bytes);
    model->is_used = true;
    for (size_t i = 0; i < count; i++) {
        uint64_t number = values[i];
        if (encoding == YARN_COLUMN_MODELLED_DELTA)
            number = yarn_zigzag_of(number - model->before);
        else if (encoding == YARN_COLUMN_MODELLED_RECENT)
            number = yarn_zigzag_of(model->next - number);
        yarn_number_encoder_put(&encoder, model, number);
        yarn_column_model_follow(model, values[i]);
    }
    yarn_number_encoder_end(&encoder);
}

void yarn_column_encode_modelled(struct yarn_bytes *bytes, struct yarn_column_model *model,
                                 enum yarn_column_encoding encoding, const uint64_t *values,
                                 size_t count)
{
    if (!count)
        return;
    if (is_small_constant(values, count)) {
        yarn_bytes_u8(bytes, YARN_COLUMN_CONSTANT);
        yarn_bytes_uleb(bytes, values[0]);
        return;
    }
    yarn_bytes_u8(bytes, (uint8_t)encoding);
    /* Why behind room for their size: it is known when they are there. */
    size_t at = bytes->size;
    yarn_bytes_put(bytes, (const uint8_t[SIZE_MAX_BYTES]){0}, SIZE_MAX_BYTES);
    size_t from = bytes->size;
    encode_numbers(bytes, model, encoding, values, count);
    if (bytes->full)
        return;
    size_t size = bytes->size - from;
    bytes->size = at;
    yarn_bytes_uleb(bytes, size);
    memmove(bytes->data + bytes->size, bytes->data + from, size);
    bytes->size += size;
}
