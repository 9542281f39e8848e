/* SPDX-License-Identifier: Apache-2.0 */
#include "core/event/pmu.h"

#include "core/base/text.h"

static int path_in(const struct yarn_pmu *pmu, const char *folder, struct yarn_span name,
                   char ret_path[YARN_MACHINE_PATH_MAX])
{
    struct yarn_span parts[] = {yarn_span_of_text(pmu->name), yarn_span_of_text(folder), name};
    if (!folder[0]) {
        parts[1] = name;
        return yarn_machine_path(pmu->machine->pmus, parts, 2, ret_path);
    }
    return yarn_machine_path(pmu->machine->pmus, parts, name.size ? 3 : 2, ret_path);
}

/* The file's text; its size, 0 where there is none of that name. */
static int read_own(const struct yarn_pmu *pmu, const char *name, char *ret_text, size_t capacity)
{
    char path[YARN_MACHINE_PATH_MAX];
    int err = path_in(pmu, "", yarn_span_of_text(name), path);
    return err ? err : yarn_machine_read(path, ret_text, capacity);
}

static int read_cpus(struct yarn_pmu *pmu, const char *name, struct yarn_arena *arena)
{
    char text[1024];
    int size = read_own(pmu, name, text, sizeof text);
    if (size <= 0)
        return -ENOENT;
    pmu->cpus = yarn_arena_text(arena, text, (size_t)size);
    return pmu->cpus ? 0 : -ENOMEM;
}

/* Those of machines with one kind of core have no list of cpus, or are called cpu. */
static bool is_core_name(const char *name)
{
    static const char *const fronts[] = {"cpu_", "armv", "apple_", "riscv"};
    for (size_t i = 0; i < YARN_COUNT_OF(fronts); i++)
        if (strncmp(name, fronts[i], strlen(fronts[i])) == 0)
            return true;
    return strcmp(name, "cpu") == 0;
}

int yarn_pmu_find(const struct yarn_event_machine *machine, struct yarn_span name,
                  struct yarn_arena *arena, struct yarn_pmu *ret_pmu)
{
    char path[YARN_MACHINE_PATH_MAX], text[32];
    struct yarn_span parts[] = {name, yarn_span_of_text("type")};
    uint64_t type;
    int size = yarn_machine_path(machine->pmus, parts, 2, path);
    if (!size)
        size = yarn_machine_read(path, text, sizeof text);
    if (size < 0 || yarn_parse_u64(text, (size_t)size, &type) || type > UINT32_MAX)
        return size < 0 && size != -ENOTDIR ? size : -ENOENT;
    struct yarn_pmu pmu = {
        .machine = machine,
        .name = yarn_arena_text(arena, (const char *)name.data, name.size),
        .type = (uint32_t)type,
    };
    if (!pmu.name)
        return -ENOMEM;
    pmu.is_core = is_core_name(pmu.name);
    int err = read_cpus(&pmu, "cpus", arena);
    if (err == -ENOENT) {
        err = read_cpus(&pmu, "cpumask", arena);
        pmu.is_of_cpus = !err;
    }
    if (err == -ENOMEM)
        return err;
    *ret_pmu = pmu;
    return 0;
}

/* A file in one of the folders, by its name as it is, and then with - for _ and _ for -. */
static int read_named(const struct yarn_pmu *pmu, const char *folder, struct yarn_span name,
                      char *ret_text, size_t capacity)
{
    static const char swaps[][2] = {{'-', '_'}, {'_', '-'}};
    char path[YARN_MACHINE_PATH_MAX], other[YARN_MACHINE_NAME_MAX];
    if (name.size > sizeof other)
        return -ENOENT;
    int size = path_in(pmu, folder, name, path);
    if (!size)
        size = yarn_machine_read(path, ret_text, capacity);
    for (size_t i = 0; size == -ENOENT && i < YARN_COUNT_OF(swaps); i++) {
        if (!memchr(name.data, swaps[i][0], name.size))
            continue;
        for (size_t at = 0; at < name.size; at++)
            other[at] = (char)(name.data[at] == swaps[i][0] ? swaps[i][1] : (char)name.data[at]);
        size = path_in(pmu, folder, yarn_span_of(other, name.size), path);
        if (!size)
            size = yarn_machine_read(path, ret_text, capacity);
    }
    return size == -EISDIR || size == -ENOTDIR ? -ENOENT : size;
}

