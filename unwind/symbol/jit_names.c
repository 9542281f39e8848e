/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/symbol/jit_names.h"

#include "core/base/pages.h"
#include "core/base/table.h"
#include "core/base/text.h"
#include "core/sys/clock.h"
#include "unwind/symbol/jitdump.h"
#include "unwind/symbol/own_file.h"
#include "unwind/symbol/perf_map.h"

enum {
    PATH_BYTES = 32,
    JITDUMPS_MAX = 4, /* one for each compiler that writes its own */
    FIRST_KEYS = 1024,
    KEYS_MAX = 64 << 10,
};

/* The time of a file comes from a clock that lags. */
#define COARSE_TIME_NS YARN_NS_PER_SECOND
/* Of a file in one pass, while samples wait: 1 ms. */
#define PASS_BYTES (YARN_MIB(1) / 2)

struct mapped_dump {
    struct yarn_jitdump jitdump;
    const char *path; /* borrowed from the module map */
};

struct yarn_jit_names {
    const struct yarn_module_map *map; /* borrowed */
    uint32_t pid;
    uint32_t nr_modules; /* whose paths were checked */
    uint64_t read_ns;    /* when its files were looked into; 0: not yet */
    struct yarn_code_names names;
    struct yarn_table found; /* addresses of this generation -> number */
    uint64_t found_generation;
    struct yarn_perf_map perf_map;
    char perf_map_path[PATH_BYTES];
    struct mapped_dump dumps[JITDUMPS_MAX];
    size_t nr_dumps;
};

int yarn_jit_names_new(struct yarn_jit_names **ret_names, const struct yarn_module_map *map,
                       uint32_t pid, uint64_t start_realtime_ns)
{
    struct yarn_jit_names *names = yarn_pages_map(sizeof *names);
    if (!names)
        return -ENOMEM;
    names->map = map;
    names->pid = pid;
    names->perf_map.target = yarn_module_map_target(map);
    names->perf_map.user = YARN_OWN_FILE_OURS;
    (void)yarn_target_identity(yarn_module_map_target(map), &names->pid, &names->perf_map.user);
    names->perf_map.not_before_ns =
        start_realtime_ns - yarn_u64_min(start_realtime_ns, COARSE_TIME_NS);
    struct yarn_text path = yarn_text_of(names->perf_map_path, sizeof names->perf_map_path);
    yarn_text_add(&path, "/tmp/perf-");
    yarn_text_add_u64(&path, names->pid);
    yarn_text_add(&path, ".map");
    yarn_code_names_open(&names->names);
    int err = yarn_table_open(&names->found, FIRST_KEYS, KEYS_MAX);
    if (err) {
        yarn_jit_names_free(names);
        return err;
    }
    *ret_names = names;
    return 0;
}

void yarn_jit_names_free(struct yarn_jit_names *names)
{
    if (!names)
        return;
    yarn_table_close(&names->found);
    yarn_code_names_close(&names->names);
    yarn_pages_unmap(names, sizeof *names);
}

/* "…/jit-DIGITS.dump"; whether the digits are ours its header says. */
static bool is_jitdump(const char *path)
{
    static const char start[] = "jit-", end[] = ".dump";
    const char *base = path;
    for (const char *at = path; *at; at++)
        if (*at == '/')
            base = at + 1;
    size_t size = strlen(base);
    if (size < sizeof start + sizeof end - 1 || memcmp(base, start, sizeof start - 1) != 0 ||
        strcmp(base + size - (sizeof end - 1), end) != 0)
        return false;
    uint64_t pid;
    return yarn_parse_u64(base + sizeof start - 1, size - (sizeof start - 1) - (sizeof end - 1),
                          &pid) == 0;
}

static void add_dump(struct yarn_jit_names *names, const char *path)
{
    for (size_t i = 0; i < names->nr_dumps; i++)
        if (names->dumps[i].path == path)
            return;
    if (names->nr_dumps < JITDUMPS_MAX)
        names->dumps[names->nr_dumps++] =
            (struct mapped_dump){.jitdump = {.pid = names->pid,
                                             .user = names->perf_map.user,
                                             .target = names->perf_map.target},
                                 .path = path};
}

/* A compiler maps its dump executable, for no other reason than to be found. */
static void find_dumps(struct yarn_jit_names *names)
{
    uint32_t count = yarn_module_map_count(names->map);
    for (; names->nr_modules < count; names->nr_modules++) {
        const struct yarn_module *module = yarn_module_map_at(names->map, names->nr_modules);
        if (module && module->kind == YARN_MODULE_FILE && is_jitdump(module->path))
            add_dump(names, module->path);
    }
}

void yarn_jit_names_refresh(struct yarn_jit_names *names, uint64_t most_bytes)
{
    /* The rest is read in the next pass. */
    (void)yarn_perf_map_read(&names->perf_map, names->perf_map_path, most_bytes, &names->names);
    find_dumps(names);
    for (size_t i = 0; i < names->nr_dumps; i++)
        (void)yarn_jitdump_read(&names->dumps[i].jitdump, names->dumps[i].path, most_bytes,
                                &names->names);
}

/* The looked-up addresses are kept: most come again with the next sample. */
static uint32_t find(struct yarn_jit_names *names, uint64_t address)
{
    if (names->found_generation != names->names.generation) {
        yarn_table_clear(&names->found);
        names->found_generation = names->names.generation;
    }
    uint32_t number = yarn_table_find(&names->found, address);
    if (number != YARN_TABLE_NONE)
        return number;
    number = yarn_code_names_find(&names->names, address);
    if (number != YARN_CODE_NAME_NONE && yarn_table_put(&names->found, address, number))
        yarn_table_clear(&names->found);
    return number;
}

static uint32_t find_at(struct yarn_jit_names *names, uint64_t address, uint64_t time_ns)
{
    uint32_t number = find(names, address);
    bool is_known = number != YARN_CODE_NAME_NONE &&
                    time_ns >= yarn_code_names_at(&names->names, number).since_ns;
    return is_known ? number : YARN_CODE_NAME_NONE;
}

uint32_t yarn_jit_names_find(struct yarn_jit_names *names, uint64_t address, uint64_t time_ns)
{
    if (time_ns >= names->read_ns) {
        names->read_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
        yarn_jit_names_refresh(names, PASS_BYTES);
    }
    return find_at(names, address, time_ns);
}

uint32_t yarn_jit_names_find_late(struct yarn_jit_names *names, uint64_t address)
{
    return find_at(names, address, 0);
}

struct yarn_code_name yarn_jit_names_at(const struct yarn_jit_names *names, uint32_t number)
{
    return yarn_code_names_at(&names->names, number);
}

uint64_t yarn_jit_names_generation(const struct yarn_jit_names *names)
{
    return names->names.generation;
}
