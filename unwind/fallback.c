/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/fallback.h"

#include <elf.h>

enum {
    LOWEST_ADDRESS = 4096,
    WORD_SIZE = 8,
    CALL_SIZE_MAX = 8,
    REENTRY_SIZE = 12,
    CHAIN_GAP_MAX = 1 << 20, /* between two frame records */
    JUMPER_SIZE_MAX = 2048,
    FIRST_CODE_SIZE = 256, /* at a file's entry, of what has no caller */
};

static bool has_file(const struct yarn_rule_cache *cache, uint64_t address)
{
    const struct yarn_module *module = yarn_module_map_find(cache->map, address);
    return module && module->image;
}

/* The code before an address, of a file or in `room`; empty where none is. */
static struct yarn_span code_before(const struct yarn_rule_cache *cache, uint64_t address,
                                    uint8_t room[CALL_SIZE_MAX])
{
    uint64_t before = address - CALL_SIZE_MAX;
    if (address < LOWEST_ADDRESS || address >> 48)
        return YARN_SPAN_EMPTY;
    const struct yarn_module *module = yarn_module_map_find(cache->map, address - 1);
    if (!module)
        return YARN_SPAN_EMPTY;
    if (module->image)
        return yarn_span_sub(yarn_image_at(module->image, before - module->bias), 0, CALL_SIZE_MAX);
    if (yarn_target_read(yarn_module_map_target(cache->map), before, room, CALL_SIZE_MAX))
        return YARN_SPAN_EMPTY;
    return yarn_span_of(room, CALL_SIZE_MAX);
}

/* Whether code is there, with a call before it; *ret_target is where that leads from the address,
 * 0 where the instruction does not say. */
static bool read_call(const struct yarn_rule_cache *cache, uint64_t address, int64_t *ret_target)
{
    uint8_t room[CALL_SIZE_MAX];
    return cache->machine->is_call(code_before(cache, address, room), ret_target);
}

bool yarn_fallback_is_own_address(const struct yarn_rule_cache *cache, uint64_t address)
{
    uint8_t room[CALL_SIZE_MAX];
    return cache->machine->is_call_to_next(code_before(cache, address, room));
}

/* Of generated code only: no file has an interpreter of that kind. */
static bool is_reentry(const struct yarn_rule_cache *cache, uint64_t address)
{
    uint8_t room[REENTRY_SIZE];
    const struct yarn_module *module = yarn_module_map_find(cache->map, address);
    return module && !module->image &&
           !yarn_target_read(yarn_module_map_target(cache->map), address, room, sizeof room) &&
           cache->machine->is_reentry(yarn_span_of(room, sizeof room));
}

bool yarn_fallback_is_return(const struct yarn_rule_cache *cache, uint64_t address)
{
    int64_t target;
    return read_call(cache, address, &target) || is_reentry(cache, address);
}

/* Whether the caller's own tables, where it has some, lead on to a call, or to the end. */
static bool leads_on(struct yarn_rule_cache *cache, const struct yarn_stack_copy *stack,
                     struct yarn_registers caller)
{
    struct yarn_cached_rule found = yarn_rule_cache_find(cache, caller.ip - 1);
    if (found.rule.kind != YARN_RULE_REGISTER && found.rule.kind != YARN_RULE_DEREF)
        return true;
    enum yarn_step step = cache->machine->step(&found.rule, stack, &caller);
    return step == YARN_STEP_OK ? yarn_fallback_is_return(cache, caller.ip)
                                : step != YARN_STEP_FAILED;
}

/* The caller's code goes on behind the words that the return took off; its tables know the call,
 * before that. False where its frame hangs on how many these were, and that is not known. */
static bool pop(struct yarn_rule_cache *cache, const struct yarn_rule *rule,
                struct yarn_registers *caller)
{
    if (!rule->popped || yarn_rule_cache_find(cache, caller->ip - 1).rule.kind != YARN_RULE_NONE)
        return true;
    if (rule->popped != YARN_POPPED_UNKNOWN) {
        caller->sp += (uint64_t)rule->popped * WORD_SIZE;
        return true;
    }
    struct yarn_code_extent near;
    struct yarn_rule next = yarn_rule_cache_read_code(cache, caller->ip, true, &near);
    return next.kind != YARN_RULE_REGISTER || next.base == cache->machine->frame;
}

/* Whether a call goes to the code at `ip`: by a register or memory, or to what lies not far before.
 */
static bool may_lead_to(const struct yarn_rule_cache *cache, uint64_t address, uint64_t ip)
{
    enum { FUNCTION_MAX = 1 << 16 };
    int64_t target = 0;
    return read_call(cache, address, &target) &&
           (!target || ip - (address + (uint64_t)target) < FUNCTION_MAX);
}

