/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/unwinder.h"

#include "core/base/pages.h"
#include "unwind/callee.h"
#include "unwind/fallback.h"
#include "unwind/frame_search.h"
#include "unwind/libunwind_step.h"
#include "unwind/rule_cache.h"

enum { LIBUNWIND_CACHE = 4096, LIBUNWIND_CACHE_RARE = 128 };

/* Keeps what makes the next walk quick. */
struct yarn_unwinder {
    enum yarn_unwinder_choice choice;
    struct yarn_module_map *map; /* borrowed */
    const struct yarn_unwind_machine *machine;
    struct yarn_rule_cache cache;
    struct yarn_libunwind *libunwind; /* owned; NULL: no row has needed it yet */
    const struct yarn_module
        *last; /* that was looked up; neighbouring frames mostly share theirs */
    uint64_t slots[2 * YARN_FRAMES_MAX]; /* of a walk that had to search a frame */
};

struct walk {
    struct yarn_unwinder *unwinder;
    const struct yarn_stack_copy *stack;
    struct yarn_registers registers; /* of the frame that was reached */
    bool is_exact;                   /* it was interrupted at its ip: leaf, below a signal frame */
    bool by_libunwind;
    /* Of the first frame that was searched, in a blocked thread: */
    bool has_searched;
    bool is_at_start;   /* of the thread, as the tables have it: not by a zero on the stack */
    unsigned nr_proven; /* frames up to it */
    uint64_t searched_from, function;
    bool is_refuted; /* some call on the way leads elsewhere than to the frame that returns there */
    struct yarn_frame_slots taken;
    struct yarn_frames *frames;
};

static int open_libunwind(struct yarn_unwinder *unwinder)
{
    bool is_rare = unwinder->choice != YARN_UNWINDER_LIBUNWIND;
    return yarn_libunwind_new(&unwinder->libunwind, unwinder->machine,
                              is_rare ? LIBUNWIND_CACHE_RARE : LIBUNWIND_CACHE);
}

static int open_unwinder(struct yarn_unwinder *unwinder, enum yarn_unwinder_choice choice,
                         struct yarn_module_map *map)
{
    unwinder->choice = choice;
    unwinder->map = map;
    unwinder->machine = &yarn_machine_native;
    int err = yarn_rule_cache_open(&unwinder->cache, map, unwinder->machine);
    return err || choice != YARN_UNWINDER_LIBUNWIND ? err : open_libunwind(unwinder);
}

int yarn_unwinder_new(struct yarn_unwinder **ret_unwinder, enum yarn_unwinder_choice choice,
                      struct yarn_module_map *map)
{
    struct yarn_unwinder *unwinder = yarn_pages_map(sizeof *unwinder);
    if (!unwinder)
        return -ENOMEM;
    int err = open_unwinder(unwinder, choice, map);
    if (err) {
        yarn_unwinder_free(unwinder);
        return err;
    }
    *ret_unwinder = unwinder;
    return 0;
}

void yarn_unwinder_free(struct yarn_unwinder *unwinder)
{
    if (!unwinder)
        return;
    yarn_libunwind_free(unwinder->libunwind);
    yarn_rule_cache_close(&unwinder->cache);
    yarn_pages_unmap(unwinder, sizeof *unwinder);
}

/* Follows the module map; whether it had changed. */
static bool refresh(struct yarn_unwinder *unwinder)
{
    bool has_changed = yarn_rule_cache_refresh(&unwinder->cache);
    if (has_changed && unwinder->libunwind)
        yarn_libunwind_flush_cache(unwinder->libunwind);
    return has_changed;
}

static const struct yarn_module *module_at(struct yarn_unwinder *unwinder, uint32_t number)
{
    if (number == YARN_MODULE_NONE)
        return NULL;
    if (!unwinder->last || unwinder->last->number != number)
        unwinder->last = yarn_module_map_at(unwinder->map, number);
    return unwinder->last;
}

/* The function ends in front of the return address, and not by a call that does not return: what
 * follows was laid there by the program, to be returned to by a signal's handler for example. */
static bool is_behind(const struct walk *walk, const struct yarn_cached_rule *found)
{
    uint64_t ip = walk->registers.ip;
    return found->rule.kind != YARN_RULE_NONE && found->function_size &&
           (uint32_t)ip - found->function == found->function_size &&
           !yarn_fallback_is_return(&walk->unwinder->cache, ip);
}

/* The rule of the frame that was reached, and the address that it is for: mostly the call before
 * the return address. One that the program laid there itself leads to the beginning of a function,
 * with no call before it: the outermost of a coroutine. */
