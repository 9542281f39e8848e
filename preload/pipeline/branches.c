/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/pipeline/branches.h"

enum { ROWS_AT_ONCE = 128 };

/* False where the writer began a new epoch on the way: the first frames are of none now. */
static bool fill(struct yarn_stack_store *stacks, struct yarn_dump_writer *writer,
                 const struct yarn_edges *edges, size_t from, struct yarn_dump_branch *ret_rows,
                 size_t count)
{
    uint32_t epoch = yarn_dump_writer_epoch(writer);
    for (size_t i = 0; i < count; i++) {
        const struct yarn_edge *edge = &edges->edges[from + i];
        ret_rows[i] = (struct yarn_dump_branch){
            .time_ns = edges->until_ns,
            .event = edge->event,
            .tid = edge->tid,
            .from = yarn_stacks_frame_at(stacks, writer, edge->from, edges->until_ns),
            .to = yarn_stacks_frame_at(stacks, writer, edge->to, edges->until_ns),
            .count = edge->count,
            .mispredicted = edge->mispredicted,
            .cycles = edge->cycles,
        };
    }
    return epoch == yarn_dump_writer_epoch(writer);
}

void yarn_branches_store(struct yarn_edges *edges, struct yarn_stack_store *stacks,
                         struct yarn_dump_writer *writer)
{
    struct yarn_dump_branch rows[ROWS_AT_ONCE];
    for (size_t at = 0; at < edges->count; at += ROWS_AT_ONCE) {
        size_t count = yarn_size_min(edges->count - at, ROWS_AT_ONCE);
        while (!fill(stacks, writer, edges, at, rows, count) && !yarn_dump_writer_error(writer))
            continue;
        yarn_dump_write_branches(writer, rows, count);
    }
    yarn_edges_clear(edges);
}
