/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where the code of functions stood in each dump. A function has several symbols where its name is
 * not unique in its module. Threads: one owner at a time.
 */
#pragma once

#include "core/base/base.h"

struct yarn_profile_symbol {
    uint32_t function;   /* of the profile */
    uint32_t dump;       /* of the profile */
    uint32_t module;     /* the dump's number */
    uint64_t start, end; /* linked */
};

struct yarn_symbols {
    struct yarn_profile_symbol *list; /* owned array */
    size_t count, capacity;
};

YARN_MUST_CHECK int yarn_symbols_add(struct yarn_symbols *symbols,
                                     const struct yarn_profile_symbol *symbol);
/* Idempotent. */
void yarn_symbols_fini(struct yarn_symbols *symbols);
