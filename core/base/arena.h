/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Many small things, one free: memory straight from the kernel, never from the host's malloc,
 * up to a cap that is fixed at the start.
 *
 * Addresses are stable: it grows in place (room.h).
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "core/base/room.h"

struct yarn_arena {
    uint8_t *base;    /* NULL before the first allocation */
    bool is_borrowed; /* the base is not owned */
    size_t cap;
    struct yarn_room room; /* of the base; closed where it is borrowed */
    size_t used;
    size_t touched; /* the most that `used` ever was: what it costs in memory */
};

#define YARN_ARENA_CLOSED ((struct yarn_arena){.base = NULL})

/* `cap` in bytes. */
void yarn_arena_open(struct yarn_arena *arena, size_t cap);

/* Over zeroed memory that is there already, and is zeroed again by close. */
void yarn_arena_open_over(struct yarn_arena *arena, void *memory, size_t cap);

/* NULL where the cap is reached, or memory is short. Zeroed unless the arena was reset before.
 * `align`: a power of two.
 */
void *yarn_arena_alloc(struct yarn_arena *arena, size_t size, size_t align);

/* A NUL-terminated copy; NULL in the same cases. */
char *yarn_arena_text(struct yarn_arena *arena, const char *text, size_t size);

/* Frees everything that was allocated since `mark` (an earlier value of arena->used). */
void yarn_arena_rewind(struct yarn_arena *arena, size_t mark);

/* Idempotent; leaves *arena equal to YARN_ARENA_CLOSED. */
void yarn_arena_close(struct yarn_arena *arena);

#define YARN_ARENA_NEW(arena, type, count)                                                         \
    ((type *)yarn_arena_alloc((arena), sizeof(type) * (count), alignof(type)))
