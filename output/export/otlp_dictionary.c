/* SPDX-License-Identifier: Apache-2.0 */
#include "output/export/otlp_dictionary.h"

#include <stdlib.h>

#include "output/store/array.h"
#include "output/text/legible.h"

enum table { /* ProfilesDictionary's fields */
             MAPPINGS = 1,
             LOCATIONS = 2,
             FUNCTIONS = 3,
             LINKS = 4,
             STRINGS = 5,
             ATTRIBUTES = 6,
             STACKS = 7,
};

enum { LINES_MAX = 64 };

static const char *const attribute_names[] = {
    [YARN_OTLP_THREAD_NAME] = "thread.name",
    [YARN_OTLP_THREAD_ID] = "thread.id",
    [YARN_OTLP_CPU] = "cpu.logical_number",
    [YARN_OTLP_BUILD_ID] = "process.executable.build_id.gnu",
};

int yarn_otlp_text(struct yarn_otlp_dictionary *dictionary, const char *text, uint64_t *ret_number)
{
    uint32_t number;
    int err = yarn_strings_intern(&dictionary->strings, yarn_span_of_text(text), &number);
    if (!err)
        *ret_number = number;
    return err;
}

/* Opens the next item of a table, which gets *ret_index under `key` in `index` (NULL: in none). */
static int begin_item(struct yarn_otlp_dictionary *dictionary, enum table table,
                      struct yarn_table *index, uint64_t key, size_t *ret_begin,
                      uint64_t *ret_index)
{
    *ret_index = dictionary->counts[table]++;
    *ret_begin = yarn_wire_begin(&dictionary->wire, table);
    return index ? yarn_table_put(index, key, (uint32_t)*ret_index) : 0;
}

void yarn_otlp_put_value(struct yarn_wire *wire, uint32_t field, const char *text, uint64_t number)
{
    enum { STRING_VALUE = 1, INT_VALUE = 3 };
    size_t begin = yarn_wire_begin(wire, field);
    if (text)
        yarn_wire_text(wire, STRING_VALUE, text);
    else
        yarn_wire_set_u64(wire, INT_VALUE, number);
    yarn_wire_end(wire, begin);
}

int yarn_otlp_attribute(struct yarn_otlp_dictionary *dictionary, enum yarn_otlp_attribute attribute,
                        const char *text, uint64_t number, uint64_t *ret_index)
{
    enum { KEY = 1, VALUE = 2 };
    uint64_t name;
    size_t begin;
    int err = yarn_otlp_text(dictionary, attribute_names[attribute], &name);
    if (!err && text)
        err = yarn_otlp_text(dictionary, text, &number);
    if (err)
        return err;
    uint64_t key = number << 2 | attribute;
    *ret_index = yarn_table_find(&dictionary->attributes, key);
    if (*ret_index != YARN_TABLE_NONE)
        return 0;
    err = begin_item(dictionary, ATTRIBUTES, &dictionary->attributes, key, &begin, ret_index);
    yarn_wire_u64(&dictionary->wire, KEY, name);
    yarn_otlp_put_value(&dictionary->wire, VALUE, text, number);
    yarn_wire_end(&dictionary->wire, begin);
    return err;
}

static int put_mapping(struct yarn_otlp_dictionary *dictionary,
                       const struct yarn_export_mapping *mapping)
{
    enum { START = 1, LIMIT = 2, OFFSET = 3, FILENAME = 4, ITS_ATTRIBUTES = 5 };
    const struct yarn_profile *profile = dictionary->export->profile;
    struct yarn_wire *wire = &dictionary->wire;
    char build_id[2 * 64 + 1];
    uint64_t name, attribute, index;
    size_t begin;
    int err = yarn_otlp_text(
        dictionary, yarn_profile_text(profile, profile->modules[mapping->module].path), &name);
    if (!err && mapping->build_id.size)
        err = yarn_otlp_attribute(dictionary, YARN_OTLP_BUILD_ID,
                                  yarn_hex_text(mapping->build_id, build_id, sizeof build_id), 0,
                                  &attribute);
    if (!err)
        err = begin_item(dictionary, MAPPINGS, NULL, 0, &begin, &index);
    if (err)
        return err;
    yarn_wire_u64(wire, START, mapping->start);
    yarn_wire_u64(wire, LIMIT, mapping->end);
    yarn_wire_u64(wire, OFFSET, mapping->file_offset);
    yarn_wire_u64(wire, FILENAME, name);
    yarn_wire_packed(wire, ITS_ATTRIBUTES, &attribute, mapping->build_id.size ? 1 : 0);
    yarn_wire_end(wire, begin);
    return 0;
}

