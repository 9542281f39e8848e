/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/rule_cache.h"

#include <assert.h>

#include "core/base/pages.h"

enum {
    WAYS = 2,
    FIRST_SETS_LOG2 = 6, /* a page */
    SETS_LOG2_MAX = 14,
    EPOCH_SHIFT = 48,
    FULL_SHARE = 4, /* of the slots; beyond, the cache grows */
};

static_assert(WAYS * sizeof(struct yarn_cached_rule) == 64, "a set is a cache line");

static size_t bytes_of(unsigned sets_log2)
{
    return (WAYS * sizeof(struct yarn_cached_rule)) << sets_log2;
}

int yarn_rule_cache_open(struct yarn_rule_cache *cache, struct yarn_module_map *map,
                         const struct yarn_unwind_machine *machine)
{
    struct yarn_room room;
    yarn_room_open(&room, bytes_of(SETS_LOG2_MAX));
    if (!yarn_room_back(&room, bytes_of(FIRST_SETS_LOG2)))
        return -ENOMEM;
    yarn_pages_count(bytes_of(FIRST_SETS_LOG2));
    *cache = (struct yarn_rule_cache){
        .slots = (struct yarn_cached_rule *)room.base,
        .room = room,
        .sets_log2 = FIRST_SETS_LOG2,
        .map = map,
        .machine = machine,
        .generation = yarn_module_map_generation(map),
        .epoch = 1,
    };
    yarn_live_code_open(&cache->live, yarn_module_map_target(map));
    return 0;
}

bool yarn_rule_cache_refresh(struct yarn_rule_cache *cache)
{
    yarn_module_map_look_again(cache->map);
    uint64_t generation = yarn_module_map_generation(cache->map);
    if (generation == cache->generation)
        return false;
    cache->generation = generation;
    cache->nr_used = 0;
    if (++cache->epoch == 0) {
        memset(cache->slots, 0, bytes_of(cache->sets_log2));
        cache->epoch = 1;
    }
    return true;
}

static bool is_used(const struct yarn_rule_cache *cache, const struct yarn_cached_rule *slot)
{
    return slot->key >> EPOCH_SHIFT == cache->epoch;
}

static struct yarn_cached_rule *set_of(const struct yarn_rule_cache *cache, uint64_t key)
{
    uint64_t lookup_ip = key & ((UINT64_C(1) << EPOCH_SHIFT) - 1);
    uint64_t hash = lookup_ip * UINT64_C(0x9e3779b97f4a7c15);
    return &cache->slots[(hash >> (64 - cache->sets_log2)) * WAYS];
}

/* The newest comes first, the oldest goes. */
static void put(struct yarn_rule_cache *cache, const struct yarn_cached_rule *rule)
{
    struct yarn_cached_rule *set = set_of(cache, rule->key);
    cache->nr_used += !is_used(cache, &set[1]);
    set[1] = set[0];
    set[0] = *rule;
}

/* To twice the sets, in place: each becomes two that lie behind all that are still to be moved.
 * Where memory is short the newest stay. */
static void grow(struct yarn_rule_cache *cache)
{
    size_t half = bytes_of(cache->sets_log2), set = (size_t)1 << cache->sets_log2;
    cache->nr_used = 0;
    if (!yarn_room_back(&cache->room, 2 * half))
        return;
    yarn_pages_populate((uint8_t *)cache->slots + half, half);
    yarn_pages_count(half);
    cache->sets_log2++;
    while (set-- > 0) {
        struct yarn_cached_rule moved[WAYS];
        memcpy(moved, &cache->slots[set * WAYS], sizeof moved);
        memset(&cache->slots[set * WAYS], 0, sizeof moved);
        for (unsigned i = WAYS; i-- > 0;)
            if (is_used(cache, &moved[i]))
                put(cache, &moved[i]);
    }
}

/* Sets rule and function. */
static void compile(const struct yarn_rule_cache *cache, const struct yarn_module *module,
                    uint64_t lookup_ip, struct yarn_cached_rule *ret_made)
{
    struct yarn_fde fde;
    if (!module || !module->image)
        return;
    uint64_t vaddr = lookup_ip - module->bias;
    int err = yarn_cfi_find(module->image, vaddr, &fde);
    if (err) {
        ret_made->rule.kind = err == -ENOENT ? YARN_RULE_NONE : YARN_RULE_BAD;
        return;
    }
    ret_made->rule = cache->machine->compile(&fde, vaddr);
    ret_made->function = (uint32_t)(fde.start + module->bias);
    if (fde.end - fde.start <= UINT32_MAX)
        ret_made->function_size = (uint32_t)(fde.end - fde.start);
}

