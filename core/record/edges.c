/* SPDX-License-Identifier: Apache-2.0 */
#include "core/record/edges.h"

#include "core/base/pages.h"

enum { INDEX_MAX = 4 * YARN_EDGES_MAX };
#define EDGES_BYTES (YARN_EDGES_MAX * sizeof(struct yarn_edge))

static bool is_open(struct yarn_edges *edges)
{
    if (edges->edges)
        return true;
    edges->edges = yarn_pages_map(EDGES_BYTES);
    if (edges->edges && !yarn_table_open(&edges->index, INDEX_MAX / 2, INDEX_MAX))
        return true;
    yarn_edges_close(edges);
    return false;
}

/* The edge's place, or where it may become one; NULL: there is no room. */
static struct yarn_edge *edge_of(struct yarn_edges *edges, const struct yarn_edge *wanted)
{
    uint64_t key = yarn_hash_u64(wanted->from) ^ yarn_hash_u64(wanted->to + 1) ^
                   yarn_hash_u64((uint64_t)wanted->event << 32 | wanted->tid);
    for (;; key++) {
        uint32_t found = yarn_table_find(&edges->index, key);
        if (found == YARN_TABLE_NONE)
            break;
        struct yarn_edge *edge = &edges->edges[found];
        if (edge->from == wanted->from && edge->to == wanted->to && edge->event == wanted->event &&
            edge->tid == wanted->tid)
            return edge;
    }
    if (edges->count == YARN_EDGES_MAX ||
        yarn_table_put(&edges->index, key, (uint32_t)edges->count))
        return NULL;
    struct yarn_edge *edge = &edges->edges[edges->count++];
    *edge = *wanted;
    return edge;
}

bool yarn_edges_add(struct yarn_edges *edges, const struct yarn_typed_record *record, size_t *at)
{
    struct perf_branch_entry branch;
    if (record->attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK)
        return true;
    for (; yarn_record_branch(&record->perf, *at, &branch); (*at)++) {
        const struct yarn_edge wanted = {
            .from = branch.from,
            .to = branch.to,
            .event = record->event,
            .tid = record->perf.tid,
        };
        struct yarn_edge *edge = is_open(edges) ? edge_of(edges, &wanted) : NULL;
        if (!edge && edges->count)
            return false;
        if (!edge) {
            edges->nr_lost++;
            continue;
        }
        edge->count++;
        edge->mispredicted += branch.mispred;
        edge->cycles += branch.cycles;
        edges->until_ns = record->perf.time;
    }
    return true;
}

void yarn_edges_clear(struct yarn_edges *edges)
{
    if (edges->edges)
        yarn_table_clear(&edges->index);
    edges->count = 0;
}

void yarn_edges_close(struct yarn_edges *edges)
{
    if (edges->edges)
        yarn_table_close(&edges->index);
    yarn_pages_unmap(edges->edges, EDGES_BYTES);
    *edges = (struct yarn_edges){.edges = NULL};
}
