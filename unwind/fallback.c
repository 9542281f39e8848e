/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/fallback.h"

enum {
    LOWEST_ADDRESS = 4096,
    CALL_SIZE_MAX = 8,
    LEAF_SIZE_MAX = 1 << 16, /* of assembly that a direct call leads into */
    CHAIN_GAP_MAX = 1 << 20, /* between two frame records */
};

enum belief { REFUTED, POSSIBLE, CERTAIN };

/* Whether the code before `ip` calls; CERTAIN where it calls right into the code at `callee_ip`. */
static enum belief judge_call(const struct yarn_machine *machine, const struct yarn_module *module,
                              uint64_t ip, uint64_t callee_ip)
{
    int64_t target;
    struct yarn_span code = yarn_image_at(module->image, ip - module->bias - CALL_SIZE_MAX);
    if (code.size < CALL_SIZE_MAX)
        return REFUTED;
    code.size = CALL_SIZE_MAX;
    if (!machine->is_call(code, &target))
        return REFUTED;
    uint64_t callee = ip + (uint64_t)target;
    return target && callee <= callee_ip && callee_ip - callee < LEAF_SIZE_MAX ? CERTAIN : POSSIBLE;
}

static enum belief judge_leaf(struct yarn_module_map *map, const struct yarn_machine *machine,
                              const struct yarn_registers *caller, uint64_t leaf_ip)
{
    const struct yarn_module *module = yarn_module_map_find(map, caller->ip - 1);
    if (!module || !module->image)
        return REFUTED;
    enum belief belief = judge_call(machine, module, caller->ip, leaf_ip);
    /* Where no file's code is, a wild jump or a JIT's first instruction is likelier than a frame
     * whose lowest word happens to follow a call. */
    const struct yarn_module *own = yarn_module_map_find(map, leaf_ip);
    return belief == POSSIBLE && (!own || !own->image) ? CERTAIN : belief;
}

static bool is_frame_pointer_step_credible(struct yarn_module_map *map,
                                           const struct yarn_machine *machine,
                                           const struct yarn_registers *caller)
{
    const struct yarn_module *module = yarn_module_map_find(map, caller->ip - 1);
    if (caller->ip < LOWEST_ADDRESS || caller->ip >> 48)
        return false;
    if (module && module->image)
        return judge_call(machine, module, caller->ip, 0) != REFUTED;
    uint64_t saved = caller->value[machine->frame];
    return saved >= caller->sp && saved - caller->sp < CHAIN_GAP_MAX;
}

/* Whether the frame's stack is as the kernel laid it out for the first instruction of all, which
 * is the dynamic linker's and has no tables: argc, the arguments' addresses, a zero. */
static bool is_process_entry(const struct yarn_stack_copy *stack, uint64_t sp)
{
    enum { ARGUMENTS_MAX = 1 << 16 };
    uint64_t argc, first, last, zero;
    return yarn_stack_copy_read(stack, sp, &argc) && argc > 0 && argc <= ARGUMENTS_MAX &&
           yarn_stack_copy_read(stack, sp + 8, &first) && first > sp + 8 * argc &&
           yarn_stack_copy_read(stack, sp + 8 * argc, &last) && last >= first &&
           yarn_stack_copy_read(stack, sp + 8 * argc + 8, &zero) && zero == 0;
}

enum yarn_step yarn_fallback_step(struct yarn_module_map *map, const struct yarn_machine *machine,
                                  const struct yarn_stack_copy *stack, bool is_exact,
                                  struct yarn_registers *registers)
{
    struct yarn_registers frame = *registers, leaf = frame;
    enum belief belief = REFUTED;
    if (is_exact && machine->step_leaf(stack, &leaf) == YARN_STEP_OK)
        belief = judge_leaf(map, machine, &leaf, registers->ip);

    enum yarn_step step =
        belief == CERTAIN ? YARN_STEP_UNKNOWN : machine->step_frame_pointer(stack, &frame);
    if (step == YARN_STEP_OK && is_frame_pointer_step_credible(map, machine, &frame)) {
        *registers = frame;
        return YARN_STEP_OK;
    }
    if (belief != REFUTED) {
        *registers = leaf;
        return YARN_STEP_OK;
    }
    if (is_process_entry(stack, registers->sp))
        return YARN_STEP_END;
    return step == YARN_STEP_TRUNCATED ? step : YARN_STEP_UNKNOWN;
}
