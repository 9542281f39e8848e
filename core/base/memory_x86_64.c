/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The C library's memcpy, memmove and memset, for this library alone. The host's may be those of a
 * sanitizer or of another preload, which count, check and look into thread-local memory that the
 * reader does not have. The processor's own instructions are as fast as the best loop from some
 * hundred bytes on.
 *
 * Threads, signals: safe anywhere.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { WORD = 8, BLOCK = 16, LARGE = 512 };

/* Both ends of what is at least as long as one piece, the pieces overlapping where it is less than
 * two: the loads come before the stores. */
#define COPY_ENDS(to, from, size, piece)                                                           \
    do {                                                                                           \
        unsigned char head_[piece];                                                                \
        unsigned char tail_[piece];                                                                \
        __builtin_memcpy(head_, (from), (piece));                                                  \
        __builtin_memcpy(tail_, (from) + (size) - (piece), (piece));                               \
        __builtin_memcpy((to), head_, (piece));                                                    \
        __builtin_memcpy((to) + (size) - (piece), tail_, (piece));                                 \
    } while (0)

static void copy_little(unsigned char *to, const unsigned char *from, size_t size)
{
    if (size >= WORD)
        COPY_ENDS(to, from, size, WORD);
    else if (size >= WORD / 2)
        COPY_ENDS(to, from, size, WORD / 2);
    else if (size) {
        unsigned char first = from[0];
        unsigned char middle = from[size / 2];
        unsigned char last = from[size - 1];
        to[0] = first;
        to[size / 2] = middle;
        to[size - 1] = last;
    }
}

/* Also where the two overlap and `to` is the lower. */
static void copy_forward(unsigned char *to, const unsigned char *from, size_t size)
{
    if (size < BLOCK) {
        copy_little(to, from, size);
        return;
    }
    if (size >= LARGE) {
        __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
        return;
    }
    for (; size >= 2 * (size_t)BLOCK; size -= BLOCK) {
        COPY_ENDS(to, from, BLOCK, BLOCK);
        to += BLOCK;
        from += BLOCK;
    }
    COPY_ENDS(to, from, size, BLOCK);
}

static void copy_backward(unsigned char *to, const unsigned char *from, size_t size)
{
    for (; size >= WORD; size -= WORD)
        COPY_ENDS(to + size - WORD, from + size - WORD, WORD, WORD);
    while (size--)
        to[size] = from[size];
}

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    copy_forward(to, from, size);
    return to;
}

void *memmove(void *to, const void *from, size_t size)
{
    if ((uintptr_t)to - (uintptr_t)from >= size)
        copy_forward(to, from, size);
    else
        copy_backward(to, from, size);
    return to;
}

void *memset(void *to, int value, size_t size)
{
    unsigned char *out = to;
    if (size >= LARGE) {
        __asm__ volatile("rep stosb" : "+D"(out), "+c"(size) : "a"(value) : "memory");
        return to;
    }
    const uint64_t word = (uint64_t)(unsigned char)value * UINT64_C(0x0101010101010101);
    for (; size >= WORD; size -= WORD) {
        __builtin_memcpy(out, &word, WORD);
        out += WORD;
    }
    while (size--)
        *out++ = (unsigned char)value;
    return to;
}
