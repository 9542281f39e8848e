/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/sort.h"

enum {
    SMALL = 24,
    DIGIT_BITS = 8,
    DIGITS = 1 << DIGIT_BITS,
    MANY = DIGITS / 4, /* from here on distributing costs less than comparing */
};

static void swap(uint64_t *a, uint64_t *b)
{
    uint64_t value = *a;
    *a = *b;
    *b = value;
}

static void sort_by_insertion(uint64_t *values, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        uint64_t value = values[i];
        size_t at = i;
        for (; at && values[at - 1] > value; at--)
            values[at] = values[at - 1];
        values[at] = value;
    }
}

static void sink(uint64_t *heap, size_t at, size_t count)
{
    for (size_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && heap[child + 1] > heap[child])
            child++;
        if (heap[at] >= heap[child])
            return;
        swap(&heap[at], &heap[child]);
        at = child;
    }
}

static void sort_by_heap(uint64_t *values, size_t count)
{
    for (size_t at = count / 2; at-- > 0;)
        sink(values, at, count);
    for (size_t left = count; left-- > 1;) {
        swap(&values[0], &values[left]);
        sink(values, 0, left);
    }
}

static uint64_t median_of_three(uint64_t a, uint64_t b, uint64_t c)
{
    if (a > b)
        swap(&a, &b);
    return c <= a ? a : c >= b ? b : c;
}

/* Hoare's partition: both parts are shorter than the whole, also where all values are equal. */
static size_t partition(uint64_t *values, size_t count)
{
    uint64_t pivot = median_of_three(values[0], values[count / 2], values[count - 1]);
    size_t low = 0, high = count - 1;
    for (;;) {
        while (values[low] < pivot)
            low++;
        while (values[high] > pivot)
            high--;
        if (low >= high)
            return low;
        swap(&values[low++], &values[high--]);
    }
}

/* Recursion goes into the smaller part only, so it is at most log2(count) deep. */
static void sort_range(uint64_t *values, size_t count, unsigned rounds_left)
{
    while (count > SMALL) {
        if (!rounds_left--) {
            sort_by_heap(values, count);
            return;
        }
        size_t middle = partition(values, count);
        size_t right = count - middle;
        if (middle < right) {
            sort_range(values, middle, rounds_left);
            values += middle;
            count = right;
        } else {
            sort_range(values + middle, right, rounds_left);
            count = middle;
        }
    }
    sort_by_insertion(values, count);
}

static void sort_by_comparing(uint64_t *values, size_t count)
{
    unsigned rounds = 2;
    for (size_t left = count; left > 1; left /= 2)
        rounds += 2;
    sort_range(values, count, rounds);
}

static size_t digit_of(uint64_t value, unsigned shift)
{
    return value >> shift & (DIGITS - 1);
}

/* The lowest bit of the highest digit that is not the same in all; false where all are equal. */
static bool find_digit(const uint64_t *values, size_t count, unsigned *ret_shift)
{
    uint64_t differing = 0;
    for (size_t i = 1; i < count; i++)
        differing |= values[i] ^ values[0];
    if (!differing)
        return false;
    unsigned nr_bits = 64 - (unsigned)__builtin_clzll(differing);
    *ret_shift = nr_bits > DIGIT_BITS ? nr_bits - DIGIT_BITS : 0;
    return true;
}

/* In place: each value is swapped to where its digit begins, until all are there. */
static void distribute(uint64_t *values, size_t count, unsigned shift, size_t ret_ends[DIGITS])
{
    size_t next[DIGITS] = {0}, start = 0;
    for (size_t i = 0; i < count; i++)
        next[digit_of(values[i], shift)]++;
    for (size_t digit = 0; digit < DIGITS; digit++) {
        size_t size = next[digit];
        next[digit] = start;
        ret_ends[digit] = start += size;
    }
    for (size_t digit = 0; digit < DIGITS; digit++)
        while (next[digit] < ret_ends[digit]) {
            uint64_t value = values[next[digit]];
            for (size_t its = digit_of(value, shift); its != digit; its = digit_of(value, shift))
                swap(&value, &values[next[its]++]);
            values[next[digit]++] = value;
        }
}

/* Each level has a digit less to tell apart, so there are eight at most. */
static void sort_by_digits(uint64_t *values, size_t count)
{
    size_t ends[DIGITS], start = 0;
    unsigned shift;
    if (count < MANY) {
        sort_by_comparing(values, count);
        return;
    }
    if (!find_digit(values, count, &shift))
        return;
    distribute(values, count, shift, ends);
    for (size_t digit = 0; digit < DIGITS; start = ends[digit++])
        sort_by_digits(values + start, ends[digit] - start);
}

void yarn_sort_u64(uint64_t *values, size_t count)
{
    sort_by_digits(values, count);
}
