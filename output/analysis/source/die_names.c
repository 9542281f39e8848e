/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/source/die_names.h"

#include <dwarf.h>
#include <stdlib.h>

#include "output/analysis/value/demangle.h"
#include "output/base/array.h"

/* A file that nests or refers deeper is broken. */
enum { DEPTH_MAX = 64, REFERENCES_MAX = 8 };

#define NO_SCOPE UINT32_MAX

struct scope {
    Dwarf_Die die;
    uint32_t parent; /* NO_SCOPE: the unit */
};

/* Outer before inner, which is the order in the file. */
struct yarn_unit_scopes {
    void *unit;           /* address of its DIE */
    struct scope *scopes; /* owned array */
    size_t count, capacity;
};

void yarn_die_names_fini(struct yarn_die_names *names)
{
    for (size_t i = 0; i < names->nr_units; i++)
        free(names->units[i].scopes);
    for (size_t i = 0; i < names->nr_texts; i++)
        free(names->texts[i]);
    free(names->units);
    free(names->texts);
    yarn_table_close(&names->index);
    *names = YARN_CODE_NAMES_EMPTY;
}

static const char *text_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

static const char *mangled_of(Dwarf_Die *die)
{
    const char *name = text_of(die, DW_AT_linkage_name);
    return name ? name : text_of(die, DW_AT_MIPS_linkage_name);
}

static bool is_scope(int tag)
{
    switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_subprogram:
    case DW_TAG_lexical_block:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
        return true;
    default:
        return false;
    }
}

static int add_scope(struct yarn_unit_scopes *unit, const Dwarf_Die *die, uint32_t parent)
{
    return YARN_ARRAY_PUT(&unit->scopes, &unit->count, &unit->capacity,
                          &(struct scope){*die, parent});
}

static int list_scopes(struct yarn_unit_scopes *unit, Dwarf_Die *top)
{
    Dwarf_Die stack[DEPTH_MAX];
    uint32_t parents[DEPTH_MAX] = {NO_SCOPE};
    int depth = 0;
    if (dwarf_child(top, &stack[0]))
        return 0;
    while (depth >= 0) {
        Dwarf_Die *die = &stack[depth];
        if (is_scope(dwarf_tag(die))) {
            int err = add_scope(unit, die, parents[depth]);
            if (err)
                return err;
            if (depth + 1 < DEPTH_MAX && dwarf_child(die, &stack[depth + 1]) == 0) {
                parents[++depth] = (uint32_t)unit->count - 1;
                continue;
            }
        }
        while (depth >= 0 && dwarf_siblingof(&stack[depth], &stack[depth]))
            depth--;
    }
    return 0;
}

static int scopes_of(struct yarn_die_names *names, Dwarf_Die *unit,
                     const struct yarn_unit_scopes **ret_scopes)
{
    for (size_t i = 0; i < names->nr_units; i++) {
        if (names->units[i].unit == unit->addr) {
            *ret_scopes = &names->units[i];
            return 0;
        }
    }
    if (YARN_ARRAY_RESERVE(&names->units, &names->units_capacity, names->nr_units + 1))
        return -ENOMEM;
    struct yarn_unit_scopes *scopes = &names->units[names->nr_units++];
    *scopes = (struct yarn_unit_scopes){.unit = unit->addr};
    *ret_scopes = scopes;
    return list_scopes(scopes, unit);
}

/* NO_SCOPE where the die is not listed. */
static uint32_t find_scope(const struct yarn_unit_scopes *unit, const Dwarf_Die *die)
{
    size_t low = 0, high = unit->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((uintptr_t)unit->scopes[middle].die.addr < (uintptr_t)die->addr)
            low = middle + 1;
        else
            high = middle;
    }
    return low < unit->count && unit->scopes[low].die.addr == die->addr ? (uint32_t)low : NO_SCOPE;
}

/* Puts "name::" before the text, which ends at the end of its room. NULL: there is no room. */
static char *put_before(char *begin, char *at, const char *name)
{
    size_t size = strlen(name);
    if ((size_t)(at - begin) < size + 2)
        return NULL;
    at -= 2;
    memcpy(at, "::", 2);
    at -= size;
    memcpy(at, name, size);
    return at;
}

