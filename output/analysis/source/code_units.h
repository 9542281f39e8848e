/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The compilation units of some debug information, and which of them and which function an address
 * of code lies in. Each unit's functions are looked through once, when the first address in it is
 * asked for: libdw alone would look through them for every address.
 *
 * Threads: one owner at a time.
 */
#pragma once

#include <elfutils/libdw.h>

#include "output/analysis/value/ranges.h"

struct yarn_code_unit;

struct yarn_code_units {
    struct yarn_ranges ranges;
    struct yarn_code_unit *units; /* owned array */
    size_t count;
    size_t capacity;
};

/* `dwarf` outlives the units. */
YARN_MUST_CHECK int yarn_code_units_init(struct yarn_code_units *units, Dwarf *dwarf);
/* Idempotent. */
void yarn_code_units_fini(struct yarn_code_units *units);

struct yarn_code_place {
    Dwarf_Die unit;     /* with its lines; addr is NULL where no unit has the address */
    Dwarf_Die function; /* addr is NULL where no function of the unit has the address */
};

YARN_MUST_CHECK int yarn_code_units_find(struct yarn_code_units *units, uint64_t address,
                                         struct yarn_code_place *ret_place);