static struct yarn_cached_rule find_rule(struct walk *walk, uint64_t *ret_lookup_ip)
{
    struct yarn_rule_cache *cache = &walk->unwinder->cache;
    uint64_t ip = walk->registers.ip;
    *ret_lookup_ip = walk->is_exact ? ip : ip - 1;
    struct yarn_cached_rule found = yarn_rule_cache_find(cache, *ret_lookup_ip);
    bool is_another = !walk->is_exact && is_behind(walk, &found);
    if (walk->is_exact || (found.rule.kind != YARN_RULE_NONE && !is_another))
        return found;
    struct yarn_cached_rule begun = yarn_rule_cache_find(cache, ip);
    if (!is_another && (begun.rule.kind == YARN_RULE_NONE || begun.function != (uint32_t)ip))
        return found;
    *ret_lookup_ip = ip;
    return begun;
}

/* False where the frames are full. */
static bool append(struct walk *walk, uint64_t lookup_ip, const struct yarn_cached_rule *found,
                   const struct yarn_module *module)
{
    struct yarn_frames *frames = walk->frames;
    if (frames->count == YARN_FRAMES_MAX)
        return false;
    frames->frame[frames->count++] = (struct yarn_unwind_frame){
        .ip = walk->registers.ip,
        .lookup_ip = lookup_ip,
        .module = module,
        .in_function = (uint32_t)lookup_ip - found->function,
        .function_size = found->function_size,
    };
    return true;
}

/* A word that the function has pushed by a call to the next instruction, to learn where it is, and
 * that its tables know nothing of: the step from there leads to its caller. */
static bool is_own_address(const struct walk *walk, const struct yarn_cached_rule *found)
{
    const struct yarn_frames *frames = walk->frames;
    if (walk->is_exact || !frames->count || !found->function_size)
        return false;
    const struct yarn_unwind_frame *inner = &frames->frame[frames->count - 1];
    return (uint32_t)inner->lookup_ip - inner->in_function == found->function &&
           yarn_fallback_is_own_address(&walk->unwinder->cache, walk->registers.ip);
}

static enum yarn_step step_by_libunwind(struct walk *walk, const struct yarn_rule *rule,
                                        const struct yarn_module *module, uint64_t lookup_ip)
{
    struct yarn_unwinder *unwinder = walk->unwinder;
    if (!unwinder->libunwind && open_libunwind(unwinder))
        return YARN_STEP_FAILED;
    return yarn_libunwind_step(unwinder->libunwind, module, lookup_ip, rule->is_signal, walk->stack,
                               &walk->registers);
}

/* By a rule the caller was interrupted only if that says so. */
static enum yarn_step step_by_rule(struct walk *walk, const struct yarn_rule *rule,
                                   const struct yarn_module *module, uint64_t lookup_ip)
{
    struct yarn_unwinder *unwinder = walk->unwinder;
    if (rule->kind != YARN_RULE_NONE)
        walk->is_exact = rule->is_signal;
    switch (rule->kind) {
    case YARN_RULE_NONE:
        return yarn_fallback_step(&unwinder->cache, walk->stack, &walk->is_exact, &walk->registers);
    case YARN_RULE_END:
        return YARN_STEP_END;
    case YARN_RULE_REGISTER:
    case YARN_RULE_DEREF:
    case YARN_RULE_SIGNAL:
        return walk->by_libunwind ? step_by_libunwind(walk, rule, module, lookup_ip)
                                  : unwinder->machine->step(rule, walk->stack, &walk->registers);
    case YARN_RULE_OTHER:
        return step_by_libunwind(walk, rule, module, lookup_ip);
    default:
        return YARN_STEP_FAILED;
    }
}

/* Of a blocked thread: the registers that calls preserve are unknown, until a frame has saved them.
 */
static void search_frame(struct walk *walk, const struct yarn_cached_rule *found,
                         uint64_t lookup_ip)
{
    struct yarn_rule_cache *cache = &walk->unwinder->cache;
    uint64_t function = lookup_ip - ((uint32_t)lookup_ip - found->function);
    if (!walk->stack->windows || walk->by_libunwind || walk->has_searched ||
        !found->function_size ||
        !yarn_frame_search_applies(cache, &found->rule, &walk->registers) ||
        yarn_frame_measure(cache, walk->stack, &found->rule, function, found->function_size,
                           &walk->registers))
        return;
    walk->has_searched = true;
    walk->function = function;
    walk->nr_proven = walk->frames->count;
    walk->searched_from = walk->registers.sp;
    walk->taken = (struct yarn_frame_slots){.slot = walk->unwinder->slots,
                                            .most = YARN_COUNT_OF(walk->unwinder->slots)};
    (void)yarn_frame_search(cache, walk->stack, &found->rule, walk->function, &walk->registers);
}

