/* SPDX-License-Identifier: Apache-2.0 */
#include "output/export/firefox_tables.h"
#include "output/text/legible.h"

/* A value of the n-th row of a column. */
typedef int column_fn(struct yarn_firefox_tables *tables, size_t n, int64_t *ret_value);

/* None: other values below -1 are unsigned addresses. */
#define NO_VALUE INT64_MIN          /* null */
#define FALSE_VALUE (INT64_MIN + 1) /* false */

struct column {
    const char *key;
    column_fn *value; /* NULL: nulls */
};

static int put_column(struct yarn_firefox_tables *tables, struct yarn_json *json,
                      const struct column *column, size_t count)
{
    int err = 0;
    yarn_json_begin_array(json, column->key);
    for (size_t i = 0; !err && i < count; i++) {
        int64_t value = NO_VALUE;
        if (column->value)
            err = column->value(tables, i, &value);
        if (value == NO_VALUE)
            yarn_json_null(json, NULL);
        else if (value == FALSE_VALUE)
            yarn_json_bool(json, NULL, false);
        else if (value < -1)
            yarn_json_u64(json, NULL, (uint64_t)value);
        else
            yarn_json_i64(json, NULL, value);
    }
    yarn_json_end_array(json);
    return err;
}

/* Up to a column without a key. */
static int put_table(struct yarn_firefox_tables *tables, struct yarn_json *json, const char *key,
                     size_t count, const struct column *columns)
{
    int err = 0;
    yarn_json_begin_object(json, key);
    yarn_json_u64(json, "length", count);
    for (; !err && columns->key; columns++)
        err = put_column(tables, json, columns, count);
    yarn_json_end_object(json);
    return err;
}

static int number_in(struct yarn_numbering *numbering, uint32_t thing, int64_t *ret_value)
{
    uint32_t number = 0;
    int err = yarn_numbering_of(numbering, thing, &number);
    *ret_value = number;
    return err;
}

static int string_of(struct yarn_firefox_tables *tables, uint32_t text, int64_t *ret_value)
{
    uint32_t string = 0;
    int err =
        yarn_firefox_string(tables, yarn_profile_text(tables->export->profile, text), &string);
    *ret_value = string;
    return err;
}

static int zero(struct yarn_firefox_tables *tables, size_t n, int64_t *ret_value)
{
    (void)tables;
    (void)n;
    *ret_value = 0;
    return 0;
}

static int false_value(struct yarn_firefox_tables *tables, size_t n, int64_t *ret_value)
{
    (void)tables;
    (void)n;
    *ret_value = FALSE_VALUE;
    return 0;
}

static int stack_prefix(struct yarn_firefox_tables *tables, size_t n, int64_t *ret_value)
{
    uint32_t prefix = yarn_firefox_node_of(tables, tables->stacks.things[n]).prefix;
    if (prefix != YARN_DUMP_NONE)
        *ret_value = (int64_t)tables->stacks.numbers[prefix] - 1;
    return 0;
}

static int stack_frame(struct yarn_firefox_tables *tables, size_t n, int64_t *ret_value)
{
    return number_in(&tables->frames, yarn_firefox_node_of(tables, tables->stacks.things[n]).frame,
                     ret_value);
}

static const struct column stack_columns[] = {
    {"prefix", stack_prefix}, {"frame", stack_frame}, {NULL, NULL}};

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

static int frame_address(struct yarn_firefox_tables *tables, size_t n, int64_t *ret_value)
{
    uint32_t outer;
    const struct yarn_profile_frame *frame = frame_of(tables, n, &outer);
    bool is_mapped = frame && tables->mappings.homes[outer].mapping != YARN_DUMP_NONE;
    *ret_value = is_mapped ? (int64_t)frame->address : -1;
    return 0;
}

static int frame_depth(struct yarn_firefox_tables *tables, size_t n, int64_t *ret_value)
{
    uint32_t outer;
    *ret_value = frame_of(tables, n, &outer) ? tables->frames.things[n] - outer : 0;
    return 0;
}

static int frame_category(struct yarn_firefox_tables *tables, size_t n, int64_t *ret_value)
{
    uint32_t outer;
    const struct yarn_profile_frame *frame = frame_of(tables, n, &outer);
    *ret_value = !frame                                  ? YARN_FIREFOX_MISSING
                 : frame->flags & YARN_DUMP_FRAME_KERNEL ? YARN_FIREFOX_KERNEL
                                                         : YARN_FIREFOX_USER;
    return 0;
}

static int frame_function(struct yarn_firefox_tables *tables, size_t n, int64_t *ret_value)
{
    uint32_t outer;
    const struct yarn_profile_frame *frame = frame_of(tables, n, &outer);
    return number_in(&tables->functions,
                     frame
                         ? frame->function
                         : tables->frames.things[n] - (uint32_t)tables->export->profile->nr_frames,
                     ret_value);
}

static int frame_symbol(struct yarn_firefox_tables *tables, size_t n, int64_t *ret_value)
{
    uint32_t outer;
    if (!frame_of(tables, n, &outer) || tables->mappings.homes[outer].mapping == YARN_DUMP_NONE)
        return 0;
    return number_in(&tables->symbols, tables->export->profile->frames[outer].function, ret_value);
}

