/* SPDX-License-Identifier: Apache-2.0 */
#include "output/export/page/packed.h"

static void write_four(struct yarn_packed *packed)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *three = packed->three;
    uint32_t bits = (uint32_t)three[0] << 16 | (uint32_t)three[1] << 8 | three[2];
    char four[4];
    for (unsigned i = 0; i < 4; i++)
        four[i] = i <= packed->nr_three ? digits[bits >> (18 - 6 * i) & 63] : '=';
    (void)fwrite(four, 1, sizeof four, packed->file);
    packed->nr_three = 0;
    memset(packed->three, 0, sizeof packed->three);
}

static void put_byte(struct yarn_packed *packed, uint8_t byte)
{
    packed->three[packed->nr_three++] = byte;
    if (packed->nr_three == sizeof packed->three)
        write_four(packed);
}

void yarn_packed_number(struct yarn_packed *packed, uint64_t value)
{
    for (; value > 0x7f; value >>= 7)
        put_byte(packed, (uint8_t)(value | 0x80));
    put_byte(packed, (uint8_t)value);
}

void yarn_packed_signed(struct yarn_packed *packed, int64_t value)
{
    yarn_packed_number(packed, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

void yarn_packed_end(struct yarn_packed *packed)
{
    if (packed->nr_three)
        write_four(packed);
}
