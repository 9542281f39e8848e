/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/arena.h"

#include "core/base/pages.h"

void yarn_arena_open(struct yarn_arena *arena, size_t cap)
{
    *arena = (struct yarn_arena){.cap = cap};
    yarn_room_open(&arena->room, cap);
}

void yarn_arena_open_over(struct yarn_arena *arena, void *memory, size_t cap)
{
    *arena = (struct yarn_arena){.base = memory, .is_borrowed = true, .cap = cap};
}

void *yarn_arena_alloc(struct yarn_arena *arena, size_t size, size_t align)
{
    size_t at = yarn_align_up(arena->used, align);
    if (at > arena->cap || size > arena->cap - at)
        return NULL;
    if (!arena->is_borrowed) {
        if (!yarn_room_back(&arena->room, at + size))
            return NULL;
        arena->base = arena->room.base;
    }
    arena->used = at + size;
    if (arena->used > arena->touched) {
        yarn_pages_count(arena->used - arena->touched);
        arena->touched = arena->used;
    }
    return arena->base + at;
}

char *yarn_arena_text(struct yarn_arena *arena, const char *text, size_t size)
{
    char *copy = yarn_arena_alloc(arena, size + 1, 1);
    if (!copy)
        return NULL;
    if (size) /* an empty text may be at NULL */
        memcpy(copy, text, size);
    copy[size] = 0;
    return copy;
}

void yarn_arena_rewind(struct yarn_arena *arena, size_t mark)
{
    if (mark < arena->used)
        arena->used = mark;
}

void yarn_arena_close(struct yarn_arena *arena)
{
    if (arena->is_borrowed)
        memset(arena->base, 0, arena->touched);
    else
        yarn_room_close(&arena->room);
    yarn_pages_uncount(arena->touched);
    *arena = YARN_ARENA_CLOSED;
}
