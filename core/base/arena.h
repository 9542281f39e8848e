/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Many small things, one free: memory straight from the kernel, never from the host's malloc,
 * up to a cap that is fixed at the start.
 *
 * The whole cap is reserved as address space at once (untouched pages cost nothing), so addresses
 * are stable and the arena never asks the kernel again.
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "core/base/base.h"

struct yarn_arena {
    uint8_t *base;    /* NULL while closed */
    bool is_borrowed; /* the base is not owned */
    size_t cap;
    size_t used;
    size_t touched; /* the most that `used` ever was: what it costs in memory */
};

#define YARN_ARENA_CLOSED ((struct yarn_arena){.base = NULL})

/* `cap` in bytes. */
YARN_MUST_CHECK int yarn_arena_open(struct yarn_arena *arena, size_t cap);

/* Over zeroed memory that is there already, and is zeroed again by close. */
void yarn_arena_open_over(struct yarn_arena *arena, void *memory, size_t cap);

/* NULL where the cap is reached. Zeroed unless the arena was reset before. `align`: a power of two.
 */
void *yarn_arena_alloc(struct yarn_arena *arena, size_t size, size_t align);

/* A NUL-terminated copy; NULL where the cap is reached. */
char *yarn_arena_text(struct yarn_arena *arena, const char *text, size_t size);

/* Forgets everything that was allocated since `mark` (an earlier value of arena->used). */
void yarn_arena_rewind(struct yarn_arena *arena, size_t mark);

/* Idempotent; leaves *arena equal to YARN_ARENA_CLOSED. */
void yarn_arena_close(struct yarn_arena *arena);

#define YARN_ARENA_NEW(arena, type, count)                                                         \
    ((type *)yarn_arena_alloc((arena), sizeof(type) * (count), alignof(type)))
