/* SPDX-License-Identifier: Apache-2.0 */
#include "output/fold/annotation.h"

#include <stdlib.h>

#include "output/base/array.h"

enum { MODULE_KIND_FILE = 0 };

/* How a module stood in a dump; NULL: the dump does not say. A number's last record counts. */
static const struct yarn_dump_module *module_of(const struct yarn_profile *profile, uint32_t dump,
                                                uint32_t number)
{
    const struct yarn_profile_dump *of = &profile->dumps[dump];
    for (size_t i = of->nr_modules; i-- > 0;) {
        if (of->modules[i].number == number)
            return &of->modules[i];
    }
    return NULL;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t *one = a, *other = b;
    return *one < *other ? -1 : *one > *other;
}

/* Why not by the function's number alone: code without a name when it was recorded may have got one
 * from debug information since. */
static int find_starts(struct yarn_annotation *annotation)
{
    const struct yarn_profile *profile = annotation->profile;
    uint64_t *starts = malloc((profile->nr_frames + 1) * sizeof *starts);
    if (!starts)
        return -ENOMEM;
    for (size_t i = 0; i < profile->nr_frames; i++) {
        const struct yarn_profile_frame *frame = &profile->frames[i];
        bool is_first = !annotation->nr_starts || starts[annotation->nr_starts - 1] != frame->start;
        if (frame->function == annotation->function && frame->start != UINT64_MAX && is_first)
            starts[annotation->nr_starts++] = frame->start;
    }
    qsort(starts, annotation->nr_starts, sizeof *starts, by_number);
    annotation->starts = starts;
    return 0;
}

static bool has_symbol(const struct yarn_annotation *annotation,
                       const struct yarn_profile_symbol *symbol)
{
    const struct yarn_profile_function *functions = annotation->profile->functions;
    const struct yarn_profile_function *function = &functions[symbol->function];
    if (symbol->function == annotation->function)
        return true;
    return function->is_nameless && function->module == functions[annotation->function].module &&
           bsearch(&symbol->start, annotation->starts, annotation->nr_starts,
                   sizeof *annotation->starts, by_number);
}

/* The module of the function in each dump. Owned by the caller; NULL: no memory. */
static const struct yarn_dump_module **modules_of(const struct yarn_annotation *annotation)
{
    const struct yarn_profile *profile = annotation->profile;
    const struct yarn_dump_module **modules = calloc(profile->nr_dumps + 1, sizeof *modules);
    for (size_t i = 0; modules && i < profile->symbols.count; i++) {
        const struct yarn_profile_symbol *symbol = &profile->symbols.list[i];
        if (!modules[symbol->dump] && has_symbol(annotation, symbol))
            modules[symbol->dump] = module_of(profile, symbol->dump, symbol->module);
    }
    return modules;
}

static bool is_same_build(const struct yarn_dump_module *a, const struct yarn_dump_module *b)
{
    return a && b && yarn_span_equal(a->build_id, b->build_id) &&
           (a->build_id.size || a->file_bytes == b->file_bytes);
}

/* The samples of each dump that have the function on their stacks. */
static int count_samples(const struct yarn_annotation *annotation, uint64_t *ret_counts)
{
    const struct yarn_profile *profile = annotation->profile;
    const struct yarn_cell *cell;
    uint8_t *functions = calloc(profile->nr_functions + 1, 1);
    if (!functions)
        return -ENOMEM;
    functions[annotation->function] = 1;
    uint8_t *with = yarn_stacks_with(profile, functions);
    free(functions);
    if (!with)
        return -ENOMEM;
    for (size_t at = 0; (cell = yarn_choice_next(&annotation->choice, YARN_DUMP_NONE, &at));) {
        if (cell->stack != YARN_DUMP_NONE && with[cell->stack])
            ret_counts[profile->threads[cell->thread].dump] += cell->samples;
    }
    free(with);
    return 0;
}

static const struct yarn_dump_module *most_sampled(const struct yarn_profile *profile,
                                                   const struct yarn_dump_module **modules,
                                                   const uint64_t *counts)
{
    const struct yarn_dump_module *best = NULL;
    uint64_t best_count = 0;
    for (size_t i = 0; i < profile->nr_dumps; i++) {
        uint64_t count = 0;
        for (size_t j = 0; modules[i] && j < profile->nr_dumps; j++)
            count += is_same_build(modules[i], modules[j]) ? counts[j] : 0;
        if (modules[i] && (!best || count > best_count)) {
            best = modules[i];
            best_count = count;
        }
    }
    return best;
}

