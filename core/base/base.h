/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The ground of every file of yarn: fixed-width types, the error convention, a few macros.
 *
 * Errors: functions return int, 0 or a negative errno. Results go through ret_ parameters that are
 * last and untouched on failure.
 */
#pragma once

#include <errno.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define YARN_MUST_CHECK __attribute__((warn_unused_result))
#define YARN_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define YARN_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#define YARN_KIB(n) ((size_t)(n) << 10)
#define YARN_MIB(n) ((size_t)(n) << 20)

#define YARN_NS_PER_SECOND UINT64_C(1000000000)
#define YARN_NS_PER_MS UINT64_C(1000000)

static inline size_t yarn_size_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline size_t yarn_size_max(size_t a, size_t b)
{
    return a > b ? a : b;
}

static inline uint64_t yarn_u64_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t yarn_u64_max(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* 0 where there is less. */
static inline uint64_t yarn_u64_minus(uint64_t whole, uint64_t part)
{
    return whole > part ? whole - part : 0;
}

/* `align` is a power of two. */
static inline size_t yarn_align_up(size_t size, size_t align)
{
    return (size + align - 1) & ~(align - 1);
}

/* Spreads the bits of a key over the word (the finaliser of splitmix64, public domain). */
static inline uint64_t yarn_hash_u64(uint64_t key)
{
    key = (key ^ (key >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    key = (key ^ (key >> 27)) * UINT64_C(0x94d049bb133111eb);
    return key ^ (key >> 31);
}

/* Small variables that every process reads or writes go into .data although they begin as zeros:
 * the loader has written to its only page already, while .bss scatters them between large tables,
 * a page each, whose first touch costs more than all that is done with them. */

#define YARN_IN_DATA __attribute__((section(".data")))
