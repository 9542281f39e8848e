/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/symbol/symbols.h"

#include <elf.h>

#include "core/base/pages.h"
#include "core/base/pool.h"
#include "core/base/table.h"
#include "unwind/symbol/debug_file.h"
#include "unwind/symbol/minidebug.h"
#include "unwind/symbol/plt.h"
#include "unwind/symbol/symbol_index.h"

enum {
    MODULES_MAX = 4096, /* as many as the module map has images */
    STUB_NAMES_BYTES = 256 << 10,
    NEIGHBOURS_MAX = 64, /* symbols looked at below the nearest one */
    FIRST_KEYS = 64,
    FIRST_STUB_KEYS = 256,
    STUB_KEYS_MAX = 16 << 10,
};

/* What is known of one image. */
struct module_symbols {
    const struct yarn_image *image; /* borrowed; NULL: closed, to be used again */
    uint64_t image_id;              /* the slot is another image's by now where they differ */
    struct yarn_image debug;        /* owned; closed where there is none */
    struct yarn_image mini;         /* as debug: what .gnu_debugdata holds */
    struct yarn_symbol_index index;
    struct yarn_symbol_table dynamic; /* names the stubs */
    struct yarn_plt plt;
};

struct yarn_symbols {
    struct yarn_pool modules;       /* of struct module_symbols */
    struct yarn_table by_image;     /* id of the image -> number */
    struct yarn_arena stub_names;   /* each ends in "@plt" and NUL */
    struct yarn_table stub_name_at; /* id of image and stub -> place in stub_names */
    struct module_symbols *last;    /* borrowed from modules; NULL at first */
};

int yarn_symbols_new(struct yarn_symbols **ret_symbols)
{
    struct yarn_symbols *symbols = yarn_pages_map(sizeof *symbols);
    if (!symbols)
        return -ENOMEM;
    yarn_pool_open(&symbols->modules, sizeof(struct module_symbols), MODULES_MAX);
    int err = yarn_table_open(&symbols->by_image, FIRST_KEYS, 2 * MODULES_MAX);
    if (!err)
        err = yarn_table_open(&symbols->stub_name_at, FIRST_STUB_KEYS, STUB_KEYS_MAX);
    yarn_arena_open(&symbols->stub_names, STUB_NAMES_BYTES);
    if (err) {
        yarn_symbols_free(symbols);
        return err;
    }
    *ret_symbols = symbols;
    return 0;
}

static void close_module(struct module_symbols *module)
{
    yarn_symbol_index_close(&module->index);
    yarn_image_close(&module->debug);
    yarn_image_close(&module->mini);
    module->image = NULL;
}

/* Its names may be needed once more: then they are read again. */
void yarn_symbols_sweep(struct yarn_symbols *symbols)
{
    bool has_closed = false;
    for (uint32_t i = 0; i < symbols->modules.count; i++) {
        struct module_symbols *module = yarn_pool_at(&symbols->modules, i);
        if (!module->image || module->image->id == module->image_id)
            continue;
        close_module(module);
        has_closed = true;
    }
    if (!has_closed)
        return;
    symbols->last = NULL;
    yarn_table_clear(&symbols->by_image);
    for (uint32_t i = 0; i < symbols->modules.count; i++) {
        const struct module_symbols *module = yarn_pool_at(&symbols->modules, i);
        /* Why an error may pass: the table had room for as many. */
        if (module->image && yarn_table_put(&symbols->by_image, module->image_id, i))
            return;
    }
}

void yarn_symbols_free(struct yarn_symbols *symbols)
{
    if (!symbols)
        return;
    for (uint32_t i = 0; i < symbols->modules.count; i++)
        close_module(yarn_pool_at(&symbols->modules, i));
    yarn_pool_close(&symbols->modules);
    yarn_table_close(&symbols->by_image);
    yarn_table_close(&symbols->stub_name_at);
    yarn_arena_close(&symbols->stub_names);
    yarn_pages_unmap(symbols, sizeof *symbols);
}

static uint64_t lowest_code(const struct yarn_image *image)
{
    uint64_t lowest = UINT64_MAX;
    for (unsigned i = 0; i < image->nr_segments; i++)
        if (image->segments[i].executable)
            lowest = yarn_u64_min(lowest, image->segments[i].vaddr);
    return lowest;
}

