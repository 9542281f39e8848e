/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/symbol/symbols.h"

#include "core/base/pages.h"
#include "core/base/pool.h"
#include "core/base/table.h"
#include "unwind/code_end.h"
#include "unwind/symbol/debug_file.h"
#include "unwind/symbol/minidebug.h"
#include "unwind/symbol/name_pass.h"
#include "unwind/symbol/plt.h"

enum {
    MODULES_MAX = 4096, /* as many as the module map has images */
    FIRST_KEYS = 64,
    TABLES = 2,
    ASKED_OFTEN = 4,
};

#define INDEXES_BYTES YARN_MIB(64)

/* Measured, of files that are cached: an entry of a table, a byte of packed symbols, the rest. */
enum { ENTRY_NS = 5, PACKED_NS = 60, LEAST_NS = 20000 };

/* The symbol tables of one image. */
struct module_symbols {
    const struct yarn_image *image; /* borrowed; NULL: closed, to be used again */
    uint64_t image_id;              /* the slot is another image's by now where they differ */
    struct yarn_image beside;       /* owned; closed where there is none */
    uint64_t packed_bytes;          /* of what .gnu_debugdata holds, until it is unpacked */
    struct yarn_symbol_table tables[TABLES];
    struct yarn_symbol_index indexes[TABLES]; /* of these; closed where they are not kept */
    uint32_t nr_asked;
    struct yarn_symbol_table dynamic; /* names the stubs */
    struct yarn_plt plt;
    struct {
        uint64_t start, limit, end;
    } code; /* of the symbol without a size that was asked about last: mostly it is again */
};

struct yarn_symbols {
    struct yarn_table by_image;  /* id of the image -> number */
    struct yarn_name_pass *pass; /* owned; NULL: not needed yet */
    struct yarn_pool modules;    /* of struct module_symbols */
    bool keeps_tables;
    size_t indexes_bytes;
};

int yarn_symbols_new(struct yarn_symbols **ret_symbols)
{
    struct yarn_symbols *symbols = yarn_pages_map(sizeof *symbols);
    if (!symbols)
        return -ENOMEM;
    yarn_pool_open(&symbols->modules, sizeof(struct module_symbols), MODULES_MAX);
    int err = yarn_table_open(&symbols->by_image, FIRST_KEYS, 2 * MODULES_MAX);
    if (err) {
        yarn_symbols_free(symbols);
        return err;
    }
    *ret_symbols = symbols;
    return 0;
}

void yarn_symbols_keep_tables(struct yarn_symbols *symbols)
{
    symbols->keeps_tables = true;
}

static void keep_tables(struct yarn_symbols *symbols, struct module_symbols *module)
{
    for (size_t i = 0; i < TABLES; i++)
        if (yarn_symbol_index_open(&module->indexes[i], &module->tables[i],
                                   yarn_name_pass_room(symbols->pass),
                                   INDEXES_BYTES - symbols->indexes_bytes))
            symbols->indexes_bytes += module->indexes[i].bytes;
}

static void close_module(struct yarn_symbols *symbols, struct module_symbols *module)
{
    for (size_t i = 0; i < TABLES; i++) {
        symbols->indexes_bytes -= module->indexes[i].bytes;
        yarn_symbol_index_close(&module->indexes[i]);
    }
    yarn_image_close(&module->beside);
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
        close_module(symbols, module);
        has_closed = true;
    }
    if (!has_closed)
        return;
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
    yarn_name_pass_free(symbols->pass);
    for (uint32_t i = 0; i < symbols->modules.count; i++)
        close_module(symbols, yarn_pool_at(&symbols->modules, i));
    yarn_pool_close(&symbols->modules);
    yarn_table_close(&symbols->by_image);
    yarn_pages_unmap(symbols, sizeof *symbols);
}

static void open_module(struct module_symbols *module, const struct yarn_image *image,
                        const char *path)
{
    *module = (struct module_symbols){.image = image, .image_id = image->id};
    module->dynamic = yarn_symbol_table_of(image, SHT_DYNSYM);
    module->plt = yarn_plt_of(image);
    module->tables[0] = yarn_symbol_table_of(image, SHT_SYMTAB);
    if (module->tables[0].count)
        return;
    module->tables[0] = module->dynamic;
    if (yarn_debug_file_open(&module->beside, image, path) == 0)
        module->tables[1] = yarn_symbol_table_of(&module->beside, SHT_SYMTAB);
    else
        module->packed_bytes = yarn_minidebug_bytes(image);
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
                                         const struct yarn_image *image, const char *path)
{
    uint32_t number = yarn_table_find(&symbols->by_image, image->id);
    if (number != YARN_TABLE_NONE)
        return yarn_pool_at(&symbols->modules, number);
    struct module_symbols *added = add_module(symbols, image->id);
    if (added)
        open_module(added, image, path);
    return added;
}

