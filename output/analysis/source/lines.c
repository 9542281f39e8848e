/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/source/lines.h"

#include <dwarf.h>
#include <stdlib.h>

#include "core/base/table.h"
#include "output/analysis/source/bounded.h"
#include "output/analysis/source/code_units.h"
#include "output/analysis/source/die_names.h"
#include "output/base/array.h"

/* Functions in one another at one address: compilers stop long before. */
enum { INLINED_MAX = 256, BLOCKS_MAX = 1024 };

struct module {
    char *path;        /* owned */
    uint8_t *build_id; /* owned */
    size_t build_id_size;
    uint64_t file_bytes; /* 0: unknown */
    bool is_known;       /* `state` and what follows are */
    enum yarn_debuginfo_state state;
    struct yarn_debuginfo *debuginfo; /* owned; NULL: none */
    uint64_t bytes_left;              /* that libdw may take for it */
    struct yarn_code_units units;
    struct yarn_die_names names;
    struct yarn_table chains; /* address to number in `chains` of the lines */
};

struct chain {
    size_t first, count;
};

/* Each pointer but `folders` is an owned array; its count and its capacity follow. */
struct yarn_lines {
    char *folders; /* owned; NULL: the usual */
    struct module *modules;
    size_t nr_modules, modules_capacity;
    struct chain *chains;
    size_t nr_chains, chains_capacity;
    struct yarn_line *lines;
    size_t nr_lines, lines_capacity;
};

struct yarn_lines *yarn_lines_new(const char *folders)
{
    struct yarn_lines *lines = calloc(1, sizeof *lines);
    if (lines && folders) {
        lines->folders = strdup(folders);
        if (!lines->folders) {
            free(lines);
            return NULL;
        }
    }
    return lines;
}

void yarn_lines_free(struct yarn_lines *lines)
{
    if (!lines)
        return;
    for (size_t i = 0; i < lines->nr_modules; i++) {
        struct module *module = &lines->modules[i];
        yarn_die_names_fini(&module->names);
        yarn_code_units_fini(&module->units);
        yarn_debuginfo_close(module->debuginfo);
        yarn_table_close(&module->chains);
        free(module->path);
        free(module->build_id);
    }
    free(lines->modules);
    free(lines->chains);
    free(lines->lines);
    free(lines->folders);
    free(lines);
}

static int add_module(struct yarn_lines *lines, const char *path, struct yarn_span build_id,
                      uint64_t file_bytes)
{
    if (YARN_ARRAY_RESERVE(&lines->modules, &lines->modules_capacity, lines->nr_modules + 1))
        return -ENOMEM;
    struct module module = {
        .path = strdup(path),
        .build_id = malloc(build_id.size + 1),
        .build_id_size = build_id.size,
        .file_bytes = file_bytes,
        .names = YARN_CODE_NAMES_EMPTY,
        .chains = YARN_TABLE_CLOSED,
    };
    if (!module.path || !module.build_id) {
        free(module.path);
        free(module.build_id);
        return -ENOMEM;
    }
    if (build_id.size)
        memcpy(module.build_id, build_id.data, build_id.size);
    lines->modules[lines->nr_modules++] = module;
    return 0;
}

int yarn_lines_module(struct yarn_lines *lines, const char *path, struct yarn_span build_id,
                      uint64_t file_bytes, uint32_t *ret_module)
{
    size_t i = 0;
    for (; i < lines->nr_modules; i++) {
        const struct module *module = &lines->modules[i];
        if (yarn_span_equal(build_id, yarn_span_of(module->build_id, module->build_id_size)) &&
            (build_id.size || module->file_bytes == file_bytes) && strcmp(module->path, path) == 0)
            break;
    }
    int err = i == lines->nr_modules ? add_module(lines, path, build_id, file_bytes) : 0;
    if (!err)
        *ret_module = (uint32_t)i;
    return err;
}

static int list_units(void *context)
{
    struct module *module = context;
    return yarn_code_units_init(&module->units, yarn_debuginfo_dwarf(module->debuginfo));
}

