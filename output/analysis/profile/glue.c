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
    /* What is the outermost frame stays: nobody's part it could be. */
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
