/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/search.h"

#include "core/base/pages.h"

enum {
    STRIDE = 32,       /* numbers for one of a index */
    INDEX_LEAST = 512, /* numbers that need one */
    NEAR = 16,         /* so few lie in a cache line or two */
    MARGIN_SHARE = 32, /* how well a guess is expected to fit */
};

/* at(low) <= wanted < at(high). */
struct bounds {
    const void *numbers;
    yarn_search_fn number_at;
    uint64_t wanted;
    size_t low, high;
    uint64_t low_number, high_number;
};

static void look_at(struct bounds *bounds, size_t at)
{
    if (at <= bounds->low || at >= bounds->high)
        return;
    uint64_t number = bounds->number_at(bounds->numbers, at);
    if (number <= bounds->wanted) {
        bounds->low = at;
        bounds->low_number = number;
    } else {
        bounds->high = at;
        bounds->high_number = number;
    }
}

/* Where the wanted number should be, then a little to the side where it really is: both bounds come
 * near. */
static void guess(struct bounds *bounds)
{
    size_t width = bounds->high - bounds->low, margin = width / MARGIN_SHARE + 1;
    uint64_t range = bounds->high_number - bounds->low_number;
    size_t at = bounds->low + (size_t)((bounds->wanted - bounds->low_number) * width / range);
    at = yarn_size_max(at, bounds->low + 1);
    look_at(bounds, at);
    look_at(bounds, bounds->low == at ? at + margin : at - yarn_size_min(margin, at));
}

static size_t narrow(struct bounds *bounds)
{
    while (bounds->high - bounds->low > 1) {
        if (bounds->high - bounds->low > NEAR)
            guess(bounds);
        look_at(bounds, bounds->low + (bounds->high - bounds->low) / 2);
    }
    return bounds->high;
}

size_t yarn_search_position(const void *numbers, size_t count, yarn_search_fn number_at,
                            uint64_t wanted)
{
    struct bounds bounds = {.numbers = numbers, .number_at = number_at, .wanted = wanted};
    if (!count)
        return 0;
    bounds.high = count - 1;
    bounds.low_number = number_at(numbers, 0);
    bounds.high_number = number_at(numbers, bounds.high);
    if (bounds.low_number > wanted)
        return 0;
    if (bounds.high_number <= wanted)
        return count;
    return narrow(&bounds);
}

struct yarn_search_index yarn_search_index_of(const void *numbers, size_t count,
                                              yarn_search_fn number_at)
{
    struct yarn_search_index index = YARN_SEARCH_INDEX_NONE;
    size_t nr_blocks = (count + STRIDE - 1) / STRIDE;
    if (count >= INDEX_LEAST)
        index.numbers = yarn_pages_map(nr_blocks * sizeof *index.numbers);
    if (!index.numbers)
        return index;
    yarn_pages_populate(index.numbers, nr_blocks * sizeof *index.numbers);
    for (; index.count < nr_blocks; index.count++)
        index.numbers[index.count] = number_at(numbers, index.count * STRIDE);
    return index;
}

static uint64_t index_at(const void *numbers, size_t at)
{
    return ((const uint64_t *)numbers)[at];
}

size_t yarn_search_indexed(const struct yarn_search_index *index, const void *numbers, size_t count,
                           yarn_search_fn number_at, uint64_t wanted)
{
    if (!index->count)
        return yarn_search_position(numbers, count, number_at, wanted);
    size_t block = yarn_search_position(index->numbers, index->count, index_at, wanted);
    if (!block)
        return 0;
    struct bounds bounds = {
        .numbers = numbers,
        .number_at = number_at,
        .wanted = wanted,
        .low = (block - 1) * STRIDE,
        .low_number = index->numbers[block - 1],
    };
    bool is_last = block == index->count;
    bounds.high = is_last ? count - 1 : block * STRIDE;
    bounds.high_number = is_last ? number_at(numbers, bounds.high) : index->numbers[block];
    return bounds.high_number <= wanted ? count : narrow(&bounds);
}

void yarn_search_index_close(struct yarn_search_index *index)
{
    yarn_pages_unmap(index->numbers, index->count * sizeof *index->numbers);
    *index = YARN_SEARCH_INDEX_NONE;
}
