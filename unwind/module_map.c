/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/module_map.h"

#include "core/base/pages.h"
#include "core/base/pool.h"
#include "core/base/table.h"
#include "core/base/text.h"
#include "core/sys/file.h"
#include "core/sys/proc_maps.h"
#include "unwind/image_cache.h"
#include "unwind/range_map.h"

enum {
    PROC_BYTES = 64,
    MODULES_MAX = 64 << 10,
    RANGES_MAX = 2 * MODULES_MAX, /* trimmed modules may have several pieces */
    PATHS_BYTES = 512 << 10,
    PATH_MAX_BYTES = 4096,
    FIRST_KEYS = 256,
};

struct entry {
    struct yarn_module module; /* first: a module of the map is an entry */
    bool was_deleted;          /* the kernel said so in its path */
};

/* Members with long lists come last: a short process touches their begin alone. */
struct yarn_module_map {
    struct yarn_range_map ranges; /* what is mapped now */
    struct yarn_arena paths;
    struct yarn_table path_at;     /* hash of a path -> where it stands in the arena */
    struct yarn_table by_identity; /* hash of range and file -> number */
    uint64_t generation;
    struct yarn_pool entries;         /* by number */
    const struct yarn_target *target; /* borrowed */
    struct yarn_image_cache *images;  /* own_images, or those of several maps */
    struct yarn_image_cache own_images;
    bool is_look_wanted;
    uint64_t looked_ns, look_ns; /* the last time; the next, at the soonest */
};

/* How often the maps are read again at most, and what part of the time that may take. */
#define LOOK_LEAST_NS (100 * YARN_NS_PER_MS)
enum { LOOK_SHARE = 128 };

int yarn_module_map_new(struct yarn_module_map **ret_map, const struct yarn_target *target,
                        struct yarn_image_cache *images)
{
    struct yarn_module_map *map = yarn_pages_map(sizeof *map);
    if (!map)
        return -ENOMEM;
    map->ranges = YARN_RANGE_MAP_EMPTY(RANGES_MAX);
    yarn_pool_open(&map->entries, sizeof(struct entry), MODULES_MAX);
    map->target = target;
    map->images = images ? images : &map->own_images;
    int err = images ? 0 : yarn_image_cache_open(&map->own_images);
    yarn_arena_open(&map->paths, PATHS_BYTES);
    if (!err)
        err = yarn_table_open(&map->path_at, FIRST_KEYS, MODULES_MAX);
    if (!err)
        err = yarn_table_open(&map->by_identity, FIRST_KEYS, 2 * MODULES_MAX);
    if (err) {
        yarn_module_map_free(map);
        return err;
    }
    *ret_map = map;
    return 0;
}

void yarn_module_map_free(struct yarn_module_map *map)
{
    if (!map)
        return;
    yarn_table_close(&map->by_identity);
    yarn_table_close(&map->path_at);
    yarn_arena_close(&map->paths);
    if (map->images == &map->own_images)
        yarn_image_cache_close(&map->own_images);
    yarn_pool_close(&map->entries);
    yarn_range_map_close(&map->ranges);
    yarn_pages_unmap(map, sizeof *map);
}

const struct yarn_target *yarn_module_map_target(const struct yarn_module_map *map)
{
    return map->target;
}

/* The map's own copy, one for equal paths: they are compared by address from here on. */
static const char *intern_path(struct yarn_module_map *map, struct yarn_span path)
{
    uint64_t key = yarn_span_hash(path, 0);
    uint32_t at = yarn_table_find(&map->path_at, key);
    if (at != YARN_TABLE_NONE) {
        const char *known = (const char *)map->paths.base + at;
        if (yarn_span_equal(yarn_span_of_text(known), path))
            return known;
    }
    const char *copy = yarn_arena_text(&map->paths, (const char *)path.data, path.size);
    if (!copy || yarn_table_put(&map->path_at, key,
                                (uint32_t)((const uint8_t *)copy - map->paths.base)) != 0)
        return NULL;
    return copy;
}

