/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Rules by lookup ip, made on demand: at first a page of them, growing with the number of addresses
 * to 32,768. An address without a rule is cached, too; the cache is emptied when the modules
 * change. Knows modules and rules; does not know what is done with them (unwinder).
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "core/base/room.h"
#include "unwind/live_code.h"
#include "unwind/module_map.h"
#include "unwind/rule.h"

#define YARN_MODULE_NONE UINT32_MAX

struct yarn_cached_rule {
    uint64_t key; /* lookup ip and epoch; 0: free */
    uint32_t module;
    uint32_t function; /* start of its code, the lower 32 bits; the address itself if unknown */
    uint32_t function_size; /* of the code that one FDE covers; 0: unknown */
    struct yarn_rule rule;
};

enum { YARN_RULE_CACHE_FUNCTION_MAX = 8192 };

struct yarn_rule_cache {
    struct yarn_cached_rule *slots; /* NULL while closed */
    struct yarn_room room;
    unsigned sets_log2;          /* of the sets in use */
    size_t nr_used;              /* slots of this epoch */
    struct yarn_module_map *map; /* borrowed; outlives the cache */
    const struct yarn_unwind_machine *machine;
    struct yarn_live_code live;
    uint64_t generation; /* of the map, that the slots of this epoch are from */
    uint16_t epoch;      /* never 0 */
    uint8_t function[YARN_RULE_CACHE_FUNCTION_MAX]; /* its code: frame_search */
};

YARN_MUST_CHECK int yarn_rule_cache_open(struct yarn_rule_cache *cache, struct yarn_module_map *map,
                                         const struct yarn_unwind_machine *machine);

/* To be called before a walk; true where the modules have changed since the last. */
bool yarn_rule_cache_refresh(struct yarn_rule_cache *cache);

struct yarn_cached_rule yarn_rule_cache_find(struct yarn_rule_cache *cache, uint64_t lookup_ip);

/* By the code itself, in its file or, where it has none, in memory: see yarn_machine's read_code.
 * *ret_near: what may have changed of it; empty for a file's. */
struct yarn_rule yarn_rule_cache_read_code(struct yarn_rule_cache *cache, uint64_t ip,
                                           bool is_called, struct yarn_code_extent *ret_near);

/* Idempotent. */
void yarn_rule_cache_close(struct yarn_rule_cache *cache);
