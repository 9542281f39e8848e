/* SPDX-License-Identifier: Apache-2.0 */
#include "output/export/page/density.h"

#include <stdlib.h>

#include "output/export/page/numbers.h"

enum { COUNTS_MAX = 1 << 18 };

int yarn_page_density_init(const struct yarn_page_graph *graph, size_t nr_kinds,
                           struct yarn_page_density *ret_density)
{
    struct yarn_page_density density = {
        .nr_kinds = nr_kinds,
        .nr_lanes = graph->nr_threads,
        .from_ns = yarn_page_numbers_first_ns(graph),
    };
    uint32_t count = yarn_page_numbers_slices(graph);
    size_t rows = nr_kinds * density.nr_lanes;
    while (rows * ((count >> density.wider) + 1) > COUNTS_MAX && count >> density.wider > 1)
        density.wider++;
    density.nr_slices = (count >> density.wider) + 1;
    density.slice_ns = UINT64_C(1) << (graph->sides[1].slices->shift + density.wider);
    density.counts = calloc(rows * density.nr_slices + 1, sizeof *density.counts);
    *ret_density = density;
    return density.counts ? 0 : -ENOMEM;
}

void yarn_page_density_fini(struct yarn_page_density *density)
{
    free(density->counts);
    density->counts = NULL;
}

static uint32_t *row_of(const struct yarn_page_density *density, size_t kind, size_t lane)
{
    return density->counts + (kind * density->nr_lanes + lane) * density->nr_slices;
}

void yarn_page_density_add(struct yarn_page_density *density, uint32_t kind, uint32_t lane,
                           uint64_t time_ns)
{
    if (kind >= density->nr_kinds || lane >= density->nr_lanes || time_ns < density->from_ns)
        return;
    uint64_t slice = (time_ns - density->from_ns) / density->slice_ns;
    row_of(density, kind, lane)[yarn_u64_min(slice, density->nr_slices - 1)]++;
}

static void write_row(const struct yarn_page_density *density, const uint32_t *row,
                      struct yarn_packed *packed)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < density->nr_slices; i++)
        sum += row[i];
    yarn_packed_number(packed, sum != 0);
    for (uint32_t i = 0; sum && i < density->nr_slices; i++)
        yarn_packed_number(packed, row[i]);
}

void yarn_page_density_write(const struct yarn_page_density *density, struct yarn_packed *packed)
{
    yarn_packed_number(packed, density->wider);
    for (size_t kind = 0; kind < density->nr_kinds; kind++)
        for (size_t lane = 0; lane < density->nr_lanes; lane++)
            write_row(density, row_of(density, kind, lane), packed);
}