static bool starts_with(struct yarn_span text, const char *start)
{
    return text.size >= strlen(start) && memcmp(text.data, start, strlen(start)) == 0;
}

static bool take_off_end(struct yarn_span *text, const char *end)
{
    size_t size = strlen(end);
    if (text->size < size || memcmp(text->data + text->size - size, end, size) != 0)
        return false;
    text->size -= size;
    return true;
}

static enum yarn_module_kind kind_of(struct yarn_span path)
{
    static const char *const no_files[] = {"//anon", "/dev/zero", "/SYSV", "/anon_hugepage",
                                           "anon_inode:"};
    if (yarn_span_equal(path, yarn_span_of_text("[vdso]")))
        return YARN_MODULE_VDSO;
    if (!path.size || path.data[0] == '[')
        return YARN_MODULE_ANONYMOUS;
    for (size_t i = 0; i < YARN_COUNT_OF(no_files); i++)
        if (starts_with(path, no_files[i]))
            return YARN_MODULE_ANONYMOUS;
    return YARN_MODULE_FILE;
}

static struct entry *entry_at(const struct yarn_module_map *map, uint32_t number)
{
    return yarn_pool_at(&map->entries, number);
}

/* A mapping with its path interned, not yet known to be old or new. */
static int entry_of(struct yarn_module_map *map, const struct yarn_mapping *mapping,
                    struct entry *ret_entry)
{
    if (mapping->start >= mapping->end || !mapping->path)
        return -EINVAL;
    struct yarn_span path = yarn_span_of_text(mapping->path);
    path.size = yarn_size_min(path.size, PATH_MAX_BYTES);
    bool was_deleted = take_off_end(&path, " (deleted)");
    if (!path.size)
        path = yarn_span_of_text("//anon");
    const char *own_path = intern_path(map, path);
    if (!own_path)
        return -ENOSPC;
    enum yarn_module_kind kind = kind_of(path);
    *ret_entry = (struct entry){
        .was_deleted = was_deleted,
        .module = {.kind = kind,
                   .start = mapping->start,
                   .end = mapping->end,
                   .file_offset = mapping->file_offset,
                   .device = mapping->device,
                   .inode = mapping->inode,
                   .time_ns = mapping->time_ns,
                   .path = own_path,
                   .bias = mapping->start - mapping->file_offset},
    };
    if (kind == YARN_MODULE_ANONYMOUS) {
        ret_entry->module.bias = 0;
        ret_entry->module.image_state = YARN_IMAGE_ABSENT;
        ret_entry->module.image_error = -ENOEXEC;
    }
    return 0;
}

/* What only one of two sources of one mapping knows is no difference. */
static bool is_same_file(const struct yarn_module *a, const struct yarn_module *b)
{
    if (a->path != b->path || a->start - a->file_offset != b->start - b->file_offset)
        return false;
    return !a->inode || !b->inode || (a->inode == b->inode && a->device == b->device);
}

static void learn(struct yarn_module *module, const struct yarn_module *more)
{
    if (!module->inode) {
        module->inode = more->inode;
        module->device = more->device;
    }
}

static uint64_t identity_of(const struct yarn_module *module)
{
    uint64_t hash = yarn_hash_u64(module->start);
    hash = yarn_hash_u64(hash ^ module->end);
    hash = yarn_hash_u64(hash ^ module->file_offset);
    return yarn_hash_u64(hash ^ (uint64_t)(uintptr_t)module->path);
}

static int add_range(struct yarn_module_map *map, const struct yarn_module *module)
{
    struct yarn_mapped_range range = {module->start, module->end, module->number};
    map->generation++;
    return yarn_range_map_put(&map->ranges, range);
}

static int add_entry(struct yarn_module_map *map, const struct entry *entry)
{
    struct entry *own = yarn_pool_add(&map->entries);
    if (!own)
        return -ENOSPC;
    *own = *entry;
    own->module.number = map->entries.count - 1;
    return add_range(map, &own->module);
}

