/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The compilation units of some debug information, and which of them and which function an address
 * of code lies in. Each unit's functions are listed once, when the first address in it is looked
 * up: libdw alone would search them for every address.
 *
 * Threads: one owner at a time.
 */
#pragma once

#include <elfutils/libdw.h>

#include "output/analysis/value/ranges.h"

struct yarn_code_unit;

/* Entries and ranges that are looked at for one module: honest ones stay far below. */
enum { YARN_CODE_STEPS_MAX = 1 << 25 };

struct yarn_code_units {
    struct yarn_ranges ranges;
    struct yarn_code_unit *units; /* owned array */
    size_t count;
    size_t capacity;
    uint32_t steps; /* up to YARN_CODE_STEPS_MAX */
};

/* `dwarf` outlives the units. -E2BIG, here and below: there is more to look at than in any module.
 */
YARN_MUST_CHECK int yarn_code_units_init(struct yarn_code_units *units, Dwarf *dwarf);
/* To the next of the ranges of `die`, from *at, which begins at 0. 0: there is none. -E2BIG. */
YARN_MUST_CHECK int yarn_code_units_range(struct yarn_code_units *units, Dwarf_Die *die,
                                          ptrdiff_t *at, struct yarn_range *ret_range);
/* To the next entry of the same parent. 0: there is none. -E2BIG. */
YARN_MUST_CHECK int yarn_code_units_sibling(struct yarn_code_units *units, Dwarf_Die *die);

/* Idempotent. */
void yarn_code_units_fini(struct yarn_code_units *units);

struct yarn_code_place {
    Dwarf_Die unit;     /* with its lines; addr is NULL where no unit has the address */
    Dwarf_Die function; /* addr is NULL where no function of the unit has the address */
};

YARN_MUST_CHECK int yarn_code_units_find(struct yarn_code_units *units, uint64_t address,
                                         struct yarn_code_place *ret_place);
