/* SPDX-License-Identifier: Apache-2.0 */
#include "output/export/page/places.h"

#include <stdlib.h>

#include "output/base/array.h"
#include "output/export/page/html.h"

static int compare(const void *a, const void *b)
{
    const struct yarn_page_place *one = a, *other = b;
    if (one->file != other->file)
        return one->file < other->file ? -1 : 1;
    if (one->function != other->function)
        return one->function < other->function ? -1 : 1;
    if (one->event != other->event)
        return one->event < other->event ? -1 : 1;
    return (one->line > other->line) - (one->line < other->line);
}

static uint32_t event_of(const struct yarn_page_graph *graph, uint32_t number)
{
    uint32_t event = 0;
    while (event < graph->nr_events && graph->events[event].numbers[1] != number)
        event++;
    return event;
}

static int add_cell(struct yarn_page_places *places, const struct yarn_page_graph *graph,
                    const struct yarn_page_order *order, const struct yarn_cell *cell)
{
    const struct yarn_profile *profile = places->profile;
    const struct yarn_profile_stack *stack = &profile->stacks[cell->stack];
    const struct yarn_profile_frame *frame = &profile->frames[stack->frame];
    struct yarn_page_place place = {
        .function = order->places[graph->match.numbers[1][stack->function]],
        .event = event_of(graph, cell->event),
        .file = frame->file,
        .line = frame->line,
        .weight = cell->weight,
    };
    if (!frame->line || place.event == graph->nr_events)
        return 0;
    return YARN_ARRAY_PUT(&places->list, &places->count, &places->capacity, &place);
}

static void join_equal(struct yarn_page_places *places)
{
    size_t kept = 0;
    if (places->count)
        qsort(places->list, places->count, sizeof *places->list, compare);
    for (size_t i = 0; i < places->count; i++) {
        if (kept && compare(&places->list[kept - 1], &places->list[i]) == 0)
            places->list[kept - 1].weight += places->list[i].weight;
        else
            places->list[kept++] = places->list[i];
    }
    places->count = kept;
}

int yarn_page_places_build(const struct yarn_page_graph *graph, const struct yarn_page_order *order,
                           struct yarn_page_places *ret_places)
{
    const struct yarn_page_side *side = &graph->sides[1];
    const struct yarn_cells *cells = &side->slices->cells;
    struct yarn_page_places places = {.profile = side->profile};
    int err = 0;
    for (size_t i = 0; !err && i < cells->count; i++) {
        const struct yarn_cell *cell = &cells->cells[i];
        if (cell->stack != YARN_DUMP_NONE && yarn_choice_has_cell(side->choice, cell))
            err = add_cell(&places, graph, order, cell);
    }
    if (err) {
        yarn_page_places_fini(&places);
        return err;
    }
    join_equal(&places);
    *ret_places = places;
    return 0;
}

void yarn_page_places_fini(struct yarn_page_places *places)
{
    free(places->list);
    *places = (struct yarn_page_places){0};
}

static bool begins_file(const struct yarn_page_places *places, size_t at)
{
    return !at || places->list[at - 1].file != places->list[at].file;
}

void yarn_page_places_put_files(const struct yarn_page_places *places, FILE *file)
{
    for (size_t i = 0; i < places->count; i++) {
        if (!begins_file(places, i))
            continue;
        (void)fputs("<li>", file);
        yarn_html_text(file, yarn_profile_text(places->profile, places->list[i].file));
        (void)fputs("</li>\n", file);
    }
}

void yarn_page_places_write(const struct yarn_page_places *places, struct yarn_packed *packed)
{
    yarn_packed_number(packed, places->count);
    for (size_t i = 0; i < places->count; i++) {
        const struct yarn_page_place *place = &places->list[i];
        yarn_packed_number(packed, place->function);
        yarn_packed_number(packed, place->event);
        yarn_packed_number(packed, begins_file(places, i));
        yarn_packed_number(packed, place->line);
        yarn_packed_number(packed, place->weight);
    }
}
