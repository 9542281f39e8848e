/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The C library's functions on strings and memory that this library and the libraries inside it
 * call, for it alone: why is said in memory_x86_64.c. What they look at is short: names, paths.
 *
 * Threads, signals: safe anywhere.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* As bcmp, which clang makes of a memcmp that is only asked for equality. */
int bcmp(const void *left, const void *right, size_t size);

int memcmp(const void *left, const void *right, size_t size)
{
    const unsigned char *a = left;
    const unsigned char *b = right;
    for (uint64_t of_a = 0, of_b = 0; size >= sizeof of_a; size -= sizeof of_a) {
        __builtin_memcpy(&of_a, a, sizeof of_a);
        __builtin_memcpy(&of_b, b, sizeof of_b);
        if (of_a != of_b)
            break;
        a += sizeof of_a;
        b += sizeof of_b;
    }
    for (; size && *a == *b; size--) {
        a++;
        b++;
    }
    return size ? *a - *b : 0;
}

int bcmp(const void *left, const void *right, size_t size)
{
    return memcmp(left, right, size);
}

void *memchr(const void *memory, int value, size_t size)
{
    const unsigned char *at = memory;
    for (; size; size--, at++) {
        if (*at == (unsigned char)value)
            return (void *)(uintptr_t)at;
    }
    return NULL;
}

void *memrchr(const void *memory, int value, size_t size)
{
    const unsigned char *bytes = memory;
    while (size--) {
        if (bytes[size] == (unsigned char)value)
            return (void *)(uintptr_t)(bytes + size);
    }
    return NULL;
}

size_t strlen(const char *text)
{
    const char *end = text;
    while (*end)
        end++;
    return (size_t)(end - text);
}

size_t strnlen(const char *text, size_t most)
{
    size_t length = 0;
    while (length < most && text[length])
        length++;
    return length;
}

int strcmp(const char *left, const char *right)
{
    while (*left && *left == *right) {
        left++;
        right++;
    }
    return (unsigned char)*left - (unsigned char)*right;
}

int strncmp(const char *left, const char *right, size_t most)
{
    for (; most && *left && *left == *right; most--) {
        left++;
        right++;
    }
    return most ? (unsigned char)*left - (unsigned char)*right : 0;
}

char *strchr(const char *text, int value)
{
    for (;; text++) {
        if (*text == (char)value)
            return (char *)(uintptr_t)text;
        if (!*text)
            return NULL;
    }
}

char *strrchr(const char *text, int value)
{
    const char *found = NULL;
    for (;; text++) {
        if (*text == (char)value)
            found = text;
        if (!*text)
            return (char *)(uintptr_t)found;
    }
}

size_t strspn(const char *text, const char *accepted)
{
    size_t length = 0;
    while (text[length] && strchr(accepted, text[length]))
        length++;
    return length;
}

size_t strcspn(const char *text, const char *refused)
{
    size_t length = 0;
    while (text[length] && !strchr(refused, text[length]))
        length++;
    return length;
}
