/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/pipeline/frame_names.h"

#include "core/base/sort.h"
#include "core/base/text.h"
#include "core/sys/clock.h"

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

enum {
    NAMES_MAX = 16 << 10,
    FIRST_KEYS = 256,
    TEXTS_BYTES = 1 << 20,
    MODULES_AT_ONCE = 64, /* the rest has its turn the next time */
    LIFE_SHARE = 1000,    /* of the host's CPU time, and that of its end: */
    END_SHARE = 50,
    LINK_BYTES = 64,
};
/* In any case, of its life and of its end. */
#define LIFE_FIRST_NS (10 * YARN_NS_PER_MS)
#define END_FIRST_NS (2 * YARN_NS_PER_MS)
#define END_MOST_NS (50 * YARN_NS_PER_MS)
#define COST_MOST_NS (1000 * YARN_NS_PER_SECOND)
/* Nobody can name it later. */
#define LOST_NS (10 * YARN_NS_PER_MS)

/* The questions to one module's image. */
struct group {
    const struct yarn_module *module;
    uint64_t cost_ns;
    bool is_gone; /* no longer mapped: its image will be closed */
    bool is_lost; /* who does not name it now does not later */
};

int yarn_file_names_open(struct yarn_file_names *names, struct yarn_module_map *map,
                         const struct yarn_facts *facts, struct yarn_pipeline_shared *shared)
{
    *names = (struct yarn_file_names){.map = map, .facts = facts};
    yarn_arena_open(&names->names, NAMES_MAX * sizeof(struct yarn_file_name));
    yarn_arena_open(&names->questions, NAMES_MAX * sizeof(struct yarn_symbol_question));
    yarn_arena_open(&names->texts, TEXTS_BYTES);
    names->symbols = shared ? shared->symbols : NULL;
    names->known = shared ? &shared->names : NULL;
    int err = shared ? 0 : yarn_symbols_new(&names->symbols);
    if (!err)
        err = yarn_table_open(&names->by_place, FIRST_KEYS, 2 * NAMES_MAX);
    return err;
}

void yarn_file_names_close(struct yarn_file_names *names)
{
    if (!names->known)
        yarn_symbols_free(names->symbols);
    names->symbols = NULL;
    yarn_table_close(&names->by_place);
    yarn_arena_close(&names->names);
    yarn_arena_close(&names->questions);
    yarn_arena_close(&names->texts);
}

void yarn_file_names_hurry(struct yarn_file_names *names, bool is_last)
{
    uint64_t cpu_ns = is_last ? yarn_target_cpu_ns(yarn_module_map_target(names->map)) : 0;
    uint64_t share_ns = yarn_u64_min(cpu_ns / END_SHARE, END_MOST_NS);
    names->until_ns =
        is_last ? yarn_clock_ns(YARN_TIME_MONOTONIC) + yarn_u64_max(share_ns, END_FIRST_NS) : 0;
}

struct yarn_file_name *yarn_file_names_all(const struct yarn_file_names *names, size_t *ret_count)
{
    *ret_count = names->names.used / sizeof(struct yarn_file_name);
    return (struct yarn_file_name *)(void *)names->names.base;
}

static uint64_t key_of(const struct yarn_module *module, uint64_t address)
{
    return yarn_hash_u64(address) + module->number;
}

struct yarn_file_name *yarn_file_names_find(const struct yarn_file_names *names,
                                            const struct yarn_module *module, uint64_t address)
{
    size_t count;
    struct yarn_file_name *all = yarn_file_names_all(names, &count);
    uint32_t place = yarn_table_find(&names->by_place, key_of(module, address));
    bool is_it = place != YARN_TABLE_NONE && all[place].module == module &&
                 all[place].question.vaddr == address;
    return is_it ? &all[place] : NULL;
}

