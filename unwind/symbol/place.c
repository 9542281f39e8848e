/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/symbol/place.h"

#include <elf.h>

#include "unwind/module_map.h"
#include "unwind/symbol/symbol_table.h"

/* Something that has an address of the file's own. */
static bool has_place(const Elf64_Sym *symbol)
{
    unsigned type = ELF64_ST_TYPE(symbol->st_info);
    return symbol->st_name && symbol->st_shndx != SHN_UNDEF &&
           (symbol->st_shndx < SHN_LORESERVE || symbol->st_shndx == SHN_XINDEX) &&
           (type == STT_OBJECT || type == STT_FUNC || type == STT_NOTYPE || type == STT_COMMON);
}

static bool find_in(const struct yarn_symbol_table *table, const char *name, Elf64_Sym *ret_symbol)
{
    for (uint32_t i = 0; i < table->count; i++) {
        const char *text;
        if (yarn_section_read(&table->symbols, (uint64_t)i * sizeof *ret_symbol, ret_symbol,
                              sizeof *ret_symbol) &&
            has_place(ret_symbol) &&
            (text = yarn_section_text(&table->names, ret_symbol->st_name, YARN_WINDOW_NAME)) &&
            strcmp(text, name) == 0)
            return true;
    }
    return false;
}

static bool find_in_module(const struct yarn_module *module, const char *name,
                           uint64_t *ret_address)
{
    static const uint32_t types[] = {SHT_SYMTAB, SHT_DYNSYM};
    Elf64_Sym symbol;
    for (size_t i = 0; i < YARN_COUNT_OF(types); i++) {
        struct yarn_symbol_table table = yarn_symbol_table_of(module->image, types[i]);
        if (!find_in(&table, name, &symbol))
            continue;
        *ret_address = symbol.st_value + module->bias;
        return true;
    }
    return false;
}

static bool find_in_map(struct yarn_module_map *map, const char *name, uint64_t *ret_address)
{
    for (uint32_t i = 0; i < yarn_module_map_count(map); i++) {
        const struct yarn_module *module = yarn_module_map_at(map, i);
        if (module->kind == YARN_MODULE_ANONYMOUS ||
            yarn_module_map_find(map, module->start) != module || !module->image)
            continue;
        if (find_in_module(module, name, ret_address))
            return true;
    }
    return false;
}

bool yarn_symbol_place_find(const char *symbol, uint64_t *ret_address)
{
    struct yarn_module_map *map;
    if (yarn_module_map_new(&map, &yarn_target_self, NULL))
        return false;
    bool is_found = !yarn_module_map_read_proc(map, 0) && find_in_map(map, symbol, ret_address);
    yarn_module_map_free(map);
    return is_found;
}
