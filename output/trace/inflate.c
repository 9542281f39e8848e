/* SPDX-License-Identifier: Apache-2.0 */
#include "output/trace/inflate.h"

enum {
    LENGTH_BITS_MAX = 15,
    LITERALS = 288,
    DISTANCES = 30,
    LENGTH_CODES = 19,
    END_OF_BLOCK = 256,
    LENGTH_FIRST = 257,
    HEAD_BYTES = 2,
};

struct inflating {
    struct yarn_span packed;
    size_t at;
    uint32_t held; /* bits that were read and not taken */
    unsigned nr_held;
    uint8_t *bytes;
    size_t size, done;
    bool has_failed;
};

/* How many codes there are of each length, and what they stand for, in their order. */
struct code {
    uint16_t counts[LENGTH_BITS_MAX + 1];
    uint16_t symbols[LITERALS];
};

static uint32_t take_bits(struct inflating *in, unsigned count)
{
    while (in->nr_held < count) {
        if (in->at == in->packed.size) {
            in->has_failed = true;
            return 0;
        }
        in->held |= (uint32_t)in->packed.data[in->at++] << in->nr_held;
        in->nr_held += 8;
    }
    uint32_t bits = in->held & ((1u << count) - 1);
    in->held >>= count;
    in->nr_held -= count;
    return bits;
}

static void make_code(struct code *code, const uint8_t *lengths, size_t count)
{
    uint16_t next[LENGTH_BITS_MAX + 2] = {0};
    memset(code, 0, sizeof *code);
    for (size_t i = 0; i < count; i++)
        code->counts[lengths[i]]++;
    code->counts[0] = 0;
    for (size_t i = 0; i <= LENGTH_BITS_MAX; i++)
        next[i + 1] = (uint16_t)(next[i] + code->counts[i]);
    for (size_t i = 0; i < count; i++) {
        if (lengths[i])
            code->symbols[next[lengths[i]]++] = (uint16_t)i;
    }
}

/* Codes of one length are numbers in a row, behind those of the length before. */
static unsigned take_symbol(struct inflating *in, const struct code *code)
{
    uint32_t bits = 0, first = 0, before = 0;
    for (unsigned length = 1; length <= LENGTH_BITS_MAX && !in->has_failed; length++) {
        bits = bits << 1 | take_bits(in, 1);
        uint32_t count = code->counts[length];
        if (bits >= first && bits - first < count)
            return code->symbols[before + bits - first];
        before += count;
        first = (first + count) << 1;
    }
    in->has_failed = true;
    return 0;
}

static void put_literal(struct inflating *in, uint8_t byte)
{
    if (in->done == in->size)
        in->has_failed = true;
    else
        in->bytes[in->done++] = byte;
}

static uint32_t take_length(struct inflating *in, unsigned symbol)
{
    unsigned code = symbol - LENGTH_FIRST;
    if (code < 8)
        return code + 3;
    if (code == 28)
        return 258;
    unsigned extra = code / 4 - 1;
    return ((4 + code % 4) << extra) + 3 + take_bits(in, extra);
}

static uint32_t take_distance(struct inflating *in, unsigned symbol)
{
    if (symbol < 2)
        return symbol + 1;
    unsigned extra = symbol / 2 - 1;
    return ((2 + symbol % 2) << extra) + 1 + take_bits(in, extra);
}

static void put_match(struct inflating *in, unsigned symbol, const struct code *distances)
{
    if (symbol > 285) {
        in->has_failed = true;
        return;
    }
    uint32_t length = take_length(in, symbol);
    unsigned code = take_symbol(in, distances);
    uint32_t distance = code < DISTANCES ? take_distance(in, code) : 0;
    if (!distance || distance > in->done || length > in->size - in->done)
        in->has_failed = true;
    for (uint32_t i = 0; !in->has_failed && i < length; i++, in->done++)
        in->bytes[in->done] = in->bytes[in->done - distance];
}

static void take_coded(struct inflating *in, const struct code *literals,
                       const struct code *distances)
{
    while (!in->has_failed) {
        unsigned symbol = take_symbol(in, literals);
        if (symbol == END_OF_BLOCK)
            return;
        if (symbol < END_OF_BLOCK)
            put_literal(in, (uint8_t)symbol);
        else
            put_match(in, symbol, distances);
    }
}

