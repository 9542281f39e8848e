/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/symbol/symbol_table.h"

struct yarn_symbol_table yarn_symbol_table_of(const struct yarn_image *image, uint32_t type)
{
    struct yarn_symbol_table table = {.sections = yarn_sections_of(image)};
    struct yarn_elf_section symbols, names;
    for (uint32_t i = 0; yarn_sections_at(&table.sections, i, &symbols); i++) {
        if (symbols.type != type || symbols.entry_size != sizeof(Elf64_Sym) ||
            !yarn_sections_at(&table.sections, symbols.link, &names))
            continue;
        table.symbols = symbols.content;
        table.names = names.content;
        table.count =
            (uint32_t)yarn_u64_min(table.symbols.bytes.size / sizeof(Elf64_Sym), UINT32_MAX);
        break;
    }
    return table;
}

size_t yarn_symbol_table_read(const struct yarn_symbol_table *table, uint32_t first,
                              Elf64_Sym *ret_entries)
{
    size_t count =
        first < table->count ? yarn_size_min(table->count - first, YARN_SYMBOLS_AT_ONCE) : 0;
    return count && yarn_section_read_once(&table->symbols, (uint64_t)first * sizeof *ret_entries,
                                           ret_entries, count * sizeof *ret_entries)
               ? count
               : 0;
}

static bool is_in_code(const struct yarn_symbol_table *table, uint16_t section_number)
{
    struct yarn_elf_section section;
    return yarn_sections_at(&table->sections, section_number, &section) &&
           (section.flags & SHF_EXECINSTR);
}

/* "$x", "$d.12": what some assemblers write; ".L1": a local label that was kept. */
static bool is_marker(const char *name)
{
    if (name[0] == '$')
        return name[1] && (name[2] == 0 || name[2] == '.');
    return name[0] == '.' && name[1] == 'L';
}

static bool is_label(const struct yarn_symbol_table *table, const Elf64_Sym *symbol)
{
    const char *name = yarn_section_text(&table->names, symbol->st_name, YARN_WINDOW_NAME);
    return name && !is_marker(name) && is_in_code(table, symbol->st_shndx);
}

bool yarn_symbol_table_take(const struct yarn_symbol_table *table, const Elf64_Sym *entry,
                            struct yarn_elf_symbol *ret_symbol)
{
    if (!entry->st_name || entry->st_shndx == SHN_UNDEF ||
        (entry->st_shndx >= SHN_LORESERVE && entry->st_shndx != SHN_XINDEX))
        return false;
    unsigned type = ELF64_ST_TYPE(entry->st_info);
    bool is_function = type == STT_FUNC || type == STT_GNU_IFUNC;
    if (!is_function && (type != STT_NOTYPE || !is_label(table, entry)))
        return false;
    *ret_symbol = (struct yarn_elf_symbol){
        .table = table,
        .start = entry->st_value,
        .size = entry->st_value + entry->st_size < entry->st_value ? 0 : entry->st_size,
        .name_at = entry->st_name,
        .is_function = is_function,
        .is_local = ELF64_ST_BIND(entry->st_info) == STB_LOCAL,
    };
    return true;
}

struct yarn_span yarn_symbol_table_text(const struct yarn_symbol_table *table, uint32_t name_at,
                                        unsigned window)
{
    const char *text = yarn_section_text(&table->names, name_at, window);
    if (!text)
        return YARN_SPAN_EMPTY;
    struct yarn_span name = yarn_span_of_text(text);
    const uint8_t *version = name.size ? memchr(name.data, '@', name.size) : NULL;
    if (version && version != name.data)
        name.size = (size_t)(version - name.data);
    return name;
}

struct yarn_span yarn_symbol_table_name(const struct yarn_symbol_table *table, uint32_t number)
{
    Elf64_Sym entry;
    return yarn_section_read(&table->symbols, (uint64_t)number * sizeof entry, &entry, sizeof entry)
               ? yarn_symbol_table_text(table, entry.st_name, YARN_WINDOW_NAME)
               : YARN_SPAN_EMPTY;
}

static size_t count_underscores(struct yarn_span name)
{
    size_t count = 0;
    while (count < name.size && name.data[count] == '_')
        count++;
    return count;
}

bool yarn_elf_symbol_is_better(const struct yarn_elf_symbol *a, const struct yarn_elf_symbol *b)
{
    if (a->is_function != b->is_function)
        return a->is_function;
    if (!a->size != !b->size)
        return a->size != 0;
    if (a->is_local != b->is_local)
        return !a->is_local;
    struct yarn_span a_name = yarn_symbol_table_text(a->table, a->name_at, YARN_WINDOW_NAME);
    struct yarn_span b_name = yarn_symbol_table_text(b->table, b->name_at, YARN_WINDOW_OTHER_NAME);
    size_t a_underscores = count_underscores(a_name), b_underscores = count_underscores(b_name);
    if (a_underscores != b_underscores)
        return a_underscores < b_underscores;
    if (a_name.size != b_name.size)
        return a_name.size < b_name.size;
    int order = a_name.size ? memcmp(a_name.data, b_name.data, a_name.size) : 0;
    return order ? order < 0 : a->size > b->size;
}
