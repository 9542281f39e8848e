/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "output/base/array.h"
#include "output/export/mappings.h"
#include "output/export/samples.h"
#include "output/export/wire.h"
#include "output/text/legible.h"

/*
 * A ProfilesData message of OpenTelemetry's profiles, v1development, by its field numbers: a
 * resource a process image, in it a profile an event, and one dictionary of what they refer to,
 * whose tables each begin with an empty item. Addresses are linked ones, as are those of mappings.
 */

enum { /* ProfilesData; an export request is the same */
       DATA_RESOURCE_PROFILES = 1,
       DATA_DICTIONARY = 2,
};
/* ---- what profiles refer to by numbers ---- */

enum table { /* ProfilesDictionary's fields; item 0 of each is empty */
             MAPPINGS = 1,
             LOCATIONS = 2,
             FUNCTIONS = 3,
             LINKS = 4,
             STRINGS = 5,
             ATTRIBUTES = 6,
             STACKS = 7,
             TABLE_COUNT,
};

/* The subject of an attribute of a sample or a mapping. */
enum attribute { THREAD_NAME, THREAD_ID, CPU, BUILD_ID };

struct dictionary {
    const struct yarn_export *export; /* borrowed */
    struct yarn_export_mappings mappings;
    struct yarn_strings strings;
    struct yarn_wire wire;                                      /* the message, its strings last */
    uint32_t counts[TABLE_COUNT];                               /* by the table's field */
    struct yarn_table functions, locations, stacks, attributes; /* keys to indices */
    uint64_t *list; /* owned array: the locations of one stack */
    size_t list_capacity;
};

#define DICTIONARY_CLOSED                                                                          \
    ((struct dictionary){.functions = YARN_TABLE_CLOSED,                                           \
                         .locations = YARN_TABLE_CLOSED,                                           \
                         .stacks = YARN_TABLE_CLOSED,                                              \
                         .attributes = YARN_TABLE_CLOSED})

enum { LINES_MAX = 64 };

static const char *const attribute_names[] = {
    [THREAD_NAME] = "thread.name",
    [THREAD_ID] = "thread.id",
    [CPU] = "cpu.logical_number",
    [BUILD_ID] = "process.executable.build_id.gnu",
};

static void note(struct dictionary *dictionary, int err)
{
    dictionary->wire.err = dictionary->wire.err ? dictionary->wire.err : err;
}

static uint64_t number_of(struct dictionary *dictionary, const char *text)
{
    uint32_t number = 0;
    note(dictionary, yarn_strings_intern(&dictionary->strings, yarn_span_of_text(text), &number));
    return number;
}

/* Opens the next item of a table, which gets *ret_index under `key` in `index`. */
static size_t begin_item(struct dictionary *dictionary, enum table table, struct yarn_table *index,
                         uint64_t key, uint64_t *ret_index)
{
    *ret_index = dictionary->counts[table]++;
    note(dictionary, yarn_table_put(index, key, (uint32_t)*ret_index));
    return yarn_wire_begin(&dictionary->wire, table);
}

static void put_value(struct yarn_wire *wire, uint32_t field, const char *text, uint64_t number)
{
    enum { STRING_VALUE = 1, INT_VALUE = 3 };
    size_t begin = yarn_wire_begin(wire, field);
    if (text)
        yarn_wire_text(wire, STRING_VALUE, text);
    else
        yarn_wire_set_u64(wire, INT_VALUE, number);
    yarn_wire_end(wire, begin);
}

static uint64_t attribute_of(struct dictionary *dictionary, enum attribute attribute,
                             const char *text, uint64_t number)
{
    enum { KEY = 1, VALUE = 2 };
    uint64_t name = number_of(dictionary, attribute_names[attribute]);
    if (text)
        number = number_of(dictionary, text);
    uint64_t key = number << 2 | attribute, index = yarn_table_find(&dictionary->attributes, key);
    if (index != YARN_TABLE_NONE)
        return index;
    size_t begin = begin_item(dictionary, ATTRIBUTES, &dictionary->attributes, key, &index);
    yarn_wire_u64(&dictionary->wire, KEY, name);
    put_value(&dictionary->wire, VALUE, text, number);
    yarn_wire_end(&dictionary->wire, begin);
    return index;
}