static char *put_scope(char *begin, char *at, const Dwarf_Die *scope)
{
    char readable[YARN_DEMANGLED_SIZE];
    Dwarf_Die die = *scope;
    int tag = dwarf_tag(&die);
    const char *mangled = tag == DW_TAG_subprogram ? mangled_of(&die) : NULL;
    if (tag == DW_TAG_lexical_block)
        return at;
    if (mangled && yarn_demangle(mangled, readable))
        return put_before(begin, at, readable);
    const char *name = text_of(&die, DW_AT_name);
    if (!name)
        name = tag == DW_TAG_namespace              ? "(anonymous namespace)"
               : strncmp(at, "operator()", 10) == 0 ? "{lambda}"
                                                    : "{unnamed}";
    return put_before(begin, at, name);
}

/* *ret_text, owned by the caller, stays NULL where the bare name has to do. */
static int qualify(struct yarn_die_names *names, Dwarf_Die *declaration, const char *name,
                   char **ret_text)
{
    char text[YARN_DEMANGLED_SIZE];
    Dwarf_Die unit;
    const struct yarn_unit_scopes *scopes;
    size_t size = strlen(name);
    if (size >= sizeof text || !dwarf_diecu(declaration, &unit, NULL, NULL))
        return 0;
    int err = scopes_of(names, &unit, &scopes);
    if (err)
        return err;
    char *at = text + sizeof text - size - 1;
    memcpy(at, name, size + 1);
    uint32_t scope = find_scope(scopes, declaration);
    while (scope != NO_SCOPE && (scope = scopes->scopes[scope].parent) != NO_SCOPE) {
        at = put_scope(text, at, &scopes->scopes[scope].die);
        if (!at)
            return 0;
        /* Why the end here: a mangled name contains the enclosing scopes. */
        Dwarf_Die die = scopes->scopes[scope].die;
        if (dwarf_tag(&die) == DW_TAG_subprogram && mangled_of(&die))
            break;
    }
    *ret_text = strdup(at);
    return *ret_text ? 0 : -ENOMEM;
}

/* From an instance of a function to where it was first declared. */
static Dwarf_Die declaration_of(const Dwarf_Die *function)
{
    Dwarf_Die die = *function;
    for (int i = 0; i < REFERENCES_MAX; i++) {
        Dwarf_Attribute attribute;
        Dwarf_Die next;
        if (!dwarf_attr(&die, DW_AT_abstract_origin, &attribute) &&
            !dwarf_attr(&die, DW_AT_specification, &attribute))
            break;
        if (!dwarf_formref_die(&attribute, &next))
            break;
        die = next;
    }
    return die;
}

static bool is_of_cplusplus(Dwarf_Die *die)
{
    Dwarf_Die unit;
    if (!dwarf_diecu(die, &unit, NULL, NULL))
        return false;
    switch (dwarf_srclang(&unit)) {
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
        return true;
    default:
        return false;
    }
}

static int keep(struct yarn_die_names *names, char *text, uint64_t key)
{
    int err = YARN_ARRAY_PUT(&names->texts, &names->nr_texts, &names->texts_capacity, &text);
    if (err) {
        free(text);
        return err;
    }
    err = names->index.slots ? 0 : yarn_table_open(&names->index, 64, (size_t)1 << 31);
    return err ? err : yarn_table_put(&names->index, key, (uint32_t)names->nr_texts - 1);
}

int yarn_die_names_find(struct yarn_die_names *names, Dwarf_Die *function, const char **ret_name)
{
    const char *name = mangled_of(function);
    if (name || !(name = text_of(function, DW_AT_name)) || !is_of_cplusplus(function)) {
        *ret_name = name;
        return 0;
    }
    Dwarf_Die declaration = declaration_of(function);
    uint64_t key = (uint64_t)(uintptr_t)declaration.addr;
    uint32_t found = yarn_table_find(&names->index, key);
    if (found == YARN_TABLE_NONE) {
        char *text = NULL;
        int err = qualify(names, &declaration, name, &text);
        if (!err)
            err = keep(names, text, key);
        if (err)
            return err;
        found = (uint32_t)names->nr_texts - 1;
    }
    *ret_name = names->texts[found] ? names->texts[found] : name;
    return 0;
}