static void take_slot(struct walk *walk, uint64_t slot)
{
    struct yarn_frame_slots *taken = &walk->taken;
    if (taken->count < taken->most)
        taken->slot[taken->count++] = slot;
}

/* After a step by the rule from a frame with that frame pointer: a realigned one has a copy of its
 * return address. */
static void note_slots(struct walk *walk, const struct yarn_cached_rule *found, uint64_t lookup_ip,
                       uint64_t marked)
{
    enum { WORD_SIZE = 8 };
    if (!walk->has_searched)
        return;
    uint64_t function = lookup_ip - ((uint32_t)lookup_ip - found->function);
    walk->is_refuted |= found->function_size && !found->rule.is_signal &&
                        !yarn_callee_may_be(&walk->unwinder->cache, walk->registers.ip, function,
                                            found->function_size);
    uint64_t is_other = (uint32_t)walk->function != found->function;
    if (found->rule.kind == YARN_RULE_DEREF)
        take_slot(walk, (marked + WORD_SIZE) | is_other);
    take_slot(walk, (walk->registers.sp - WORD_SIZE) | is_other);
}

/* A frame that was searched is believed with all that follows, or not at all. */
static void check_search(struct walk *walk)
{
    struct yarn_frames *frames = walk->frames;
    if (!walk->has_searched || frames->count == walk->nr_proven ||
        (walk->is_at_start && !walk->is_refuted &&
         yarn_frame_is_sole(&walk->unwinder->cache, walk->stack, walk->function,
                            walk->searched_from, walk->registers.sp, &walk->taken)))
        return;
    frames->count = walk->nr_proven;
    frames->end = YARN_STACK_END_CUT;
}

static enum yarn_stack_end end_of(const struct walk *walk, enum yarn_step step,
                                  const struct yarn_rule *rule)
{
    switch (step) {
    case YARN_STEP_END:
        return YARN_STACK_END_COMPLETE;
    case YARN_STEP_TRUNCATED:
        return YARN_STACK_END_CUT;
    case YARN_STEP_UNKNOWN:
        if (rule->kind != YARN_RULE_NONE && walk->stack->windows)
            return YARN_STACK_END_CUT;
        return rule->kind == YARN_RULE_NONE ? YARN_STACK_END_NO_INFO : YARN_STACK_END_FAILED;
    default:
        return YARN_STACK_END_FAILED;
    }
}

/* The ip is in no code or in the stack itself: it cannot be a return address. */
static bool is_senseless(const struct walk *walk)
{
    uint64_t ip = walk->registers.ip;
    return ip < 4096 || ip >> 48 ||
           ip - walk->stack->start < walk->stack->first.size + walk->stack->second.size;
}

/* The function that ends an exception's way overwrites the registers that it saved with those of
 * where it will land, and then its own frame. It does so itself, or in what it calls directly. */
static bool is_landing(struct walk *walk, const struct yarn_rule *rule)
{
    return rule->lands && walk->frames->count == 1;
}

static void invalidate_landed(struct walk *walk, const struct yarn_rule *rule)
{
    if (rule->lands && walk->frames->count == 2)
        walk->registers.valid &= ~walk->unwinder->machine->kept;
}

/* A handler on a stack of its own: the interrupted frame is known, its stack is not in the copy. */
static bool is_elsewhere(const struct walk *walk)
{
    const struct yarn_stack_copy *stack = walk->stack;
    return !stack->windows &&
           walk->registers.sp - stack->start >= stack->first.size + stack->second.size;
}

/* Code that returns from a signal, and has no table, is what its address says: no call is before
 * it, but perhaps another function's end. */
static void name_by_itself(struct yarn_frames *frames)
{
    struct yarn_unwind_frame *frame = &frames->frame[frames->count - 1];
    frame->lookup_ip = frame->ip;
    frame->in_function = 0;
}

