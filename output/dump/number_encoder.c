/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/number_encoder.h"

enum { LEAST_RANGE = 1 << 24 };

struct yarn_number_encoder yarn_number_encoder_begin(struct yarn_bytes *bytes)
{
    return (struct yarn_number_encoder){.bytes = bytes, .from = bytes->size, .range = UINT32_MAX};
}

/* The highest byte of `low` goes out, as soon as no carry can change it. */
static void shift(struct yarn_number_encoder *encoder)
{
    if ((uint32_t)encoder->low < 0xff000000u || encoder->low >> 32) {
        uint8_t carry = (uint8_t)(encoder->low >> 32);
        if (encoder->has_last)
            yarn_bytes_u8(encoder->bytes, (uint8_t)(encoder->last + carry));
        for (; encoder->nr_full; encoder->nr_full--)
            yarn_bytes_u8(encoder->bytes, (uint8_t)(0xff + carry));
        encoder->last = (uint8_t)(encoder->low >> 24);
        encoder->has_last = true;
    } else {
        encoder->nr_full++;
    }
    encoder->low = (encoder->low & 0xffffff) << 8;
}

/* A coder's state in registers: what is learned could lie anywhere, as far as a compiler knows. */
struct coder {
    uint64_t low;
    uint32_t range;
};

static inline struct coder normalize(struct yarn_number_encoder *encoder, struct coder coder)
{
    while (coder.range < LEAST_RANGE) {
        coder.range <<= 8;
        encoder->low = coder.low;
        shift(encoder);
        coder.low = encoder->low;
    }
    return coder;
}

static inline struct coder put_bit(struct yarn_number_encoder *encoder, struct coder coder,
                                   struct yarn_model_bit *bit, bool value)
{
    uint32_t bound = (coder.range >> 16) * yarn_model_bit_chance(bit);
    coder.low += value ? bound : 0;
    coder.range = value ? coder.range - bound : bound;
    yarn_model_bit_learn(bit, value);
    return normalize(encoder, coder);
}

static inline struct coder put_tree(struct yarn_number_encoder *encoder, struct coder coder,
                                    struct yarn_model_bit *tree, unsigned value, unsigned nr_bits)
{
    size_t node = 1;
    for (unsigned i = nr_bits; i-- > 0;) {
        bool bit = value >> i & 1;
        coder = put_bit(encoder, coder, &tree[node], bit);
        node = 2 * node + bit;
    }
    return coder;
}

/* The `nr_bits` lowest bits of the number. */
static inline struct coder put_plain(struct yarn_number_encoder *encoder, struct coder coder,
                                     uint64_t number, unsigned nr_bits)
{
    while (nr_bits) {
        unsigned piece = nr_bits < YARN_MODEL_PIECE ? nr_bits : YARN_MODEL_PIECE;
        nr_bits -= piece;
        coder.range >>= piece;
        coder.low += (uint64_t)coder.range * (number >> nr_bits & ((1u << piece) - 1));
        coder = normalize(encoder, coder);
    }
    return coder;
}

/* Its length, which tells the highest bit, and those behind it. */
static struct coder put_long(struct yarn_number_encoder *encoder, struct coder coder,
                             struct yarn_column_model *model, uint64_t number, unsigned length)
{
    bool is_long = length >= YARN_MODEL_LONG;
    coder = put_bit(encoder, coder, &model->is_long, is_long);
    if (is_long)
        coder = put_tree(encoder, coder, model->long_lengths, length - YARN_MODEL_LONG, 6);
    else
        coder = put_tree(encoder, coder, model->short_lengths, length - YARN_MODEL_SHORT, 4);
    unsigned left = length - 1;
    unsigned nr_tops = left < YARN_MODEL_TOP ? left : YARN_MODEL_TOP;
    left -= nr_tops;
    unsigned top = (unsigned)(number >> left & ((1u << nr_tops) - 1));
    coder = put_tree(encoder, coder, model->tops[length], top, nr_tops);
    return put_plain(encoder, coder, number, left);
}

void yarn_number_encoder_put(struct yarn_number_encoder *encoder, struct yarn_column_model *model,
                             uint64_t number)
{
    unsigned length = number ? 64 - (unsigned)__builtin_clzll(number) : 0;
    struct coder coder = {encoder->low, encoder->range};
    coder = put_bit(encoder, coder, &model->is_more, length >= YARN_MODEL_SHORT);
    if (length < YARN_MODEL_SHORT)
        coder = put_bit(encoder, coder, &model->one, number);
    else
        coder = put_long(encoder, coder, model, number, length);
    encoder->low = coder.low;
    encoder->range = coder.range;
}

/* Of all numbers in the range the one with the most zeros at its end. */
static uint64_t roundest(uint64_t low, uint32_t range)
{
    uint64_t high = low + range - 1;
    for (unsigned nr_bits = 32; nr_bits; nr_bits -= 8) {
        uint64_t round = high >> nr_bits << nr_bits;
        if (round >= low)
            return round;
    }
    return high;
}

void yarn_number_encoder_end(struct yarn_number_encoder *encoder)
{
    struct yarn_bytes *bytes = encoder->bytes;
    encoder->low = roundest(encoder->low, encoder->range);
    for (size_t i = 0; i < 5; i++)
        shift(encoder);
    while (bytes->size > encoder->from && !bytes->data[bytes->size - 1])
        bytes->size--;
}