static int know(struct module *module, const char *folders)
{
    struct yarn_span build_id = yarn_span_of(module->build_id, module->build_id_size);
    int err = yarn_debuginfo_open(module->path, build_id, module->file_bytes, folders,
                                  &module->state, &module->debuginfo);
    if (err)
        return err;
    module->is_known = true;
    if (!module->debuginfo)
        return 0;
    module->bytes_left = YARN_MIB(24) + 20 * yarn_debuginfo_file_bytes(module->debuginfo);
    err = yarn_bounded_call(&module->bytes_left, list_units, module);
    if (err == -E2BIG) {
        module->state = YARN_DEBUGINFO_TOO_LARGE;
        return 0;
    }
    return err ? err : yarn_table_open(&module->chains, 64, (size_t)1 << 31);
}

static int add_line(struct yarn_lines *lines, const struct yarn_line *line)
{
    return YARN_ARRAY_PUT(&lines->lines, &lines->nr_lines, &lines->lines_capacity, line);
}

static uint32_t number_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value;
    if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &value) ||
        value > UINT32_MAX)
        return 0;
    return (uint32_t)value;
}

/* Compilers that were given a relative path store it so, beside the folder that they ran in. */
static const char *folder_of(Dwarf_Die *unit, const char *file)
{
    Dwarf_Attribute attribute;
    if (!file || *file == '/' || !dwarf_attr(unit, DW_AT_comp_dir, &attribute))
        return NULL;
    const char *folder = dwarf_formstring(&attribute);
    return folder && *folder == '/' ? folder : NULL;
}

/* Where the line table places the address. */
static void place_by_table(Dwarf_Die *unit, uint64_t address, struct yarn_line *ret_line)
{
    int number = 0, column = 0;
    Dwarf_Line *line = dwarf_getsrc_die(unit, address);
    if (!line || dwarf_lineno(line, &number) || number <= 0)
        return;
    (void)dwarf_linecol(line, &column);
    ret_line->file = dwarf_linesrc(line, NULL, NULL);
    ret_line->folder = folder_of(unit, ret_line->file);
    ret_line->line = ret_line->file ? (uint32_t)number : 0;
    ret_line->column = column > 0 && ret_line->file ? (uint32_t)column : 0;
}

/* Where the function that `inlined` was put into calls it. */
static void place_by_call(Dwarf_Die *unit, Dwarf_Die *inlined, struct yarn_line *ret_line)
{
    Dwarf_Files *files;
    size_t nr_files;
    uint32_t file = number_of(inlined, DW_AT_call_file);
    uint32_t number = number_of(inlined, DW_AT_call_line);
    if (!number || dwarf_getsrcfiles(unit, &files, &nr_files) || file >= nr_files)
        return;
    ret_line->file = dwarf_filesrc(files, file, NULL, NULL);
    ret_line->folder = folder_of(unit, ret_line->file);
    ret_line->line = ret_line->file ? number : 0;
    ret_line->column = ret_line->file ? number_of(inlined, DW_AT_call_column) : 0;
}

static int has_address(struct yarn_code_units *units, Dwarf_Die *die, uint64_t address)
{
    struct yarn_range range;
    ptrdiff_t at = 0;
    int found;
    while ((found = yarn_code_units_range(units, die, &at, &range)) > 0)
        if (address - range.start < range.end - range.start)
            break;
    return found;
}

/* To the block or inlined function right below *scope that has the address. 0: there is none. */
static int step_in(struct yarn_code_units *units, Dwarf_Die *scope, uint64_t address)
{
    Dwarf_Die die;
    int found = dwarf_child(scope, &die) == 0;
    for (; found > 0; found = yarn_code_units_sibling(units, &die)) {
        switch (dwarf_tag(&die)) {
        case DW_TAG_inlined_subroutine:
        case DW_TAG_lexical_block:
        case DW_TAG_try_block:
        case DW_TAG_catch_block:
            found = has_address(units, &die, address);
            if (found)
                *scope = die;
            if (found)
                return found;
            break;
        default:
            break;
        }
    }
    return found;
}

