/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/crc32c.h"

/* A checksum is linear: that of a byte is the sum (xor) of those of its bits. So a slice is given
 * by the checksums of eight bits, a to h, and the compiler writes its 256 entries. */
#define BITS_1(n, a) (n), (n) ^ (a)
#define BITS_2(n, a, b) BITS_1(n, a), BITS_1((n) ^ (b), a)
#define BITS_3(n, a, b, c) BITS_2(n, a, b), BITS_2((n) ^ (c), a, b)
#define BITS_4(n, a, b, c, d) BITS_3(n, a, b, c), BITS_3((n) ^ (d), a, b, c)
#define BITS_5(n, a, b, c, d, e) BITS_4(n, a, b, c, d), BITS_4((n) ^ (e), a, b, c, d)
#define BITS_6(n, a, b, c, d, e, f) BITS_5(n, a, b, c, d, e), BITS_5((n) ^ (f), a, b, c, d, e)
#define BITS_7(n, a, b, c, d, e, f, g)                                                             \
    BITS_6(n, a, b, c, d, e, f), BITS_6((n) ^ (g), a, b, c, d, e, f)
#define SLICE(a, b, c, d, e, f, g, h)                                                              \
    BITS_7(0u, a, b, c, d, e, f, g), BITS_7((h), a, b, c, d, e, f, g)

/* Slice k: a byte that k others follow. */
static const uint32_t table[8][256] = {
    {SLICE(0xf26b8303, 0xe13b70f7, 0xc79a971f, 0x8ad958cf, 0x105ec76f, 0x20bd8ede, 0x417b1dbc,
           0x82f63b78)},
    {SLICE(0x13a29877, 0x274530ee, 0x4e8a61dc, 0x9d14c3b8, 0x3fc5f181, 0x7f8be302, 0xff17c604,
           0xfbc3faf9)},
    {SLICE(0xa541927e, 0x4f6f520d, 0x9edea41a, 0x38513ec5, 0x70a27d8a, 0xe144fb14, 0xc76580d9,
           0x8b277743)},
    {SLICE(0xdd45aab8, 0xbf672381, 0x7b2231f3, 0xf64463e6, 0xe964b13d, 0xd725148b, 0xaba65fe7,
           0x52a0c93f)},
    {SLICE(0x38116fac, 0x7022df58, 0xe045beb0, 0xc5670b91, 0x8f2261d3, 0x1ba8b557, 0x37516aae,
           0x6ea2d55c)},
    {SLICE(0xef306b19, 0xdb8ca0c3, 0xb2f53777, 0x6006181f, 0xc00c303e, 0x85f4168d, 0x0e045beb,
           0x1c08b7d6)},
    {SLICE(0x68032cc8, 0xd0065990, 0xa5e0c5d1, 0x4e2dfd53, 0x9c5bfaa6, 0x3d5b83bd, 0x7ab7077a,
           0xf56e0ef4)},
    {SLICE(0x493c7d27, 0x9278fa4e, 0x211d826d, 0x423b04da, 0x847609b4, 0x0d006599, 0x1a00cb32,
           0x34019664)},
};

/* Why eight at once: byte by byte each look-up waits for the one before. */
static uint32_t add_eight(uint32_t crc, uint64_t bytes)
{
    bytes ^= crc;
    return table[7][bytes & 0xff] ^ table[6][bytes >> 8 & 0xff] ^ table[5][bytes >> 16 & 0xff] ^
           table[4][bytes >> 24 & 0xff] ^ table[3][bytes >> 32 & 0xff] ^
           table[2][bytes >> 40 & 0xff] ^ table[1][bytes >> 48 & 0xff] ^ table[0][bytes >> 56];
}

uint32_t yarn_crc32c(uint32_t crc, struct yarn_span bytes)
{
    size_t at = 0;
    uint64_t eight;
    crc = ~crc;
    for (; yarn_span_read(bytes, at, &eight, sizeof eight); at += sizeof eight)
        crc = add_eight(crc, eight);
    for (; at < bytes.size; at++)
        crc = table[0][(crc ^ bytes.data[at]) & 0xff] ^ (crc >> 8);
    return ~crc;
}