int yarn_pmu_find_format(const struct yarn_pmu *pmu, struct yarn_span term,
                         struct yarn_pmu_format *ret_format)
{
    char text[128];
    int size = term.size ? read_named(pmu, "format", term, text, sizeof text) : -ENOENT;
    return size < 0 ? size : yarn_pmu_format_parse(yarn_span_of(text, (size_t)size), ret_format);
}

/* NAME.scale and NAME.unit beside an event say what its count means. */
static int read_beside(const struct yarn_pmu *pmu, struct yarn_span name, const char *ending,
                       char *ret_text, size_t capacity)
{
    char buffer[YARN_MACHINE_NAME_MAX];
    struct yarn_text text = yarn_text_of(buffer, sizeof buffer);
    yarn_text_add_sized(&text, (const char *)name.data, name.size);
    yarn_text_add(&text, ending);
    return text.cut
               ? -ENOENT
               : read_named(pmu, "events", yarn_span_of(buffer, text.size), ret_text, capacity);
}

static bool is_beside(struct yarn_span name)
{
    static const char *const endings[] = {".scale", ".unit", ".per-pkg", ".snapshot"};
    for (size_t i = 0; i < YARN_COUNT_OF(endings); i++) {
        size_t size = strlen(endings[i]);
        if (name.size > size && memcmp(name.data + name.size - size, endings[i], size) == 0)
            return true;
    }
    return false;
}

int yarn_pmu_find_event(const struct yarn_pmu *pmu, struct yarn_span name, struct yarn_arena *arena,
                        struct yarn_pmu_event *ret_event)
{
    struct yarn_pmu_event event = {.scale = 1};
    char text[128];
    if (!name.size || is_beside(name))
        return -ENOENT;
    int size = read_named(pmu, "events", name, event.terms, sizeof event.terms);
    if (size < 0)
        return size;
    size = read_beside(pmu, name, ".scale", text, sizeof text);
    if (size > 0 && yarn_pmu_scale_parse(yarn_span_of(text, (size_t)size), &event.scale))
        return -EINVAL;
    size = read_beside(pmu, name, ".unit", text, sizeof text);
    if (size > 0) {
        event.unit = yarn_arena_text(arena, text, (size_t)size);
        if (!event.unit)
            return -ENOMEM;
    }
    *ret_event = event;
    return 0;
}

bool yarn_pmu_has_event(const struct yarn_pmu *pmu, struct yarn_span name)
{
    char path[YARN_MACHINE_PATH_MAX], text[8];
    return name.size && !is_beside(name) && path_in(pmu, "events", name, path) == 0 &&
           yarn_machine_read(path, text, sizeof text) >= 0;
}

void yarn_pmu_list(const struct yarn_event_machine *machine, yarn_machine_name_fn *tell, void *self)
{
    int err = yarn_machine_list(machine->pmus, tell, self);
    (void)err;
}

static void list_in(const struct yarn_pmu *pmu, const char *folder, yarn_machine_name_fn *tell,
                    void *self)
{
    char path[YARN_MACHINE_PATH_MAX];
    int err = path_in(pmu, folder, YARN_SPAN_EMPTY, path);
    if (!err)
        err = yarn_machine_list(path, tell, self);
    (void)err;
}

void yarn_pmu_list_formats(const struct yarn_pmu *pmu, yarn_machine_name_fn *tell, void *self)
{
    list_in(pmu, "format", tell, self);
}

struct events {
    yarn_machine_name_fn *tell;
    void *self;
};

static bool pass_event(void *self, const char *name)
{
    const struct events *events = self;
    return is_beside(yarn_span_of_text(name)) || events->tell(events->self, name);
}

void yarn_pmu_list_events(const struct yarn_pmu *pmu, yarn_machine_name_fn *tell, void *self)
{
    struct events events = {tell, self};
    list_in(pmu, "events", pass_event, &events);
}
