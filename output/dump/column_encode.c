/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/column.h"

/* What each encoding would cost, found in one pass. */
struct measure {
    uint64_t lowest, highest;
    uint64_t usual;                                        /* more than half are it, or it is any */
    size_t plain, delta, runs, delta_runs, recent, mostly; /* bytes */
};

static unsigned bits_of(uint64_t value)
{
    return value ? 64 - (unsigned)__builtin_clzll(value) : 0;
}

static size_t varint_size(uint64_t value)
{
    return (bits_of(value | 1) + 6) / 7;
}

struct run {
    uint64_t value;
    size_t length;
};

/* The cost of the run that `value` ends, or 0 where it goes on. */
static size_t step_run(struct run *run, uint64_t value)
{
    if (run->length && run->value == value) {
        run->length++;
        return 0;
    }
    size_t cost = run->length ? varint_size(run->length) + varint_size(run->value) : 0;
    *run = (struct run){value, 1};
    return cost;
}

/* The value of more than half, where there is one: each other cancels one of it. */
static uint64_t find_usual(const uint64_t *values, size_t count)
{
    uint64_t usual = 0;
    size_t lead = 0;
    for (size_t i = 0; i < count; i++) {
        if (!lead)
            usual = values[i];
        lead = values[i] == usual ? lead + 1 : lead - 1;
    }
    return usual;
}

/* Encodes, or only measures where there are no bytes to encode into. */
static size_t encode_mostly(struct yarn_bytes *bytes, const uint64_t *values, size_t count,
                            uint64_t usual)
{
    size_t nr_others = 0;
    for (size_t i = 0; i < count; i++)
        nr_others += values[i] != usual;
    size_t size = varint_size(usual) + varint_size(nr_others);
    if (bytes) {
        yarn_bytes_uleb(bytes, usual);
        yarn_bytes_uleb(bytes, nr_others);
    }
    uint64_t gap = 0;
    for (size_t i = 0; i < count; i++) {
        if (values[i] == usual) {
            gap++;
            continue;
        }
        size += varint_size(gap) + varint_size(values[i]);
        if (bytes) {
            yarn_bytes_uleb(bytes, gap);
            yarn_bytes_uleb(bytes, values[i]);
        }
        gap = 0;
    }
    return size;
}

static struct measure measure(const uint64_t *values, size_t count)
{
    struct measure sizes = {.lowest = UINT64_MAX};
    struct run same = {0, 0};
    struct run steady = {0, 0};
    uint64_t before = 0;
    uint64_t next = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t value = values[i];
        uint64_t delta = yarn_zigzag_of(value - before);
        before = value;
        sizes.lowest = yarn_u64_min(sizes.lowest, value);
        sizes.highest = yarn_u64_max(sizes.highest, value);
        sizes.plain += varint_size(value);
        sizes.delta += varint_size(delta);
        sizes.runs += step_run(&same, value);
        sizes.delta_runs += step_run(&steady, delta);
        sizes.recent += varint_size(yarn_zigzag_of(next - value));
        next = yarn_u64_max(next, value + 1);
    }
    sizes.runs += varint_size(same.length) + varint_size(same.value);
    sizes.delta_runs += varint_size(steady.length) + varint_size(steady.value);
    sizes.usual = find_usual(values, count);
    sizes.mostly = encode_mostly(NULL, values, count, sizes.usual);
    return sizes;
}

static void encode_varints(struct yarn_bytes *bytes, const uint64_t *values, size_t count,
                           bool is_delta)
{
    uint64_t before = 0;
    for (size_t i = 0; i < count; i++) {
        yarn_bytes_uleb(bytes, is_delta ? yarn_zigzag_of(values[i] - before) : values[i]);
        before = values[i];
    }
}

static void encode_recent(struct yarn_bytes *bytes, const uint64_t *values, size_t count)
{
    uint64_t next = 0;
    for (size_t i = 0; i < count; i++) {
        yarn_bytes_uleb(bytes, yarn_zigzag_of(next - values[i]));
        next = yarn_u64_max(next, values[i] + 1);
    }
}