void yarn_file_names_want(struct yarn_file_names *names, const struct yarn_unwind_frame *frame,
                          uint64_t address)
{
    if (yarn_file_names_find(names, frame->module, address))
        return;
    size_t place = names->names.used / sizeof(struct yarn_file_name);
    struct yarn_file_name *name = YARN_ARENA_NEW(&names->names, struct yarn_file_name, 1);
    if (!name)
        return;
    uint64_t start = address - frame->in_function;
    *name = (struct yarn_file_name){
        .module = frame->module,
        .question = {.vaddr = address, .start = start, .end = start + frame->function_size},
    };
    if (names->known)
        yarn_known_names_answer(names->known, frame->module->image, &name->question);
    if (yarn_table_put(&names->by_place, key_of(frame->module, address), (uint32_t)place))
        yarn_arena_rewind(&names->names, place * sizeof *name);
}

static bool read_mounts(const char *proc, char ret_link[LINK_BYTES])
{
    char data[LINK_BYTES];
    struct yarn_text path = yarn_text_of(data, sizeof data);
    yarn_text_add_format(&path, "%s/ns/mnt", proc);
    return yarn_file_read_link(YARN_FILE_CWD, data, ret_link, LINK_BYTES) > 0;
}

/* Whether the process sees other files than those that started it. Where nobody may know, it does
 * not. */
static bool has_own_mounts(const struct yarn_file_names *names)
{
    char its[LINK_BYTES], others[LINK_BYTES];
    const struct yarn_target *target = yarn_module_map_target(names->map);
    struct yarn_target starter = yarn_target_of(names->facts->parent_pid);
    if (target->kind == YARN_TARGET_OTHER)
        starter = yarn_target_self;
    return read_mounts(target->proc, its) && read_mounts(starter.proc, others) &&
           strcmp(its, others) != 0;
}

static bool is_lost(const struct yarn_module *module)
{
    const struct yarn_image *image = module->image;
    return !image->build_id.size || !image->view || !yarn_view_is_at(image->view, module->path);
}

/* Where what was asked for has been unmapped and closed meanwhile, it is not asked any more. */
static bool can_ask(const struct yarn_file_names *names, const struct yarn_file_name *name)
{
    return !name->question.is_answered &&
           (name->module->image || yarn_module_map_find(names->map, name->module->start)) &&
           name->module->image;
}

static size_t gather(struct yarn_file_names *names, struct group groups[MODULES_AT_ONCE])
{
    size_t count, nr_groups = 0;
    const struct yarn_file_name *all = yarn_file_names_all(names, &count);
    for (size_t i = 0; i < count; i++) {
        const struct yarn_module *module = all[i].module;
        size_t at = 0;
        while (at < nr_groups && groups[at].module->image != module->image)
            at++;
        if (at < nr_groups || at == MODULES_AT_ONCE || !can_ask(names, &all[i]))
            continue;
        groups[nr_groups++] = (struct group){
            .module = module,
            .cost_ns = yarn_symbols_cost_ns(names->symbols, module->image, module->path),
            .is_gone = yarn_module_map_find(names->map, module->start) != module,
        };
    }
    return nr_groups;
}

/* Asked only where there is no time for all: it takes some system calls. */
static void find_lost(const struct yarn_file_names *names, struct group *groups, size_t count)
{
    uint64_t end_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    for (size_t i = 0; i < count; i++)
        end_ns += groups[i].cost_ns;
    if (end_ns < names->until_ns)
        return;
    bool has_own = has_own_mounts(names);
    for (size_t i = 0; i < count; i++)
        groups[i].is_lost = has_own || is_lost(groups[i].module);
}

/* In which order they are asked, by their places: what is gone or lost comes first, then the cheap.
 */
static void sort(const struct group *groups, size_t count, uint64_t order[MODULES_AT_ONCE])
{
    for (size_t i = 0; i < count; i++)
        order[i] = (uint64_t)!groups[i].is_gone << 63 | (uint64_t)!groups[i].is_lost << 62 |
                   yarn_u64_min(groups[i].cost_ns, COST_MOST_NS) * MODULES_AT_ONCE | i;
    yarn_sort_u64(order, count);
}

