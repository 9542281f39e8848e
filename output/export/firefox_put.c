/* SPDX-License-Identifier: Apache-2.0 */
#include "output/export/firefox_tables.h"

static void put_number_or_null(struct yarn_json *json, uint32_t number)
{
    if (number == YARN_DUMP_NONE)
        yarn_json_null(json, NULL);
    else
        yarn_json_u64(json, NULL, number);
}

static void put_nulls(struct yarn_json *json, const char *key, size_t count)
{
    yarn_json_begin_array(json, key);
    for (size_t i = 0; i < count; i++)
        yarn_json_null(json, NULL);
    yarn_json_end_array(json);
}

static void put_zeros(struct yarn_json *json, const char *key, size_t count)
{
    yarn_json_begin_array(json, key);
    for (size_t i = 0; i < count; i++)
        yarn_json_u64(json, NULL, 0);
    yarn_json_end_array(json);
}

static void put_falses(struct yarn_json *json, const char *key, size_t count)
{
    yarn_json_begin_array(json, key);
    for (size_t i = 0; i < count; i++)
        yarn_json_bool(json, NULL, false);
    yarn_json_end_array(json);
}

static int put_stacks(struct yarn_firefox_tables *tables, struct yarn_json *json)
{
    size_t count = tables->stacks.count;
    int err = 0;
    yarn_json_begin_object(json, "stackTable");
    yarn_json_u64(json, "length", count);
    yarn_json_begin_array(json, "prefix");
    for (size_t i = 0; i < count; i++) {
        uint32_t prefix = yarn_firefox_node_of(tables, tables->stacks.things[i]).prefix;
        put_number_or_null(json, prefix == YARN_DUMP_NONE ? YARN_DUMP_NONE
                                                          : tables->stacks.numbers[prefix] - 1);
    }
    yarn_json_end_array(json);
    yarn_json_begin_array(json, "frame");
    for (size_t i = 0; !err && i < count; i++) {
        uint32_t number = 0;
        err = yarn_numbering_of(
            &tables->frames, yarn_firefox_node_of(tables, tables->stacks.things[i]).frame, &number);
        yarn_json_u64(json, NULL, number);
    }
    yarn_json_end_array(json);
    yarn_json_end_object(json);
    return err;
}

static const struct yarn_profile_frame *frame_of(const struct yarn_firefox_tables *tables,
                                                 size_t number, uint32_t *ret_outer)
{
    const struct yarn_profile *profile = tables->export->profile;
    uint32_t frame = tables->frames.things[number];
    if (frame >= profile->nr_frames)
        return NULL;
    *ret_outer = tables->outer[frame];
    return &profile->frames[frame];
}

static uint32_t function_of(const struct yarn_firefox_tables *tables, size_t number)
{
    uint32_t outer;
    const struct yarn_profile_frame *frame = frame_of(tables, number, &outer);
    return frame ? frame->function
                 : tables->frames.things[number] - (uint32_t)tables->export->profile->nr_frames;
}

static void put_addresses(const struct yarn_firefox_tables *tables, struct yarn_json *json)
{
    yarn_json_begin_array(json, "address");
    for (size_t i = 0; i < tables->frames.count; i++) {
        uint32_t outer;
        const struct yarn_profile_frame *frame = frame_of(tables, i, &outer);
        if (frame && tables->mappings.homes[outer].mapping != YARN_DUMP_NONE)
            yarn_json_u64(json, NULL, frame->address);
        else
            yarn_json_i64(json, NULL, -1);
    }
    yarn_json_end_array(json);
    yarn_json_begin_array(json, "inlineDepth");
    for (size_t i = 0; i < tables->frames.count; i++) {
        uint32_t outer;
        bool is_real = frame_of(tables, i, &outer);
        yarn_json_u64(json, NULL, is_real ? tables->frames.things[i] - outer : 0);
    }
    yarn_json_end_array(json);
}

