/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/profile/symbols.h"

#include <stdlib.h>

#include "output/base/array.h"

int yarn_symbols_add(struct yarn_symbols *symbols, const struct yarn_profile_symbol *symbol)
{
    return YARN_ARRAY_PUT(&symbols->list, &symbols->count, &symbols->capacity, symbol);
}

void yarn_symbols_fini(struct yarn_symbols *symbols)
{
    free(symbols->list);
    *symbols = (struct yarn_symbols){0};
}
