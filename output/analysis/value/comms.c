/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/value/comms.h"

#include <stdlib.h>

#include "output/base/array.h"

/* Jumps as long as the two before them together, one longer: of n names each is reached in about
 * 2 log2 n steps, and a name costs no more than two such jumps (Myers, an applicative random-access
 * stack). */
static void set_jump(struct yarn_comm *list, struct yarn_comm *comm)
{
    if (comm->before == YARN_COMM_NONE)
        return;
    const struct yarn_comm *before = &list[comm->before];
    const struct yarn_comm *over = before->jump == YARN_COMM_NONE ? NULL : &list[before->jump];
    bool is_long = over && over->jump != YARN_COMM_NONE &&
                   before->depth - over->depth == over->depth - list[over->jump].depth;
    comm->depth = before->depth + 1;
    comm->jump = is_long ? over->jump : comm->before;
    if (is_long)
        comm->least_ns =
            yarn_u64_min(comm->least_ns, yarn_u64_min(before->least_ns, over->least_ns));
}

int yarn_comms_add(struct yarn_comms *comms, uint32_t text, uint64_t from_ns, uint32_t *last)
{
    if (YARN_ARRAY_RESERVE(&comms->list, &comms->capacity, comms->count + 1))
        return -ENOMEM;
    comms->list[comms->count] = (struct yarn_comm){
        .from_ns = from_ns,
        .least_ns = from_ns,
        .text = text,
        .before = *last,
        .jump = YARN_COMM_NONE,
    };
    set_jump(comms->list, &comms->list[comms->count]);
    *last = (uint32_t)comms->count++;
    return 0;
}

/* A jump passes over nothing that began by then. */
uint32_t yarn_comms_at(const struct yarn_comms *comms, uint32_t last, uint64_t time_ns)
{
    const struct yarn_comm *list = comms->list;
    while (list[last].from_ns > time_ns && list[last].before != YARN_COMM_NONE)
        last = list[last].least_ns > time_ns ? list[last].jump : list[last].before;
    return list[last].text;
}

void yarn_comms_fini(struct yarn_comms *comms)
{
    free(comms->list);
    *comms = (struct yarn_comms){0};
}