/* Why not keep the image as it was: the file may have been written again in place meanwhile; the
 * cache knows. */
static int revive(struct yarn_module_map *map, struct yarn_module *module,
                  const struct yarn_module *news)
{
    learn(module, news);
    if (module->kind == YARN_MODULE_FILE)
        module->image_state = YARN_IMAGE_UNTRIED;
    return add_range(map, module);
}

static int add_file(struct yarn_module_map *map, const struct entry *entry)
{
    const struct yarn_module *news = &entry->module;
    const struct yarn_mapped_range *old = yarn_range_map_find(&map->ranges, news->start);
    if (old && old->end >= news->end) {
        struct yarn_module *module = &entry_at(map, old->number)->module;
        if (is_same_file(module, news)) {
            learn(module, news);
            return 0;
        }
    }
    uint64_t identity = identity_of(news);
    uint32_t number = yarn_table_find(&map->by_identity, identity);
    if (number != YARN_TABLE_NONE) {
        struct yarn_module *module = &entry_at(map, number)->module;
        if (module->start == news->start && module->end == news->end && is_same_file(module, news))
            return revive(map, module, news);
    }
    int err = yarn_range_map_cut(&map->ranges, news->start, news->end);
    if (!err)
        err = add_entry(map, entry);
    if (!err)
        err = yarn_table_put(&map->by_identity, identity, map->entries.count - 1);
    map->generation++;
    return err;
}

/* The anonymous module at a position of the ranges if it overlaps or adjoins [start, end). */
static struct yarn_module *anonymous_at(const struct yarn_module_map *map, size_t at,
                                        uint64_t start, uint64_t end)
{
    if (at >= map->ranges.count)
        return NULL;
    const struct yarn_mapped_range *range = &map->ranges.items[at];
    struct yarn_module *module = &entry_at(map, range->number)->module;
    if (module->kind != YARN_MODULE_ANONYMOUS || range->start > end || range->end < start)
        return NULL;
    return module;
}

/* One module for everything that touches: the first one grows over the others. */
static int add_anonymous(struct yarn_module_map *map, const struct entry *entry)
{
    uint64_t start = entry->module.start, end = entry->module.end;
    struct yarn_mapped_range hull = {start, end, 0};
    struct yarn_module *first = NULL;
    size_t at = yarn_range_map_position(&map->ranges, start ? start - 1 : 0);
    for (; at < map->ranges.count && map->ranges.items[at].start <= end; at++) {
        struct yarn_module *module = anonymous_at(map, at, start, end);
        const struct yarn_mapped_range *range = &map->ranges.items[at];
        if (!module)
            continue;
        if (range->start <= start && range->end >= end)
            return 0;
        first = first ? first : module;
        hull.start = yarn_u64_min(hull.start, range->start);
        hull.end = yarn_u64_max(hull.end, range->end);
    }
    map->generation++;
    if (!first) {
        int err = yarn_range_map_cut(&map->ranges, start, end);
        return err ? err : add_entry(map, entry);
    }
    first->start = yarn_u64_min(first->start, hull.start);
    first->end = yarn_u64_max(first->end, hull.end);
    hull.number = first->number;
    return yarn_range_map_put(&map->ranges, hull);
}

int yarn_module_map_add(struct yarn_module_map *map, const struct yarn_mapping *mapping)
{
    struct entry entry;
    int err = entry_of(map, mapping, &entry);
    if (err == -ENOSPC) {
        map->generation++;
        int cut = yarn_range_map_cut(&map->ranges, mapping->start, mapping->end);
        return cut ? cut : err;
    }
    if (err)
        return err;
    return entry.module.kind == YARN_MODULE_ANONYMOUS ? add_anonymous(map, &entry)
                                                      : add_file(map, &entry);
}

struct reading {
    struct yarn_module_map *map;
    uint64_t time_ns;
    char path[PATH_MAX_BYTES + 1];
};

