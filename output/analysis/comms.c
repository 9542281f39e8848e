/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/comms.h"

#include <stdlib.h>

#include "output/analysis/array.h"

int yarn_comms_add(struct yarn_comms *comms, uint32_t text, uint64_t from_ns, uint32_t *last)
{
    struct yarn_comm *list =
        yarn_array_grow(comms->list, &comms->capacity, comms->count + 1, sizeof *list);
    if (!list)
        return -ENOMEM;
    comms->list = list;
    list[comms->count] = (struct yarn_comm){from_ns, text, *last};
    *last = (uint32_t)comms->count++;
    return 0;
}

uint32_t yarn_comms_at(const struct yarn_comms *comms, uint32_t last, uint64_t time_ns)
{
    while (comms->list[last].from_ns > time_ns && comms->list[last].before != YARN_COMM_NONE)
        last = comms->list[last].before;
    return comms->list[last].text;
}

void yarn_comms_fini(struct yarn_comms *comms)
{
    free(comms->list);
    *comms = (struct yarn_comms){0};
}