static void put_mapping(struct dictionary *dictionary, const struct yarn_export_mapping *mapping)
{
    enum { START = 1, LIMIT = 2, OFFSET = 3, FILENAME = 4, ITS_ATTRIBUTES = 5 };
    const struct yarn_profile *profile = dictionary->export->profile;
    struct yarn_wire *wire = &dictionary->wire;
    char build_id[2 * 64 + 1];
    uint64_t attribute = 0,
             name = number_of(dictionary,
                              yarn_profile_text(profile, profile->modules[mapping->module].path));
    if (mapping->build_id.size)
        attribute = attribute_of(dictionary, BUILD_ID,
                                 yarn_hex_text(mapping->build_id, build_id, sizeof build_id), 0);
    size_t begin = yarn_wire_begin(wire, MAPPINGS);
    yarn_wire_u64(wire, START, mapping->start);
    yarn_wire_u64(wire, LIMIT, mapping->end);
    yarn_wire_u64(wire, OFFSET, mapping->file_offset);
    yarn_wire_u64(wire, FILENAME, name);
    yarn_wire_packed(wire, ITS_ATTRIBUTES, &attribute, mapping->build_id.size ? 1 : 0);
    yarn_wire_end(wire, begin);
}

static uint64_t function_of(struct dictionary *dictionary, const char *name, const char *file)
{
    enum { NAME = 1, FILENAME = 3 };
    uint64_t name_number = number_of(dictionary, name), file_number = number_of(dictionary, file);
    uint64_t key = name_number << 32 | file_number;
    uint64_t index = yarn_table_find(&dictionary->functions, key);
    if (index != YARN_TABLE_NONE)
        return index;
    size_t begin = begin_item(dictionary, FUNCTIONS, &dictionary->functions, key, &index);
    yarn_wire_u64(&dictionary->wire, NAME, name_number);
    yarn_wire_u64(&dictionary->wire, FILENAME, file_number);
    yarn_wire_end(&dictionary->wire, begin);
    return index;
}

struct location {
    uint64_t mapping, address;
    uint64_t functions[LINES_MAX], lines[LINES_MAX];
    size_t nr_lines;
};

static uint64_t put_location(struct dictionary *dictionary, uint64_t key,
                             const struct location *location)
{
    enum { MAPPING = 1, ADDRESS = 2, LINES = 3, LINE_FUNCTION = 1, LINE_NUMBER = 2 };
    struct yarn_wire *wire = &dictionary->wire;
    uint64_t index;
    size_t begin = begin_item(dictionary, LOCATIONS, &dictionary->locations, key, &index);
    yarn_wire_u64(wire, MAPPING, location->mapping);
    yarn_wire_u64(wire, ADDRESS, location->address);
    for (size_t i = 0; i < location->nr_lines; i++) {
        size_t line = yarn_wire_begin(wire, LINES);
        yarn_wire_u64(wire, LINE_FUNCTION, location->functions[i]);
        yarn_wire_u64(wire, LINE_NUMBER, location->lines[i]);
        yarn_wire_end(wire, line);
    }
    yarn_wire_end(wire, begin);
    return index;
}

/* The frame and, before it, what is inlined there: the innermost first. */
static uint64_t location_of(struct dictionary *dictionary, uint32_t number)
{
    const struct yarn_profile *profile = dictionary->export->profile;
    const struct yarn_profile_frame *frame = &profile->frames[number];
    struct location location = {.address = frame->address};
    uint32_t index = yarn_table_find(&dictionary->locations, number);
    if (index != YARN_TABLE_NONE)
        return index;
    if (dictionary->mappings.homes[number].mapping != YARN_DUMP_NONE)
        location.mapping = (uint64_t)dictionary->mappings.homes[number].mapping + 1;
    location.nr_lines = yarn_size_min((size_t)frame->nr_inlined + 1, LINES_MAX);
    for (size_t i = 0; i < location.nr_lines; i++) {
        const struct yarn_profile_frame *part = frame + (location.nr_lines - 1 - i);
        location.lines[i] = part->line;
        location.functions[i] = function_of(
            dictionary, yarn_profile_text(profile, profile->functions[part->function].name),
            yarn_profile_text(profile, part->file));
    }
    return put_location(dictionary, number, &location);
}

