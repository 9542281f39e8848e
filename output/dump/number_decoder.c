/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/number_decoder.h"

enum { LEAST_RANGE = 1 << 24 };

static inline uint32_t next_byte(struct yarn_number_decoder *decoder)
{
    return decoder->at < decoder->bytes.size ? decoder->bytes.data[decoder->at++] : 0;
}

struct yarn_number_decoder yarn_number_decoder_begin(struct yarn_span bytes)
{
    struct yarn_number_decoder decoder = {.bytes = bytes, .range = UINT32_MAX};
    for (size_t i = 0; i < sizeof decoder.code; i++)
        decoder.code = decoder.code << 8 | next_byte(&decoder);
    return decoder;
}

static inline void normalize(struct yarn_number_decoder *decoder)
{
    while (decoder->range < LEAST_RANGE) {
        decoder->range <<= 8;
        decoder->code = decoder->code << 8 | next_byte(decoder);
    }
}

static inline unsigned take_bit(struct yarn_number_decoder *decoder, struct yarn_model_bit *bit)
{
    uint32_t bound = (decoder->range >> 16) * yarn_model_bit_chance(bit);
    bool value = decoder->code >= bound;
    decoder->code -= value ? bound : 0;
    decoder->range = value ? decoder->range - bound : bound;
    yarn_model_bit_learn(bit, value);
    normalize(decoder);
    return value;
}

static inline unsigned take_tree(struct yarn_number_decoder *decoder, struct yarn_model_bit *tree,
                                 unsigned nr_bits)
{
    unsigned node = 1;
    for (unsigned i = 0; i < nr_bits; i++)
        node = 2 * node + take_bit(decoder, &tree[node]);
    return node - (1u << nr_bits);
}

/* `nr_bits` more bits of the number. */
static inline uint64_t take_plain(struct yarn_number_decoder *decoder, uint64_t number,
                                  unsigned nr_bits)
{
    while (nr_bits) {
        unsigned piece = nr_bits < YARN_MODEL_PIECE ? nr_bits : YARN_MODEL_PIECE;
        nr_bits -= piece;
        decoder->range >>= piece;
        uint32_t bits = decoder->code / decoder->range;
        decoder->code -= bits * decoder->range;
        number = number << piece | (bits & ((1u << piece) - 1));
        normalize(decoder);
    }
    return number;
}

static inline uint64_t take_long(struct yarn_number_decoder *decoder,
                                 struct yarn_column_model *model)
{
    unsigned length = take_bit(decoder, &model->is_long)
                          ? YARN_MODEL_LONG + take_tree(decoder, model->long_lengths, 6)
                          : YARN_MODEL_SHORT + take_tree(decoder, model->short_lengths, 4);
    length = length < 64 ? length : 64;
    unsigned left = length - 1;
    unsigned nr_tops = left < YARN_MODEL_TOP ? left : YARN_MODEL_TOP;
    left -= nr_tops;
    uint64_t number = 1u << nr_tops | take_tree(decoder, model->tops[length], nr_tops);
    return take_plain(decoder, number, left);
}

/* On a copy, which can lie in registers: what is learned could be anywhere, as far as a compiler
 * knows. */
uint64_t yarn_number_decoder_take(struct yarn_number_decoder *decoder,
                                  struct yarn_column_model *model)
{
    struct yarn_number_decoder copy = *decoder;
    uint64_t number =
        take_bit(&copy, &model->is_more) ? take_long(&copy, model) : take_bit(&copy, &model->one);
    *decoder = copy;
    return number;
}