/* True where a register was needed that our rules do not follow. */
static bool run(struct walk *walk)
{
    struct yarn_unwinder *unwinder = walk->unwinder;
    struct yarn_frames *frames = walk->frames;
    for (;;) {
        uint64_t lookup_ip;
        struct yarn_cached_rule found = find_rule(walk, &lookup_ip);
        const struct yarn_module *module = module_at(unwinder, found.module);
        frames->end = YARN_STACK_END_CUT;
        if (!is_own_address(walk, &found) && !append(walk, lookup_ip, &found, module))
            return false;
        if (walk->is_exact && is_elsewhere(walk) && found.rule.kind != YARN_RULE_END)
            return false;
        frames->end = YARN_STACK_END_FAILED;
        if (is_landing(walk, &found.rule))
            return false;
        search_frame(walk, &found, lookup_ip);
        uint64_t marked = walk->registers.value[unwinder->machine->frame];
        bool was_exact = walk->is_exact;
        enum yarn_step step = step_by_rule(walk, &found.rule, module, lookup_ip);
        if (step != YARN_STEP_OK) {
            walk->is_at_start = found.rule.kind == YARN_RULE_END;
            frames->end = end_of(walk, step, &found.rule);
            return step == YARN_STEP_UNKNOWN && found.rule.kind != YARN_RULE_NONE;
        }
        if (!was_exact && walk->is_exact && found.rule.kind == YARN_RULE_NONE)
            name_by_itself(frames);
        if (is_senseless(walk))
            return false;
        note_slots(walk, &found, lookup_ip, marked);
        invalidate_landed(walk, &found.rule);
    }
}

static void walk_stack(struct yarn_unwinder *unwinder, const struct yarn_registers *registers,
                       const struct yarn_stack_copy *stack, struct yarn_frames *ret_frames)
{
    struct walk walk = {
        .unwinder = unwinder,
        .stack = stack,
        .registers = *registers,
        .is_exact = true,
        .by_libunwind = unwinder->choice == YARN_UNWINDER_LIBUNWIND,
        .frames = ret_frames,
    };
    ret_frames->count = 0;
    unwinder->cache.live.sample_ns = stack->time_ns;
    unwinder->cache.live.sample_tid = stack->tid;
    bool is_foreign = run(&walk); /* to our rules */
    check_search(&walk);
    if (!is_foreign || walk.by_libunwind || walk.has_searched)
        return;
    /* A row hangs on a register that only libunwind follows: it has to begin at the leaf. */
    walk.registers = *registers;
    walk.is_exact = true;
    walk.by_libunwind = true;
    ret_frames->count = 0;
    run(&walk);
}

void yarn_unwinder_unwind(struct yarn_unwinder *unwinder, const struct yarn_registers *registers,
                          const struct yarn_stack_copy *stack, struct yarn_frames *ret_frames)
{
    (void)refresh(unwinder);
    if (registers->valid) {
        /* Code that was new to it may have led to a look at what is mapped. */
        do
            walk_stack(unwinder, registers, stack, ret_frames);
        while (refresh(unwinder));
        return;
    }
    const struct yarn_module *module = yarn_module_map_find(unwinder->map, registers->ip);
    ret_frames->frame[0] = (struct yarn_unwind_frame){
        .ip = registers->ip, .lookup_ip = registers->ip, .module = module};
    ret_frames->count = 1;
    ret_frames->end = YARN_STACK_END_ABSENT;
}

void yarn_unwinder_unwind_blocked(struct yarn_unwinder *unwinder, uint64_t ip, uint64_t sp,
                                  struct yarn_stack_windows *windows,
                                  struct yarn_frames *ret_frames)
{
    const struct yarn_unwind_machine *machine = unwinder->machine;
    struct yarn_registers registers = {.ip = ip, .sp = sp};
    struct yarn_stack_copy stack = {.start = sp, .windows = windows};
    registers.value[machine->ip] = ip;
    registers.value[machine->sp] = sp;
    registers.valid = UINT64_C(1) << machine->ip | UINT64_C(1) << machine->sp;
    yarn_stack_windows_clear(windows, yarn_module_map_target(unwinder->map));
    yarn_unwinder_unwind(unwinder, &registers, &stack, ret_frames);
}

uint64_t yarn_unwinder_watch_ns(const struct yarn_unwinder *unwinder)
{
    return unwinder->cache.live.watch_ns;
}

void yarn_unwinder_watch_code(struct yarn_unwinder *unwinder, uint64_t now_ns)
{
    yarn_live_code_watch(&unwinder->cache.live, now_ns);
}

void yarn_unwinder_expect_code(struct yarn_unwinder *unwinder)
{
    yarn_live_code_expect(&unwinder->cache.live);
}

bool yarn_unwinder_is_outermost(struct yarn_unwinder *unwinder, uint64_t lookup_ip)
{
    (void)refresh(unwinder);
    return yarn_rule_cache_find(&unwinder->cache, lookup_ip).rule.kind == YARN_RULE_END;
}