/* The location of a function that stands for what is missing; its key is behind those of frames. */
static uint64_t location_of_root(struct dictionary *dictionary, uint32_t root)
{
    const struct yarn_profile *profile = dictionary->export->profile;
    struct location location = {.nr_lines = 1};
    uint64_t key = profile->nr_frames + root;
    uint32_t index = yarn_table_find(&dictionary->locations, key);
    if (index != YARN_TABLE_NONE)
        return index;
    const char *name = root == YARN_EXPORT_KERNEL_ROOT
                           ? "[kernel]"
                           : yarn_profile_text(profile, profile->functions[root].name);
    location.functions[0] = function_of(dictionary, name, "");
    return put_location(dictionary, key, &location);
}

static void add_location(struct dictionary *dictionary, size_t *count, uint64_t index)
{
    if (YARN_ARRAY_RESERVE(&dictionary->list, &dictionary->list_capacity, *count + 1))
        note(dictionary, -ENOMEM);
    else
        dictionary->list[(*count)++] = index;
}

/* Gives how many. */
static size_t list_locations(struct dictionary *dictionary, const struct yarn_export_sample *sample)
{
    const struct yarn_profile *profile = dictionary->export->profile;
    size_t count = 0;
    for (uint32_t stack = sample->stack; stack != YARN_DUMP_NONE;
         stack = profile->stacks[stack].parent) {
        uint32_t frame = profile->stacks[stack].frame;
        if (!profile->functions[profile->frames[frame].function].is_inlined)
            add_location(dictionary, &count, location_of(dictionary, frame));
    }
    if (sample->root != YARN_DUMP_NONE)
        add_location(dictionary, &count, location_of_root(dictionary, sample->root));
    return count;
}

static uint64_t stack_of(struct dictionary *dictionary, const struct yarn_export_sample *sample)
{
    enum { ITS_LOCATIONS = 1 };
    uint64_t key = (uint64_t)sample->stack << 32 | sample->root;
    uint64_t index = yarn_table_find(&dictionary->stacks, key);
    if (index != YARN_TABLE_NONE)
        return index;
    size_t count = list_locations(dictionary, sample);
    size_t begin = begin_item(dictionary, STACKS, &dictionary->stacks, key, &index);
    yarn_wire_packed(&dictionary->wire, ITS_LOCATIONS, dictionary->list, count);
    yarn_wire_end(&dictionary->wire, begin);
    return index;
}

/* Index 0 of each table is for what is not set. */
static void put_zeros(struct dictionary *dictionary)
{
    static const enum table empty[] = {MAPPINGS, LOCATIONS, FUNCTIONS, LINKS, ATTRIBUTES, STACKS};
    for (size_t i = 0; i < YARN_COUNT_OF(empty); i++) {
        yarn_wire_bytes(&dictionary->wire, empty[i], YARN_SPAN_EMPTY);
        dictionary->counts[empty[i]] = 1;
    }
}

static int dictionary_init(struct dictionary *dictionary, const struct yarn_export *export)
{
    struct yarn_table *const tables[] = {&dictionary->functions, &dictionary->locations,
                                         &dictionary->stacks, &dictionary->attributes};
    *dictionary = DICTIONARY_CLOSED;
    dictionary->export = export;
    int err = yarn_strings_init(&dictionary->strings);
    for (size_t i = 0; !err && i < YARN_COUNT_OF(tables); i++)
        err = yarn_table_open(tables[i], 1024, (size_t)1 << 31);
    if (!err)
        err = yarn_export_mappings_init(&dictionary->mappings, export);
    put_zeros(dictionary);
    for (size_t i = 0; !err && i < dictionary->mappings.count; i++)
        put_mapping(dictionary, &dictionary->mappings.list[i]);
    return err ? err : dictionary->wire.err;
}

static void dictionary_fini(struct dictionary *dictionary)
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

static int dictionary_finish(struct dictionary *dictionary)
{
    for (uint32_t i = 0; i < dictionary->strings.count; i++)
        yarn_wire_text(&dictionary->wire, STRINGS, yarn_strings_text(&dictionary->strings, i));
    return dictionary->wire.err;
}

/* ---- profiles ---- */

struct otlp {
    struct yarn_export *export;
    struct dictionary dictionary;
    struct yarn_wire *samples; /* owned; of each event of each dump, as they stand in a profile */
};

