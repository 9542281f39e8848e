/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/pipeline/frame_names.h"

enum {
    UNNAMED_MAX = 64 << 10,
    KERNEL_STEPS = 16, /* at a flush */
};
/* CPU time of the host from which on the kernel's names are read: that takes 40 ms, a twentieth of
 * what the recording has cost by then. A process that uses less leaves addresses, which the tool
 * names where it runs in the same boot. */
#define KERNEL_WORTH_NS (30 * YARN_NS_PER_SECOND)

/* Of a file of generated code's names, some 1.5 ms a MiB: at a flush, and at the end. */
#define JIT_BYTES YARN_MIB(16)
#define JIT_LAST_BYTES YARN_MIB(128)

static const char kernel_path[] = "/proc/kallsyms";

struct unnamed {
    uint64_t address;
    uint32_t module; /* its number, or YARN_DUMP_NONE */
    bool is_kernel;
};

int yarn_frame_names_open(struct yarn_frame_names *names, struct yarn_module_map *map,
                          const struct yarn_facts *facts, struct yarn_pipeline_shared *shared)
{
    *names = (struct yarn_frame_names){.kernel = YARN_KERNEL_NAMES_CLOSED};
    int err = yarn_file_names_open(&names->files, map, facts, shared);
    if (!err)
        err = yarn_jit_names_new(&names->jit, map, (uint32_t)facts->pid, facts->start_realtime_ns);
    yarn_arena_open(&names->unnamed, UNNAMED_MAX * sizeof(struct unnamed));
    if (err)
        yarn_frame_names_close(names);
    return err;
}

void yarn_frame_names_close(struct yarn_frame_names *names)
{
    yarn_arena_close(&names->unnamed);
    yarn_kernel_names_close(&names->kernel);
    yarn_jit_names_free(names->jit);
    yarn_file_names_close(&names->files);
    names->jit = NULL;
}

uint32_t yarn_frame_names_code(struct yarn_frame_names *names,
                               const struct yarn_unwind_frame *frame, uint32_t flags,
                               uint64_t time_ns)
{
    if (flags & YARN_DUMP_FRAME_KERNEL)
        return names->kernel.is_read ? 0 : YARN_CODE_NAME_NONE;
    return yarn_frame_is_generated(frame)
               ? yarn_jit_names_find(names->jit, frame->lookup_ip, time_ns)
               : 0;
}

static void remember(struct yarn_frame_names *names, const struct yarn_module *module,
                     uint64_t address, bool is_kernel)
{
    struct unnamed *unnamed = YARN_ARENA_NEW(&names->unnamed, struct unnamed, 1);
    names->wants_kernel |= is_kernel;
    if (unnamed)
        *unnamed = (struct unnamed){address, module ? module->number : YARN_DUMP_NONE, is_kernel};
}

static struct yarn_symbol name_of(const struct yarn_frame_names *names, uint64_t address,
                                  bool is_kernel, uint32_t code)
{
    struct yarn_kernel_name kernel;
    if (code == YARN_CODE_NAME_NONE ||
        (is_kernel && !yarn_kernel_names_find(&names->kernel, address, &kernel)))
        return (struct yarn_symbol){.start = 0};
    if (is_kernel)
        return (struct yarn_symbol){.name = kernel.text, .start = kernel.start, .end = kernel.end};
    struct yarn_code_name name = yarn_jit_names_at(names->jit, code);
    return (struct yarn_symbol){.name = name.text, .start = name.start, .end = name.end};
}

struct yarn_symbol yarn_frame_names_of(struct yarn_frame_names *names,
                                       const struct yarn_unwind_frame *frame, uint32_t flags,
                                       uint64_t address, uint32_t code)
{
    bool is_kernel = flags & YARN_DUMP_FRAME_KERNEL;
    if (code == YARN_CODE_NAME_NONE)
        remember(names, frame->module, address, is_kernel);
    return name_of(names, address, is_kernel, code);
}

/* False where there is still no name. */
static bool write_late(struct yarn_frame_names *names, const struct unnamed *unnamed,
                       struct yarn_dump_writer *writer)
{
    uint32_t code = unnamed->is_kernel ? 0 : yarn_jit_names_find_now(names->jit, unnamed->address);
    struct yarn_symbol symbol = name_of(names, unnamed->address, unnamed->is_kernel, code);
    struct yarn_dump_code_name record = {
        .module = unnamed->module,
        .address = unnamed->address,
        .start = symbol.start,
        .end = symbol.end,
        .name = symbol.name,
    };
    if (symbol.name.size)
        yarn_dump_write_code_name(writer, &record);
    return symbol.name.size;
}

static void read_kernel(struct yarn_frame_names *names, uint64_t cpu_ns)
{
    if (!names->wants_kernel || cpu_ns < KERNEL_WORTH_NS)
        return;
    for (size_t i = 0; i < KERNEL_STEPS; i++)
        if (yarn_kernel_names_step(&names->kernel, kernel_path))
            break;
}

/* True where there may be names that were not there the last time. */
static bool has_new_names(struct yarn_frame_names *names, uint64_t cpu_ns, bool is_last)
{
    read_kernel(names, cpu_ns);
    yarn_jit_names_refresh(names->jit, is_last ? JIT_LAST_BYTES : JIT_BYTES);
    uint64_t generation = yarn_jit_names_generation(names->jit);
    bool has =
        generation != names->unnamed_generation || names->kernel_was_read != names->kernel.is_read;
    names->unnamed_generation = generation;
    names->kernel_was_read = names->kernel.is_read;
    return has;
}

void yarn_frame_names_write_late(struct yarn_frame_names *names, struct yarn_dump_writer *writer,
                                 uint64_t cpu_ns, bool is_last)
{
    struct unnamed *unnamed = (struct unnamed *)(void *)names->unnamed.base;
    size_t count = names->unnamed.used / sizeof *unnamed;
    if (!count || !has_new_names(names, cpu_ns, is_last))
        return;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!write_late(names, &unnamed[i], writer))
            unnamed[kept++] = unnamed[i];
    yarn_arena_rewind(&names->unnamed, kept * sizeof *unnamed);
}
