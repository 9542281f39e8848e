/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/walker.h"

#include "unwind/fallback.h"

enum { LIBUNWIND_CACHE = 4096, LIBUNWIND_CACHE_RARE = 128 };

int yarn_walker_open(struct yarn_walker *walker, enum yarn_unwinder_kind kind,
                     struct yarn_module_map *map)
{
    walker->kind = kind;
    walker->map = map;
    walker->machine = yarn_machine_native();
    int err = yarn_rule_cache_open(&walker->cache, map, walker->machine);
    if (err)
        return err;
    bool is_rare = kind != YARN_UNWIND_BY_LIBUNWIND;
    return yarn_libunwind_new(&walker->libunwind, walker->machine,
                              is_rare ? LIBUNWIND_CACHE_RARE : LIBUNWIND_CACHE);
}

void yarn_walker_close(struct yarn_walker *walker)
{
    yarn_libunwind_free(walker->libunwind);
    walker->libunwind = NULL;
    yarn_rule_cache_close(&walker->cache);
}

void yarn_walker_refresh(struct yarn_walker *walker)
{
    if (yarn_rule_cache_refresh(&walker->cache))
        yarn_libunwind_forget(walker->libunwind);
}

static const struct yarn_module *module_at(struct yarn_walker *walker, uint32_t number)
{
    if (number == YARN_MODULE_NONE)
        return NULL;
    if (!walker->last || walker->last->number != number)
        walker->last = yarn_module_map_at(walker->map, number);
    return walker->last;
}

static uint64_t lookup_ip_of(uint64_t ip, bool is_exact)
{
    return is_exact ? ip : ip - 1;
}

/* An odd place is no frame's address: what stays at one ip and sp, of a frame whose own address
 * its rule does not tell without the stack. */
static uint64_t place_of(const struct yarn_walk *walk, const struct yarn_rule *rule)
{
    const struct yarn_registers *registers = &walk->registers;
    if (rule->kind != YARN_RULE_REGISTER)
        return registers->sp | 1;
    uint64_t offset = (uint64_t)(int64_t)rule->cfa_offset;
    if (rule->base == walk->walker->machine->sp)
        return registers->sp + offset;
    if (!yarn_registers_has(registers, rule->base))
        return registers->sp | 1;
    return registers->value[rule->base] + offset;
}

static struct yarn_join_frame trail_frame(uint64_t ip, bool is_exact, uint64_t place,
                                          const struct yarn_cached_rule *found)
{
    uint32_t function = place & 1 ? (uint32_t)ip : found->function;
    return (struct yarn_join_frame){ip, place, function, is_exact};
}

struct yarn_join_frame yarn_walker_trail_frame(struct yarn_walker *walker, uint64_t ip,
                                               bool is_exact, uint64_t place)
{
    struct yarn_cached_rule found =
        yarn_rule_cache_find(&walker->cache, lookup_ip_of(ip, is_exact));
    return trail_frame(ip, is_exact, place, &found);
}

static struct yarn_frame frame_of(uint64_t ip, uint64_t lookup_ip,
                                  const struct yarn_cached_rule *found,
                                  const struct yarn_module *module)
{
    return (struct yarn_frame){
        .ip = ip,
        .lookup_ip = lookup_ip,
        .module = module,
        .in_function = (uint32_t)lookup_ip - found->function,
        .function_size = found->function_size,
    };
}

struct yarn_cached_rule yarn_walker_rule(struct yarn_walker *walker,
                                         const struct yarn_join_frame *frame)
{
    return yarn_rule_cache_find(&walker->cache, lookup_ip_of(frame->ip, frame->is_exact));
}

struct yarn_frame yarn_walker_frame(struct yarn_walker *walker, const struct yarn_join_frame *from)
{
    struct yarn_cached_rule found = yarn_walker_rule(walker, from);
    return frame_of(from->ip, lookup_ip_of(from->ip, from->is_exact), &found,
                    module_at(walker, found.module));
}

/* False where the frames are full. */
static bool append(struct yarn_walk *walk, uint64_t lookup_ip, const struct yarn_cached_rule *found,
                   const struct yarn_module *module)
{
    struct yarn_frames *frames = walk->frames;
    if (frames->count == YARN_FRAMES_MAX)
        return false;
    walk->walker->trail[frames->count] =
        trail_frame(walk->registers.ip, walk->is_exact, place_of(walk, &found->rule), found);
    frames->frame[frames->count++] = frame_of(walk->registers.ip, lookup_ip, found, module);
    return true;
}

