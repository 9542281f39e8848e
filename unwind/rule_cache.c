/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/rule_cache.h"

#include <assert.h>

#include "core/base/pages.h"

enum { SLOTS_LOG2 = 15, SLOTS = 1 << SLOTS_LOG2, EPOCH_SHIFT = 48 };

static_assert(sizeof(struct yarn_cached_rule) == 32, "two slots a cache line, none across");

int yarn_rule_cache_open(struct yarn_rule_cache *cache, struct yarn_module_map *map,
                         const struct yarn_machine *machine)
{
    struct yarn_cached_rule *slots = yarn_pages_map(SLOTS * sizeof *slots);
    if (!slots)
        return -ENOMEM;
    *cache = (struct yarn_rule_cache){
        .slots = slots,
        .map = map,
        .machine = machine,
        .generation = yarn_module_map_generation(map),
        .epoch = 1,
    };
    return 0;
}

bool yarn_rule_cache_refresh(struct yarn_rule_cache *cache)
{
    uint64_t generation = yarn_module_map_generation(cache->map);
    if (generation == cache->generation)
        return false;
    cache->generation = generation;
    if (++cache->epoch == 0) {
        memset(cache->slots, 0, SLOTS * sizeof *cache->slots);
        cache->epoch = 1;
    }
    return true;
}

/* Sets rule and function. */
static void compile(const struct yarn_rule_cache *cache, const struct yarn_module *module,
                    uint64_t lookup_ip, struct yarn_cached_rule *ret_made)
{
    struct yarn_fde fde;
    if (!module || !module->image || module->image->machine != cache->machine->elf_machine)
        return;
    uint64_t vaddr = lookup_ip - module->bias;
    int err = yarn_cfi_find(module->image, vaddr, &fde);
    if (err) {
        ret_made->rule.kind = err == -ENOENT ? YARN_RULE_NONE : YARN_RULE_BAD;
        return;
    }
    ret_made->rule = cache->machine->compile(&fde, vaddr);
    ret_made->function = (uint32_t)(fde.start + module->bias);
}

static struct yarn_cached_rule make(const struct yarn_rule_cache *cache, uint64_t lookup_ip)
{
    const struct yarn_module *module = yarn_module_map_find(cache->map, lookup_ip);
    struct yarn_cached_rule made = {
        .module = module ? module->number : YARN_MODULE_NONE,
        .function = (uint32_t)lookup_ip,
        .rule.kind = YARN_RULE_NONE,
    };
    compile(cache, module, lookup_ip, &made);
    return made;
}

struct yarn_cached_rule yarn_rule_cache_find(struct yarn_rule_cache *cache, uint64_t lookup_ip)
{
    /* No address of a program: garbage from a stack, not worth a slot. */
    if (lookup_ip >> EPOCH_SHIFT)
        return make(cache, lookup_ip);
    uint64_t key = lookup_ip | (uint64_t)cache->epoch << EPOCH_SHIFT;
    size_t at = lookup_ip * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SLOTS_LOG2);
    struct yarn_cached_rule *slot = &cache->slots[at];
    if (slot->key != key) {
        *slot = make(cache, lookup_ip);
        slot->key = key;
    }
    return *slot;
}

void yarn_rule_cache_close(struct yarn_rule_cache *cache)
{
    yarn_pages_unmap(cache->slots, SLOTS * sizeof *cache->slots);
    cache->slots = NULL;
}