static int add_sample(struct otlp *otlp, const struct yarn_export_sample *sample)
{
    enum { PROFILE_SAMPLES = 2, STACK = 1, ITS_ATTRIBUTES = 2, VALUES = 4 };
    const struct yarn_profile *profile = otlp->export->profile;
    struct yarn_wire *wire = &otlp->samples[sample->dump * profile->nr_events + sample->event];
    struct dictionary *dictionary = &otlp->dictionary;
    uint64_t attributes[3], stack = stack_of(dictionary, sample);
    size_t count = 0;
    attributes[count++] =
        attribute_of(dictionary, THREAD_NAME, yarn_profile_text(profile, sample->comm), 0);
    if (sample->thread != YARN_DUMP_NONE)
        attributes[count++] =
            attribute_of(dictionary, THREAD_ID, NULL, profile->threads[sample->thread].tid);
    if (sample->cpu != UINT16_MAX)
        attributes[count++] = attribute_of(dictionary, CPU, NULL, sample->cpu);
    size_t begin = yarn_wire_begin(wire, PROFILE_SAMPLES);
    yarn_wire_u64(wire, STACK, stack);
    yarn_wire_packed(wire, ITS_ATTRIBUTES, attributes, count);
    yarn_wire_packed(wire, VALUES, &sample->weight, 1);
    yarn_wire_end(wire, begin);
    return wire->err ? wire->err : dictionary->wire.err;
}

static int add_kernel(struct otlp *otlp)
{
    const struct yarn_profile *profile = otlp->export->profile;
    struct yarn_kernel_time *list;
    size_t count;
    int err = yarn_export_kernel(otlp->export, &list, &count);
    for (size_t i = 0; !err && i < count; i++) {
        struct yarn_export_sample whole = yarn_export_kernel_sample(profile, &list[i]);
        if (otlp->samples[whole.dump * profile->nr_events + whole.event].size)
            err = add_sample(otlp, &whole);
    }
    free(list);
    return err;
}

static int add_samples(struct otlp *otlp)
{
    struct yarn_export_samples samples = YARN_EXPORT_SAMPLES(otlp->export);
    struct yarn_export_sample sample;
    int err = 0;
    while (!err && yarn_export_next(&samples, &sample))
        err = add_sample(otlp, &sample);
    return err ? err : add_kernel(otlp);
}

static void put_type(struct yarn_wire *wire, uint32_t field, uint64_t type, uint64_t unit)
{
    enum { TYPE = 1, UNIT = 2 };
    size_t begin = yarn_wire_begin(wire, field);
    yarn_wire_u64(wire, TYPE, type);
    yarn_wire_u64(wire, UNIT, unit);
    yarn_wire_end(wire, begin);
}

static int put_profile(struct otlp *otlp, struct yarn_wire *wire, uint32_t dump, uint32_t number)
{
    enum {
        SCOPE_PROFILES = 2,
        SAMPLE_TYPE = 1,
        TIME = 3,
        DURATION = 4,
        PERIOD_TYPE = 5,
        PERIOD = 6
    };
    const struct yarn_profile *profile = otlp->export->profile;
    const struct yarn_profile_event *event = &profile->events[number];
    const struct yarn_profile_dump *its = &profile->dumps[dump];
    struct yarn_wire *samples = &otlp->samples[dump * profile->nr_events + number];
    const char *unit = yarn_profile_text(profile, event->unit);
    if (!samples->size)
        return 0;
    uint64_t type = number_of(&otlp->dictionary, yarn_profile_text(profile, event->name));
    uint64_t unit_number =
        number_of(&otlp->dictionary, strcmp(unit, "ns") == 0 ? "nanoseconds" : unit);
    size_t begin = yarn_wire_begin(wire, SCOPE_PROFILES);
    put_type(wire, SAMPLE_TYPE, type, unit_number);
    yarn_wire_fixed64(wire, TIME, its->process.start_realtime_ns);
    yarn_wire_u64(wire, DURATION, yarn_u64_minus(its->last_ns, its->process.start_ns));
    put_type(wire, PERIOD_TYPE, type, unit_number);
    yarn_wire_u64(wire, PERIOD, event->period);
    yarn_wire_fields(wire, yarn_wire_span(samples));
    yarn_wire_end(wire, begin);
    yarn_wire_fini(samples);
    return wire->err;
}

static void put_resource_text(struct yarn_wire *wire, const char *name, const char *text,
                              uint64_t number)
{
    enum { ITS_ATTRIBUTES = 1, KEY = 1, VALUE = 2 };
    size_t begin = yarn_wire_begin(wire, ITS_ATTRIBUTES);
    yarn_wire_text(wire, KEY, name);
    put_value(wire, VALUE, text, number);
    yarn_wire_end(wire, begin);
}

