/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/search.h"

enum {
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

static void probe(struct bounds *bounds, size_t at)
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
    probe(bounds, at);
    probe(bounds, bounds->low == at ? at + margin : at - yarn_size_min(margin, at));
}

static size_t narrow(struct bounds *bounds)
{
    while (bounds->high - bounds->low > 1) {
        if (bounds->high - bounds->low > NEAR)
            guess(bounds);
        probe(bounds, bounds->low + (bounds->high - bounds->low) / 2);
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