/* The function and what is inlined in it at the address, outermost first. */
static int nest(struct yarn_code_units *units, const Dwarf_Die *function, uint64_t address,
                Dwarf_Die nested[INLINED_MAX], size_t *ret_count)
{
    Dwarf_Die scope = *function;
    size_t count = 0;
    int found = 1;
    nested[count++] = scope;
    for (size_t i = 0; i < BLOCKS_MAX && count < INLINED_MAX; i++) {
        found = step_in(units, &scope, address);
        if (found <= 0)
            break;
        if (dwarf_tag(&scope) == DW_TAG_inlined_subroutine)
            nested[count++] = scope;
    }
    *ret_count = count;
    return found < 0 ? found : 0;
}

struct search {
    struct yarn_lines *lines;
    struct module *module;
    uint64_t address;
};

static int search(void *context)
{
    const struct search *asked = context;
    struct yarn_lines *lines = asked->lines;
    struct module *module = asked->module;
    struct yarn_code_place place;
    uint64_t address = asked->address;
    address -= yarn_debuginfo_bias(module->debuginfo);
    int err = yarn_code_units_find(&module->units, address, &place);
    if (err || !place.unit.addr)
        return err;

    struct yarn_line line = {0};
    place_by_table(&place.unit, address, &line);
    if (!place.function.addr)
        return line.line ? add_line(lines, &line) : 0;
    Dwarf_Die nested[INLINED_MAX];
    size_t count;
    err = nest(&module->units, &place.function, address, nested, &count);
    for (size_t i = count; !err && i-- > 0;) {
        line.is_inlined = i > 0;
        err = yarn_die_names_find(&module->names, &nested[i], &line.function);
        if (!err)
            err = add_line(lines, &line);
        line = (struct yarn_line){0};
        if (i)
            place_by_call(&place.unit, &nested[i], &line);
    }
    return err;
}

static int search_anew(struct yarn_lines *lines, struct module *module, uint64_t address,
                       uint32_t *ret_chain)
{
    if (YARN_ARRAY_RESERVE(&lines->chains, &lines->chains_capacity, lines->nr_chains + 1))
        return -ENOMEM;
    size_t first = lines->nr_lines;
    struct search asked = {lines, module, address};
    int err = yarn_bounded_call(&module->bytes_left, search, &asked);
    if (err == -E2BIG) {
        lines->nr_lines = first;
        module->state = YARN_DEBUGINFO_TOO_LARGE;
        return 0;
    }
    if (err)
        return err;
    uint32_t number = (uint32_t)lines->nr_chains;
    err = yarn_table_put(&module->chains, address, number);
    if (err)
        return err;
    lines->chains[number] = (struct chain){first, lines->nr_lines - first};
    lines->nr_chains++;
    *ret_chain = number;
    return 0;
}

int yarn_lines_find(struct yarn_lines *lines, uint32_t number, uint64_t address,
                    struct yarn_line_chain *ret_chain)
{
    struct module *module = &lines->modules[number];
    int err = module->is_known ? 0 : know(module, lines->folders);
    if (err)
        return err;
    *ret_chain = (struct yarn_line_chain){0};
    if (module->state != YARN_DEBUGINFO_FOUND)
        return 0;
    uint32_t found = yarn_table_find(&module->chains, address);
    err = found == YARN_TABLE_NONE ? search_anew(lines, module, address, &found) : 0;
    if (err || found == YARN_TABLE_NONE)
        return err;
    const struct chain *chain = &lines->chains[found];
    *ret_chain = (struct yarn_line_chain){.count = chain->count};
    if (chain->count)
        ret_chain->lines = &lines->lines[chain->first];
    return 0;
}

const char *yarn_lines_unknown(const struct yarn_lines *lines, size_t n,
                               enum yarn_debuginfo_state *ret_why)
{
    for (size_t i = 0; i < lines->nr_modules; i++) {
        const struct module *module = &lines->modules[i];
        if (!module->is_known || module->state < YARN_DEBUGINFO_OTHER_FILE || n--)
            continue;
        *ret_why = module->state;
        return module->path;
    }
    return NULL;
}