static void put_resource(const struct otlp *otlp, struct yarn_wire *wire,
                         const struct yarn_profile_dump *dump)
{
    enum { RESOURCE = 1 };
    const struct yarn_profile *profile = otlp->export->profile;
    size_t begin = yarn_wire_begin(wire, RESOURCE);
    const char *name = otlp->export->name;
    put_resource_text(wire, "service.name", name ? name : yarn_profile_text(profile, dump->program),
                      0);
    if (dump->process.host.size)
        put_resource_text(wire, "host.name", yarn_profile_text(profile, dump->host), 0);
    put_resource_text(wire, "process.pid", NULL, dump->process.pid);
    put_resource_text(wire, "process.executable.name", yarn_profile_text(profile, dump->comm), 0);
    put_resource_text(wire, "process.command_line", yarn_profile_text(profile, dump->command), 0);
    if (dump->process.rank.size)
        put_resource_text(wire, "rank", yarn_profile_text(profile, dump->rank), 0);
    yarn_wire_end(wire, begin);
}

static bool has_samples(const struct otlp *otlp, size_t dump)
{
    size_t nr_events = otlp->export->profile->nr_events;
    for (size_t i = 0; i < nr_events; i++) {
        if (otlp->samples[dump * nr_events + i].size)
            return true;
    }
    return false;
}

static int write_bytes(struct yarn_export *export, const struct yarn_wire *wire, uint64_t *written)
{
    *written += wire->size;
    if (wire->err)
        return wire->err;
    if (*written > export->most_bytes)
        return -EFBIG;
    return fwrite(wire->bytes, 1, wire->size, export->file) == wire->size ? 0
           : errno                                                        ? -errno
                                                                          : -EIO;
}

static int write_process(struct otlp *otlp, uint32_t dump, uint64_t *written)
{
    enum { SCOPES = 2, SCOPE = 1, SCOPE_NAME = 1, SCOPE_VERSION = 2 };
    const struct yarn_profile *profile = otlp->export->profile;
    struct yarn_wire wire = YARN_WIRE_EMPTY;
    size_t whole = yarn_wire_begin(&wire, DATA_RESOURCE_PROFILES);
    put_resource(otlp, &wire, &profile->dumps[dump]);
    size_t scopes = yarn_wire_begin(&wire, SCOPES), scope = yarn_wire_begin(&wire, SCOPE);
    yarn_wire_text(&wire, SCOPE_NAME, "yarn");
    yarn_wire_text(&wire, SCOPE_VERSION, otlp->export->version);
    yarn_wire_end(&wire, scope);
    int err = 0;
    for (uint32_t i = 0; !err && i < profile->nr_events; i++)
        err = put_profile(otlp, &wire, dump, i);
    yarn_wire_end(&wire, scopes);
    yarn_wire_end(&wire, whole);
    if (!err)
        err = write_bytes(otlp->export, &wire, written);
    yarn_wire_fini(&wire);
    return err;
}

static int write_dictionary(struct otlp *otlp, uint64_t *written)
{
    struct yarn_wire wire = YARN_WIRE_EMPTY;
    int err = dictionary_finish(&otlp->dictionary);
    if (!err) {
        yarn_wire_bytes(&wire, DATA_DICTIONARY, yarn_wire_span(&otlp->dictionary.wire));
        err = write_bytes(otlp->export, &wire, written);
    }
    yarn_wire_fini(&wire);
    return err;
}

int yarn_export_otlp(struct yarn_export *export)
{
    const struct yarn_profile *profile = export->profile;
    size_t nr_profiles = profile->nr_dumps * profile->nr_events;
    struct otlp otlp = {
        .export = export,
        .samples = calloc(nr_profiles + 1, sizeof *otlp.samples),
    };
    uint64_t written = 0;
    int err = dictionary_init(&otlp.dictionary, export);
    if (!err)
        err = otlp.samples ? add_samples(&otlp) : -ENOMEM;
    for (uint32_t i = 0; !err && i < profile->nr_dumps; i++) {
        if (has_samples(&otlp, i))
            err = write_process(&otlp, i, &written);
    }
    if (!err)
        err = write_dictionary(&otlp, &written);
    for (size_t i = 0; otlp.samples && i < nr_profiles; i++)
        yarn_wire_fini(&otlp.samples[i]);
    free(otlp.samples);
    dictionary_fini(&otlp.dictionary);
    return err;
}
