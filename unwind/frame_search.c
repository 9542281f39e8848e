/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/frame_search.h"

#include "unwind/callee.h"

enum {
    WORD_SIZE = 8,
    FRAME_BYTES = 2 * WORD_SIZE,  /* the saved frame pointer and the return address */
    SEARCH_BYTES_MAX = 256 << 10, /* for the frame */
    RIVALS_BYTES_MAX = 16 << 10,  /* above it */
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

/* A frame that was realigned has a copy of the return address beside the saved frame pointer. */
static bool is_copy(const struct yarn_rule *rule, const struct yarn_stack_copy *stack, uint64_t at,
                    uint64_t return_address)
{
    uint64_t cfa, word;
    return yarn_stack_copy_read(stack, at + (uint64_t)(int64_t)rule->cfa_offset, &cfa) &&
           cfa > at + WORD_SIZE && yarn_stack_copy_read(stack, cfa - WORD_SIZE, &word) &&
           word == return_address;
}

static void add_rivals(struct yarn_rule_cache *cache, const struct yarn_stack_copy *stack,
                       uint64_t function, uint64_t from, struct yarn_frame_rivals *rivals)
{
    uint64_t word;
    *rivals = (struct yarn_frame_rivals){.count = 0};
    for (uint64_t at = from;
         at - from < RIVALS_BYTES_MAX && rivals->count < YARN_FRAME_RIVALS_MAX &&
         yarn_stack_copy_read(stack, at, &word);
         at += WORD_SIZE)
        if (is_called_from(cache, word, function))
            rivals->slot[rivals->count++] = at;
}

bool yarn_frame_search(struct yarn_rule_cache *cache, const struct yarn_stack_copy *stack,
                       const struct yarn_rule *rule, uint64_t function,
                       struct yarn_registers *registers, struct yarn_frame_rivals *rivals)
{
    uint64_t word, from = registers->sp;
    rivals->count = rivals->next = 0;
    if (from % WORD_SIZE)
        return false;
    for (uint64_t at = from; at - from < SEARCH_BYTES_MAX; at += WORD_SIZE) {
        if (!yarn_stack_copy_read(stack, at + WORD_SIZE, &word))
            return false;
        if (!is_called_from(cache, word, function) ||
            (rule->kind == YARN_RULE_DEREF && !is_copy(rule, stack, at, word)))
            continue;
        registers->value[cache->machine->frame] = at;
        registers->valid |= UINT64_C(1) << cache->machine->frame;
        add_rivals(cache, stack, function, at + FRAME_BYTES, rivals);
        return true;
    }
    return false;
}

bool yarn_frame_rivals_pass(struct yarn_frame_rivals *rivals, uint64_t slot)
{
    if (rivals->next == rivals->count || slot < rivals->slot[rivals->next])
        return true;
    return rivals->slot[rivals->next++] == slot;
}
