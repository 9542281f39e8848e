/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/profile/places.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/text.h"
#include "output/analysis/value/name.h"
#include "output/base/array.h"

#define INDEX_MAX ((size_t)1 << 31)

#define CLOSED                                                                                     \
    ((struct yarn_places){                                                                         \
        .lines = YARN_TABLE_CLOSED,                                                                \
        .known = YARN_TABLE_CLOSED,                                                                \
        .unknown = YARN_TABLE_CLOSED,                                                              \
    })

int yarn_places_init(struct yarn_places *places)
{
    *places = CLOSED;
    int err = yarn_table_open(&places->lines, 64, INDEX_MAX);
    if (!err)
        err = yarn_table_open(&places->known, 64, INDEX_MAX);
    if (!err)
        err = yarn_table_open(&places->unknown, 64, INDEX_MAX);
    if (err)
        yarn_places_fini(places);
    return err;
}

void yarn_places_fini(struct yarn_places *places)
{
    free(places->places);
    yarn_table_close(&places->lines);
    yarn_table_close(&places->known);
    yarn_table_close(&places->unknown);
    *places = CLOSED;
}

static int add(struct yarn_places *places, const struct yarn_place *place, struct yarn_table *index,
               uint64_t key, uint32_t *ret_place)
{
    if (YARN_ARRAY_RESERVE(&places->places, &places->capacity, places->count + 1))
        return -ENOMEM;
    int err = yarn_table_put(index, key, (uint32_t)places->count);
    if (err)
        return err;
    places->places[places->count] = *place;
    *ret_place = (uint32_t)places->count++;
    return 0;
}

static int number_line(struct yarn_places *places, const struct yarn_place *place,
                       uint32_t *ret_line)
{
    uint64_t key = (uint64_t)place->file << 32 | place->line;
    uint32_t found = yarn_table_find(&places->lines, key);
    int err = 0;
    if (found == YARN_TABLE_NONE) {
        found = places->nr_lines;
        err = yarn_table_put(&places->lines, key, found);
    }
    if (err)
        return err;
    places->nr_lines += found == places->nr_lines;
    *ret_line = found;
    return 0;
}

static int name_line(struct yarn_strings *strings, struct yarn_place *place)
{
    char text[4096 + 16];
    (void)snprintf(text, sizeof text, "%.4096s:%u",
                   yarn_path_base(yarn_strings_text(strings, place->file)), place->line);
    return yarn_strings_intern(strings, yarn_span_of_text(text), &place->name);
}

int yarn_places_line(struct yarn_places *places, struct yarn_strings *strings,
                     const struct yarn_place *line, uint32_t *ret_place)
{
    struct yarn_place place = *line;
    uint32_t number;
    int err = number_line(places, &place, &number);
    if (err)
        return err;
    uint64_t key = (uint64_t)number << 32 | place.function;
    uint32_t found = yarn_table_find(&places->known, key);
    if (found != YARN_TABLE_NONE) {
        *ret_place = found;
        return 0;
    }
    err = name_line(strings, &place);
    return err ? err : add(places, &place, &places->known, key, ret_place);
}

int yarn_places_function(struct yarn_places *places, uint32_t function, uint32_t name,
                         uint32_t *ret_place)
{
    uint32_t found = yarn_table_find(&places->unknown, function);
    if (found != YARN_TABLE_NONE) {
        *ret_place = found;
        return 0;
    }
    struct yarn_place place = {.name = name, .function = function};
    return add(places, &place, &places->unknown, function, ret_place);
}