/* Failure leaves the module without names, which is what the caller then shows. */
static void read_symbols(struct module_symbols *module, const struct yarn_image *image,
                         const char *path)
{
    struct yarn_symbol_table tables[YARN_SYMBOL_TABLES_MAX] = {{.count = 0}};
    module->image = image;
    module->image_id = image->id;
    module->dynamic = yarn_symbol_table_of(image, SHT_DYNSYM);
    module->plt = yarn_plt_of(image);
    tables[0] = yarn_symbol_table_of(image, SHT_SYMTAB);
    if (!tables[0].count) {
        tables[0] = module->dynamic;
        if (yarn_debug_file_open(&module->debug, image, path) == 0)
            tables[1] = yarn_symbol_table_of(&module->debug, SHT_SYMTAB);
        else if (yarn_minidebug_open(&module->mini, image) == 0)
            tables[1] = yarn_symbol_table_of(&module->mini, SHT_SYMTAB);
    }
    int err =
        yarn_symbol_index_open(&module->index, lowest_code(image), tables, YARN_SYMBOL_TABLES_MAX);
    if (err)
        module->index = (struct yarn_symbol_index){.base = 0};
}

/* In the place of one that was closed, if there is any. NULL where there is no room. */
static struct module_symbols *add_module(struct yarn_symbols *symbols, uint64_t image_id)
{
    uint32_t number = 0;
    struct module_symbols *module = NULL;
    while ((module = yarn_pool_at(&symbols->modules, number)) && module->image)
        number++;
    if (yarn_table_put(&symbols->by_image, image_id, number))
        return NULL;
    return module ? module : yarn_pool_add(&symbols->modules);
}

static struct module_symbols *symbols_of(struct yarn_symbols *symbols,
                                         const struct yarn_module *module)
{
    uint64_t id = module->image->id;
    if (symbols->last && symbols->last->image_id == id)
        return symbols->last;
    uint32_t number = yarn_table_find(&symbols->by_image, id);
    struct module_symbols *found = NULL;
    if (number != YARN_TABLE_NONE) {
        found = yarn_pool_at(&symbols->modules, number);
    } else {
        found = add_module(symbols, id);
        if (found)
            read_symbols(found, module->image, module->path);
    }
    if (found)
        symbols->last = found;
    return found;
}

/* The bounds in which a symbol must start, and whether they are those of an FDE. */
struct function {
    uint64_t start, end;
    bool is_known;
    const struct yarn_image *image;
    uint64_t bare_from, bare_to; /* where it is not known: code around it that no FDE covers */
};

/* The section that holds the address, or the segment where sections are not listed, as far as it is
 * in [*from, *to). */
static bool narrow_to_section(const struct yarn_image *image, uint64_t vaddr, uint64_t *from,
                              uint64_t *to)
{
    struct yarn_sections sections = yarn_sections_of(image);
    struct yarn_elf_section section;
    for (uint32_t i = 0; yarn_sections_at(&sections, i, &section); i++) {
        if (!(section.flags & SHF_EXECINSTR) || vaddr < section.content.vaddr ||
            vaddr - section.content.vaddr >= section.size)
            continue;
        *from = yarn_u64_max(*from, section.content.vaddr);
        *to = yarn_u64_min(*to, section.content.vaddr + section.size);
        return true;
    }
    return false;
}

static struct function function_at(const struct yarn_image *image, uint64_t vaddr)
{
    struct function function = {.image = image};
    struct yarn_fde fde;
    int err = yarn_cfi_find(image, vaddr, &fde);
    if (!err)
        return (struct function){
            .start = fde.start, .end = fde.end, .is_known = true, .image = image};
    if (err != -ENOENT)
        return function;
    if (!yarn_cfi_gap(image, vaddr, &function.bare_from, &function.bare_to) ||
        !narrow_to_section(image, vaddr, &function.bare_from, &function.bare_to))
        function.bare_to = 0;
    return function;
}