static void encode_runs(struct yarn_bytes *bytes, const uint64_t *values, size_t count,
                        bool is_delta)
{
    struct run run = {0, 0};
    uint64_t before = 0;
    for (size_t i = 0; i <= count; i++) {
        uint64_t value = 0;
        if (i < count) {
            value = is_delta ? yarn_zigzag_of(values[i] - before) : values[i];
            before = values[i];
        }
        if (i < count && run.length && run.value == value) {
            run.length++;
            continue;
        }
        if (run.length) {
            yarn_bytes_uleb(bytes, run.length);
            yarn_bytes_uleb(bytes, run.value);
        }
        run = (struct run){value, 1};
    }
}

static void encode_packed(struct yarn_bytes *bytes, const uint64_t *values, size_t count,
                          uint64_t lowest, unsigned width)
{
    yarn_bytes_uleb(bytes, lowest);
    yarn_bytes_u8(bytes, (uint8_t)width);
    uint64_t word = 0;
    unsigned filled = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t value = values[i] - lowest;
        for (unsigned left = width; left;) {
            unsigned taken = left < 8 - filled ? left : 8 - filled;
            word |= (value & ((1u << taken) - 1)) << filled;
            value >>= taken;
            left -= taken;
            filled += taken;
            if (filled == 8) {
                yarn_bytes_u8(bytes, (uint8_t)word);
                word = 0;
                filled = 0;
            }
        }
    }
    if (filled)
        yarn_bytes_u8(bytes, (uint8_t)word);
}

static enum yarn_column_encoding choose(const struct measure *sizes, size_t count)
{
    if (sizes->lowest == sizes->highest)
        return YARN_COLUMN_CONSTANT;
    unsigned width = bits_of(sizes->highest - sizes->lowest);
    size_t packed = 1 + varint_size(sizes->lowest) + (count * width + 7) / 8;
    /* Bits across bytes look random to the compressor: they must win clearly. */
    const struct {
        enum yarn_column_encoding encoding;
        size_t size;
    } ways[] = {
        {YARN_COLUMN_PLAIN, sizes->plain},         {YARN_COLUMN_DELTA, sizes->delta},
        {YARN_COLUMN_RUNS, sizes->runs},           {YARN_COLUMN_DELTA_RUNS, sizes->delta_runs},
        {YARN_COLUMN_PACKED, packed + packed / 8}, {YARN_COLUMN_RECENT, sizes->recent},
        {YARN_COLUMN_MOSTLY, sizes->mostly},
    };
    size_t best = 0;
    for (size_t i = 1; i < YARN_COUNT_OF(ways); i++) {
        if (ways[i].size < ways[best].size)
            best = i;
    }
    return ways[best].encoding;
}

void yarn_column_encode(struct yarn_bytes *bytes, const uint64_t *values, size_t count)
{
    if (!count)
        return;
    struct measure sizes = measure(values, count);
    enum yarn_column_encoding encoding = choose(&sizes, count);
    yarn_bytes_u8(bytes, (uint8_t)encoding);
    switch (encoding) {
    case YARN_COLUMN_CONSTANT:
        yarn_bytes_uleb(bytes, values[0]);
        break;
    case YARN_COLUMN_RUNS:
    case YARN_COLUMN_DELTA_RUNS:
        encode_runs(bytes, values, count, encoding == YARN_COLUMN_DELTA_RUNS);
        break;
    case YARN_COLUMN_PACKED:
        encode_packed(bytes, values, count, sizes.lowest, bits_of(sizes.highest - sizes.lowest));
        break;
    case YARN_COLUMN_RECENT:
        encode_recent(bytes, values, count);
        break;
    case YARN_COLUMN_MOSTLY:
        encode_mostly(bytes, values, count, sizes.usual);
        break;
    default:
        encode_varints(bytes, values, count, encoding == YARN_COLUMN_DELTA);
        break;
    }
}
