/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A range of addresses, of which the first part is mapped, which grows in place. Address space
 * counts even where no page is present: mlockall(2) refuses a process that has more than the limit
 * of locked memory. So what may become large is mapped only as far as it is needed.
 *
 * Where the kernel gives other addresses (a sanitizer has reserved all), everything is mapped at
 * once, or the range does not grow.
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "core/base/base.h"

struct yarn_room {
    uint8_t *base; /* NULL until a part is mapped */
    size_t size;
    size_t backed; /* from the base on */
};

#define YARN_ROOM_CLOSED ((struct yarn_room){.base = NULL})

/* Maps nothing yet: each mapping costs time in every fork of the host, and some stay unused. */
void yarn_room_open(struct yarn_room *room, size_t size);

/* Maps at least the first `upto` bytes, zeroed. False where the kernel refuses. */
YARN_MUST_CHECK bool yarn_room_back(struct yarn_room *room, size_t upto);

/* Idempotent; leaves *room equal to YARN_ROOM_CLOSED. */
void yarn_room_close(struct yarn_room *room);
