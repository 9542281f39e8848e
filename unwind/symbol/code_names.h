/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Names for ranges of generated code, as JIT compilers in the process write them: the latest of two
 * that overlap is valid, since code is discarded and its memory reused. Numbered, so that a change
 * of the name at an address can be noticed. Bounded: 128 Ki ranges and 8 MiB of names; those of
 * replaced code are dropped first, and what does not fit then is counted and dropped. What takes
 * the place of other code has its name from when it is known to be there. Knows ranges and names;
 * does not know where they come from.
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "core/base/arena.h"
#include "core/base/span.h"
#include "unwind/range_map.h"

#define YARN_CODE_NAME_NONE UINT32_MAX

enum { YARN_CODE_NAME_BYTES = 1024 }; /* longer names are cut */

struct yarn_code_name {
    struct yarn_span text; /* borrowed until the next addition */
    uint64_t start, end;   /* of the function, also where other code has replaced a part of it */
    uint64_t since_ns;     /* before that other code may have been there; 0: there was none */
};

struct yarn_code_names {
    struct yarn_range_map recent; /* added since `sorted` was made; go before it */
    struct yarn_mapped_range
        *sorted; /* owned; do not overlap; their number is an offset in `texts` */
    size_t nr_sorted, sorted_capacity;
    struct yarn_arena texts;
    bool is_full;
    uint64_t generation; /* grows with each addition: numbers are good within one */
    uint64_t nr_dropped;
};

void yarn_code_names_open(struct yarn_code_names *names);

/* An empty range or name is ignored. `text` may be what a look-up gave. At `since_ns` it is there,
 * perhaps for a while already. */
void yarn_code_names_add(struct yarn_code_names *names, uint64_t start, uint64_t size,
                         struct yarn_span text, uint64_t since_ns);

/* The number of the name at the address, or YARN_CODE_NAME_NONE. Equal numbers are equal names of
 * equal ranges; an addition may give what was there before another number. */
uint32_t yarn_code_names_find(struct yarn_code_names *names, uint64_t address);

/* What a number stands for; it must come from a look-up after the latest addition. */
struct yarn_code_name yarn_code_names_at(const struct yarn_code_names *names, uint32_t number);

/* Idempotent. */
void yarn_code_names_close(struct yarn_code_names *names);