/* Until when the module may be asked; 0: not at all. */
static uint64_t until_of(struct yarn_file_names *names, const struct group *group, uint64_t cpu_ns)
{
    if (!names->until_ns) {
        if (!group->is_gone &&
            names->spent_ns + group->cost_ns > LIFE_FIRST_NS + cpu_ns / LIFE_SHARE)
            return 0;
        names->spent_ns += group->cost_ns;
        return UINT64_MAX;
    }
    uint64_t now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    if (group->is_lost)
        return names->until_ns - yarn_u64_min(names->until_ns, END_FIRST_NS) + LOST_NS;
    return now_ns + group->cost_ns < names->until_ns ? names->until_ns : 0;
}

static void write_of_file(struct yarn_file_names *names, const struct yarn_file_name *name,
                          struct yarn_dump_writer *writer)
{
    const struct yarn_dump_code_name record = {
        .module = name->module->number,
        .address = name->question.vaddr,
        .start = name->question.answer.start,
        .end = name->question.answer.end,
        .name = name->question.answer.name,
    };
    if (!name->is_stored || !name->question.is_answered)
        return;
    yarn_dump_write_code_name(writer, &record);
    names->nr_unnamed--;
}

static bool is_of(const struct yarn_file_name *name, const struct yarn_image *image)
{
    return !name->question.is_answered && name->module->image == image;
}

static void ask_group(struct yarn_file_names *names, const struct group *group, uint64_t until_ns,
                      struct yarn_dump_writer *writer)
{
    const struct yarn_image *image = group->module->image;
    size_t count, nr_asked = 0, nr_taken = 0;
    struct yarn_file_name *all = yarn_file_names_all(names, &count);
    yarn_arena_rewind(&names->questions, 0);
    struct yarn_symbol_question *asked =
        YARN_ARENA_NEW(&names->questions, struct yarn_symbol_question, count);
    for (size_t i = 0; asked && i < count; i++)
        if (is_of(&all[i], image))
            asked[nr_asked++] = all[i].question;
    int err = yarn_symbols_ask(names->symbols, image, group->module->path, asked, nr_asked,
                               &names->texts, until_ns);
    for (size_t i = 0; !err && i < count && nr_taken < nr_asked; i++) {
        if (!is_of(&all[i], image))
            continue;
        all[i].question = asked[nr_taken++];
        if (names->known)
            yarn_known_names_keep(names->known, image, &all[i].question);
        write_of_file(names, &all[i], writer);
    }
}

void yarn_file_names_ask(struct yarn_file_names *names, struct yarn_dump_writer *writer)
{
    struct group groups[MODULES_AT_ONCE];
    uint64_t order[MODULES_AT_ONCE];
    names->has_asked = true;
    size_t count = names->names.used ? gather(names, groups) : 0;
    uint64_t cpu_ns = count ? yarn_target_cpu_ns(yarn_module_map_target(names->map)) : 0;
    if (names->until_ns)
        find_lost(names, groups, count);
    sort(groups, count, order);
    for (size_t i = 0; i < count; i++) {
        const struct group *group = &groups[order[i] % MODULES_AT_ONCE];
        uint64_t until_ns = until_of(names, group, cpu_ns);
        if (until_ns)
            ask_group(names, group, until_ns, writer);
    }
}

void yarn_file_names_clear(struct yarn_file_names *names)
{
    size_t count, kept = 0;
    struct yarn_file_name *all = yarn_file_names_all(names, &count);
    names->has_asked = false;
    if (!count)
        return;
    yarn_table_clear(&names->by_place);
    for (size_t i = 0; i < count; i++) {
        if (!all[i].is_stored || !can_ask(names, &all[i]))
            continue;
        all[kept] = all[i];
        /* Why an error may pass: the table had room for as many. */
        if (yarn_table_put(&names->by_place, key_of(all[kept].module, all[kept].question.vaddr),
                           (uint32_t)kept))
            break;
        kept++;
    }
    yarn_arena_rewind(&names->names, kept * sizeof *all);
    yarn_arena_rewind(&names->texts, 0);
}

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
    uint32_t code = unnamed->is_kernel ? 0 : yarn_jit_names_find_late(names->jit, unnamed->address);
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
