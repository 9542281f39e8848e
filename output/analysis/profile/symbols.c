/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/profile/symbols.h"

#include <stdlib.h>

#include "output/analysis/value/array.h"

int yarn_symbols_add(struct yarn_symbols *symbols, const struct yarn_profile_symbol *symbol)
{
    struct yarn_profile_symbol *list =
        yarn_array_grow(symbols->list, &symbols->capacity, symbols->count + 1, sizeof *list);
    if (!list)
        return -ENOMEM;
    symbols->list = list;
    list[symbols->count++] = *symbol;
    return 0;
}

void yarn_symbols_fini(struct yarn_symbols *symbols)
{
    free(symbols->list);
    *symbols = (struct yarn_symbols){0};
}