static int function_of(struct yarn_otlp_dictionary *dictionary, const char *name, const char *file,
                       uint64_t *ret_index)
{
    enum { NAME = 1, FILENAME = 3 };
    uint64_t name_number, file_number;
    size_t begin;
    int err = yarn_otlp_text(dictionary, name, &name_number);
    if (!err)
        err = yarn_otlp_text(dictionary, file, &file_number);
    if (err)
        return err;
    uint64_t key = name_number << 32 | file_number;
    *ret_index = yarn_table_find(&dictionary->functions, key);
    if (*ret_index != YARN_TABLE_NONE)
        return 0;
    err = begin_item(dictionary, FUNCTIONS, &dictionary->functions, key, &begin, ret_index);
    yarn_wire_u64(&dictionary->wire, NAME, name_number);
    yarn_wire_u64(&dictionary->wire, FILENAME, file_number);
    yarn_wire_end(&dictionary->wire, begin);
    return err;
}

struct location {
    uint64_t mapping, address;
    uint64_t functions[LINES_MAX], lines[LINES_MAX];
    size_t nr_lines;
};

static int put_location(struct yarn_otlp_dictionary *dictionary, uint64_t key,
                        const struct location *location, uint64_t *ret_index)
{
    enum { MAPPING = 1, ADDRESS = 2, LINES = 3, LINE_FUNCTION = 1, LINE_NUMBER = 2 };
    struct yarn_wire *wire = &dictionary->wire;
    size_t begin;
    int err = begin_item(dictionary, LOCATIONS, &dictionary->locations, key, &begin, ret_index);
    yarn_wire_u64(wire, MAPPING, location->mapping);
    yarn_wire_u64(wire, ADDRESS, location->address);
    for (size_t i = 0; i < location->nr_lines; i++) {
        size_t line = yarn_wire_begin(wire, LINES);
        yarn_wire_u64(wire, LINE_FUNCTION, location->functions[i]);
        yarn_wire_u64(wire, LINE_NUMBER, location->lines[i]);
        yarn_wire_end(wire, line);
    }
    yarn_wire_end(wire, begin);
    return err;
}

/* The frame and, before it, what is inlined there: the innermost first. */
static int location_of(struct yarn_otlp_dictionary *dictionary, uint32_t number,
                       uint64_t *ret_index)
{
    const struct yarn_profile *profile = dictionary->export->profile;
    const struct yarn_profile_frame *frame = &profile->frames[number];
    struct location location = {.address = frame->address};
    *ret_index = yarn_table_find(&dictionary->locations, number);
    if (*ret_index != YARN_TABLE_NONE)
        return 0;
    if (dictionary->mappings.homes[number].mapping != YARN_DUMP_NONE)
        location.mapping = (uint64_t)dictionary->mappings.homes[number].mapping + 1;
    location.nr_lines = yarn_size_min((size_t)frame->nr_inlined + 1, LINES_MAX);
    for (size_t i = 0; i < location.nr_lines; i++) {
        const struct yarn_profile_frame *part = frame + (location.nr_lines - 1 - i);
        location.lines[i] = part->line;
        int err = function_of(dictionary,
                              yarn_profile_text(profile, profile->functions[part->function].name),
                              yarn_profile_text(profile, part->file), &location.functions[i]);
        if (err)
            return err;
    }
    return put_location(dictionary, number, &location, ret_index);
}

/* Of what stands for what is missing; its key is behind those of frames. */
static int location_of_root(struct yarn_otlp_dictionary *dictionary, uint32_t root,
                            uint64_t *ret_index)
{
    const struct yarn_profile *profile = dictionary->export->profile;
    struct location location = {.nr_lines = 1};
    uint64_t key = profile->nr_frames + root;
    *ret_index = yarn_table_find(&dictionary->locations, key);
    if (*ret_index != YARN_TABLE_NONE)
        return 0;
    const char *name = root == YARN_EXPORT_KERNEL_ROOT
                           ? "[kernel]"
                           : yarn_profile_text(profile, profile->functions[root].name);
    int err = function_of(dictionary, name, "", &location.functions[0]);
    return err ? err : put_location(dictionary, key, &location, ret_index);
}