static int add_line(void *context, const struct yarn_proc_map *line)
{
    struct reading *reading = context;
    if (!line->executable)
        return 0;
    size_t size = yarn_size_min(line->path.size, PATH_MAX_BYTES);
    if (size)
        memcpy(reading->path, line->path.data, size);
    reading->path[size] = 0;
    return yarn_module_map_add(reading->map, &(struct yarn_mapping){
                                                 .start = line->start,
                                                 .end = line->end,
                                                 .file_offset = line->file_offset,
                                                 .device = line->device,
                                                 .inode = line->inode,
                                                 .time_ns = reading->time_ns,
                                                 .path = reading->path,
                                             });
}

static int read_maps(const struct yarn_module_map *map, yarn_proc_map_fn *each, void *context)
{
    char data[PROC_BYTES];
    struct yarn_text path = yarn_text_of(data, sizeof data);
    if (map->target->has_ended)
        return -ESRCH;
    yarn_text_add_format(&path, "%s/maps", map->target->proc);
    return yarn_proc_maps_read(YARN_FILE_CWD, path.data, each, context);
}

int yarn_module_map_read_proc(struct yarn_module_map *map, uint64_t time_ns)
{
    struct reading *reading = yarn_pages_map(sizeof *reading);
    if (!reading)
        return -ENOMEM;
    reading->map = map;
    reading->time_ns = time_ns;
    map->look_ns = yarn_clock_ns(YARN_TIME_MONOTONIC) + LOOK_LEAST_NS;
    int err = read_maps(map, add_line, reading);
    yarn_pages_unmap(reading, sizeof *reading);
    return err;
}

/* Of files the kernel reports each mapping, perhaps later than the maps have it. */
static int add_moved(void *context, const struct yarn_proc_map *line)
{
    struct yarn_module_map *map = context;
    const struct yarn_mapped_range *range = line->executable && !line->inode && !line->path.size
                                                ? yarn_range_map_find(&map->ranges, line->start)
                                                : NULL;
    if (!range || entry_at(map, range->number)->module.kind != YARN_MODULE_FILE)
        return 0;
    return yarn_module_map_add(
        map, &(struct yarn_mapping){
                 .start = line->start, .end = line->end, .time_ns = map->looked_ns, .path = ""});
}

void yarn_module_map_want_look(struct yarn_module_map *map)
{
    map->is_look_wanted = true;
}

void yarn_module_map_look_again(struct yarn_module_map *map)
{
    uint64_t now_ns = map->is_look_wanted ? yarn_clock_ns(YARN_TIME_MONOTONIC) : 0;
    if (now_ns < map->look_ns || !now_ns)
        return;
    uint64_t begun_ns = yarn_clock_ns(YARN_TIME_THREAD_CPU);
    map->looked_ns = now_ns;
    map->is_look_wanted = read_maps(map, add_moved, map) != 0;
    uint64_t cost_ns = yarn_clock_ns(YARN_TIME_THREAD_CPU) - begun_ns;
    map->look_ns = now_ns + yarn_u64_max(LOOK_LEAST_NS, cost_ns * LOOK_SHARE);
}

void yarn_module_map_rest(struct yarn_module_map *map)
{
    yarn_view_open_files_close(&map->images->open_files);
}

static int see_line(void *context, const struct yarn_proc_map *line)
{
    struct yarn_module_map *map = context;
    const struct yarn_mapped_range *range =
        line->executable ? yarn_range_map_find(&map->ranges, line->start) : NULL;
    struct yarn_module *module = range ? &entry_at(map, range->number)->module : NULL;
    if (module && module->image && (!module->inode || module->inode == line->inode))
        yarn_image_cache_see(module->image);
    return 0;
}

void yarn_module_map_after_sweep(struct yarn_module_map *map)
{
    for (uint32_t i = 0; i < map->entries.count; i++) {
        struct yarn_module *module = &entry_at(map, i)->module;
        if (!module->image || module->image->memory.data)
            continue;
        module->image = NULL;
        module->image_state = YARN_IMAGE_UNTRIED;
        map->generation++;
    }
}

