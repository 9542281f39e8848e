/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/pipeline/file_names.h"

#include "core/base/sort.h"
#include "core/base/text.h"
#include "core/sys/clock.h"

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

static void write_late(struct yarn_file_names *names, const struct yarn_file_name *name,
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
        write_late(names, &all[i], writer);
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
