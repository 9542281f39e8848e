/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Ordinary C: recursion by varying ways, frames of many sizes, variable and realigned ones,
 * pointers to functions, callbacks from the C library, in the main thread and in a second one.
 */
#include <alloca.h>
#include <pthread.h>
#include <string.h>

#include "activation.h"

TRUTH_MAIN_VARIABLES;

typedef uint64_t (*step_fn)(uint64_t seed, unsigned depth);
static step_fn step_of(uint64_t seed);

TRUTH_NOINLINE static uint64_t plain(uint64_t seed, unsigned depth)
{
    TRUTH_BEGIN(plain);
    seed = truth_work(seed, 90);
    if (depth)
        seed ^= step_of(seed)(seed + 1, depth - 1);
    seed = truth_work(seed, 20);
    TRUTH_END();
    return seed;
}

TRUTH_NOINLINE static uint64_t saves_registers(uint64_t seed, unsigned depth)
{
    TRUTH_BEGIN(saves_registers);
    uint64_t a = truth_work(seed, 20), b = truth_work(a, 20), c = truth_work(b, 20);
    uint64_t d = truth_work(c, 20), e = truth_work(d, 20), f = truth_work(e, 20);
    if (depth)
        seed ^= step_of(f)(a + b, depth - 1);
    seed += a ^ b ^ c ^ d ^ e ^ f;
    TRUTH_END();
    return seed;
}

TRUTH_NOINLINE static uint64_t variable_frame(uint64_t seed, unsigned depth)
{
    TRUTH_BEGIN(variable_frame);
    size_t size = 16 + seed % 700;
    uint8_t *room = alloca(size);
    memset(room, (int)seed, size);
    TRUTH_BARRIER();
    seed = truth_work(seed, 60);
    if (depth)
        seed ^= step_of(seed + 2)(seed + room[size / 2], depth - 1);
    seed += room[0];
    TRUTH_END();
    return seed;
}

TRUTH_NOINLINE static uint64_t realigned(uint64_t seed, unsigned depth)
{
    TRUTH_BEGIN(realigned);
    _Alignas(128) uint64_t room[32];
    memset(room, 0, sizeof room);
    for (int i = 0; i < 8; i++)
        room[i * 4] = truth_work(seed, 8);
    __asm__ volatile("" ::"r"(room) : "memory");
    if (depth)
        seed ^= step_of(room[4])(seed + room[8], depth - 1);
    seed += room[12];
    TRUTH_END();
    return seed;
}

TRUTH_NOINLINE static int compare_numbers(const void *left, const void *right)
{
    TRUTH_BEGIN(compare_numbers);
    uint64_t a = truth_work(*(const uint64_t *)left, 12),
             b = truth_work(*(const uint64_t *)right, 12);
    TRUTH_END();
    return a < b ? -1 : a > b;
}

TRUTH_NOINLINE static uint64_t sorts(uint64_t seed, unsigned depth)
{
    TRUTH_BEGIN(sorts);
    uint64_t numbers[24];
    for (int i = 0; i < 24; i++)
        numbers[i] = seed = truth_work(seed, 2);
    qsort(numbers, 24, sizeof numbers[0], compare_numbers);
    seed ^= numbers[3];
    if (depth)
        seed ^= step_of(seed)(numbers[5], depth - 1);
    TRUTH_END();
    return seed;
}

TRUTH_NOINLINE static uint64_t large_frame(uint64_t seed, unsigned depth)
{
    TRUTH_BEGIN(large_frame);
    volatile uint8_t room[3000];
    for (size_t i = 0; i < sizeof room; i += 8)
        room[i] = (uint8_t)seed;
    seed = truth_work(seed, 50);
    if (depth)
        seed ^= step_of(seed + 5)(seed + room[seed % sizeof room], depth - 1);
    seed += room[8];
    TRUTH_END();
    return seed;
}

static step_fn step_of(uint64_t seed)
{
    static const step_fn steps[] = {plain,     saves_registers, variable_frame,
                                    realigned, sorts,           large_frame};
    return steps[(seed >> 33) % (sizeof steps / sizeof steps[0])];
}

TRUTH_NOINLINE static uint64_t rounds(uint64_t seed, uint64_t count)
{
    TRUTH_BEGIN(rounds);
    for (uint64_t i = 0; i < count; i++)
        seed = step_of(seed)(seed + i, (unsigned)(seed >> 40) % 10);
    TRUTH_END();
    return seed;
}

static void *in_a_thread(void *argument)
{
    uint64_t *number = (uint64_t *)argument;
    TRUTH_BEGIN(in_a_thread);
    *number = rounds(7, *number);
    TRUTH_END();
    return argument;
}

int main(int argc, char **argv)
{
    TRUTH_BEGIN(main);
    uint64_t count = truth_rounds(argc, argv) * 20000, number = count;
    pthread_t thread;
    if (pthread_create(&thread, NULL, in_a_thread, &number))
        return 1;
    uint64_t seed = rounds(1, count);
    pthread_join(thread, NULL);
    truth_finish(seed ^ number);
    TRUTH_END();
    return 0;
}