static void put_categories(const struct yarn_firefox_tables *tables, struct yarn_json *json)
{
    yarn_json_begin_array(json, "category");
    for (size_t i = 0; i < tables->frames.count; i++) {
        uint32_t outer;
        const struct yarn_profile_frame *frame = frame_of(tables, i, &outer);
        yarn_json_u64(json, NULL,
                      !frame                                  ? YARN_FIREFOX_MISSING
                      : frame->flags & YARN_DUMP_FRAME_KERNEL ? YARN_FIREFOX_KERNEL
                                                              : YARN_FIREFOX_USER);
    }
    yarn_json_end_array(json);
    put_zeros(json, "subcategory", tables->frames.count);
}

static int put_frame_functions(struct yarn_firefox_tables *tables, struct yarn_json *json)
{
    int err = 0;
    yarn_json_begin_array(json, "func");
    for (size_t i = 0; !err && i < tables->frames.count; i++) {
        uint32_t number = 0;
        err = yarn_numbering_of(&tables->functions, function_of(tables, i), &number);
        yarn_json_u64(json, NULL, number);
    }
    yarn_json_end_array(json);
    yarn_json_begin_array(json, "nativeSymbol");
    for (size_t i = 0; !err && i < tables->frames.count; i++) {
        uint32_t outer, number = YARN_DUMP_NONE;
        const struct yarn_profile *profile = tables->export->profile;
        if (frame_of(tables, i, &outer) && tables->mappings.homes[outer].mapping != YARN_DUMP_NONE)
            err = yarn_numbering_of(&tables->symbols, profile->frames[outer].function, &number);
        put_number_or_null(json, number);
    }
    yarn_json_end_array(json);
    return err;
}

static int put_frames(struct yarn_firefox_tables *tables, struct yarn_json *json)
{
    size_t count = tables->frames.count;
    yarn_json_begin_object(json, "frameTable");
    yarn_json_u64(json, "length", count);
    put_addresses(tables, json);
    put_categories(tables, json);
    int err = put_frame_functions(tables, json);
    put_nulls(json, "innerWindowID", count);
    yarn_json_begin_array(json, "line");
    for (size_t i = 0; i < count; i++) {
        uint32_t outer;
        const struct yarn_profile_frame *frame = frame_of(tables, i, &outer);
        put_number_or_null(json, frame && frame->line ? frame->line : YARN_DUMP_NONE);
    }
    yarn_json_end_array(json);
    put_nulls(json, "column", count);
    yarn_json_end_object(json);
    return err;
}

static int put_function_names(struct yarn_firefox_tables *tables, struct yarn_json *json)
{
    const struct yarn_profile *profile = tables->export->profile;
    int err = 0;
    yarn_json_begin_array(json, "name");
    for (size_t i = 0; !err && i < tables->functions.count; i++) {
        uint32_t name = profile->functions[tables->functions.things[i]].name, string = 0;
        err = yarn_firefox_string(tables, yarn_profile_text(profile, name), &string);
        yarn_json_u64(json, NULL, string);
    }
    yarn_json_end_array(json);
    return err;
}

static int put_function_homes(struct yarn_firefox_tables *tables, struct yarn_json *json)
{
    const struct yarn_profile *profile = tables->export->profile;
    int err = 0;
    yarn_json_begin_array(json, "resource");
    for (size_t i = 0; !err && i < tables->functions.count; i++) {
        uint32_t module = profile->functions[tables->functions.things[i]].module, number = 0;
        if (module)
            err = yarn_numbering_of(&tables->resources, module, &number);
        yarn_json_i64(json, NULL, module ? (int64_t)number : -1);
    }
    yarn_json_end_array(json);
    yarn_json_begin_array(json, "source");
    for (size_t i = 0; !err && i < tables->functions.count; i++) {
        uint32_t file = tables->files[tables->functions.things[i]], number = YARN_DUMP_NONE;
        if (file)
            err = yarn_numbering_of(&tables->sources, file, &number);
        put_number_or_null(json, number);
    }
    yarn_json_end_array(json);
    return err;
}