static bool is_inside(const struct yarn_elf_symbol *symbol, uint64_t vaddr)
{
    return vaddr >= symbol->start && vaddr - symbol->start < symbol->size;
}

/* Assembly may go on under another FDE in the middle of a function, as clone3 does. A symbol that
 * begins with an FDE of its own and whose size takes in all of this one is no neighbour. */
static bool spans(const struct function *function, const struct yarn_elf_symbol *symbol)
{
    struct yarn_fde own;
    return function->is_known && symbol->size >= function->end - symbol->start &&
           yarn_cfi_find(function->image, symbol->start, &own) == 0 && own.start == symbol->start;
}

/* Inside one FDE there may be labels and, in assembly, several functions. The nearest one that
 * says that it goes on to the address, that is a function of unknown size, or that starts the FDE
 * is the one. */
static bool may_name(const struct function *function, const struct yarn_elf_symbol *symbol,
                     uint64_t vaddr)
{
    if (is_inside(symbol, vaddr))
        return true;
    return function->is_known &&
           (symbol->start == function->start || (symbol->is_function && !symbol->size));
}

/* Hand-written assembly: visible, or said to be a function, without size and FDE. It goes on up to
 * the next symbol, FDE or section; a kept label of its own is not the next one. One that is not
 * visible ends at a label, too: behind the compiler's frame_dummy comes somebody else's code. */
static bool may_name_bare(const struct function *function, const struct yarn_elf_symbol *symbol,
                          uint64_t vaddr, bool is_past_label)
{
    return !symbol->size && (!symbol->is_local || (symbol->is_function && !is_past_label)) &&
           symbol->start >= function->bare_from && vaddr < function->bare_to;
}

/* Up to the next symbol the nearest one is the same, and where it decides alone, so is the answer.
 */
static void set_bounds(struct yarn_symbol *symbol, uint64_t from, uint64_t to)
{
    if (from < to) {
        symbol->from = from;
        symbol->to = to;
    }
}

/* The bare one whose position is before `position`, if there is any. */
static bool take_bare(const struct yarn_symbol_index *index, size_t position, uint64_t end,
                      struct yarn_symbol *ret_symbol)
{
    struct yarn_elf_symbol symbol;
    struct yarn_span name;
    if (!position || !yarn_symbol_index_at(index, position - 1, &symbol, &name, &position) ||
        !name.size)
        return false;
    *ret_symbol = (struct yarn_symbol){.name = name, .start = symbol.start, .end = end};
    return true;
}

/* Sets the bounds of the answer in any case. */
static bool find_name(const struct yarn_symbol_index *index, const struct function *function,
                      uint64_t vaddr, struct yarn_symbol *ret_symbol)
{
    size_t position = yarn_symbol_index_position(index, vaddr), bare = 0;
    uint64_t next = yarn_symbol_index_start(index, position);
    uint64_t to = yarn_u64_min(function->end, next);
    bool may_be_bare = !function->is_known, is_past_label = false;
    struct yarn_elf_symbol symbol;
    struct yarn_span name;
    ret_symbol->from = ret_symbol->to = 0;
    if (!position)
        set_bounds(ret_symbol, function->start, to);
    for (unsigned i = 0; i < NEIGHBOURS_MAX && position > 0; i++) {
        size_t behind = position;
        /* A neighbour, mostly: not worth the reading of its name. */
        if (yarn_symbol_index_start(index, position - 1) < function->start &&
            !yarn_symbol_index_reaches(index, position - 1, function->end)) {
            if (i == 0)
                set_bounds(ret_symbol, function->start, to);
            return false;
        }
        if (!yarn_symbol_index_at(index, position - 1, &symbol, &name, &position))
            continue;
        if (symbol.start < function->start && !spans(function, &symbol)) {
            if (i == 0)
                set_bounds(ret_symbol, function->start, to);
            return false;
        }
        if (may_be_bare && may_name_bare(function, &symbol, vaddr, is_past_label))
            bare = behind;
        is_past_label = is_past_label || !symbol.is_function;
        /* Behind the end of one that is nearer, or in one that is. */
        may_be_bare = may_be_bare && !bare && !symbol.size;
        if (!name.size || !may_name(function, &symbol, vaddr))
            continue;
        uint64_t end = is_inside(&symbol, vaddr) ? symbol.start + symbol.size : function->end;
        *ret_symbol = (struct yarn_symbol){.name = name, .start = symbol.start, .end = end};
        if (i == 0 && is_inside(&symbol, vaddr))
            set_bounds(ret_symbol, yarn_u64_max(symbol.start, function->start),
                       yarn_u64_min(end, to));
        return true;
    }
    return take_bare(index, bare, yarn_u64_min(next, function->bare_to), ret_symbol);
}

