/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/room.h"

#include "core/base/pages.h"

enum { PAGE = 4096, FIRST_BYTES = 64 << 10, STEP_MAX = 512 << 10 };

void yarn_room_open(struct yarn_room *room, size_t size)
{
    *room = (struct yarn_room){.size = yarn_align_up(size, PAGE)};
}

/* As what is kept: no other block has such a size. */
static size_t kept_size(const struct yarn_room *room)
{
    return room->size + 1;
}

static bool begin(struct yarn_room *room, size_t upto)
{
    room->base = yarn_pages_kept(kept_size(room), &room->backed);
    if (room->base)
        return yarn_room_back(room, upto);
    size_t first = yarn_align_up(yarn_size_max(upto, yarn_size_min(FIRST_BYTES, room->size)), PAGE);
    room->base = (uint8_t *)yarn_address_next(room->size);
    if (!yarn_pages_map_at(room->base, first)) {
        room->base = yarn_pages_reserve(room->size);
        first = room->size;
    }
    room->backed = room->base ? first : 0;
    return room->base;
}

/* By a half more at once, so that it is seldom asked for, but not by leaps. */
bool yarn_room_back(struct yarn_room *room, size_t upto)
{
    if (upto <= room->backed)
        return true;
    if (upto > room->size)
        return false;
    if (!room->base)
        return begin(room, upto);
    size_t more = yarn_size_min(room->backed / 2, STEP_MAX);
    size_t end = yarn_align_up(yarn_size_max(upto, room->backed + more), PAGE);
    end = yarn_size_min(end, room->size);
    if (!yarn_pages_map_at(room->base + room->backed, end - room->backed))
        return false;
    room->backed = end;
    return true;
}

void yarn_room_close(struct yarn_room *room)
{
    if (room->base && !yarn_pages_keep(room->base, kept_size(room), room->backed))
        yarn_pages_release(room->base, room->backed);
    *room = YARN_ROOM_CLOSED;
}
