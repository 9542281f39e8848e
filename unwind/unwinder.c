/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/unwinder.h"

#include "core/base/pages.h"
#include "unwind/fallback.h"
#include "unwind/join.h"
#include "unwind/libunwind_step.h"
#include "unwind/rule_cache.h"

enum { LIBUNWIND_CACHE = 4096, LIBUNWIND_CACHE_RARE = 128 };

struct yarn_unwinder {
    enum yarn_unwinder_kind kind;
    struct yarn_module_map *map; /* borrowed */
    const struct yarn_machine *machine;
    struct yarn_rule_cache cache;
    struct yarn_join join;
    struct yarn_libunwind *libunwind; /* owned */
    const struct yarn_module *last;   /* that was asked for; neighbours mostly share theirs */
    struct yarn_join_frame trail[YARN_FRAMES_MAX];
};

/* The walk over one sample's stack. */
struct walk {
    struct yarn_unwinder *unwinder;
    const struct yarn_stack_copy *stack;
    struct yarn_registers registers; /* of the frame that was reached */
    bool is_exact;                   /* it was interrupted at its ip: leaf, below a signal frame */
    bool by_libunwind;
    struct yarn_frames *frames;
};

int yarn_unwinder_new(struct yarn_unwinder **ret_unwinder, enum yarn_unwinder_kind kind,
                      struct yarn_module_map *map)
{
    struct yarn_unwinder *unwinder = yarn_pages_map(sizeof *unwinder);
    if (!unwinder)
        return -ENOMEM;
    unwinder->kind = kind;
    unwinder->map = map;
    unwinder->machine = yarn_machine_native();
    int err = yarn_rule_cache_open(&unwinder->cache, map, unwinder->machine);
    if (err)
        goto fail;
    err = yarn_join_open(&unwinder->join);
    if (err)
        goto fail;
    bool is_rare = kind != YARN_UNWIND_BY_LIBUNWIND;
    err = yarn_libunwind_new(&unwinder->libunwind, unwinder->machine,
                             is_rare ? LIBUNWIND_CACHE_RARE : LIBUNWIND_CACHE);
    if (err)
        goto fail;
    *ret_unwinder = unwinder;
    return 0;

fail:
    yarn_unwinder_free(unwinder);
    return err;
}

void yarn_unwinder_free(struct yarn_unwinder *unwinder)
{
    if (!unwinder)
        return;
    yarn_libunwind_free(unwinder->libunwind);
    yarn_join_close(&unwinder->join);
    yarn_rule_cache_close(&unwinder->cache);
    yarn_pages_unmap(unwinder, sizeof *unwinder);
}

static const struct yarn_module *module_at(struct yarn_unwinder *unwinder, uint32_t number)
{
    if (number == YARN_MODULE_NONE)
        return NULL;
    if (!unwinder->last || unwinder->last->number != number)
        unwinder->last = yarn_module_map_at(unwinder->map, number);
    return unwinder->last;
}

static uint64_t lookup_ip_of(uint64_t ip, bool is_exact)
{
    return is_exact ? ip : ip - 1;
}

/* An odd place is no frame's address: what stays at one ip and sp, of a frame whose own address
 * its rule does not tell without the stack. */
static uint64_t place_of(const struct walk *walk, const struct yarn_rule *rule)
{
    const struct yarn_registers *registers = &walk->registers;
    if (rule->kind != YARN_RULE_REGISTER)
        return registers->sp | 1;
    uint64_t offset = (uint64_t)(int64_t)rule->cfa_offset;
    if (rule->base == walk->unwinder->machine->sp)
        return registers->sp + offset;
    if (!yarn_registers_has(registers, rule->base))
        return registers->sp | 1;
    return registers->value[rule->base] + offset;
}

static struct yarn_join_frame join_frame(uint64_t ip, bool is_exact, uint64_t place,
                                         const struct yarn_cached_rule *found)
{
    uint32_t function = place & 1 ? (uint32_t)ip : found->function;
    return (struct yarn_join_frame){ip, place, function, is_exact};
}

/* False where the frames are full. */
static bool append(struct walk *walk, uint64_t lookup_ip, const struct yarn_cached_rule *found,
                   const struct yarn_module *module)
{
    struct yarn_frames *frames = walk->frames;
    if (frames->count == YARN_FRAMES_MAX)
        return false;
    walk->unwinder->trail[frames->count] =
        join_frame(walk->registers.ip, walk->is_exact, place_of(walk, &found->rule), found);
    frames->frame[frames->count++] = (struct yarn_frame){
        .ip = walk->registers.ip,
        .lookup_ip = lookup_ip,
        .module = module,
    };
    return true;
}

