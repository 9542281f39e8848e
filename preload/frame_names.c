/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/frame_names.h"

enum { UNNAMED_MAX = 64 << 10 };

struct unnamed {
    uint64_t address;
    uint32_t module; /* its number, or YARN_DUMP_NONE */
};

int yarn_frame_names_open(struct yarn_frame_names *names, const struct yarn_module_map *map,
                          const struct yarn_facts *facts)
{
    *names = (struct yarn_frame_names){.symbols = NULL};
    int err = yarn_symbols_new(&names->symbols);
    if (!err)
        err = yarn_jit_names_new(&names->jit, map, (uint32_t)facts->pid, facts->start_realtime_ns);
    if (!err)
        err = yarn_arena_open(&names->unnamed, UNNAMED_MAX * sizeof(struct unnamed));
    if (err)
        yarn_frame_names_close(names);
    return err;
}

void yarn_frame_names_close(struct yarn_frame_names *names)
{
    if (names->unnamed.base)
        yarn_arena_close(&names->unnamed);
    yarn_kernel_names_close(&names->kernel);
    yarn_jit_names_free(names->jit);
    yarn_symbols_free(names->symbols);
    names->jit = NULL;
    names->symbols = NULL;
}

static struct yarn_symbol name_kernel(struct yarn_frame_names *names, uint64_t address)
{
    struct yarn_kernel_name name = {.text = yarn_span_of_text("[kernel]")};
    if (!yarn_kernel_names_find(&names->kernel, address, &name))
        name.start = name.end = 0;
    return (struct yarn_symbol){.name = name.text, .start = name.start, .end = name.end};
}

static void remember(struct yarn_frame_names *names, const struct yarn_module *module,
                     uint64_t address)
{
    struct unnamed *unnamed = YARN_ARENA_NEW(&names->unnamed, struct unnamed, 1);
    if (unnamed)
        *unnamed = (struct unnamed){address, module ? module->number : YARN_DUMP_NONE};
}

static struct yarn_symbol name_generated(struct yarn_frame_names *names,
                                         const struct yarn_module *module, uint64_t address,
                                         uint32_t code)
{
    if (code == YARN_CODE_NAME_NONE) {
        remember(names, module, address);
        return (struct yarn_symbol){.start = 0};
    }
    struct yarn_code_name name = yarn_jit_names_at(names->jit, code);
    return (struct yarn_symbol){.name = name.text, .start = name.start, .end = name.end};
}

struct yarn_symbol yarn_frame_names_of(struct yarn_frame_names *names,
                                       const struct yarn_frame *frame, uint32_t flags,
                                       uint64_t address, uint32_t code)
{
    struct yarn_symbol symbol = {.start = 0};
    if (flags & YARN_DUMP_FRAME_KERNEL)
        return name_kernel(names, address);
    if (yarn_frame_is_generated(frame, flags))
        return name_generated(names, frame->module, address, code);
    if (!yarn_symbols_find(names->symbols, frame->module, address, &symbol))
        symbol.name = YARN_SPAN_EMPTY;
    return symbol;
}

/* False where there is still no name. */
static bool write_late(struct yarn_frame_names *names, const struct unnamed *unnamed,
                       struct yarn_dump_writer *writer)
{
    uint32_t code = yarn_jit_names_find_now(names->jit, unnamed->address);
    if (code == YARN_CODE_NAME_NONE)
        return false;
    struct yarn_code_name name = yarn_jit_names_at(names->jit, code);
    struct yarn_dump_code_name record = {
        .module = unnamed->module,
        .address = unnamed->address,
        .start = name.start,
        .end = name.end,
        .name = name.text,
    };
    yarn_dump_write_code_name(writer, &record);
    return true;
}

void yarn_frame_names_write_late(struct yarn_frame_names *names, struct yarn_dump_writer *writer)
{
    struct unnamed *unnamed = (struct unnamed *)(void *)names->unnamed.base;
    size_t count = names->unnamed.used / sizeof *unnamed;
    if (!count)
        return;
    yarn_jit_names_refresh(names->jit);
    uint64_t generation = yarn_jit_names_generation(names->jit);
    if (generation == names->unnamed_generation)
        return;
    names->unnamed_generation = generation;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!write_late(names, &unnamed[i], writer))
            unnamed[kept++] = unnamed[i];
    yarn_arena_rewind(&names->unnamed, kept * sizeof *unnamed);
}