static void take_stored(struct inflating *in)
{
    in->held = in->nr_held = 0;
    uint32_t size = take_bits(in, 16), complement = take_bits(in, 16);
    if (in->has_failed || (size ^ complement) != 0xffff || size > in->packed.size - in->at ||
        size > in->size - in->done) {
        in->has_failed = true;
        return;
    }
    if (size)
        memcpy(in->bytes + in->done, in->packed.data + in->at, size);
    in->at += size;
    in->done += size;
}

static void take_fixed(struct inflating *in)
{
    uint8_t lengths[LITERALS];
    struct code literals, distances;
    memset(lengths, 8, sizeof lengths);
    memset(lengths + 144, 9, 112);
    memset(lengths + 256, 7, 24);
    make_code(&literals, lengths, LITERALS);
    memset(lengths, 5, DISTANCES);
    make_code(&distances, lengths, DISTANCES);
    take_coded(in, &literals, &distances);
}

/* Lengths, of which 16 to 18 repeat the one before or none. */
static void take_lengths(struct inflating *in, const struct code *code, uint8_t *lengths,
                         size_t count)
{
    for (size_t at = 0; at < count && !in->has_failed;) {
        unsigned symbol = take_symbol(in, code);
        uint8_t length = symbol < 16 ? (uint8_t)symbol : symbol == 16 && at ? lengths[at - 1] : 0;
        size_t repeat = symbol < 16    ? 1
                        : symbol == 16 ? 3 + take_bits(in, 2)
                        : symbol == 17 ? 3 + take_bits(in, 3)
                                       : 11 + take_bits(in, 7);
        if (repeat > count - at || (symbol == 16 && !at)) {
            in->has_failed = true;
            return;
        }
        memset(lengths + at, length, repeat);
        at += repeat;
    }
}

static void take_dynamic(struct inflating *in)
{
    static const uint8_t order[LENGTH_CODES] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                11, 4,  12, 3, 13, 2, 14, 1, 15};
    uint8_t lengths[LITERALS + 32] = {0};
    struct code literals, distances;
    size_t nr_literals = 257 + take_bits(in, 5), nr_distances = 1 + take_bits(in, 5);
    size_t nr_lengths = 4 + take_bits(in, 4);
    for (size_t i = 0; i < nr_lengths; i++)
        lengths[order[i]] = (uint8_t)take_bits(in, 3);
    make_code(&literals, lengths, LENGTH_CODES);
    memset(lengths, 0, sizeof lengths);
    take_lengths(in, &literals, lengths, nr_literals + nr_distances);
    if (in->has_failed)
        return;
    make_code(&literals, lengths, nr_literals);
    make_code(&distances, lengths + nr_literals, nr_distances);
    take_coded(in, &literals, &distances);
}

static void take_block(struct inflating *in)
{
    switch (take_bits(in, 2)) {
    case 0:
        take_stored(in);
        break;
    case 1:
        take_fixed(in);
        break;
    case 2:
        take_dynamic(in);
        break;
    default:
        in->has_failed = true;
    }
}

/* Adler-32 of all, the most significant byte first. */
static bool is_sum_right(struct inflating *in)
{
    enum { MODULUS = 65521 };
    uint32_t low = 1, high = 0, sum = 0;
    for (size_t i = 0; i < in->done; i++) {
        low = (low + in->bytes[i]) % MODULUS;
        high = (high + low) % MODULUS;
    }
    in->held = in->nr_held = 0;
    for (int i = 0; i < 4; i++)
        sum = sum << 8 | take_bits(in, 8);
    return !in->has_failed && sum == (high << 16 | low);
}

bool yarn_inflate(struct yarn_span packed, uint8_t *bytes, size_t size)
{
    enum { DEFLATE = 8, HAS_DICTIONARY = 32 };
    struct inflating in = {.packed = packed, .at = HEAD_BYTES, .bytes = bytes, .size = size};
    bool is_last = false;
    if (packed.size < HEAD_BYTES || (packed.data[0] & 15) != DEFLATE ||
        packed.data[1] & HAS_DICTIONARY || (packed.data[0] << 8 | packed.data[1]) % 31)
        return false;
    while (!is_last && !in.has_failed) {
        is_last = take_bits(&in, 1);
        take_block(&in);
    }
    return !in.has_failed && in.done == size && is_sum_right(&in);
}