static int put_functions(struct yarn_firefox_tables *tables, struct yarn_json *json)
{
    size_t count = tables->functions.count;
    yarn_json_begin_object(json, "funcTable");
    yarn_json_u64(json, "length", count);
    int err = put_function_names(tables, json);
    put_falses(json, "isJS", count);
    put_falses(json, "relevantForJS", count);
    if (!err)
        err = put_function_homes(tables, json);
    put_nulls(json, "lineNumber", count);
    put_nulls(json, "columnNumber", count);
    yarn_json_end_object(json);
    return err;
}

enum { RESOURCE_IS_LIBRARY = 1 };

static int put_resources(struct yarn_firefox_tables *tables, struct yarn_json *json)
{
    const struct yarn_profile *profile = tables->export->profile;
    size_t count = tables->resources.count;
    int err = 0;
    yarn_json_begin_object(json, "resourceTable");
    yarn_json_u64(json, "length", count);
    yarn_json_begin_array(json, "lib");
    for (size_t i = 0; !err && i < count; i++) {
        uint32_t lib = 0;
        err = yarn_numbering_of(&tables->libs, tables->resources.things[i], &lib);
        yarn_json_u64(json, NULL, lib);
    }
    yarn_json_end_array(json);
    yarn_json_begin_array(json, "name");
    for (size_t i = 0; !err && i < count; i++) {
        uint32_t base = profile->modules[tables->resources.things[i]].base, string = 0;
        err = yarn_firefox_string(tables, yarn_profile_text(profile, base), &string);
        yarn_json_u64(json, NULL, string);
    }
    yarn_json_end_array(json);
    put_nulls(json, "host", count);
    yarn_json_begin_array(json, "type");
    for (size_t i = 0; i < count; i++)
        yarn_json_u64(json, NULL, RESOURCE_IS_LIBRARY);
    yarn_json_end_array(json);
    yarn_json_end_object(json);
    return err;
}

static int put_symbols(struct yarn_firefox_tables *tables, struct yarn_json *json)
{
    const struct yarn_profile *profile = tables->export->profile;
    size_t count = tables->symbols.count;
    int err = 0;
    yarn_json_begin_object(json, "nativeSymbols");
    yarn_json_u64(json, "length", count);
    yarn_json_begin_array(json, "libIndex");
    for (size_t i = 0; !err && i < count; i++) {
        uint32_t lib = 0;
        err = yarn_numbering_of(&tables->libs, profile->functions[tables->symbols.things[i]].module,
                                &lib);
        yarn_json_u64(json, NULL, lib);
    }
    yarn_json_end_array(json);
    yarn_json_begin_array(json, "address");
    for (size_t i = 0; i < count; i++)
        yarn_json_u64(json, NULL,
                      profile->frames[tables->symbol_frames[tables->symbols.things[i]]].start);
    yarn_json_end_array(json);
    yarn_json_begin_array(json, "name");
    for (size_t i = 0; !err && i < count; i++) {
        uint32_t name = profile->functions[tables->symbols.things[i]].name, string = 0;
        err = yarn_firefox_string(tables, yarn_profile_text(profile, name), &string);
        yarn_json_u64(json, NULL, string);
    }
    yarn_json_end_array(json);
    put_nulls(json, "functionSize", count);
    yarn_json_end_object(json);
    return err;
}

int yarn_firefox_put_thread(struct yarn_firefox_tables *tables, struct yarn_json *json)
{
    int err = put_stacks(tables, json);
    if (!err)
        err = put_frames(tables, json);
    if (!err)
        err = put_functions(tables, json);
    if (!err)
        err = put_symbols(tables, json);
    if (!err)
        err = put_resources(tables, json);
    yarn_firefox_forget_thread(tables);
    return err;
}

