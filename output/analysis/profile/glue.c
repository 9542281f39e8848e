/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/profile/glue.h"

#include <stdlib.h>

#include "core/base/glob.h"
#include "output/analysis/value/runtime.h"

/* CPython's, between a call in Python and the function that is called. */
static const char functions[] =
    "_PyEval_*,PyEval_EvalCode*,_PyObject_VectorcallTstate*,*Vectorcall*,*_vectorcall*,"
    "*PyObject_Call*,_PyObject_FastCall*,_PyObject_MakeTpCall,py_trampoline_evaluator";

enum { IS_GLUE = 1, IS_NAMED = 2, IS_BELOW = 4, IS_ABOVE = 8 };

static uint8_t kind_of(const struct yarn_profile *profile, uint32_t number)
{
    const struct yarn_profile_function *function = &profile->functions[number];
    const char *name = yarn_profile_text(profile, function->name);
    if (strncmp(name, YARN_RUNTIME_NAMED, sizeof YARN_RUNTIME_NAMED - 1) == 0)
        return IS_NAMED;
    if (!function->module || !yarn_glob_list_matches(functions, name))
        return 0;
    const struct yarn_runtime *runtime =
        yarn_runtime_of(yarn_profile_text(profile, profile->modules[function->module].path));
    return runtime && runtime->interprets ? IS_GLUE : 0;
}

/* Of each stack, whether a function of the language is further out, or further in. */
static void mark_neighbours(const struct yarn_profile *profile, uint8_t *marks)
{
    const struct yarn_profile_stack *stacks = profile->stacks;
    for (size_t i = 0; i < profile->nr_stacks; i++) {
        uint8_t up = stacks[i].parent == YARN_DUMP_NONE ? 0 : marks[stacks[i].parent];
        marks[i] |= up & (IS_NAMED | IS_BELOW) ? IS_BELOW : 0;
    }
    for (size_t i = profile->nr_stacks; i-- > 0;)
        if (stacks[i].parent != YARN_DUMP_NONE && marks[i] & (IS_NAMED | IS_ABOVE))
            marks[stacks[i].parent] |= IS_ABOVE;
}

static bool is_folded(uint8_t mark)
{
    return mark & IS_GLUE && mark & (IS_BELOW | IS_ABOVE);
}

int yarn_glue_fold(struct yarn_profile *profile)
{
    uint8_t *kinds = calloc(profile->nr_functions + 1, 1);
    uint8_t *marks = calloc(profile->nr_stacks + 1, 1);
    int err = kinds && marks ? 0 : -ENOMEM;
    for (uint32_t i = 0; !err && i < profile->nr_functions; i++)
        kinds[i] = kind_of(profile, i);
    for (size_t i = 0; !err && i < profile->nr_stacks; i++)
        marks[i] = kinds[profile->stacks[i].function];
    if (!err)
        mark_neighbours(profile, marks);
    /* The outermost frame stays: nobody's part it could be. */
    for (size_t i = 0; !err && i < profile->nr_stacks; i++) {
        uint32_t parent = profile->stacks[i].parent;
        if (!is_folded(marks[i]) || parent == YARN_DUMP_NONE)
            continue;
        profile->stacks[i] = profile->stacks[parent];
        profile->has_folded = true;
    }
    free(kinds);
    free(marks);
    return err;
}

/* ---- yarn's own ---- */

enum { IS_OWN = 1, IS_OURS_BY_NAME = 2, IS_CALL = 4 };

/* Of the preload; what it stands in for is called as in the C library. */
static uint8_t own_kind_of(const struct yarn_profile *profile, uint32_t number)
{
    const struct yarn_profile_function *function = &profile->functions[number];
    const char *name = yarn_profile_text(profile, function->name);
    const char *module = yarn_profile_text(profile, profile->modules[function->module].base);
    if (strcmp(module, "libyarn_preload.so") != 0)
        return 0;
    return IS_OWN | (strncmp(name, "yarn_", 5) == 0 ? IS_OURS_BY_NAME : 0) |
           (strcmp(name, "yarn_raw_call") == 0 ? IS_CALL : 0);
}

/* "[yarn]", of the same module. */
static int own_function(struct yarn_profile *profile, uint32_t of, uint32_t *ret_function)
{
    uint32_t name;
    int err = yarn_strings_intern(&profile->strings, yarn_span_of_text("[yarn]"), &name);
    return err ? err
               : yarn_profile_function(profile, profile->functions[of].module, name, ret_function);
}

/* What the preload only hands on to the kernel is the program's. */
static int fold_own(struct yarn_profile *profile, size_t at, const uint8_t *kinds,
                    uint32_t nr_kinds)
{
    struct yarn_profile_stack *stack = &profile->stacks[at];
    bool has_parent = stack->parent != YARN_DUMP_NONE;
    uint32_t above = has_parent ? profile->stacks[stack->parent].function : nr_kinds, own;
    uint8_t kind = kinds[stack->function];
    int err = own_function(profile, stack->function, &own);
    bool is_within = has_parent && above == own;
    if (!err && has_parent && (is_within || kind & IS_CALL))
        *stack = profile->stacks[stack->parent];
    else if (!err && (kind & IS_OURS_BY_NAME || (above < nr_kinds && kinds[above])))
        stack->function = own;
    return err;
}

int yarn_glue_fold_own(struct yarn_profile *profile)
{
    uint32_t nr_kinds = (uint32_t)profile->nr_functions;
    uint8_t *kinds = calloc((size_t)nr_kinds + 1, 1);
    int err = kinds ? 0 : -ENOMEM;
    for (uint32_t i = 0; !err && i < nr_kinds; i++)
        kinds[i] = own_kind_of(profile, i);
    for (size_t i = 0; !err && i < profile->nr_stacks; i++) {
        uint32_t function = profile->stacks[i].function;
        if (function < nr_kinds && kinds[function])
            err = fold_own(profile, i, kinds, nr_kinds);
    }
    free(kinds);
    return err;
}