void yarn_module_map_see_images(struct yarn_module_map *map)
{
    for (size_t i = 0; i < map->ranges.count; i++) {
        struct yarn_module *module = &entry_at(map, map->ranges.items[i].number)->module;
        if (module->image)
            yarn_image_cache_see(module->image);
    }
}

void yarn_module_map_sweep(struct yarn_module_map *map)
{
    if (map->images != &map->own_images || !yarn_image_cache_is_due(map->images) ||
        read_maps(map, see_line, map) != 0)
        return;
    yarn_image_cache_sweep(map->images);
    yarn_module_map_after_sweep(map);
}

/* A memfd without ELF content, or one whose content cannot be read, is where a JIT compiler keeps
 * its code. */
static void lose_image(const struct yarn_module_map *map, struct yarn_module *module, int err)
{
    if (!module->build_id.size) /* else it was open once, and there may be others by now */
        yarn_image_cache_read_build_id(map->target, module->start - module->file_offset,
                                       &module->build_id);
    module->image = NULL;
    module->image_error = err;
    module->image_state = err == -ESTALE ? YARN_IMAGE_REPLACED : YARN_IMAGE_ABSENT;
    if (starts_with(yarn_span_of_text(module->path), "/memfd:")) {
        module->kind = YARN_MODULE_ANONYMOUS;
        module->bias = 0;
    }
}

static void look_for_image(struct yarn_module_map *map, struct entry *entry)
{
    struct yarn_module *module = &entry->module;
    struct yarn_image_request request = {
        .target = map->target,
        .start = module->start,
        .end = module->end,
        .file_offset = module->file_offset,
        .device = module->device,
        .inode = module->inode,
        .path = module->path,
        .was_deleted = entry->was_deleted,
    };
    uint64_t vaddr = 0;
    struct yarn_image *image = NULL;
    bool is_file = module->kind == YARN_MODULE_FILE;
    int err = (is_file ? yarn_image_cache_find : yarn_image_cache_find_vdso)(map->images, &request,
                                                                             &image);
    if (!err && !yarn_image_vaddr_of(image, module->file_offset, &vaddr))
        err = -ENOEXEC;
    if (err) {
        lose_image(map, module, err);
        return;
    }
    module->image = image;
    module->image_state = YARN_IMAGE_OPEN;
    module->image_error = 0;
    module->bias = module->start - vaddr;
    if (is_file)
        module->build_id = image->build_id;
}

const struct yarn_module *yarn_module_map_find(struct yarn_module_map *map, uint64_t address)
{
    const struct yarn_mapped_range *range = yarn_range_map_find(&map->ranges, address);
    if (!range)
        return NULL;
    struct entry *entry = entry_at(map, range->number);
    if (entry->module.image_state == YARN_IMAGE_UNTRIED)
        look_for_image(map, entry);
    return &entry->module;
}

bool yarn_module_map_identify(struct yarn_module_map *map, uint32_t number)
{
    struct yarn_module *module = &entry_at(map, number)->module;
    const struct yarn_mapped_range *range = yarn_range_map_find(&map->ranges, module->start);
    if (range && module->image_state == YARN_IMAGE_UNTRIED && !module->build_id.size)
        yarn_image_cache_read_build_id(map->target, module->start - module->file_offset,
                                       &module->build_id);
    return range;
}

void yarn_module_map_read_tables(struct yarn_module_map *map)
{
    for (uint32_t i = 0; i < map->entries.count; i++)
        if (entry_at(map, i)->module.image)
            yarn_image_read_tables(entry_at(map, i)->module.image);
}

uint64_t yarn_module_map_generation(const struct yarn_module_map *map)
{
    return map->generation;
}

uint32_t yarn_module_map_count(const struct yarn_module_map *map)
{
    return map->entries.count;
}

const struct yarn_module *yarn_module_map_at(const struct yarn_module_map *map, uint32_t number)
{
    const struct entry *entry = entry_at(map, number);
    return entry ? &entry->module : NULL;
}
