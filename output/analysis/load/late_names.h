/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a loader keeps of names that came late, and of frames that have none yet. Only loader.h
 * includes it. Threads: one owner at a time.
 */
#pragma once

#include "core/base/base.h"

/* A name that came after the frames it is for; of no function: there is none. */
struct yarn_late_name {
    uint64_t address, start;
    uint32_t module;
    uint32_t function;
};

/* A symbol of a dump that has no name. */
struct yarn_nameless {
    uint64_t start, end;
    uint32_t module; /* the dump's number */
};

/* A frame whose name was not asked for. */
struct yarn_unnamed {
    uint32_t frame;
    struct yarn_nameless symbol;
};