static int add_extent(struct yarn_annotation *annotation, uint64_t start, uint64_t end)
{
    for (size_t i = 0; i < annotation->nr_extents; i++) {
        if (annotation->extents[i].start == start)
            return 0;
    }
    return YARN_ARRAY_PUT(&annotation->extents, &annotation->nr_extents,
                          &annotation->extents_capacity,
                          &(struct yarn_annotation_extent){start, end});
}

static int by_start(const void *a, const void *b)
{
    const struct yarn_annotation_extent *one = a, *other = b;
    return one->start < other->start ? -1 : one->start > other->start;
}

static int take_build(struct yarn_annotation *annotation, const struct yarn_dump_module **modules,
                      const uint64_t *counts)
{
    const struct yarn_profile *profile = annotation->profile;
    const struct yarn_dump_module *build = most_sampled(profile, modules, counts);
    int err = 0;
    if (!build)
        return 0;
    annotation->build_id = build->build_id;
    annotation->file_bytes = build->file_bytes;
    annotation->is_file = build->kind == MODULE_KIND_FILE;
    for (size_t i = 0; i < profile->nr_dumps; i++)
        annotation->other_samples += is_same_build(build, modules[i]) ? 0 : counts[i];
    for (size_t i = 0; i < profile->nr_threads; i++)
        annotation->threads[i] = annotation->choice.threads[i] &&
                                 is_same_build(build, modules[profile->threads[i].dump]);
    annotation->choice.threads = annotation->threads;
    for (size_t i = 0; !err && i < profile->symbols.count; i++) {
        const struct yarn_profile_symbol *symbol = &profile->symbols.list[i];
        if (is_same_build(build, modules[symbol->dump]) && has_symbol(annotation, symbol))
            err = add_extent(annotation, symbol->start, symbol->end);
    }
    if (annotation->nr_extents)
        qsort(annotation->extents, annotation->nr_extents, sizeof *annotation->extents, by_start);
    return err;
}

int yarn_annotation_init(struct yarn_annotation *annotation, const struct yarn_choice *choice,
                         uint32_t function)
{
    const struct yarn_profile *profile = choice->profile;
    *annotation = (struct yarn_annotation){
        .profile = profile,
        .choice = *choice,
        .function = function,
        .threads = calloc(profile->nr_threads + 1, 1),
    };
    int err = annotation->threads ? find_starts(annotation) : -ENOMEM;
    const struct yarn_dump_module **modules = err ? NULL : modules_of(annotation);
    uint64_t *counts = calloc(profile->nr_dumps + 1, sizeof *counts);
    if (!err && (!modules || !counts))
        err = -ENOMEM;
    if (!err)
        err = count_samples(annotation, counts);
    if (!err)
        err = take_build(annotation, modules, counts);
    free(modules);
    free(counts);
    if (err)
        yarn_annotation_fini(annotation);
    return err;
}

static int add_instruction(struct yarn_annotation *annotation, uint64_t address, const char *text)
{
    return YARN_ARRAY_PUT(&annotation->instructions, &annotation->nr_instructions,
                          &annotation->instructions_capacity,
                          &(struct yarn_annotation_instruction){
                              .address = address,
                              .text = text,
                              .function = annotation->function,
                          });
}

static int add_line(struct yarn_annotation *annotation, const struct yarn_profile_frame *frame)
{
    return YARN_ARRAY_PUT(&annotation->lines, &annotation->nr_lines, &annotation->lines_capacity,
                          &(struct yarn_annotation_line){frame->file, frame->line});
}

static int compare_instructions(const void *a, const void *b)
{
    const struct yarn_annotation_instruction *one = a, *other = b;
    if (one->address != other->address)
        return one->address < other->address ? -1 : 1;
    return !one->text - !other->text;
}

static int compare_lines(const void *a, const void *b, void *context)
{
    const struct yarn_annotation_line *one = a, *other = b;
    const struct yarn_profile *profile = context;
    int files = one->file == other->file ? 0
                                         : strcmp(yarn_profile_text(profile, one->file),
                                                  yarn_profile_text(profile, other->file));
    return files ? files : one->line < other->line ? -1 : one->line > other->line;
}