static struct yarn_span stub_target(const struct module_symbols *module,
                                    const struct yarn_plt_stub *stub)
{
    struct yarn_symbol target = {.start = 0};
    if (stub->symbol)
        return yarn_symbol_table_name(&module->dynamic, stub->symbol);
    struct function function = function_at(module->image, stub->resolver);
    if (!find_name(&module->index, &function, stub->resolver, &target))
        return YARN_SPAN_EMPTY;
    return target.name;
}

/* NULL where there is no name, or no room for one more. */
static const char *make_stub_name(struct yarn_symbols *symbols, const struct module_symbols *module,
                                  const struct yarn_plt_stub *stub)
{
    static const char suffix[] = "@plt";
    struct yarn_span target = stub_target(module, stub);
    if (!target.size)
        return NULL;
    char *name = yarn_arena_alloc(&symbols->stub_names, target.size + sizeof suffix, 1);
    if (!name)
        return NULL;
    memcpy(name, target.data, target.size);
    memcpy(name + target.size, suffix, sizeof suffix);
    return name;
}

static bool find_stub(struct yarn_symbols *symbols, const struct module_symbols *module,
                      uint64_t vaddr, struct yarn_symbol *ret_symbol)
{
    struct yarn_plt_stub stub;
    if (!yarn_plt_find(&module->plt, vaddr, &stub))
        return false;
    uint64_t key = yarn_hash_u64(module->image_id) ^ stub.start;
    uint32_t at = yarn_table_find(&symbols->stub_name_at, key);
    if (at == YARN_TABLE_NONE) {
        const char *name = make_stub_name(symbols, module, &stub);
        if (!name)
            return false;
        at = (uint32_t)((const uint8_t *)name - symbols->stub_names.base);
        if (yarn_table_put(&symbols->stub_name_at, key, at) != 0)
            return false;
    }
    const char *name = (const char *)symbols->stub_names.base + at;
    *ret_symbol =
        (struct yarn_symbol){.name = yarn_span_of_text(name), .start = stub.start, .end = stub.end};
    return true;
}

static bool find(struct yarn_symbols *symbols, const struct yarn_module *module, uint64_t vaddr,
                 const struct function *function, struct yarn_symbol *ret_symbol)
{
    struct module_symbols *known = symbols_of(symbols, module);
    if (known && find_stub(symbols, known, vaddr, ret_symbol))
        return true;
    bool is_named = known && find_name(&known->index, function, vaddr, ret_symbol);
    if (!known || !function->is_known ||
        yarn_plt_overlaps(&known->plt, function->start, function->end))
        ret_symbol->from = ret_symbol->to = 0;
    if (is_named)
        return true;
    ret_symbol->start = function->start;
    ret_symbol->end = function->end;
    return false;
}

bool yarn_symbols_find(struct yarn_symbols *symbols, const struct yarn_module *module,
                       uint64_t vaddr, struct yarn_symbol *ret_symbol)
{
    *ret_symbol = (struct yarn_symbol){.start = 0};
    if (!module->image)
        return false;
    struct function function = function_at(module->image, vaddr);
    return find(symbols, module, vaddr, &function, ret_symbol);
}

bool yarn_symbols_find_in(struct yarn_symbols *symbols, const struct yarn_module *module,
                          uint64_t vaddr, uint64_t start, uint64_t end,
                          struct yarn_symbol *ret_symbol)
{
    *ret_symbol = (struct yarn_symbol){.start = 0};
    if (!module->image)
        return false;
    struct function function = {
        .start = start, .end = end, .is_known = true, .image = module->image};
    return find(symbols, module, vaddr, &function, ret_symbol);
}
