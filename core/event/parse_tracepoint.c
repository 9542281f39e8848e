/* SPDX-License-Identifier: Apache-2.0 */
#include <linux/perf_event.h>

#include "core/base/glob.h"
#include "core/base/text.h"
#include "core/event/parse.h"
#include "core/event/parse_form.h"

/* What an ordinary user lacks is the right to read the numbers, not to use them. */
static const char cannot_read[] = "tracefs, which has its number, cannot be read: as root, mount "
                                  "-o remount,gid=GROUP,mode=750 /sys/kernel/tracing";
static const char not_mounted[] =
    "tracefs is not at /sys/kernel/tracing: as root, mount -t tracefs tracefs /sys/kernel/tracing";

static int path_of(const struct yarn_event_reader *reader, struct yarn_span system,
                   struct yarn_span name, const char *file, char ret_path[YARN_MACHINE_PATH_MAX])
{
    struct yarn_span parts[] = {yarn_span_of_text("events"), system, name, yarn_span_of_text(file)};
    size_t count = !system.size ? 1 : !name.size ? 2 : 4;
    return yarn_machine_path(reader->machine->tracing, parts, count, ret_path);
}

static bool is_pattern(struct yarn_span word)
{
    for (size_t i = 0; i < word.size; i++)
        if (strchr("*?[", word.data[i]))
            return true;
    return false;
}

/* A system call's tracepoint is where its caller, a user, is; likewise probes of files: those of
 * the group `yarn` (yarn(7)), and those that yarn has defined itself (core/tracefs/definitions.c).
 */
static bool is_of_user(struct yarn_span system, struct yarn_span name)
{
    static const char own[] = "yarn_";
    bool is_own =
        system.size >= sizeof own && memcmp(system.data, own, sizeof own - 1) == 0 && name.size;
    return yarn_span_equal(system, yarn_span_of_text("syscalls")) ||
           yarn_span_equal(system, yarn_span_of_text("yarn")) || (is_own && name.data[0] == 'p');
}

static int add(struct yarn_event_reader *reader, struct yarn_span system, struct yarn_span name,
               uint64_t number, const char *refusal)
{
    struct yarn_event_spec spec = {
        .kind = YARN_EVENT_TRACEPOINT,
        .type = PERF_TYPE_TRACEPOINT,
        .config = number,
        .unit = "events",
        .scale = 1,
        .refusal = refusal,
        .has_default_period_1 = true,
        .is_in_kernel = !is_of_user(system, name),
    };
    char buffer[2 * YARN_MACHINE_NAME_MAX];
    struct yarn_text text = yarn_text_of(buffer, sizeof buffer);
    yarn_text_add_sized(&text, (const char *)system.data, system.size);
    yarn_text_add(&text, ":");
    yarn_text_add_sized(&text, (const char *)name.data, name.size);
    spec.event = yarn_arena_text(reader->arena, text.data, text.size);
    return spec.event ? yarn_event_reader_add(reader, &spec) : -ENOMEM;
}

/* -ENOENT: there is none; -EACCES: it cannot be read. */
static int read_number(const struct yarn_event_reader *reader, struct yarn_span system,
                       struct yarn_span name, uint64_t *ret_number)
{
    char path[YARN_MACHINE_PATH_MAX], text[32];
    int size = path_of(reader, system, name, "id", path);
    if (!size)
        size = yarn_machine_read(path, text, sizeof text);
    if (size < 0)
        return size == -EACCES || size == -EPERM ? -EACCES : -ENOENT;
    return yarn_parse_u64(text, (size_t)size, ret_number) ? -ENOENT : 0;
}

struct search {
    struct yarn_event_reader *reader;
    struct yarn_span system, name;
    struct yarn_nearest nearest;
    bool is_exact; /* only the nearest is looked for */
    int err;
    char names[YARN_EVENT_LIST_MAX + 1][YARN_NEAREST_MAX]; /* sorted */
    size_t count;
};

static bool collect_name(void *self, const char *name)
{
    struct search *search = self;
    size_t at = search->count;
    yarn_nearest_offer(&search->nearest, name);
    if (search->is_exact || !yarn_glob_matches(search->name, yarn_span_of_text(name)) ||
        strcmp(name, "enable") == 0 || strcmp(name, "filter") == 0 ||
        strlen(name) >= YARN_NEAREST_MAX)
        return true;
    for (; at && strcmp(search->names[at - 1], name) > 0; at--)
        memcpy(search->names[at], search->names[at - 1], YARN_NEAREST_MAX);
    memcpy(search->names[at], name, strlen(name) + 1);
    return ++search->count < YARN_COUNT_OF(search->names);
}

