/* SPDX-License-Identifier: Apache-2.0 */
#include "output/fold/match.h"

#include <stdlib.h>

#include "output/base/array.h"

/* Texts of both profiles get one number each here, so that they can be keys. */
struct matcher {
    const struct yarn_profile *profiles[2]; /* the first is NULL where there is one profile */
    struct yarn_match *match;
    struct yarn_strings words;
    struct yarn_table by_key;     /* (name, module) to function of the match */
    struct yarn_table by_name[2]; /* name to function of the profile; AMBIGUOUS */
    uint8_t *is_same_build[2];    /* owned; a byte a module of the profile */
};

static const uint32_t AMBIGUOUS = UINT32_MAX - 1;
static const char nameless[] = "[nameless]";

static void matcher_fini(struct matcher *matcher)
{
    yarn_strings_fini(&matcher->words);
    yarn_table_close(&matcher->by_key);
    for (size_t side = 0; side < 2; side++) {
        yarn_table_close(&matcher->by_name[side]);
        free(matcher->is_same_build[side]);
    }
}

static int matcher_init(struct matcher *matcher)
{
    const size_t max = (size_t)1 << 31;
    int err = yarn_strings_init(&matcher->words);
    if (!err)
        err = yarn_table_open(&matcher->by_key, 1024, max);
    for (size_t side = 0; !err && side < 2; side++) {
        const struct yarn_profile *profile = matcher->profiles[side];
        err = yarn_table_open(&matcher->by_name[side], 1024, max);
        if (err)
            return err;
        matcher->is_same_build[side] = calloc(profile->nr_modules + 1, 1);
        matcher->match->numbers[side] =
            calloc(profile->nr_functions + 1, sizeof *matcher->match->numbers[side]);
        err = matcher->is_same_build[side] && matcher->match->numbers[side] ? 0 : -ENOMEM;
    }
    return err;
}

/* Equal texts of a profile are one. */
static uint64_t key_of_text(const void *text)
{
    return (uint64_t)(uintptr_t)text;
}

/* Another build id than the one seen before counts as no build id. */
static void note_build(const struct yarn_dump_module *module, struct yarn_span *build)
{
    static const uint8_t several[1];
    if (!build->size && build->data != several)
        *build = module->build_id;
    else if (!yarn_span_equal(*build, module->build_id))
        *build = yarn_span_of(several, 0);
}

static void note_builds(const struct yarn_profile *profile, const struct yarn_table *index,
                        struct yarn_span *builds)
{
    for (size_t i = 0; i < profile->nr_dumps; i++) {
        const struct yarn_profile_dump *dump = &profile->dumps[i];
        for (size_t j = 0; j < dump->nr_modules; j++) {
            uint32_t found = yarn_table_find(index, key_of_text(dump->modules[j].path.data));
            if (found != YARN_TABLE_NONE)
                note_build(&dump->modules[j], &builds[found]);
        }
    }
}

/* Build ids of the modules that a profile saw; empty where unknown or where there were several. */
static struct yarn_span *builds_of(const struct yarn_profile *profile)
{
    struct yarn_table index = YARN_TABLE_CLOSED;
    struct yarn_span *builds = calloc(profile->nr_modules + 1, sizeof *builds);
    int err = builds ? yarn_table_open(&index, profile->nr_modules * 2, (size_t)1 << 31) : -ENOMEM;
    for (size_t i = 0; !err && i < profile->nr_modules; i++)
        err = yarn_table_put(
            &index, key_of_text(yarn_profile_text(profile, profile->modules[i].path)), (uint32_t)i);
    if (!err)
        note_builds(profile, &index, builds);
    yarn_table_close(&index);
    if (!err)
        return builds;
    free(builds);
    return NULL;
}