static struct yarn_cached_rule make(const struct yarn_rule_cache *cache, uint64_t lookup_ip)
{
    const struct yarn_module *module = yarn_module_map_find(cache->map, lookup_ip);
    if (module && module->image)
        yarn_module_map_want_look(cache->map);
    struct yarn_cached_rule made = {
        .module = module ? module->number : YARN_MODULE_NONE,
        .function = (uint32_t)lookup_ip,
        .rule.kind = YARN_RULE_NONE,
    };
    compile(cache, module, lookup_ip, &made);
    return made;
}

static struct yarn_cached_rule *find(const struct yarn_rule_cache *cache, uint64_t key)
{
    struct yarn_cached_rule *set = set_of(cache, key);
    for (unsigned i = 0; i < WAYS; i++)
        if (set[i].key == key)
            return &set[i];
    return NULL;
}

static void keep(struct yarn_rule_cache *cache, const struct yarn_cached_rule *made)
{
    put(cache, made);
    if (cache->sets_log2 < SETS_LOG2_MAX &&
        cache->nr_used > ((size_t)WAYS << cache->sets_log2) / FULL_SHARE)
        grow(cache);
}

struct yarn_cached_rule yarn_rule_cache_find(struct yarn_rule_cache *cache, uint64_t lookup_ip)
{
    /* No address of a program: garbage from a stack, not worth a slot. */
    if (lookup_ip >> EPOCH_SHIFT)
        return make(cache, lookup_ip);
    uint64_t key = lookup_ip | (uint64_t)cache->epoch << EPOCH_SHIFT;
    const struct yarn_cached_rule *found = find(cache, key);
    if (found)
        return *found;
    struct yarn_cached_rule made = make(cache, lookup_ip);
    made.key = key;
    keep(cache, &made);
    return made;
}

/* Of code in memory the slot has how far around the address it was read, and its signature. */
static struct yarn_code_extent near_of(const struct yarn_cached_rule *rule, uint64_t ip)
{
    return (struct yarn_code_extent){ip - rule->module, ip + rule->function_size};
}

static bool is_same_code(struct yarn_rule_cache *cache, const struct yarn_cached_rule *rule,
                         uint64_t ip)
{
    uint32_t signature = yarn_live_code_sign(&cache->live, near_of(rule, ip));
    return signature && rule->function == signature;
}

static struct yarn_cached_rule make_by_code(struct yarn_rule_cache *cache,
                                            const struct yarn_module *module, uint64_t ip,
                                            bool is_called)
{
    const struct yarn_image *image = module ? module->image : NULL;
    struct yarn_code_extent near;
    struct yarn_cached_rule made = {
        .rule = cache->machine->read_code(image, cache->live.target, image ? ip - module->bias : ip,
                                          is_called, &near),
    };
    if (!image) {
        made.module = (uint32_t)(ip - near.from);
        made.function_size = (uint32_t)(near.to - ip);
        made.function = yarn_live_code_sign(&cache->live, near);
    }
    return made;
}

/* Kept in slots of their own, which programs' addresses leave free, by the byte in which the last
 * instruction ends or the next one begins: no instruction begins in the last byte of a call. */
struct yarn_rule yarn_rule_cache_read_code(struct yarn_rule_cache *cache, uint64_t ip,
                                           bool is_called, struct yarn_code_extent *ret_near)
{
    const uint64_t mark = UINT64_C(1) << (EPOCH_SHIFT - 1);
    const struct yarn_module *module = yarn_module_map_find(cache->map, ip - is_called);
    bool has_file = module && module->image;
    *ret_near = (struct yarn_code_extent){0, 0};
    if (ip & ~(mark - 1))
        return (struct yarn_rule){.kind = YARN_RULE_NONE};
    uint64_t key = (ip - is_called) | mark | (uint64_t)cache->epoch << EPOCH_SHIFT;
    struct yarn_cached_rule *found = find(cache, key);
    if (!found || (!has_file && !is_same_code(cache, found, ip))) {
        struct yarn_cached_rule made = make_by_code(cache, module, ip, is_called);
        made.key = key;
        if (found)
            *found = made;
        else
            keep(cache, &made);
        found = find(cache, key);
    }
    if (!has_file)
        *ret_near = near_of(found, ip);
    return found->rule;
}

void yarn_rule_cache_close(struct yarn_rule_cache *cache)
{
    if (!cache->slots)
        return;
    yarn_live_code_close(&cache->live);
    yarn_room_close(&cache->room);
    yarn_pages_uncount(bytes_of(cache->sets_log2));
    cache->slots = NULL;
}