static enum yarn_step step_by_rule(struct walk *walk, const struct yarn_rule *rule,
                                   const struct yarn_module *module, uint64_t lookup_ip)
{
    struct yarn_unwinder *unwinder = walk->unwinder;
    switch (rule->kind) {
    case YARN_RULE_NONE:
        return yarn_fallback_step(unwinder->map, unwinder->machine, walk->stack, walk->is_exact,
                                  &walk->registers);
    case YARN_RULE_END:
        return YARN_STEP_END;
    case YARN_RULE_REGISTER:
    case YARN_RULE_DEREF:
    case YARN_RULE_SIGNAL:
        if (!walk->by_libunwind)
            return unwinder->machine->step(rule, walk->stack, &walk->registers);
        return yarn_libunwind_step(unwinder->libunwind, module, lookup_ip, rule->is_signal,
                                   walk->stack, &walk->registers);
    case YARN_RULE_OTHER:
        return yarn_libunwind_step(unwinder->libunwind, module, lookup_ip, rule->is_signal,
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
static bool is_elsewhere(const struct walk *walk)
{
    const struct yarn_stack_copy *stack = walk->stack;
    return walk->registers.sp - stack->start >= stack->first.size + stack->second.size;
}

/* *ret_is_lost: a register was needed that our rules do not follow. */
static enum yarn_unwind_end walk_stack(struct walk *walk, bool *ret_is_lost)
{
    struct yarn_unwinder *unwinder = walk->unwinder;
    for (;;) {
        uint64_t lookup_ip = lookup_ip_of(walk->registers.ip, walk->is_exact);
        struct yarn_cached_rule found = yarn_rule_cache_find(&unwinder->cache, lookup_ip);
        const struct yarn_module *module = module_at(unwinder, found.module);
        if (!append(walk, lookup_ip, &found, module))
            return YARN_UNWIND_TRUNCATED;
        if (walk->is_exact && is_elsewhere(walk) && found.rule.kind != YARN_RULE_END)
            return YARN_UNWIND_TRUNCATED;
        enum yarn_step step = step_by_rule(walk, &found.rule, module, lookup_ip);
        if (step != YARN_STEP_OK) {
            *ret_is_lost = step == YARN_STEP_UNKNOWN && found.rule.kind != YARN_RULE_NONE;
            return end_of(step, &found.rule);
        }
        if (is_senseless(walk->registers.ip))
            return YARN_UNWIND_FAILED;
        walk->is_exact = found.rule.is_signal;
    }
}

bool yarn_unwinder_join(struct yarn_unwinder *unwinder, uint32_t tid, struct yarn_frames *frames)
{
    unsigned walked = frames->count;
    if (frames->end != YARN_UNWIND_TRUNCATED || !walked)
        return false;
    const struct yarn_frame *last = &frames->frame[walked - 1];
    struct yarn_cached_rule found = yarn_rule_cache_find(&unwinder->cache, last->lookup_ip);
    unwinder->trail[walked - 1] =
        join_frame(last->ip, last->ip == last->lookup_ip, frames->last_place, &found);
    unsigned count =
        yarn_join_complete(&unwinder->join, tid, unwinder->trail, walked, YARN_FRAMES_MAX);
    if (count == walked)
        return false;
    for (unsigned i = walked; i < count; i++) {
        const struct yarn_join_frame *frame = &unwinder->trail[i];
        uint64_t lookup_ip = lookup_ip_of(frame->ip, frame->is_exact);
        found = yarn_rule_cache_find(&unwinder->cache, lookup_ip);
        frames->frame[i] = (struct yarn_frame){
            .ip = frame->ip,
            .lookup_ip = lookup_ip,
            .module = module_at(unwinder, found.module),
        };
    }
    frames->first_joined = walked;
    frames->count = count;
    frames->end = YARN_UNWIND_JOINED;
    return true;
}

static void walk_from_leaf(struct yarn_unwinder *unwinder, const struct yarn_registers *registers,
                           const struct yarn_stack_copy *stack, struct yarn_frames *frames)
{
    bool is_lost = false;
    struct walk walk = {
        .unwinder = unwinder,
        .stack = stack,
        .registers = *registers,
        .is_exact = true,
        .by_libunwind = unwinder->kind == YARN_UNWIND_BY_LIBUNWIND,
        .frames = frames,
    };
    frames->end = walk_stack(&walk, &is_lost);
    if (!is_lost || walk.by_libunwind)
        return;
    /* A row hangs on a register that only libunwind follows: it has to begin at the leaf. */
    walk.registers = *registers;
    walk.is_exact = true;
    walk.by_libunwind = true;
    frames->count = 0;
    frames->end = walk_stack(&walk, &is_lost);
}

void yarn_unwinder_unwind(struct yarn_unwinder *unwinder, const struct yarn_registers *registers,
                          const struct yarn_stack_copy *stack, uint32_t tid,
                          struct yarn_frames *ret_frames)
{
    if (yarn_rule_cache_refresh(&unwinder->cache))
        yarn_libunwind_forget(unwinder->libunwind);
    ret_frames->count = 0;
    if (!registers->valid || stack->first.size == 0) {
        const struct yarn_module *module = yarn_module_map_find(unwinder->map, registers->ip);
        ret_frames->frame[0] = (struct yarn_frame){registers->ip, registers->ip, module};
        ret_frames->count = 1;
        ret_frames->end = YARN_UNWIND_NONE;
    } else {
        walk_from_leaf(unwinder, registers, stack, ret_frames);
    }
    bool is_cut = ret_frames->end == YARN_UNWIND_TRUNCATED;
    bool is_complete = ret_frames->end == YARN_UNWIND_COMPLETE;
    if (is_cut || is_complete)
        yarn_join_learn(&unwinder->join, tid, unwinder->trail, ret_frames->count, is_complete);
    ret_frames->first_joined = ret_frames->count;
    if (is_cut) {
        ret_frames->last_place = unwinder->trail[ret_frames->count - 1].place;
        yarn_unwinder_join(unwinder, tid, ret_frames);
    }
}

bool yarn_unwinder_is_outermost(struct yarn_unwinder *unwinder, uint64_t lookup_ip)
{
    if (yarn_rule_cache_refresh(&unwinder->cache))
        yarn_libunwind_forget(unwinder->libunwind);
    return yarn_rule_cache_find(&unwinder->cache, lookup_ip).rule.kind == YARN_RULE_END;
}