static int compare_builds(const struct matcher *matcher)
{
    const struct yarn_profile *before = matcher->profiles[0], *after = matcher->profiles[1];
    struct yarn_span *mine = builds_of(before), *theirs = builds_of(after);
    for (size_t i = 0; mine && theirs && i < before->nr_modules; i++) {
        for (size_t j = 0; mine[i].size && j < after->nr_modules; j++) {
            if (!yarn_span_equal(mine[i], theirs[j]))
                continue;
            matcher->is_same_build[0][i] = 1;
            matcher->is_same_build[1][j] = 1;
        }
    }
    int err = mine && theirs ? 0 : -ENOMEM;
    free(mine);
    free(theirs);
    return err;
}

static int add(struct yarn_match *match, const struct yarn_match_function *function,
               uint32_t *ret_number)
{
    if (YARN_ARRAY_RESERVE(&match->functions, &match->capacity, match->count + 1))
        return -ENOMEM;
    match->functions[match->count] = *function;
    *ret_number = (uint32_t)match->count++;
    return 0;
}

static struct yarn_match_function describe(const struct matcher *matcher, size_t side,
                                           uint32_t number)
{
    const struct yarn_profile *profile = matcher->profiles[side];
    const struct yarn_profile_function *function = &profile->functions[number];
    struct yarn_match_function described = {
        .name = yarn_profile_text(profile, function->name),
        .module = yarn_profile_text(profile, profile->modules[function->module].path),
        .functions = {YARN_DUMP_NONE, YARN_DUMP_NONE},
        .is_pseudo = number < YARN_FUNCTION_PSEUDO_COUNT,
        .is_lump = matcher->profiles[0] && function->is_nameless && function->module &&
                   !matcher->is_same_build[side][function->module],
    };
    described.functions[side] = number;
    if (described.is_lump)
        described.name = nameless;
    return described;
}

static int key_of(struct matcher *matcher, size_t side, const struct yarn_match_function *described,
                  uint64_t *ret_key)
{
    const struct yarn_profile *profile = matcher->profiles[side];
    uint32_t name, module;
    const struct yarn_profile_function *function = &profile->functions[described->functions[side]];
    const char *base = yarn_profile_text(profile, profile->modules[function->module].base);
    int err = yarn_strings_intern(&matcher->words, yarn_span_of_text(described->name), &name);
    if (!err)
        err = yarn_strings_intern(&matcher->words, yarn_span_of_text(base), &module);
    if (!err)
        *ret_key = (uint64_t)name << 32 | module;
    return err;
}

static int remember_name(struct matcher *matcher, size_t side, uint64_t key, uint32_t number)
{
    struct yarn_table *table = &matcher->by_name[side];
    uint64_t name = key >> 32;
    bool is_first = yarn_table_find(table, name) == YARN_TABLE_NONE;
    return yarn_table_put(table, name, is_first ? number : AMBIGUOUS);
}

/* Functions of one name in modules of one file name (or of one lump) share their number. */
static int take_function(struct matcher *matcher, size_t side, uint32_t number)
{
    struct yarn_match *match = matcher->match;
    struct yarn_match_function described = describe(matcher, side, number);
    uint64_t key;
    int err = key_of(matcher, side, &described, &key);
    if (err)
        return err;
    uint32_t found = yarn_table_find(&matcher->by_key, key);
    if (found == YARN_TABLE_NONE) {
        err = add(match, &described, &found);
        if (!err)
            err = yarn_table_put(&matcher->by_key, key, found);
        if (!err && !described.is_lump)
            err = remember_name(matcher, side, key, number);
        if (err)
            return err;
    } else if (match->functions[found].functions[side] == YARN_DUMP_NONE) {
        match->functions[found].functions[side] = number;
        match->functions[found].module = described.module;
        if (!described.is_lump)
            err = remember_name(matcher, side, key, number);
    }
    match->numbers[side][number] = found;
    return err;
}

