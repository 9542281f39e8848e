/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Addresses of ours with memory behind the first part of them, which grows in place. A process's
 * address space is counted even where nothing is behind it: mlockall(2) refuses a process that has
 * more than the limit of locked memory. So what may become large is mapped as far as it is needed.
 *
 * Where the kernel does not give our addresses (a sanitizer has laid claim to all of them), or no
 * longer, all is mapped at once, or it does not grow.
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "core/base/base.h"

struct yarn_room {
    uint8_t *base; /* NULL until there is memory behind it */
    size_t size;
    size_t backed; /* from the base on */
};

#define YARN_ROOM_CLOSED ((struct yarn_room){.base = NULL})

/* Maps nothing yet: each mapping costs every fork of the host, and some of ours stay empty. */
void yarn_room_open(struct yarn_room *room, size_t size);

/* Memory, zeroed, behind the first `upto` bytes at least. False where there is none. */
YARN_MUST_CHECK bool yarn_room_back(struct yarn_room *room, size_t upto);

/* Idempotent; leaves *room equal to YARN_ROOM_CLOSED. */
void yarn_room_close(struct yarn_room *room);
