/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where a symbol is in a process, by its name: functions and data of every file that is mapped with
 * code, the first that has it. Knows symbol tables; does not know debug files, nor what is put
 * there.
 *
 * Threads: one owner of the map at a time. Signals: not safe. Memory through pages.h only.
 */
#pragma once

#include "unwind/module_map.h"

struct yarn_symbol_place {
    uint64_t address; /* in the process */
    uint64_t size;    /* 0: unknown */
};

/* False where no table has it: neither .symtab nor .dynsym. Opens the modules' files. */
YARN_MUST_CHECK bool yarn_symbol_place_find(struct yarn_module_map *map, const char *name,
                                            struct yarn_symbol_place *ret_place);