/* The function of `after` that is alone with the name that `mine` has alone in `before`. */
static uint32_t alone_with_name(struct matcher *matcher, const struct yarn_match_function *mine)
{
    uint32_t name;
    if (yarn_strings_intern(&matcher->words, yarn_span_of_text(mine->name), &name))
        return YARN_DUMP_NONE;
    uint32_t first = yarn_table_find(&matcher->by_name[0], name);
    uint32_t second = yarn_table_find(&matcher->by_name[1], name);
    if (first == AMBIGUOUS || second == AMBIGUOUS || second == YARN_TABLE_NONE)
        return YARN_DUMP_NONE;
    uint32_t theirs = matcher->match->numbers[1][second];
    bool is_taken = matcher->match->functions[theirs].functions[0] != YARN_DUMP_NONE;
    return is_taken ? YARN_DUMP_NONE : theirs;
}

/* Functions left of `before` find their names in `after`; their former numbers stand for nothing
 * then. */
static int match_by_name(struct matcher *matcher)
{
    struct yarn_match *match = matcher->match;
    uint32_t *moved = calloc(match->count + 1, sizeof *moved); /* 1 + where to; 0: not */
    if (!moved)
        return -ENOMEM;
    for (size_t i = 0; i < match->count; i++) {
        struct yarn_match_function *mine = &match->functions[i];
        if (mine->functions[1] != YARN_DUMP_NONE || mine->is_lump)
            continue;
        uint32_t theirs = alone_with_name(matcher, mine);
        if (theirs == YARN_DUMP_NONE)
            continue;
        match->functions[theirs].functions[0] = mine->functions[0];
        mine->functions[0] = YARN_DUMP_NONE;
        moved[i] = theirs + 1;
    }
    for (size_t i = 0; i < matcher->profiles[0]->nr_functions; i++) {
        uint32_t *number = &match->numbers[0][i];
        *number = moved[*number] ? moved[*number] - 1 : *number;
    }
    free(moved);
    return 0;
}

static int match_all(struct matcher *matcher)
{
    int err = compare_builds(matcher);
    for (size_t side = 0; !err && side < 2; side++) {
        const struct yarn_profile *profile = matcher->profiles[side];
        for (uint32_t i = 0; !err && i < profile->nr_functions; i++)
            err = take_function(matcher, side, i);
    }
    return err ? err : match_by_name(matcher);
}

static int take_as_they_are(const struct yarn_profile *profile, struct yarn_match *match)
{
    struct matcher matcher = {.profiles = {NULL, profile}, .match = match};
    match->numbers[1] = calloc(profile->nr_functions + 1, sizeof *match->numbers[1]);
    if (!match->numbers[1])
        return -ENOMEM;
    for (uint32_t i = 0; i < profile->nr_functions; i++) {
        struct yarn_match_function described = describe(&matcher, 1, i);
        int err = add(match, &described, &match->numbers[1][i]);
        if (err)
            return err;
    }
    return 0;
}

int yarn_match_build(const struct yarn_profile *before, const struct yarn_profile *after,
                     struct yarn_match *ret_match)
{
    struct yarn_match match = {0};
    int err;
    if (before) {
        struct matcher matcher = {.profiles = {before, after}, .match = &match};
        err = matcher_init(&matcher);
        if (!err)
            err = match_all(&matcher);
        matcher_fini(&matcher);
    } else {
        err = take_as_they_are(after, &match);
    }
    if (err) {
        yarn_match_fini(&match);
        return err;
    }
    *ret_match = match;
    return 0;
}

int yarn_match_add_pseudo(struct yarn_match *match, const char *name, uint32_t *ret_number)
{
    struct yarn_match_function function = {
        .name = name,
        .module = "",
        .functions = {YARN_DUMP_NONE, YARN_DUMP_NONE},
        .is_pseudo = true,
    };
    return add(match, &function, ret_number);
}

void yarn_match_fini(struct yarn_match *match)
{
    free(match->functions);
    free(match->numbers[0]);
    free(match->numbers[1]);
    *match = (struct yarn_match){0};
}
