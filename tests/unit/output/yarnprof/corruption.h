/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Ways in which a dump can come to harm. Those of disks and copies leave checksums as they were and
 * must be found; liars make checksums fit what they changed, so only the reader's own care helps.
 * Threads: one owner.
 */
#pragma once

#include "core/base/base.h"

struct corruption {
    const char *name;
    bool is_found; /* the reader must say that something is wrong (or cut) */
};

struct corrupted {
    uint8_t *bytes; /* owned by the caller; room for twice the dump and CORRUPTED_ROOM more */
    size_t size;
};

enum { CORRUPTED_ROOM = 1 << 20 };

/* A number below `bound`, which is not 0. */
uint64_t corruption_random(uint64_t *state, uint64_t bound);

/* Corrupts a copy of a dump in one random way. False where that left the dump as it was. */
bool corruption_apply(struct corrupted *dump, uint64_t *state, struct corruption *ret_corruption);