uint64_t yarn_symbols_cost_ns(struct yarn_symbols *symbols, const struct yarn_image *image,
                              const char *path)
{
    const struct module_symbols *module = symbols_of(symbols, image, path);
    uint64_t cost_ns = LEAST_NS;
    for (size_t i = 0; module && i < TABLES; i++)
        cost_ns += (uint64_t)module->tables[i].count * ENTRY_NS;
    return module ? cost_ns + module->packed_bytes * PACKED_NS : cost_ns;
}

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

/* The bounds in which a symbol must start: the FDE's, or where there is none the code around the
 * address that no other covers. */
static void set_scope(const struct yarn_image *image, struct yarn_name_search *search)
{
    struct yarn_fde fde;
    uint64_t vaddr = search->vaddr;
    int err = search->from < search->to ? 0 : yarn_cfi_find(image, vaddr, &fde);
    search->has_fde = !err;
    if (search->from < search->to)
        return;
    search->from = err ? vaddr : fde.start;
    search->to = err ? vaddr + 1 : fde.end;
    uint64_t from, to;
    if (err == -ENOENT && yarn_cfi_gap(image, vaddr, &from, &to) &&
        narrow_to_section(image, vaddr, &from, &to)) {
        search->from = from;
        search->to = to;
    }
}

static const char stub_suffix[] = "@plt";

static void set_name(struct yarn_symbol_question *question, struct yarn_span name,
                     const char *suffix, struct yarn_arena *names)
{
    size_t more = strlen(suffix);
    uint8_t *copy = name.size ? yarn_arena_alloc(names, name.size + more, 1) : NULL;
    question->is_answered = copy || !name.size;
    if (!copy)
        return;
    memcpy(copy, name.data, name.size);
    memcpy(copy + name.size, suffix, more);
    question->answer.name = yarn_span_of(copy, name.size + more);
}

/* True where its name is known. Of a stub that jumps where a function says, that one is searched
 * for. */
static bool begin_stub(const struct module_symbols *module, const struct yarn_plt_stub *stub,
                       struct yarn_symbol_question *question, struct yarn_name_search *search,
                       struct yarn_arena *names)
{
    if (stub->symbol) {
        struct yarn_span name = yarn_symbol_table_name(&module->dynamic, stub->symbol);
        if (!name.size)
            return false;
        set_name(question, name, stub_suffix, names);
    } else {
        *search = (struct yarn_name_search){.vaddr = stub->resolver, .number = search->number};
        set_scope(module->image, search);
    }
    question->answer.start = stub->start;
    question->answer.end = stub->end;
    return stub->symbol;
}

static void begin(struct yarn_symbols *symbols, const struct module_symbols *module,
                  struct yarn_symbol_question *questions, uint32_t number, struct yarn_arena *names)
{
    struct yarn_symbol_question *question = &questions[number];
    struct yarn_name_search search = {
        .vaddr = question->vaddr, .from = question->start, .to = question->end, .number = number};
    struct yarn_plt_stub stub;
    set_scope(module->image, &search);
    *question = (struct yarn_symbol_question){
        .vaddr = question->vaddr,
        .start = search.has_fde ? search.from : 0,
        .end = search.has_fde ? search.to : 0,
    };
    if (!yarn_plt_find(&module->plt, search.vaddr, &stub) ||
        !begin_stub(module, &stub, question, &search, names))
        (void)yarn_name_pass_add(symbols->pass, &search);
}

/* Assembly may go on under another FDE in the middle of a function, as clone3 does. A symbol that
 * begins with an FDE of its own and whose size takes in all of this one is no neighbour. */
static bool begins_with_fde(const struct yarn_image *image, const struct yarn_elf_symbol *symbol)
{
    struct yarn_fde own;
    return symbol->table && yarn_cfi_find(image, symbol->start, &own) == 0 &&
           own.start == symbol->start;
}

static uint64_t code_end_of(struct module_symbols *module, uint64_t start, uint64_t limit)
{
    if (!module->code.end || module->code.start != start || module->code.limit != limit) {
        module->code.start = start;
        module->code.limit = limit;
        module->code.end = yarn_code_end(module->image, start, limit);
    }
    return module->code.end;
}

/* Without size and FDE: it goes on up to the next symbol, FDE or section, or to where its code has
 * ended: behind it there may be a function without either. A kept label of its own is not the next
 * symbol. One that is not visible ends at a label, too: behind the compiler's
 * frame_dummy comes somebody else's code. Nor does it go on behind one that has an end. */
