/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/text.h"
#include "core/event/pmu.h"

enum { BITS = 64 };

static uint64_t bits_of(uint64_t first, uint64_t last)
{
    return (UINT64_MAX >> (BITS - 1 - (last - first))) << first;
}

/* The decimal number at *at, which goes on behind it; false where there is none below 64. */
static bool take_bit(struct yarn_span text, size_t *at, uint64_t *ret_bit)
{
    uint64_t bit = 0;
    size_t first = *at;
    for (; *at < text.size && text.data[*at] >= '0' && text.data[*at] <= '9'; (*at)++) {
        bit = bit * 10 + (uint64_t)(text.data[*at] - '0');
        if (bit >= BITS)
            return false;
    }
    *ret_bit = bit;
    return *at > first;
}

/* "0-7,32" */
static int parse_ranges(struct yarn_span text, uint64_t *ret_bits)
{
    uint64_t bits = 0, first, last;
    for (size_t at = 0;; at++) {
        if (!take_bit(text, &at, &first))
            return -EINVAL;
        last = first;
        if (at < text.size && text.data[at] == '-') {
            at++;
            if (!take_bit(text, &at, &last) || last < first)
                return -EINVAL;
        }
        bits |= bits_of(first, last);
        if (at == text.size)
            break;
        if (text.data[at] != ',')
            return -EINVAL;
    }
    *ret_bits = bits;
    return 0;
}

int yarn_pmu_format_parse(struct yarn_span text, struct yarn_pmu_format *ret_format)
{
    static const char *const names[YARN_PMU_CONFIGS] = {"config:", "config1:", "config2:"};
    for (unsigned i = 0; i < YARN_PMU_CONFIGS; i++) {
        struct yarn_span name = yarn_span_of_text(names[i]);
        struct yarn_pmu_format format = {.config = i};
        if (!yarn_span_equal(yarn_span_sub(text, 0, name.size), name))
            continue;
        int err = parse_ranges(yarn_span_from(text, name.size), &format.bits);
        if (!err)
            *ret_format = format;
        return err;
    }
    return -EINVAL;
}

uint64_t yarn_pmu_format_max(const struct yarn_pmu_format *format)
{
    return format->bits ? UINT64_MAX >> (BITS - __builtin_popcountll(format->bits)) : 0;
}

void yarn_pmu_format_put(const struct yarn_pmu_format *format, uint64_t value, uint64_t *config)
{
    *config &= ~format->bits;
    for (uint64_t left = format->bits; left; left &= left - 1, value >>= 1)
        if (value & 1)
            *config |= left & -left;
}

/* Digits, with a point among them, and how many of them stand behind it. */
static size_t take_digits(struct yarn_span text, double *ret_value, int *ret_behind)
{
    size_t at = 0;
    bool has_point = false;
    for (; at < text.size; at++) {
        uint8_t c = text.data[at];
        if (c == '.' && !has_point) {
            has_point = true;
            continue;
        }
        if (c < '0' || c > '9')
            break;
        *ret_value = *ret_value * 10 + (c - '0');
        *ret_behind += has_point;
    }
    return at;
}

int yarn_pmu_scale_parse(struct yarn_span text, double *ret_scale)
{
    double value = 0, power = 1;
    int exponent = 0;
    uint64_t digits = 0;
    size_t at = take_digits(text, &value, &exponent);
    exponent = -exponent;
    if (at < text.size && (text.data[at] | 0x20) == 'e') {
        bool is_negative = ++at < text.size && text.data[at] == '-';
        at += is_negative || (at < text.size && text.data[at] == '+');
        if (yarn_parse_u64((const char *)text.data + at, text.size - at, &digits) || digits > 300)
            return -EINVAL;
        exponent += is_negative ? -(int)digits : (int)digits;
        at = text.size;
    }
    if (at < text.size || !(value > 0) || exponent < -300 || exponent > 300)
        return -EINVAL;
    for (int i = exponent < 0 ? -exponent : exponent; i > 0; i--)
        power *= 10;
    *ret_scale = exponent < 0 ? value / power : value * power;
    return 0;
}
