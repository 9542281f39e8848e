/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/frame_search.h"

#include "unwind/callee.h"
#include "unwind/fallback.h"

enum {
    WORD_SIZE = 8,
    FRAME_BYTES = 2 * WORD_SIZE, /* the saved frame pointer and the return address */
    SEARCH_BYTES_MAX = 256 << 10,
    START_FRAMES = 3, /* clone3, start_thread, a language's own */
};

bool yarn_frame_search_applies(const struct yarn_rule_cache *cache, const struct yarn_rule *rule,
                               const struct yarn_registers *registers)
{
    bool is_standard = rule->kind == YARN_RULE_REGISTER && rule->cfa_offset == FRAME_BYTES;
    return (is_standard || rule->kind == YARN_RULE_DEREF) && rule->base == cache->machine->frame &&
           !yarn_registers_has(registers, cache->machine->frame);
}

static bool is_called_from(struct yarn_rule_cache *cache, uint64_t return_address,
                           uint64_t function)
{
    uint64_t callee;
    return yarn_callee_find(cache, return_address, &callee) && callee == function;
}

static bool may_be_called_from(struct yarn_rule_cache *cache, uint64_t return_address,
                               uint64_t function)
{
    uint64_t callee;
    if (yarn_callee_find(cache, return_address, &callee))
        return callee == function;
    return yarn_fallback_is_return(cache, return_address);
}

/* A frame that was realigned has a copy of the return address beside the saved frame pointer. */
static bool is_copy(const struct yarn_rule *rule, const struct yarn_stack_copy *stack, uint64_t at,
                    uint64_t return_address)
{
    uint64_t cfa, word;
    return yarn_stack_copy_read(stack, at + (uint64_t)(int64_t)rule->cfa_offset, &cfa) &&
           cfa > at + WORD_SIZE && yarn_stack_copy_read(stack, cfa - WORD_SIZE, &word) &&
           word == return_address;
}

static void set_frame(struct yarn_rule_cache *cache, uint64_t at, struct yarn_registers *registers)
{
    registers->value[cache->machine->frame] = at;
    registers->valid |= UINT64_C(1) << cache->machine->frame;
}

/* Not so of the part of a function that lies elsewhere: it begins in the middle of a frame. */
static bool begins_frame(struct yarn_rule_cache *cache, uint64_t function)
{
    struct yarn_rule rule = yarn_rule_cache_find(cache, function).rule;
    return rule.kind == YARN_RULE_REGISTER && rule.base == cache->machine->sp &&
           rule.cfa_offset == WORD_SIZE;
}

/* Until the next call. Copied, since what is read of a file at once ends with its page. */
static struct yarn_span code_of(struct yarn_rule_cache *cache, uint64_t function, uint32_t size)
{
    const struct yarn_module *module = yarn_module_map_find(cache->map, function);
    if (size > sizeof cache->function)
        return YARN_SPAN_EMPTY;
    for (uint32_t at = 0; at < size;) {
        struct yarn_span part = yarn_callee_code(module, function + at);
        part.size = yarn_size_min(part.size, size - at);
        if (!part.size)
            return YARN_SPAN_EMPTY;
        memcpy(cache->function + at, part.data, part.size);
        at += (uint32_t)part.size;
    }
    return yarn_span_of(cache->function, size);
}

/* Of a part that lies elsewhere, or one that is come to by an exception only: it may jump back. */
static bool allocates(struct yarn_rule_cache *cache, uint64_t function, struct yarn_span code,
                      const struct yarn_code_depth *depth)
{
    uint64_t first = function + (uint64_t)depth->first_outside;
    if (cache->machine->allocates(code))
        return true;
    if (!depth->first_outside)
        return false;
    struct yarn_cached_rule part = yarn_rule_cache_find(cache, first);
    uint64_t begin = first - ((uint32_t)first - part.function);
    struct yarn_span elsewhere = code_of(cache, begin, part.function_size);
    return !elsewhere.size ||
           function + (uint64_t)depth->last_outside - begin >= part.function_size ||
           cache->machine->allocates(elsewhere);
}

bool yarn_frame_measure(struct yarn_rule_cache *cache, const struct yarn_stack_copy *stack,
                        const struct yarn_rule *rule, uint64_t function, uint32_t size,
                        struct yarn_registers *registers)
{
    struct yarn_code_depth depth;
    uint64_t word;
    struct yarn_span code = code_of(cache, function, size);
    if (rule->kind != YARN_RULE_REGISTER || !begins_frame(cache, function) ||
        !cache->machine->read_depth(code, (uint32_t)(registers->ip - function), &depth) ||
        !depth.has_frame || allocates(cache, function, code, &depth))
        return false;
    uint64_t cfa = registers->sp + depth.bytes;
    if (!yarn_stack_copy_read(stack, cfa - WORD_SIZE, &word) ||
        !yarn_fallback_is_return(cache, word) || !yarn_callee_may_be(cache, word, function, size))
        return false;
    set_frame(cache, cfa - (uint64_t)(int64_t)rule->cfa_offset, registers);
    return true;
}

bool yarn_frame_search(struct yarn_rule_cache *cache, const struct yarn_stack_copy *stack,
                       const struct yarn_rule *rule, uint64_t function,
                       struct yarn_registers *registers)
{
    uint64_t word, from = registers->sp;
    if (from % WORD_SIZE)
        return false;
    for (uint64_t at = from; at - from < SEARCH_BYTES_MAX; at += WORD_SIZE) {
        if (!yarn_stack_copy_read(stack, at + WORD_SIZE, &word))
            return false;
        if (!is_called_from(cache, word, function) ||
            (rule->kind == YARN_RULE_DEREF && !is_copy(rule, stack, at, word)))
            continue;
        set_frame(cache, at, registers);
        return true;
    }
    return false;
}

/* Whether what the walk took for the return address of another function may be of this one: then it
 * may have come from stale words back to the function's own frame. Not so where threads start,
 * which call what they are to run by a register. */
static bool is_in_doubt(struct yarn_rule_cache *cache, const struct yarn_frame_slots *taken,
                        size_t number, uint64_t word, uint64_t function)
{
    bool is_start = number + START_FRAMES >= taken->count;
    return taken->slot[number] & 1 && (is_start ? is_called_from(cache, word, function)
                                                : may_be_called_from(cache, word, function));
}

bool yarn_frame_is_sole(struct yarn_rule_cache *cache, const struct yarn_stack_copy *stack,
                        uint64_t function, uint64_t from, uint64_t to,
                        const struct yarn_frame_slots *taken)
{
    uint64_t word;
    size_t next = 0;
    if (to - from > SEARCH_BYTES_MAX || taken->count == taken->most)
        return false;
    for (uint64_t at = from; at < to; at += WORD_SIZE) {
        if (!yarn_stack_copy_read(stack, at, &word))
            return false;
        while (next < taken->count && taken->slot[next] < at)
            next++;
        bool is_taken = next < taken->count && (taken->slot[next] | 1) == (at | 1);
        if (is_taken ? is_in_doubt(cache, taken, next, word, function)
                     : may_be_called_from(cache, word, function))
            return false;
    }
    return true;
}