/* Sorts, and keeps one of each. */
static void sort_unique(struct yarn_annotation *annotation)
{
    struct yarn_profile *profile = (struct yarn_profile *)annotation->profile;
    struct yarn_annotation_instruction *instructions = annotation->instructions;
    struct yarn_annotation_line *lines = annotation->lines;
    size_t kept = 0;
    if (instructions)
        qsort(instructions, annotation->nr_instructions, sizeof *instructions,
              compare_instructions);
    for (size_t i = 0; i < annotation->nr_instructions; i++) {
        if (!kept || instructions[kept - 1].address != instructions[i].address)
            instructions[kept++] = instructions[i];
    }
    annotation->nr_instructions = kept;
    kept = 0;
    if (lines)
        qsort_r(lines, annotation->nr_lines, sizeof *lines, compare_lines, profile);
    for (size_t i = 0; i < annotation->nr_lines; i++) {
        if (!kept || compare_lines(&lines[kept - 1], &lines[i], profile))
            lines[kept++] = lines[i];
    }
    annotation->nr_lines = kept;
}

static uint32_t find_instruction(const struct yarn_annotation *annotation, uint64_t address)
{
    size_t low = YARN_ARRAY_UP_TO(annotation->instructions, annotation->nr_instructions, address);
    return low ? (uint32_t)low - 1 : YARN_DUMP_NONE;
}

static uint32_t find_line(const struct yarn_annotation *annotation,
                          const struct yarn_profile_frame *frame)
{
    struct yarn_annotation_line key = {frame->file, frame->line};
    size_t low = 0, high = annotation->nr_lines;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_lines(&key, &annotation->lines[middle], (void *)annotation->profile);
        if (!order)
            return (uint32_t)middle;
        if (order > 0)
            low = middle + 1;
        else
            high = middle;
    }
    return YARN_DUMP_NONE;
}

/* The innermost frame that the compiler made of the same instruction, by its place behind it. */
static const struct yarn_profile_frame *innermost(const struct yarn_profile *profile,
                                                  uint32_t number)
{
    const struct yarn_profile_frame *frame = &profile->frames[number];
    while (number + 1 < profile->nr_frames && frame[1].start == UINT64_MAX &&
           frame[1].address == frame->address) {
        frame++;
        number++;
    }
    return frame;
}

static void place_stack(struct yarn_annotation *annotation, uint32_t stack)
{
    const struct yarn_profile *profile = annotation->profile;
    uint32_t number = profile->stacks[stack].frame;
    const struct yarn_profile_frame *frame = &profile->frames[number];
    uint32_t instruction = find_instruction(annotation, frame->address);
    annotation->instruction_keys[stack] = instruction;
    annotation->line_keys[stack] = find_line(annotation, frame);
    if (instruction == YARN_DUMP_NONE)
        return;
    const struct yarn_profile_frame *inner = innermost(profile, number);
    annotation->instructions[instruction].file = inner->file;
    annotation->instructions[instruction].line = inner->line;
    annotation->instructions[instruction].function = inner->function;
}

static int add_stacks(struct yarn_annotation *annotation,
                      const struct yarn_disassembly *disassembly)
{
    const struct yarn_profile *profile = annotation->profile;
    int err = 0;
    for (size_t i = 0; !err && i < profile->nr_stacks; i++) {
        const struct yarn_profile_frame *frame = &profile->frames[profile->stacks[i].frame];
        if (profile->stacks[i].function != annotation->function)
            continue;
        err = add_line(annotation, frame);
        if (!err && !yarn_disassembly_find(disassembly, frame->address))
            err = add_instruction(annotation, frame->address, NULL);
    }
    return err;
}

int yarn_annotation_place(struct yarn_annotation *annotation,
                          const struct yarn_disassembly *disassembly)
{
    const struct yarn_profile *profile = annotation->profile;
    int err = 0;
    annotation->instruction_keys =
        malloc((profile->nr_stacks + 1) * sizeof *annotation->instruction_keys);
    annotation->line_keys = malloc((profile->nr_stacks + 1) * sizeof *annotation->line_keys);
    if (!annotation->instruction_keys || !annotation->line_keys)
        return -ENOMEM;
    for (size_t i = 0; !err && i < disassembly->count; i++)
        err = add_instruction(annotation, disassembly->instructions[i].address,
                              disassembly->instructions[i].text);
    if (!err)
        err = add_stacks(annotation, disassembly);
    if (err)
        return err;
    sort_unique(annotation);
    for (size_t i = 1; i < annotation->nr_instructions; i++) {
        const struct yarn_disassembly_line *before =
            yarn_disassembly_find(disassembly, annotation->instructions[i - 1].address);
        annotation->instructions[i].is_after_gap =
            !before || before->end != annotation->instructions[i].address;
    }
    for (uint32_t i = 0; i < profile->nr_stacks; i++) {
        annotation->instruction_keys[i] = annotation->line_keys[i] = YARN_DUMP_NONE;
        if (profile->stacks[i].function == annotation->function)
            place_stack(annotation, i);
    }
    return 0;
}