static int fail_missing(struct yarn_event_reader *reader, struct search *search, bool has_system)
{
    char path[YARN_MACHINE_PATH_MAX];
    struct yarn_text why = yarn_event_reader_sentence(reader);
    search->is_exact = true;
    if (!has_system) {
        search->nearest = yarn_nearest_of(search->system);
        int err = path_of(reader, YARN_SPAN_EMPTY, YARN_SPAN_EMPTY, "", path);
        if (!err)
            err = yarn_machine_list(path, collect_name, search);
        (void)err;
    }
    yarn_text_add(&why, has_system ? "not a known tracepoint" : "no tracepoints of that system");
    yarn_nearest_ask(&search->nearest, &why);
    return yarn_event_reader_fail(reader, reader->at + (has_system ? search->system.size + 1 : 0),
                                  has_system ? search->name.size : search->system.size, why.data);
}

static int add_all(struct yarn_event_reader *reader, struct search *search)
{
    for (size_t i = 0; i < search->count; i++) {
        struct yarn_span name = yarn_span_of_text(search->names[i]);
        uint64_t number = 0;
        int err = read_number(reader, search->system, name, &number);
        if (err == -ENOENT) /* a folder without a number is none */
            continue;
        err = add(reader, search->system, name, number, err ? cannot_read : NULL);
        if (err)
            return err;
    }
    return 0;
}

/* By a pattern in a system, or the nearest of what there is. */
static int find_in_system(struct yarn_event_reader *reader, struct search *search)
{
    char path[YARN_MACHINE_PATH_MAX];
    int err = path_of(reader, search->system, YARN_SPAN_EMPTY, "", path);
    search->count = 0;
    if (!err)
        err = yarn_machine_list(path, collect_name, search);
    if (err == -EACCES)
        return add(reader, search->system, search->name, 0, cannot_read);
    return err ? -ENOENT : add_all(reader, search);
}

/* The systems that a pattern, or the one name, stands for. */
static int find_systems(struct yarn_event_reader *reader, struct yarn_span pattern,
                        struct search *ret_systems)
{
    char path[YARN_MACHINE_PATH_MAX];
    *ret_systems = (struct search){.name = pattern, .is_exact = !is_pattern(pattern)};
    int err = path_of(reader, YARN_SPAN_EMPTY, YARN_SPAN_EMPTY, "", path);
    return err ? err : yarn_machine_list(path, collect_name, ret_systems);
}

static int find_others(struct yarn_event_reader *reader, struct search *search)
{
    struct search systems;
    size_t first = reader->list->count;
    struct yarn_span typed = search->system;
    int err = find_systems(reader, typed, &systems);
    if (err)
        return add(reader, typed, search->name, 0, err == -EACCES ? cannot_read : not_mounted);
    if (systems.is_exact)
        err = find_in_system(reader, search);
    bool has_system = err != -ENOENT;
    for (size_t i = 0; i < systems.count && (!err || err == -ENOENT); i++) {
        search->system = yarn_span_of_text(systems.names[i]);
        err = find_in_system(reader, search);
    }
    search->system = typed;
    if (reader->list->count > first || (err && err != -ENOENT))
        return err == -ENOENT ? 0 : err;
    return fail_missing(reader, search, has_system && (systems.is_exact || systems.count));
}

int yarn_event_parse_tracepoint(struct yarn_event_reader *reader)
{
    struct yarn_event_reader behind = *reader;
    struct yarn_span system = yarn_event_reader_pattern(reader);
    if (!system.size || yarn_event_reader_peek(reader, system.size) != ':')
        return -ENOENT;
    behind.at += system.size + 1;
    struct yarn_span name = yarn_event_reader_pattern(&behind);
    if (!name.size || yarn_event_is_modifiers(name) || name.size >= YARN_NEAREST_MAX ||
        system.size >= YARN_NEAREST_MAX)
        return -ENOENT;
    struct search search = {
        .reader = reader, .system = system, .name = name, .nearest = yarn_nearest_of(name)};
    search.is_exact = !is_pattern(name) && !is_pattern(system);
    uint64_t number = 0;
    int err = search.is_exact ? read_number(reader, system, name, &number) : -ENOENT;
    if (!err || err == -EACCES)
        err = add(reader, system, name, number, err ? cannot_read : NULL);
    else
        err = find_others(reader, &search);
    if (!err)
        reader->at = behind.at + name.size;
    return err;
}
