/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/dump_stacks.h"

#include <stdlib.h>

#include "core/include/yarn/dump.h"
#include "output/store/array.h"

struct yarn_symbol_row {
    const char *name; /* the reader's; NULL: unknown */
    uint32_t module;
};

struct yarn_frame_row {
    uint64_t address;
    uint32_t symbol, flags;
};

struct yarn_stack_row {
    uint32_t parent, frame, depth;
};

int yarn_stack_tables_add_module(struct yarn_stack_tables *tables,
                                 const struct yarn_dump_module *module)
{
    size_t before = tables->max_modules;
    if (YARN_ARRAY_RESERVE(&tables->modules, &tables->max_modules, (size_t)module->number + 1))
        return -ENOMEM;
    for (size_t i = before; i < tables->max_modules; i++)
        tables->modules[i] = NULL;
    free(tables->modules[module->number]);
    tables->modules[module->number] = NULL;
    if (!module->path.size)
        return 0;
    /* A copy, since modules outlive the epoch. */
    char *path = strdup((const char *)module->path.data);
    tables->modules[module->number] = path;
    return path ? 0 : -ENOMEM;
}

int yarn_stack_tables_add_symbol(struct yarn_stack_tables *tables,
                                 const struct yarn_dump_symbol *symbol)
{
    if (YARN_ARRAY_RESERVE(&tables->symbols, &tables->max_symbols, (size_t)symbol->number + 1))
        return -ENOMEM;
    tables->symbols[symbol->number] = (struct yarn_symbol_row){
        .name = symbol->name.size ? (const char *)symbol->name.data : NULL,
        .module = symbol->module,
    };
    return 0;
}

int yarn_stack_tables_add_frame(struct yarn_stack_tables *tables,
                                const struct yarn_dump_frame *frame)
{
    if (YARN_ARRAY_RESERVE(&tables->frames, &tables->max_frames, (size_t)frame->number + 1))
        return -ENOMEM;
    tables->frames[frame->number] =
        (struct yarn_frame_row){frame->address, frame->symbol, frame->flags};
    return 0;
}

int yarn_stack_tables_add_stack(struct yarn_stack_tables *tables,
                                const struct yarn_dump_stack *stack)
{
    if (YARN_ARRAY_RESERVE(&tables->stacks, &tables->max_stacks, (size_t)stack->number + 1))
        return -ENOMEM;
    tables->stacks[stack->number] = (struct yarn_stack_row){
        .parent = stack->parent,
        .frame = stack->frame,
        .depth = 1 + (uint32_t)yarn_stack_tables_depth(tables, stack->parent),
    };
    return 0;
}

size_t yarn_stack_tables_depth(const struct yarn_stack_tables *tables, uint32_t stack)
{
    return stack == YARN_DUMP_NONE ? 0 : tables->stacks[stack].depth;
}

uint32_t yarn_stack_tables_parent(const struct yarn_stack_tables *tables, uint32_t stack)
{
    return tables->stacks[stack].parent;
}

static const char *module_of(const struct yarn_stack_tables *tables,
                             const struct yarn_frame_row *frame)
{
    uint32_t module = tables->symbols[frame->symbol].module;
    if (frame->flags & YARN_DUMP_FRAME_KERNEL)
        return "[kernel.kallsyms]";
    return module == YARN_DUMP_NONE ? NULL : tables->modules[module];
}

static const char *name_of(const struct yarn_stack_tables *tables,
                           const struct yarn_frame_row *frame)
{
    const struct yarn_symbol_row *symbol = &tables->symbols[frame->symbol];
    bool is_kernel = frame->flags & YARN_DUMP_FRAME_KERNEL;
    return symbol->name
               ? symbol->name
               : yarn_late_names_find(&tables->late_names, tables->process,
                                      is_kernel ? YARN_DUMP_NONE : symbol->module, frame->address);
}

void yarn_stack_tables_frame(const struct yarn_stack_tables *tables, uint32_t stack,
                             struct yarn_frame *ret_frame)
{
    const struct yarn_frame_row *frame = &tables->frames[tables->stacks[stack].frame];
    *ret_frame = (struct yarn_frame){
        .function = name_of(tables, frame),
        .module = module_of(tables, frame),
        .address = frame->address,
    };
}

static void free_modules(struct yarn_stack_tables *tables)
{
    for (size_t i = 0; i < tables->max_modules; i++)
        free(tables->modules[i]);
    free(tables->modules);
    tables->modules = NULL;
    tables->max_modules = 0;
}

void yarn_stack_tables_begin_process(struct yarn_stack_tables *tables)
{
    free_modules(tables);
    tables->process += tables->has_process;
    tables->has_process = true;
}

void yarn_stack_tables_close(struct yarn_stack_tables *tables)
{
    free_modules(tables);
    yarn_late_names_close(&tables->late_names);
    free(tables->symbols);
    free(tables->frames);
    free(tables->stacks);
    *tables = (struct yarn_stack_tables){0};
}