void yarn_annotation_fini(struct yarn_annotation *annotation)
{
    free(annotation->threads);
    free(annotation->starts);
    free(annotation->extents);
    free(annotation->instructions);
    free(annotation->lines);
    free(annotation->instruction_keys);
    free(annotation->line_keys);
    *annotation = (struct yarn_annotation){0};
}

/* The key of what a stack's samples are spent in: that of the innermost frame, if it is the
 * function, or of the frame that those further in were inlined into. */
static uint32_t *find_selfs(const struct yarn_annotation *annotation, const uint32_t *keys)
{
    const struct yarn_profile *profile = annotation->profile;
    uint32_t *selfs = malloc((profile->nr_stacks + 1) * sizeof *selfs);
    for (size_t i = 0; selfs && i < profile->nr_stacks; i++) {
        const struct yarn_profile_stack *stack = &profile->stacks[i];
        bool is_inlined = profile->functions[stack->function].is_inlined;
        selfs[i] = YARN_DUMP_NONE;
        if (stack->function == annotation->function)
            selfs[i] = keys[i];
        else if (is_inlined && stack->parent != YARN_DUMP_NONE)
            selfs[i] = selfs[stack->parent];
    }
    return selfs;
}

/* `keys`, one a stack, may be NULL: the function is one group. */
static int add_groups(const struct yarn_annotation *annotation, const uint32_t *keys,
                      uint32_t event, struct yarn_group *groups)
{
    const struct yarn_profile *profile = annotation->profile;
    uint32_t *own = malloc((profile->nr_stacks + 1) * sizeof *own);
    struct yarn_fold fold;
    for (size_t i = 0; own && i < profile->nr_stacks; i++)
        own[i] = profile->stacks[i].function != annotation->function ? YARN_DUMP_NONE
                 : keys                                              ? keys[i]
                                                                     : 0;
    int err = yarn_fold_init(&fold, profile, own);
    if (err)
        return err;
    fold.selfs = find_selfs(annotation, fold.keys);
    err = fold.selfs ? yarn_fold_add(&fold, &annotation->choice, event, groups) : -ENOMEM;
    yarn_fold_fini(&fold);
    return err;
}

int yarn_annotation_sum(const struct yarn_annotation *annotation, uint32_t event,
                        struct yarn_annotation_sums *ret_sums)
{
    struct yarn_annotation_sums sums = {
        .instructions = calloc(annotation->nr_instructions + 1, sizeof *sums.instructions),
        .lines = calloc(annotation->nr_lines + 1, sizeof *sums.lines),
    };
    int err = sums.instructions && sums.lines ? 0 : -ENOMEM;
    if (!err)
        err = add_groups(annotation, NULL, event, &sums.whole);
    if (!err)
        err = add_groups(annotation, annotation->instruction_keys, event, sums.instructions);
    if (!err)
        err = add_groups(annotation, annotation->line_keys, event, sums.lines);
    if (err)
        yarn_annotation_sums_fini(&sums);
    else
        *ret_sums = sums;
    return err;
}

/* Functions count once each, although one may have been inlined into itself. */
static void add_self_of_chain(const struct yarn_profile *profile, const struct yarn_cell *cell,
                              struct yarn_group *selfs)
{
    struct yarn_sum more = yarn_sum_of(cell);
    bool is_whole = false;
    for (uint32_t at = cell->stack; at != YARN_DUMP_NONE && !is_whole;
         at = profile->stacks[at].parent) {
        uint32_t function = profile->stacks[at].function;
        uint32_t inner = cell->stack;
        while (profile->stacks[inner].function != function)
            inner = profile->stacks[inner].parent;
        if (inner == at)
            yarn_group_add_self(&selfs[function], &more);
        is_whole = !profile->functions[function].is_inlined;
    }
}

int yarn_annotation_selfs(const struct yarn_choice *choice, uint32_t event,
                          struct yarn_group **ret_selfs)
{
    const struct yarn_profile *profile = choice->profile;
    const struct yarn_cell *cell;
    struct yarn_group *selfs = calloc(profile->nr_functions + 1, sizeof *selfs);
    if (!selfs)
        return -ENOMEM;
    for (size_t at = 0; (cell = yarn_choice_next(choice, event, &at));)
        add_self_of_chain(profile, cell, selfs);
    *ret_selfs = selfs;
    return 0;
}

void yarn_annotation_sums_fini(struct yarn_annotation_sums *sums)
{
    free(sums->instructions);
    free(sums->lines);
    *sums = (struct yarn_annotation_sums){0};
}