/* Whether the function there may jump on into other code, as one whose last call is a jump. */
static bool may_jump_on(struct yarn_rule_cache *cache, uint64_t address)
{
    uint8_t code[JUMPER_SIZE_MAX];
    const struct yarn_module *module = yarn_module_map_find(cache->map, address);
    struct yarn_cached_rule found = yarn_rule_cache_find(cache, address);
    size_t size = found.function_size;
    if (!module || !module->image || !size || size > sizeof code)
        return true;
    uint64_t begin = address - ((uint32_t)address - found.function);
    struct yarn_section section = yarn_image_section_at(module->image, begin - module->bias);
    return !yarn_section_read(&section, 0, code, size) ||
           cache->machine->may_jump_on(yarn_span_of(code, size));
}

/* Code of a file calls generated code by a pointer: what it has called by name, and what did not
 * jump on, is left over from another call. */
static bool calls_another(struct yarn_rule_cache *cache, uint64_t address, uint64_t ip)
{
    int64_t target = 0;
    return has_file(cache, address - 1) && read_call(cache, address, &target) && target &&
           !may_lead_to(cache, address, ip) && !may_jump_on(cache, address + (uint64_t)target);
}

/* The frame pointer marks the very frame that the code counts from the stack pointer: other code
 * than was run would hardly say so. Unless the frame is the caller's, of code without one of its
 * own: then the address that this returns to lies below it. */
static bool is_marked(const struct yarn_rule_cache *cache, const struct yarn_rule *rule,
                      const struct yarn_stack_copy *stack, const struct yarn_registers *registers)
{
    uint64_t word, marked = registers->value[cache->machine->frame];
    if (rule->kind != YARN_RULE_REGISTER || rule->base != cache->machine->sp ||
        !yarn_registers_has(registers, cache->machine->frame) ||
        registers->sp + (uint64_t)(int64_t)rule->cfa_offset != marked + (uint64_t)2 * WORD_SIZE)
        return false;
    for (uint64_t at = registers->sp; at < marked; at += WORD_SIZE)
        if (!yarn_stack_copy_read(stack, at, &word) || may_lead_to(cache, word, registers->ip))
            return false;
    return true;
}

static enum yarn_step step_by_code(struct yarn_rule_cache *cache,
                                   const struct yarn_stack_copy *stack, bool *is_exact,
                                   struct yarn_registers *registers)
{
    struct yarn_registers caller = *registers;
    struct yarn_code_extent near;
    struct yarn_rule rule = yarn_rule_cache_read_code(cache, registers->ip, !*is_exact, &near);
    if (rule.kind == YARN_RULE_NONE)
        return YARN_STEP_UNKNOWN;
    enum yarn_step step = cache->machine->step(&rule, stack, &caller);
    if (step != YARN_STEP_OK)
        return step;
    if (!rule.is_signal && (!yarn_fallback_is_return(cache, caller.ip) ||
                            !leads_on(cache, stack, caller) || !pop(cache, &rule, &caller)))
        return YARN_STEP_UNKNOWN;
    if (near.to &&
        (!yarn_live_code_is_proven(&cache->live, near) ||
         (!rule.is_signal && calls_another(cache, caller.ip, registers->ip))) &&
        !is_marked(cache, &rule, stack, registers))
        return YARN_STEP_TRUNCATED;
    *is_exact = rule.is_signal;
    *registers = caller;
    return YARN_STEP_OK;
}

/* Behind generated code that has become other code since there was a call, perhaps. */
static bool may_be_return(struct yarn_rule_cache *cache, uint64_t address)
{
    if (yarn_fallback_is_return(cache, address))
        return true;
    const struct yarn_module *module = yarn_module_map_find(cache->map, address - 1);
    struct yarn_code_extent call = {address - CALL_SIZE_MAX, address};
    return module && module->kind == YARN_MODULE_ANONYMOUS &&
           !yarn_live_code_is_proven(&cache->live, call);
}

/* A frame that has not set up its own frame pointer has its return address below the frame that it
 * marks. */
static bool may_hide_frame(struct yarn_rule_cache *cache, const struct yarn_stack_copy *stack,
                           uint64_t from, uint64_t to)
{
    uint64_t word;
    for (uint64_t at = from; at < to; at += WORD_SIZE)
        if (!yarn_stack_copy_read(stack, at, &word) || may_be_return(cache, word))
            return true;
    return false;
}

/* HotSpot's interpreter gives back the stack pointer that lies below the word that it marks:
 * compiled code calls it by an adapter, which has put arguments onto the stack. */
