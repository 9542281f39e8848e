/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Names of functions in debug information. Most have their mangled name; what GCC knows of code
 * that is local to a function (lambdas, templates of them) is a bare "operator()", which says
 * nothing until the names of what it stands in are put before it. DWARF has no way upwards, so what
 * stands in what is listed once a unit, when it is first needed.
 *
 * Threads: one owner at a time.
 */
#pragma once

#include <elfutils/libdw.h>

#include "core/base/table.h"

struct yarn_unit_scopes;

/* Each pointer is an owned array; its count and its capacity follow. */
struct yarn_die_names {
    struct yarn_unit_scopes *units;
    size_t nr_units, units_capacity;
    char **texts;
    size_t nr_texts, texts_capacity;
    struct yarn_table index; /* address of a declaration to text */
};

#define YARN_CODE_NAMES_EMPTY ((struct yarn_die_names){.index = YARN_TABLE_CLOSED})

/* Idempotent. */
void yarn_die_names_fini(struct yarn_die_names *names);

/* Mangled, or as people read it; NULL: it has none. As long as the names and the debug information
 * live. -ENOMEM. */
YARN_MUST_CHECK int yarn_die_names_find(struct yarn_die_names *names, Dwarf_Die *function,
                                        const char **ret_name);