static const struct yarn_elf_symbol *
bare_of(struct module_symbols *module, const struct yarn_name_search *search, uint64_t *ret_end)
{
    bool is_local = search->local.table && search->local.start >= search->label &&
                    (!search->outer.table || search->local.start > search->outer.start);
    const struct yarn_elf_symbol *bare = is_local ? &search->local : &search->outer;
    if (!bare->table || bare->start < search->sized)
        return NULL;
    *ret_end = yarn_u64_min(code_end_of(module, bare->start, search->to), search->above);
    return search->vaddr < *ret_end ? bare : NULL;
}

/* *ret_end: of a symbol that does not reach the address by its size. */
static const struct yarn_elf_symbol *
best_of(struct module_symbols *module, const struct yarn_name_search *search, uint64_t *ret_end)
{
    *ret_end = search->to;
    if (search->inner.table)
        return &search->inner;
    if (!search->has_fde)
        return bare_of(module, search, ret_end);
    return begins_with_fde(module->image, &search->outer) ? &search->outer : NULL;
}

/* Up to the next symbol the nearest one is the same, and where it decides alone, so is the answer.
 */
static void set_bounds(struct yarn_symbol *symbol, const struct yarn_name_search *search,
                       const struct yarn_elf_symbol *best)
{
    bool is_nearest = best && best->start == yarn_u64_max(search->below, best->start) &&
                      symbol->end == best->start + best->size;
    if (!search->has_fde || !(is_nearest || (!best && !search->below)))
        return;
    symbol->from = yarn_u64_max(yarn_u64_max(symbol->start, search->ended), search->from);
    symbol->to = yarn_u64_min(yarn_u64_min(symbol->end, search->above), search->to);
}

static void answer(struct module_symbols *module, const struct yarn_name_search *search,
                   struct yarn_symbol_question *question, struct yarn_arena *names)
{
    uint64_t end;
    const struct yarn_elf_symbol *best = best_of(module, search, &end);
    struct yarn_symbol *symbol = &question->answer;
    struct yarn_span name =
        best ? yarn_symbol_table_text(best->table, best->name_at, YARN_WINDOW_NAME)
             : YARN_SPAN_EMPTY;
    bool is_stub = symbol->end;
    set_name(question, name, is_stub ? stub_suffix : "", names);
    if (is_stub && symbol->name.size)
        return;
    symbol->start = question->start;
    symbol->end = question->end;
    if (is_stub)
        return;
    if (symbol->name.size) {
        bool is_inside = search->vaddr - best->start < best->size;
        symbol->start = best->start;
        symbol->end = is_inside ? best->start + best->size : end;
    } else if (best) {
        return; /* its name cannot be read */
    }
    if (!yarn_plt_overlaps(&module->plt, search->from, search->to))
        set_bounds(symbol, search, best);
}

/* Failure leaves the names of the other tables. */
static void unpack(struct module_symbols *module)
{
    if (module->packed_bytes && yarn_minidebug_open(&module->beside, module->image) == 0)
        module->tables[1] = yarn_symbol_table_of(&module->beside, SHT_SYMTAB);
    module->packed_bytes = 0;
}

/* As many as a pass holds. */
static int ask_some(struct yarn_symbols *symbols, struct module_symbols *module,
                    struct yarn_symbol_question *questions, size_t count, struct yarn_arena *names,
                    uint64_t until_ns)
{
    const struct yarn_name_search *search;
    yarn_name_pass_begin(symbols->pass);
    for (uint32_t i = 0; i < count; i++)
        begin(symbols, module, questions, i, names);
    int err = yarn_name_pass_over(symbols->pass, module->tables, module->indexes, TABLES, until_ns);
    for (size_t i = 0; !err && (search = yarn_name_pass_at(symbols->pass, i)); i++)
        answer(module, search, &questions[search->number], names);
    return err;
}

int yarn_symbols_ask(struct yarn_symbols *symbols, const struct yarn_image *image, const char *path,
                     struct yarn_symbol_question *questions, size_t count, struct yarn_arena *names,
                     uint64_t until_ns)
{
    struct module_symbols *module = symbols_of(symbols, image, path);
    int err = module ? 0 : -ENOMEM;
    if (!err && !symbols->pass)
        err = yarn_name_pass_new(&symbols->pass);
    if (!err)
        unpack(module);
    if (!err && symbols->keeps_tables && ++module->nr_asked == ASKED_OFTEN)
        keep_tables(symbols, module);
    for (size_t at = 0; !err && at < count; at += YARN_NAME_SEARCHES_MAX)
        err = ask_some(symbols, module, questions + at,
                       yarn_size_min(count - at, YARN_NAME_SEARCHES_MAX), names, until_ns);
    return err;
}