static void leave_interpreter(const struct yarn_rule_cache *cache,
                              const struct yarn_stack_copy *stack, uint64_t marked,
                              struct yarn_registers *caller)
{
    uint64_t sp;
    if (yarn_stack_copy_read(stack, marked - WORD_SIZE, &sp) && sp % WORD_SIZE == 0 &&
        sp > caller->sp && sp <= caller->value[cache->machine->frame])
        caller->sp = sp;
}

/* An interpreter that goes on has its frame, as its code says; what is below that may be a copy of
 * the address that it pushed. */
static enum yarn_step step_by_frame_pointer(struct yarn_rule_cache *cache,
                                            const struct yarn_stack_copy *stack, bool is_exact,
                                            struct yarn_registers *registers)
{
    struct yarn_registers caller = *registers;
    uint64_t marked = registers->value[cache->machine->frame];
    enum yarn_step step = cache->machine->step_frame_pointer(stack, &caller);
    if (step != YARN_STEP_OK)
        return step;
    uint64_t saved = caller.value[cache->machine->frame];
    bool is_chained = saved >= caller.sp && saved - caller.sp < CHAIN_GAP_MAX;
    if (!yarn_fallback_is_return(cache, caller.ip) || !leads_on(cache, stack, caller) ||
        (!is_chained && !has_file(cache, caller.ip - 1)) ||
        ((is_exact || !is_reentry(cache, registers->ip)) &&
         may_hide_frame(cache, stack, registers->sp, marked)))
        return YARN_STEP_UNKNOWN;
    if (!is_exact && is_reentry(cache, registers->ip))
        leave_interpreter(cache, stack, marked, &caller);
    *registers = caller;
    return YARN_STEP_OK;
}

/* Whether the frame is in the first code that a file has run, and its stack is as the kernel laid
 * it out for that: argc, the arguments' addresses, a zero. */
static bool is_process_entry(const struct yarn_module *module, const struct yarn_stack_copy *stack,
                             const struct yarn_registers *registers)
{
    enum { ARGUMENTS_MAX = 1 << 16 };
    uint64_t argc, first, last, zero, sp = registers->sp;
    Elf64_Ehdr elf;
    struct yarn_section head = yarn_image_section(module->image, 0, sizeof elf, 0);
    return yarn_section_read(&head, 0, &elf, sizeof elf) &&
           registers->ip - module->bias - elf.e_entry < FIRST_CODE_SIZE &&
           yarn_stack_copy_read(stack, sp, &argc) && argc > 0 && argc <= ARGUMENTS_MAX &&
           yarn_stack_copy_read(stack, sp + 8, &first) && first > sp + 8 * argc &&
           yarn_stack_copy_read(stack, sp + 8 * argc, &last) && last >= first &&
           yarn_stack_copy_read(stack, sp + 8 * argc + 8, &zero) && zero == 0;
}

/* Nothing can be there: the program has just called what no instruction names, a null pointer. */
static enum yarn_step step_from_nowhere(struct yarn_rule_cache *cache,
                                        const struct yarn_stack_copy *stack,
                                        struct yarn_registers *registers)
{
    struct yarn_registers caller = *registers;
    int64_t target;
    enum yarn_step step = cache->machine->step_leaf(stack, &caller);
    if (step == YARN_STEP_OK && (!read_call(cache, caller.ip, &target) || target))
        return YARN_STEP_UNKNOWN;
    if (step == YARN_STEP_OK)
        *registers = caller;
    return step;
}

enum yarn_step yarn_fallback_step(struct yarn_rule_cache *cache,
                                  const struct yarn_stack_copy *stack, bool *is_exact,
                                  struct yarn_registers *registers)
{
    const struct yarn_module *module = yarn_module_map_find(cache->map, registers->ip - !*is_exact);
    bool has_file = module && module->image;
    if (has_file && is_process_entry(module, stack, registers))
        return YARN_STEP_END;
    if (has_file)
        return step_by_code(cache, stack, is_exact, registers);
    bool is_nowhere = !module && *is_exact && registers->ip < LOWEST_ADDRESS;
    enum yarn_step by_code, step = is_nowhere
                                       ? step_from_nowhere(cache, stack, registers)
                                       : step_by_frame_pointer(cache, stack, *is_exact, registers);
    if (step == YARN_STEP_OK) {
        *is_exact = false;
    } else if (!is_nowhere) {
        by_code = step_by_code(cache, stack, is_exact, registers);
        step = by_code == YARN_STEP_UNKNOWN ? step : by_code;
    }
    /* A zero where code without a file should have its caller proves nothing: such code changes. */
    return step == YARN_STEP_END ? YARN_STEP_UNKNOWN : step;
}