static enum yarn_step step_by_rule(struct yarn_walk *walk, const struct yarn_rule *rule,
                                   const struct yarn_module *module, uint64_t lookup_ip)
{
    struct yarn_walker *walker = walk->walker;
    switch (rule->kind) {
    case YARN_RULE_NONE:
        return yarn_fallback_step(walker->map, walker->machine, walk->stack, walk->is_exact,
                                  &walk->registers);
    case YARN_RULE_END:
        return YARN_STEP_END;
    case YARN_RULE_REGISTER:
    case YARN_RULE_DEREF:
    case YARN_RULE_SIGNAL:
        if (!walk->by_libunwind)
            return walker->machine->step(rule, walk->stack, &walk->registers);
        return yarn_libunwind_step(walker->libunwind, module, lookup_ip, rule->is_signal,
                                   walk->stack, &walk->registers);
    case YARN_RULE_OTHER:
        return yarn_libunwind_step(walker->libunwind, module, lookup_ip, rule->is_signal,
                                   walk->stack, &walk->registers);
    default:
        return YARN_STEP_FAILED;
    }
}

static enum yarn_unwind_end end_of(enum yarn_step step, const struct yarn_rule *rule)
{
    switch (step) {
    case YARN_STEP_END:
        return YARN_UNWIND_COMPLETE;
    case YARN_STEP_TRUNCATED:
        return YARN_UNWIND_TRUNCATED;
    case YARN_STEP_UNKNOWN:
        return rule->kind == YARN_RULE_NONE ? YARN_UNWIND_NO_UNWIND_INFO : YARN_UNWIND_FAILED;
    default:
        return YARN_UNWIND_FAILED;
    }
}

/* No code is mapped there: what was taken for a return address is none. */
static bool is_senseless(uint64_t ip)
{
    return ip < 4096 || ip >> 48;
}

/* A handler on a stack of its own: the interrupted frame is known, its stack is not in the copy. */
static bool is_elsewhere(const struct yarn_walk *walk)
{
    const struct yarn_stack_copy *stack = walk->stack;
    return walk->registers.sp - stack->start >= stack->first.size + stack->second.size;
}

/* True where a register was needed that our rules do not follow. */
static bool run(struct yarn_walk *walk)
{
    struct yarn_walker *walker = walk->walker;
    struct yarn_frames *frames = walk->frames;
    for (;;) {
        uint64_t lookup_ip = lookup_ip_of(walk->registers.ip, walk->is_exact);
        struct yarn_cached_rule found = yarn_rule_cache_find(&walker->cache, lookup_ip);
        const struct yarn_module *module = module_at(walker, found.module);
        frames->end = YARN_UNWIND_TRUNCATED;
        if (!append(walk, lookup_ip, &found, module))
            return false;
        if (walk->is_exact && is_elsewhere(walk) && found.rule.kind != YARN_RULE_END)
            return false;
        enum yarn_step step = step_by_rule(walk, &found.rule, module, lookup_ip);
        if (step != YARN_STEP_OK) {
            frames->end = end_of(step, &found.rule);
            return step == YARN_STEP_UNKNOWN && found.rule.kind != YARN_RULE_NONE;
        }
        frames->end = YARN_UNWIND_FAILED;
        if (is_senseless(walk->registers.ip))
            return false;
        walk->is_exact = found.rule.is_signal;
    }
}

void yarn_walker_walk(struct yarn_walker *walker, const struct yarn_registers *registers,
                      const struct yarn_stack_copy *stack, struct yarn_frames *frames,
                      struct yarn_walk *ret_walk)
{
    *ret_walk = (struct yarn_walk){
        .walker = walker,
        .stack = stack,
        .registers = *registers,
        .is_exact = true,
        .by_libunwind = walker->kind == YARN_UNWIND_BY_LIBUNWIND,
        .frames = frames,
    };
    if (!run(ret_walk) || ret_walk->by_libunwind)
        return;
    /* A row hangs on a register that only libunwind follows: it has to begin at the leaf. */
    ret_walk->registers = *registers;
    ret_walk->is_exact = true;
    ret_walk->by_libunwind = true;
    frames->count = 0;
    run(ret_walk);
}

void yarn_walker_go_on(struct yarn_walk *walk, const struct yarn_stack_copy *stack)
{
    walk->stack = stack;
    walk->frames->count--;
    run(walk);
}
