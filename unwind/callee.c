/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/callee.h"

enum { LOWEST_ADDRESS = 4096, CALL_SIZE_MAX = 8, STUB_SIZE_MAX = 16 };

struct yarn_span yarn_callee_code(const struct yarn_module *module, uint64_t address)
{
    return module && module->image ? yarn_image_at(module->image, address - module->bias)
                                   : YARN_SPAN_EMPTY;
}

static bool read_slot(const struct yarn_rule_cache *cache, uint64_t slot, uint64_t *ret_callee)
{
    return !yarn_target_read(yarn_module_map_target(cache->map), slot, ret_callee,
                             sizeof *ret_callee);
}

/* The called address may be a stub of the procedure linkage table, which jumps on. */
static bool follow_stub(struct yarn_rule_cache *cache, uint64_t called, uint64_t *ret_callee)
{
    uint64_t slot;
    struct yarn_span code = yarn_callee_code(yarn_module_map_find(cache->map, called), called);
    *ret_callee = called;
    if (!cache->machine->stub_slot(yarn_span_sub(code, 0, yarn_size_min(code.size, STUB_SIZE_MAX)),
                                   called, &slot))
        return true;
    return read_slot(cache, slot, ret_callee);
}

bool yarn_callee_find(struct yarn_rule_cache *cache, uint64_t return_address, uint64_t *ret_callee)
{
    int64_t target;
    uint64_t slot;
    if (return_address < LOWEST_ADDRESS || return_address >> 48)
        return false;
    const struct yarn_module *module = yarn_module_map_find(cache->map, return_address - 1);
    struct yarn_span code = yarn_callee_code(module, return_address - CALL_SIZE_MAX);
    if (code.size < CALL_SIZE_MAX)
        return false;
    code.size = CALL_SIZE_MAX;
    if (cache->machine->call_slot(code, return_address, &slot))
        return read_slot(cache, slot, ret_callee);
    return cache->machine->is_call(code, &target) && target &&
           follow_stub(cache, return_address + (uint64_t)target, ret_callee);
}

/* Bytes that only look like a jump there count as one: then nothing is proven. */
static bool jumps_into(struct yarn_rule_cache *cache, uint64_t from, uint64_t start, uint32_t size)
{
    struct yarn_cached_rule found = yarn_rule_cache_find(cache, from);
    struct yarn_span code = yarn_callee_code(yarn_module_map_find(cache->map, from), from);
    uint64_t left = found.function + (uint64_t)found.function_size - (uint32_t)from;
    int64_t target;
    if (!found.function_size || left > found.function_size || left > code.size)
        return true;
    code.size = (size_t)left;
    for (size_t at = 0; at < code.size; at++)
        if (cache->machine->jump_target(yarn_span_from(code, at), &target) &&
            from + at + (uint64_t)target - start < size)
            return true;
    return false;
}

bool yarn_callee_may_be(struct yarn_rule_cache *cache, uint64_t return_address, uint64_t start,
                        uint32_t size)
{
    uint64_t callee;
    return !yarn_callee_find(cache, return_address, &callee) || callee - start < size ||
           jumps_into(cache, callee, start, size);
}