static int frame_line(struct yarn_firefox_tables *tables, size_t n, int64_t *ret_value)
{
    uint32_t outer;
    const struct yarn_profile_frame *frame = frame_of(tables, n, &outer);
    if (frame && frame->line)
        *ret_value = frame->line;
    return 0;
}

static const struct column frame_columns[] = {
    {"address", frame_address},
    {"inlineDepth", frame_depth},
    {"category", frame_category},
    {"subcategory", zero},
    {"func", frame_function},
    {"nativeSymbol", frame_symbol},
    {"innerWindowID", NULL},
    {"line", frame_line},
    {"column", NULL},
    {NULL, NULL},
};

static const struct yarn_profile_function *function_at(const struct yarn_firefox_tables *tables,
                                                       const struct yarn_numbering *numbering,
                                                       size_t n)
{
    return &tables->export->profile->functions[numbering->things[n]];
}

static int function_name(struct yarn_firefox_tables *tables, size_t n, int64_t *ret_value)
{
    return string_of(tables, function_at(tables, &tables->functions, n)->name, ret_value);
}

static int function_resource(struct yarn_firefox_tables *tables, size_t n, int64_t *ret_value)
{
    uint32_t module = function_at(tables, &tables->functions, n)->module;
    *ret_value = -1;
    return module ? number_in(&tables->resources, module, ret_value) : 0;
}

static int function_source(struct yarn_firefox_tables *tables, size_t n, int64_t *ret_value)
{
    uint32_t file = tables->files[tables->functions.things[n]];
    return file ? number_in(&tables->sources, file, ret_value) : 0;
}

static const struct column function_columns[] = {
    {"name", function_name},        {"isJS", false_value},
    {"relevantForJS", false_value}, {"resource", function_resource},
    {"source", function_source},    {"lineNumber", NULL},
    {"columnNumber", NULL},         {NULL, NULL},
};

static int symbol_lib(struct yarn_firefox_tables *tables, size_t n, int64_t *ret_value)
{
    return number_in(&tables->libs, function_at(tables, &tables->symbols, n)->module, ret_value);
}

static int symbol_address(struct yarn_firefox_tables *tables, size_t n, int64_t *ret_value)
{
    uint32_t frame = tables->symbol_frames[tables->symbols.things[n]];
    *ret_value = (int64_t)tables->export->profile->frames[frame].start;
    return 0;
}

static int symbol_name(struct yarn_firefox_tables *tables, size_t n, int64_t *ret_value)
{
    return string_of(tables, function_at(tables, &tables->symbols, n)->name, ret_value);
}

static const struct column symbol_columns[] = {
    {"libIndex", symbol_lib},
    {"address", symbol_address},
    {"name", symbol_name},
    {"functionSize", NULL},
    {NULL, NULL},
};

static int resource_lib(struct yarn_firefox_tables *tables, size_t n, int64_t *ret_value)
{
    return number_in(&tables->libs, tables->resources.things[n], ret_value);
}

static int resource_name(struct yarn_firefox_tables *tables, size_t n, int64_t *ret_value)
{
    return string_of(tables, tables->export->profile->modules[tables->resources.things[n]].base,
                     ret_value);
}

static int resource_type(struct yarn_firefox_tables *tables, size_t n, int64_t *ret_value)
{
    enum { IS_LIBRARY = 1 };
    (void)tables;
    (void)n;
    *ret_value = IS_LIBRARY;
    return 0;
}

static const struct column resource_columns[] = {
    {"lib", resource_lib}, {"name", resource_name}, {"host", NULL}, {"type", resource_type},
    {NULL, NULL},
};

int yarn_firefox_put_thread(struct yarn_firefox_tables *tables, struct yarn_json *json)
{
    const struct {
        const char *key;
        const size_t *count; /* grows with the tables before it */
        const struct column *columns;
    } all[] = {
        {"stackTable", &tables->stacks.count, stack_columns},
        {"frameTable", &tables->frames.count, frame_columns},
        {"funcTable", &tables->functions.count, function_columns},
        {"nativeSymbols", &tables->symbols.count, symbol_columns},
        {"resourceTable", &tables->resources.count, resource_columns},
    };
    int err = 0;
    for (size_t i = 0; !err && i < YARN_COUNT_OF(all); i++)
        err = put_table(tables, json, all[i].key, *all[i].count, all[i].columns);
    yarn_firefox_clear_thread(tables);
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
                           yarn_hex_text(mapping.build_id, code_id, sizeof code_id));
    yarn_json_end_object(json);
}

static int source_name(struct yarn_firefox_tables *tables, size_t n, int64_t *ret_value)
{
    return string_of(tables, tables->sources.things[n], ret_value);
}

static const struct column source_columns[] = {
    {"uuid", NULL}, {"filename", source_name}, {NULL, NULL}};

int yarn_firefox_put_shared(struct yarn_firefox_tables *tables, struct yarn_json *json)
{
    yarn_json_begin_array(json, "libs");
    for (size_t i = 0; i < tables->libs.count; i++)
        put_lib(tables, json, tables->libs.things[i]);
    yarn_json_end_array(json);
    yarn_json_begin_object(json, "shared");
    int err = put_table(tables, json, "sources", tables->sources.count, source_columns);
    yarn_json_begin_array(json, "stringArray");
    for (uint32_t i = 0; i < tables->strings.count; i++)
        yarn_json_text(json, NULL, yarn_strings_text(&tables->strings, i));
    yarn_json_end_array(json);
    yarn_json_end_object(json);
    return err;
}