static int add_location(struct yarn_otlp_dictionary *dictionary, size_t *count, uint64_t index)
{
    if (YARN_ARRAY_RESERVE(&dictionary->list, &dictionary->list_capacity, *count + 1))
        return -ENOMEM;
    dictionary->list[(*count)++] = index;
    return 0;
}

static int list_locations(struct yarn_otlp_dictionary *dictionary,
                          const struct yarn_export_sample *sample, size_t *ret_count)
{
    const struct yarn_profile *profile = dictionary->export->profile;
    uint64_t index;
    int err = 0;
    *ret_count = 0;
    for (uint32_t stack = sample->stack; !err && stack != YARN_DUMP_NONE;
         stack = profile->stacks[stack].parent) {
        uint32_t frame = profile->stacks[stack].frame;
        if (profile->functions[profile->frames[frame].function].is_inlined)
            continue;
        err = location_of(dictionary, frame, &index);
        if (!err)
            err = add_location(dictionary, ret_count, index);
    }
    if (!err && sample->root != YARN_DUMP_NONE) {
        err = location_of_root(dictionary, sample->root, &index);
        if (!err)
            err = add_location(dictionary, ret_count, index);
    }
    return err;
}

int yarn_otlp_stack(struct yarn_otlp_dictionary *dictionary,
                    const struct yarn_export_sample *sample, uint64_t *ret_index)
{
    enum { ITS_LOCATIONS = 1 };
    uint64_t key = (uint64_t)sample->stack << 32 | sample->root;
    size_t count, begin;
    *ret_index = yarn_table_find(&dictionary->stacks, key);
    if (*ret_index != YARN_TABLE_NONE)
        return 0;
    int err = list_locations(dictionary, sample, &count);
    if (!err)
        err = begin_item(dictionary, STACKS, &dictionary->stacks, key, &begin, ret_index);
    if (err)
        return err;
    yarn_wire_packed(&dictionary->wire, ITS_LOCATIONS, dictionary->list, count);
    yarn_wire_end(&dictionary->wire, begin);
    return 0;
}

/* Index 0 of each table is for what is not set. */
static void put_zeros(struct yarn_otlp_dictionary *dictionary)
{
    static const enum table empty[] = {MAPPINGS, LOCATIONS, FUNCTIONS, LINKS, ATTRIBUTES, STACKS};
    for (size_t i = 0; i < YARN_COUNT_OF(empty); i++) {
        yarn_wire_bytes(&dictionary->wire, empty[i], YARN_SPAN_EMPTY);
        dictionary->counts[empty[i]] = 1;
    }
}

int yarn_otlp_dictionary_init(struct yarn_otlp_dictionary *dictionary,
                              const struct yarn_export *export)
{
    struct yarn_table *const tables[] = {&dictionary->functions, &dictionary->locations,
                                         &dictionary->stacks, &dictionary->attributes};
    *dictionary = YARN_OTLP_DICTIONARY_CLOSED;
    dictionary->export = export;
    int err = yarn_strings_init(&dictionary->strings);
    for (size_t i = 0; !err && i < YARN_COUNT_OF(tables); i++)
        err = yarn_table_open(tables[i], 1024, (size_t)1 << 31);
    if (!err)
        err = yarn_export_mappings_init(&dictionary->mappings, export);
    put_zeros(dictionary);
    for (size_t i = 0; !err && i < dictionary->mappings.count; i++)
        err = put_mapping(dictionary, &dictionary->mappings.list[i]);
    return err;
}

void yarn_otlp_dictionary_fini(struct yarn_otlp_dictionary *dictionary)
{
    free(dictionary->list);
    yarn_wire_fini(&dictionary->wire);
    yarn_export_mappings_fini(&dictionary->mappings);
    yarn_table_close(&dictionary->functions);
    yarn_table_close(&dictionary->locations);
    yarn_table_close(&dictionary->stacks);
    yarn_table_close(&dictionary->attributes);
    yarn_strings_fini(&dictionary->strings);
}

int yarn_otlp_dictionary_finish(struct yarn_otlp_dictionary *dictionary)
{
    for (uint32_t i = 0; i < dictionary->strings.count; i++)
        yarn_wire_text(&dictionary->wire, STRINGS, yarn_strings_text(&dictionary->strings, i));
    return dictionary->wire.err;
}