enum { BREAKPAD_ID_BYTES = 16, BREAKPAD_ID_SIZE = 2 * BREAKPAD_ID_BYTES + 2 };

/* The first 16 bytes of the build id as a GUID, whose first three numbers are little-endian, and
 * an age of 0. */
static void print_breakpad_id(struct yarn_span build_id, char ret_text[BREAKPAD_ID_SIZE])
{
    static const uint8_t order[BREAKPAD_ID_BYTES] = {3, 2, 1,  0,  5,  4,  7,  6,
                                                     8, 9, 10, 11, 12, 13, 14, 15};
    static const char digits[] = "0123456789ABCDEF";
    size_t at = 0;
    for (size_t i = 0; build_id.size && i < BREAKPAD_ID_BYTES; i++) {
        uint8_t byte = order[i] < build_id.size ? build_id.data[order[i]] : 0;
        ret_text[at++] = digits[byte >> 4];
        ret_text[at++] = digits[byte & 15];
    }
    if (at)
        ret_text[at++] = '0';
    ret_text[at] = 0;
}

static void put_lib(const struct yarn_firefox_tables *tables, struct yarn_json *json,
                    uint32_t module)
{
    const struct yarn_profile *profile = tables->export->profile;
    const char *path = yarn_profile_text(profile, profile->modules[module].path);
    const char *base = yarn_profile_text(profile, profile->modules[module].base);
    struct yarn_export_mapping mapping = {.module = module};
    char breakpad_id[BREAKPAD_ID_SIZE], code_id[2 * 64 + 1];
    for (size_t i = 0; i < tables->mappings.count && !mapping.build_id.size; i++) {
        if (tables->mappings.list[i].module == module)
            mapping = tables->mappings.list[i];
    }
    print_breakpad_id(mapping.build_id, breakpad_id);
    yarn_json_begin_object(json, NULL);
    yarn_json_span(json, "arch",
                   profile->nr_dumps ? profile->dumps[0].process.arch : YARN_SPAN_EMPTY);
    yarn_json_text(json, "name", base);
    yarn_json_text(json, "path", path);
    yarn_json_text(json, "debugName", base);
    yarn_json_text(json, "debugPath", path);
    yarn_json_text(json, "breakpadId", breakpad_id);
    yarn_json_text_or_null(json, "codeId",
                           yarn_mapping_build_id(&mapping, code_id, sizeof code_id));
    yarn_json_end_object(json);
}

static int put_sources(struct yarn_firefox_tables *tables, struct yarn_json *json)
{
    size_t count = tables->sources.count;
    int err = 0;
    yarn_json_begin_object(json, "sources");
    yarn_json_u64(json, "length", count);
    put_nulls(json, "uuid", count);
    yarn_json_begin_array(json, "filename");
    for (size_t i = 0; !err && i < count; i++) {
        uint32_t string = 0;
        const char *path = yarn_profile_text(tables->export->profile, tables->sources.things[i]);
        err = yarn_firefox_string(tables, path, &string);
        yarn_json_u64(json, NULL, string);
    }
    yarn_json_end_array(json);
    yarn_json_end_object(json);
    return err;
}

int yarn_firefox_put_shared(struct yarn_firefox_tables *tables, struct yarn_json *json)
{
    yarn_json_begin_array(json, "libs");
    for (size_t i = 0; i < tables->libs.count; i++)
        put_lib(tables, json, tables->libs.things[i]);
    yarn_json_end_array(json);
    yarn_json_begin_object(json, "shared");
    int err = put_sources(tables, json);
    yarn_json_begin_array(json, "stringArray");
    for (uint32_t i = 0; i < tables->strings.count; i++)
        yarn_json_text(json, NULL, yarn_strings_text(&tables->strings, i));
    yarn_json_end_array(json);
    yarn_json_end_object(json);
    return err;
}
