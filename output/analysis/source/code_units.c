/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/source/code_units.h"

#include <dwarf.h>
#include <stdlib.h>

#include "output/base/array.h"

/* Scopes that hold scopes: a file that nests them deeper is broken. */
enum { DEPTH_MAX = 64 };

/* How far a unit's functions were looked through. */
enum search {
    SEARCH_NONE,
    SEARCH_TOP,  /* at the top and in namespaces, where functions with code usually stand */
    SEARCH_DEEP, /* in types and functions too: methods of local types, nested functions */
};

struct yarn_code_unit {
    Dwarf_Die lines; /* of the unit in the file itself */
    Dwarf_Die die;   /* the same, or what a .dwo file has of it */
    enum search search;
    struct yarn_ranges ranges;
    Dwarf_Die *functions; /* owned array */
    size_t nr_functions, functions_capacity;
};

static int spend_step(struct yarn_code_units *units)
{
    if (units->steps == YARN_CODE_STEPS_MAX)
        return -E2BIG;
    units->steps++;
    return 0;
}

int yarn_code_units_range(struct yarn_code_units *units, Dwarf_Die *die, ptrdiff_t *at,
                          struct yarn_range *ret_range)
{
    Dwarf_Addr base;
    int err = spend_step(units);
    if (err)
        return err;
    *at = dwarf_ranges(die, *at, &base, &ret_range->start, &ret_range->end);
    return *at > 0;
}

int yarn_code_units_sibling(struct yarn_code_units *units, Dwarf_Die *die)
{
    int err = spend_step(units);
    return err ? err : dwarf_siblingof(die, die) == 0;
}

static int add_ranges(struct yarn_code_units *units, struct yarn_ranges *ranges, Dwarf_Die *die,
                      uint32_t what)
{
    struct yarn_range range;
    ptrdiff_t at = 0;
    int found = yarn_code_units_range(units, die, &at, &range);
    while (found > 0) {
        int err = yarn_ranges_add(ranges, range.start, range.end, what);
        found = err ? err : yarn_code_units_range(units, die, &at, &range);
    }
    return found;
}

static int add_unit(struct yarn_code_units *units, const Dwarf_Die *die, const Dwarf_Die *split)
{
    if (YARN_ARRAY_RESERVE(&units->units, &units->capacity, units->count + 1))
        return -ENOMEM;
    units->units[units->count] =
        (struct yarn_code_unit){.lines = *die, .die = split->addr ? *split : *die};
    units->count++;
    return add_ranges(units, &units->ranges, &units->units[units->count - 1].lines,
                      (uint32_t)units->count - 1);
}

int yarn_code_units_init(struct yarn_code_units *units, Dwarf *dwarf)
{
    Dwarf_CU *cu = NULL;
    Dwarf_Die die, split;
    Dwarf_Half version;
    uint8_t type;
    int err = 0;
    *units = (struct yarn_code_units){0};
    while (!err && dwarf_get_units(dwarf, cu, &cu, &version, &type, &die, &split) == 0) {
        if (type == DW_UT_compile || type == DW_UT_skeleton)
            err = add_unit(units, &die, &split);
    }
    if (err)
        yarn_code_units_fini(units);
    else
        yarn_ranges_sort(&units->ranges);
    return err;
}

void yarn_code_units_fini(struct yarn_code_units *units)
{
    for (size_t i = 0; i < units->count; i++) {
        yarn_ranges_fini(&units->units[i].ranges);
        free(units->units[i].functions);
    }
    free(units->units);
    yarn_ranges_fini(&units->ranges);
    *units = (struct yarn_code_units){0};
}

static int add_function(struct yarn_code_units *units, struct yarn_code_unit *unit, Dwarf_Die *die)
{
    size_t count = unit->ranges.count;
    int err = add_ranges(units, &unit->ranges, die, (uint32_t)unit->nr_functions);
    if (err || unit->ranges.count == count)
        return err;
    return YARN_ARRAY_PUT(&unit->functions, &unit->nr_functions, &unit->functions_capacity, die);
}

static bool holds_functions(int tag, enum search search)
{
    switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_module:
        return true;
    case DW_TAG_subprogram:
    case DW_TAG_lexical_block:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:
    case DW_TAG_variant_part:
    case DW_TAG_variant:
        return search == SEARCH_DEEP;
    default:
        return false;
    }
}

static int add_functions(struct yarn_code_units *units, struct yarn_code_unit *unit,
                         enum search search)
{
    /* Why not recursive: files may nest scopes as deep as they like. */
    Dwarf_Die stack[DEPTH_MAX];
    int depth = 0;
    if (dwarf_child(&unit->die, &stack[0]))
        return 0;
    while (depth >= 0) {
        Dwarf_Die *die = &stack[depth];
        int tag = dwarf_tag(die);
        int err = tag == DW_TAG_subprogram ? add_function(units, unit, die) : 0;
        if (err)
            return err;
        if (depth + 1 < DEPTH_MAX && holds_functions(tag, search) &&
            dwarf_child(die, &stack[depth + 1]) == 0) {
            depth++;
            continue;
        }
        int found = 0;
        while (depth >= 0 && (found = yarn_code_units_sibling(units, &stack[depth])) == 0)
            depth--;
        if (found < 0)
            return found;
    }
    return 0;
}

static int search_unit(struct yarn_code_units *units, struct yarn_code_unit *unit,
                       enum search search)
{
    unit->search = search;
    unit->ranges.count = 0;
    unit->nr_functions = 0;
    int err = add_functions(units, unit, search);
    yarn_ranges_sort(&unit->ranges);
    return err;
}

int yarn_code_units_find(struct yarn_code_units *units, uint64_t address,
                         struct yarn_code_place *ret_place)
{
    struct yarn_code_place place = {0};
    uint32_t number = yarn_ranges_find(&units->ranges, address);
    if (number != YARN_RANGES_NONE) {
        struct yarn_code_unit *unit = &units->units[number];
        uint32_t function = YARN_RANGES_NONE;
        place.unit = unit->lines;
        for (enum search search = SEARCH_TOP; search <= SEARCH_DEEP; search++) {
            int err = unit->search < search ? search_unit(units, unit, search) : 0;
            if (err)
                return err;
            function = yarn_ranges_find(&unit->ranges, address);
            if (function != YARN_RANGES_NONE)
                break;
        }
        if (function != YARN_RANGES_NONE)
            place.function = unit->functions[function];
    }
    *ret_place = place;
    return 0;
}
