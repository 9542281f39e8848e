/* SPDX-License-Identifier: Apache-2.0 */
#include "output/export/numbering.h"

#include <stdlib.h>

#include "output/base/array.h"

int yarn_numbering_init(struct yarn_numbering *numbering, size_t limit)
{
    *numbering = (struct yarn_numbering){
        .numbers = calloc(limit + 1, sizeof *numbering->numbers),
    };
    return numbering->numbers ? 0 : -ENOMEM;
}

void yarn_numbering_fini(struct yarn_numbering *numbering)
{
    free(numbering->numbers);
    free(numbering->things);
    *numbering = (struct yarn_numbering){0};
}

void yarn_numbering_clear(struct yarn_numbering *numbering)
{
    for (size_t i = 0; i < numbering->count; i++)
        numbering->numbers[numbering->things[i]] = 0;
    numbering->count = 0;
}

int yarn_numbering_of(struct yarn_numbering *numbering, uint32_t thing, uint32_t *ret_number)
{
    if (!numbering->numbers[thing]) {
        if (YARN_ARRAY_PUT(&numbering->things, &numbering->count, &numbering->capacity, &thing))
            return -ENOMEM;
        numbering->numbers[thing] = (uint32_t)numbering->count;
    }
    *ret_number = numbering->numbers[thing] - 1;
    return 0;
}
