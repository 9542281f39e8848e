/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/symbol/symbol_search.h"

#include <elf.h>

#include "core/base/glob.h"
#include "unwind/symbol/debug_file.h"
#include "unwind/symbol/minidebug.h"
#include "unwind/symbol/symbol_table.h"

struct search {
    enum yarn_symbol_kind kind;
    struct yarn_span pattern;
    yarn_symbol_hit_fn *each;
    void *self;
    size_t nr_hits;
    bool is_done;
};

static bool is_of_kind(const struct search *search, const Elf64_Sym *symbol)
{
    unsigned type = ELF64_ST_TYPE(symbol->st_info);
    if (!symbol->st_name || symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS)
        return false;
    if (search->kind == YARN_SYMBOL_CODE)
        return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
    return type == STT_OBJECT || type == STT_TLS || type == STT_COMMON || type == STT_NOTYPE;
}

static void search_table(struct search *search, const struct yarn_image *image, uint32_t type)
{
    struct yarn_symbol_table table = yarn_symbol_table_of(image, type);
    for (uint32_t i = 0; i < table.count && !search->is_done; i++) {
        Elf64_Sym symbol;
        if (!yarn_section_read(&table.symbols, (uint64_t)i * sizeof symbol, &symbol,
                               sizeof symbol) ||
            !is_of_kind(search, &symbol))
            continue;
        struct yarn_symbol_hit hit = {
            .name = yarn_symbol_table_text(&table, symbol.st_name, YARN_WINDOW_NAME),
            .vaddr = symbol.st_value,
            .size = symbol.st_size,
            .is_indirect = ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC,
            .is_thread_local = ELF64_ST_TYPE(symbol.st_info) == STT_TLS,
        };
        if (!yarn_glob_matches(search->pattern, hit.name))
            continue;
        search->nr_hits++;
        search->is_done = !search->each(search->self, &hit);
    }
}

static void search_beside(struct search *search, int err, struct yarn_image *image)
{
    if (err)
        return;
    search_table(search, image, SHT_SYMTAB);
    yarn_image_close(image);
}

size_t yarn_symbol_search(const struct yarn_image *image, const char *path,
                          enum yarn_symbol_kind kind, const char *pattern, yarn_symbol_hit_fn *each,
                          void *self)
{
    struct search search = {
        .kind = kind, .pattern = yarn_span_of_text(pattern), .each = each, .self = self};
    struct yarn_image beside = YARN_IMAGE_CLOSED;
    search_table(&search, image, SHT_SYMTAB);
    search_table(&search, image, SHT_DYNSYM);
    if (!search.is_done)
        search_beside(&search, yarn_minidebug_open(&beside, image), &beside);
    if (!search.is_done)
        search_beside(&search, yarn_debug_file_open(&beside, image, path), &beside);
    return search.nr_hits;
}
