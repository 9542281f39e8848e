/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/fallback.h"

enum {
    LOWEST_ADDRESS = 4096,
    WORD_SIZE = 8,
    CALL_SIZE_MAX = 8,
    FUNCTION_SIZE_MAX = 1 << 16, /* of assembly that a direct call leads into */
    PROLOGUE_MAX = 64,           /* in which a frame pointer is set up */
    NEIGHBOURHOOD = 16 << 10,    /* in front of an address, whose function's start is not known */
    CHUNK = 512,
    OVERLAP = 8, /* longer than the instructions that are looked for */
    CALLERS_MAX = 16,
    CHAIN_GAP_MAX = 1 << 20, /* between two frame records */
};

/* What is known of the frame before anything is guessed. */
struct scene {
    struct yarn_rule_cache *cache;
    const struct yarn_machine *machine;
    const struct yarn_stack_copy *stack;
    const struct yarn_registers *registers;
    uint64_t lookup_ip;
    bool is_exact;
    bool has_chain; /* the frame pointer marks a frame, its own or an outer one; its caller is: */
    struct yarn_registers chain;
    uint64_t chain_callee; /* whom the code there calls; 0: unknown */
};

/* A caller by the return address in a place of the stack. */
struct candidate {
    struct yarn_registers registers;
    uint64_t callee; /* whom it calls; 0: unknown */
    uint64_t end;    /* of its frame: where its caller's begins; 0: unknown */
    bool is_direct;  /* that is this function, as far as is known: it begins there */
    /* By its call frame information: it leads on, to the marked frame if there is one; and its own
     * caller calls it (so it is on the stack), or another. */
    bool is_plausible, is_called, is_contradicted;
    bool is_open; /* it has none, or the copy ends before it has led anywhere */
};

static const struct yarn_module *readable(const struct scene *scene, uint64_t address)
{
    const struct yarn_module *module = yarn_module_map_find(scene->cache->map, address);
    return module && module->image ? module : NULL;
}

static struct yarn_span code_at(const struct scene *scene, uint64_t address)
{
    const struct yarn_module *module = readable(scene, address);
    return module ? yarn_image_at(module->image, address - module->bias) : YARN_SPAN_EMPTY;
}

/* Whether the code before `ip` calls; *ret_callee is whom, 0 where that is not written there. */
static bool read_call(const struct scene *scene, uint64_t ip, uint64_t *ret_callee)
{
    int64_t target;
    struct yarn_span code = code_at(scene, ip - CALL_SIZE_MAX);
    if (code.size < CALL_SIZE_MAX || !readable(scene, ip - 1))
        return false;
    code.size = CALL_SIZE_MAX;
    if (!scene->machine->is_call(code, &target))
        return false;
    *ret_callee = target ? ip + (uint64_t)target : 0;
    return true;
}

static bool has_table(const struct scene *scene, uint64_t address)
{
    return yarn_rule_cache_find(scene->cache, address).rule.kind != YARN_RULE_NONE;
}

/* The address of the last instruction in [from, to) that sets up a frame pointer; 0: none does. */
static uint64_t find_set_up(const struct scene *scene, uint64_t from, uint64_t to)
{
    uint64_t found = 0;
    for (uint64_t at = from; at < to;) {
        struct yarn_span code = code_at(scene, at);
        for (size_t i = 0; i < code.size && i < to - at; i++)
            if (scene->machine->is_frame_set_up(yarn_span_from(code, i)))
                found = at + i;
        if (code.size <= OVERLAP)
            break;
        at += code.size - OVERLAP;
    }
    return found;
}

/* The set-up of a frame pointer in front of this address, in code without tables; 0: there is none
 * near. */
static uint64_t nearest_set_up(const struct scene *scene)
{
    uint64_t ip = scene->lookup_ip;
    for (uint64_t back = CHUNK; back <= NEIGHBOURHOOD && back < ip; back += CHUNK) {
        uint64_t found = find_set_up(scene, ip - back, ip - back + CHUNK);
        if (found)
            return has_table(scene, found) ? 0 : found;
    }
    return 0;
}

/* Whether a function may end in [from, to): no branch from in front leads behind it. */
static bool has_end(const struct scene *scene, uint64_t from, uint64_t to)
{
    uint64_t reach = 0;
    for (uint64_t at = from; at < to;) {
        struct yarn_span code = code_at(scene, at);
        for (size_t i = 0; i < code.size && i < to - at; i++) {
            int64_t distance = 0;
            if (scene->machine->is_end(yarn_span_from(code, i), &distance) && reach <= at + i)
                return true;
            uint64_t target = at + i + (uint64_t)distance;
            if (target < to + FUNCTION_SIZE_MAX)
                reach = yarn_u64_max(reach, target);
        }
        if (code.size <= OVERLAP)
            return true;
        at += code.size - OVERLAP;
    }
    return false;
}

/* The callee begins so little before this address, without tables, that it is this function. */
static bool leads_here(const struct scene *scene, uint64_t callee)
{
    return callee && callee <= scene->lookup_ip && scene->lookup_ip - callee < FUNCTION_SIZE_MAX &&
           !has_table(scene, callee);
}

static bool has_set_up(const struct scene *scene, uint64_t callee)
{
    return find_set_up(scene, callee, yarn_u64_min(scene->lookup_ip, callee + PROLOGUE_MAX)) != 0;
}

/* ---- by the frame pointer ---- */

static bool is_credible(const struct scene *scene, const struct yarn_registers *caller,
                        uint64_t *ret_callee)
{
    *ret_callee = 0;
    if (caller->ip < LOWEST_ADDRESS || caller->ip >> 48)
        return false;
    if (readable(scene, caller->ip - 1))
        return read_call(scene, caller->ip, ret_callee);
    uint64_t saved = caller->value[scene->machine->frame];
    return saved >= caller->sp && saved - caller->sp < CHAIN_GAP_MAX;
}

/* It is of another function, which has tables. */
static bool is_chain_of_another(const struct scene *scene)
{
    uint64_t callee = scene->chain_callee;
    if (!callee)
        return false;
    struct yarn_cached_rule found = yarn_rule_cache_find(scene->cache, callee);
    return found.rule.kind != YARN_RULE_NONE && found.function_size &&
           found.function == (uint32_t)callee;
}

/* Where this function sets up the frame pointer, or begins and does so; 0: not known to. */
static uint64_t own_set_up(const struct scene *scene, uint64_t nearest)
{
    if (!scene->has_chain)
        return 0;
    if (leads_here(scene, scene->chain_callee) && has_set_up(scene, scene->chain_callee))
        return scene->chain_callee;
    return nearest && !has_end(scene, nearest, scene->lookup_ip) ? nearest : 0;
}

/* ---- by a return address in the stack ---- */

static bool is_marked_frame(const struct scene *scene, const struct yarn_registers *registers)
{
    unsigned frame = scene->machine->frame;
    return registers->ip == scene->chain.ip && yarn_registers_has(registers, frame) &&
           registers->value[frame] == scene->chain.value[frame];
}

/* Of the first step outwards: whether the call there is a call of the candidate. */
static void judge_link(const struct scene *scene, const struct yarn_cached_rule *found,
                       uint64_t callee, struct candidate *candidate)
{
    if (!callee || !found->function_size)
        return;
    candidate->is_called = found->function == (uint32_t)callee;
    struct yarn_cached_rule called = yarn_rule_cache_find(scene->cache, callee);
    candidate->is_contradicted =
        !candidate->is_called && called.function_size && called.function == (uint32_t)callee;
}

/* Follows the candidate's own tables outwards. */
static void follow(const struct scene *scene, struct candidate *candidate)
{
    struct yarn_registers outer = candidate->registers;
    for (unsigned i = 0; i < CALLERS_MAX; i++) {
        uint64_t callee = 0;
        struct yarn_cached_rule found = yarn_rule_cache_find(scene->cache, outer.ip - 1);
        enum yarn_step step = YARN_STEP_UNKNOWN;
        if (found.rule.kind == YARN_RULE_REGISTER || found.rule.kind == YARN_RULE_DEREF)
            step = scene->machine->step(&found.rule, scene->stack, &outer);
        else if (found.rule.kind == YARN_RULE_END)
            step = YARN_STEP_END;
        if (step != YARN_STEP_OK) {
            candidate->is_plausible = step == YARN_STEP_END && !scene->has_chain;
            candidate->is_open =
                i == 0 && (found.rule.kind == YARN_RULE_NONE || step == YARN_STEP_TRUNCATED);
            return;
        }
        if (readable(scene, outer.ip - 1) && !read_call(scene, outer.ip, &callee))
            return;
        if (i == 0) {
            candidate->end = outer.sp;
            judge_link(scene, &found, callee, candidate);
        }
        candidate->is_plausible = !scene->has_chain || is_marked_frame(scene, &outer);
        if (candidate->is_plausible || outer.sp > scene->chain.sp)
            return;
    }
}

/* As if `nr_pushed` words had been pushed since the call. False where no return address is. */
static bool consider(const struct scene *scene, unsigned nr_pushed, struct candidate *ret_candidate)
{
    struct candidate candidate = {.registers = *scene->registers};
    candidate.registers.sp += (uint64_t)nr_pushed * WORD_SIZE;
    if (scene->machine->step_leaf(scene->stack, &candidate.registers) != YARN_STEP_OK ||
        !read_call(scene, candidate.registers.ip, &candidate.callee))
        return false;
    candidate.is_direct =
        leads_here(scene, candidate.callee) && !has_set_up(scene, candidate.callee);
    follow(scene, &candidate);
    *ret_candidate = candidate;
    return true;
}

/* The same; where nothing marks a frame, the function may have pushed the frame pointer and use the
 * register for something else: then its value is among what was pushed. */
static bool consider_pushed(const struct scene *scene, unsigned nr_pushed,
                            struct candidate *ret_candidate)
{
    struct yarn_registers registers = *scene->registers;
    struct scene other = *scene;
    uint64_t word;
    if (!consider(scene, nr_pushed, ret_candidate))
        return false;
    other.registers = &registers;
    for (unsigned i = 0; i < nr_pushed && !scene->has_chain; i++) {
        struct candidate by_word;
        if (ret_candidate->is_called ||
            !yarn_stack_copy_read(scene->stack, registers.sp + (uint64_t)i * WORD_SIZE, &word) ||
            word <= registers.sp || word - registers.sp >= CHAIN_GAP_MAX)
            continue;
        registers.value[scene->machine->frame] = word;
        registers.valid |= UINT64_C(1) << scene->machine->frame;
        if (consider(&other, nr_pushed, &by_word) && by_word.is_plausible &&
            (by_word.is_called || !ret_candidate->is_plausible))
            *ret_candidate = by_word;
    }
    return true;
}

enum finding { NOTHING, UNDECIDED, FOUND };

/* Of two functions without tables in front of the ip it is in the nearer one. */
static uint64_t nearest_callee(const struct candidate *candidates, unsigned count)
{
    uint64_t nearest = 0;
    for (unsigned i = 0; i < count; i++)
        if (candidates[i].is_direct)
            nearest = yarn_u64_max(nearest, candidates[i].callee);
    return nearest;
}

/* The first that is on the stack for sure is the caller if it calls this function, or if there is
 * nothing else that it may have called. Else what calls this function, if there is no other. */
static enum finding choose(const struct candidate *candidates, unsigned count,
                           struct yarn_registers *ret_caller)
{
    uint64_t here = nearest_callee(candidates, count);
    const struct candidate *called = NULL, *direct = NULL;
    unsigned nr_before = 0, nr_others = 0;
    for (unsigned i = 0; i < count; i++) {
        const struct candidate *candidate = &candidates[i];
        bool is_direct = here && candidate->callee == here;
        if (candidate->is_contradicted ||
            (candidate->callee && !is_direct && !candidate->is_called))
            continue;
        if (!called && candidate->is_called)
            called = candidate;
        nr_before += !called;
        nr_others += direct ? candidate->registers.sp < direct->end : !is_direct;
        if (!direct && is_direct)
            direct = candidate;
    }
    bool is_caller = called && (here ? called->callee == here : !called->callee && !nr_before);
    if (is_caller)
        *ret_caller = called->registers;
    else if (!called && direct && !nr_others)
        *ret_caller = direct->registers;
    else
        return count ? UNDECIDED : NOTHING;
    return FOUND;
}

/* The return address above what was pushed. */
static enum finding find_pushed(const struct scene *scene, struct yarn_registers *ret_caller)
{
    struct candidate candidates[YARN_PUSHED_MAX + 1];
    unsigned count = 0;
    uint64_t end = scene->has_chain ? scene->registers->value[scene->machine->frame] : UINT64_MAX;
    for (unsigned i = 0; i <= scene->machine->pushed_max; i++) {
        if (scene->registers->sp + (uint64_t)i * WORD_SIZE >= end)
            break;
        if (consider_pushed(scene, i, &candidates[count]) && candidates[count].is_plausible)
            count++;
    }
    return choose(candidates, count, ret_caller);
}

/* Interrupted before anything was pushed, or after all of it was popped. */
static bool is_plain_leaf(const struct scene *scene, uint64_t own, uint64_t nearest,
                          struct yarn_registers *ret_caller)
{
    struct candidate candidate;
    if (!scene->is_exact || !consider(scene, 0, &candidate) ||
        (!candidate.is_plausible && !candidate.is_open))
        return false;
    *ret_caller = candidate.registers;
    if (own)
        return candidate.is_direct && candidate.callee > own;
    return candidate.is_direct || candidate.is_called ||
           (candidate.is_plausible && !scene->has_chain) || !nearest;
}

/* The instruction itself says how much lies above the return address. */
static bool is_told(const struct scene *scene, struct yarn_registers *ret_caller)
{
    struct candidate candidate;
    uint8_t before = 0;
    struct yarn_span code = code_at(scene, scene->lookup_ip - 1);
    if (!scene->is_exact || !yarn_span_read(code, 0, &before, 1))
        return false;
    int nr_pushed = scene->machine->pushed_before(before, yarn_span_from(code, 1));
    if (nr_pushed < 0 || !consider(scene, (unsigned)nr_pushed, &candidate))
        return false;
    *ret_caller = candidate.registers;
    return true;
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

/* In code that cannot be read: a JIT's has frame pointers. Where the return address lies at sp, a
 * wild jump or the first instruction is likelier than a word that happens to follow a call. */
static bool find_unread(const struct scene *scene, struct yarn_registers *ret_caller)
{
    struct yarn_registers leaf = *scene->registers;
    uint64_t callee;
    *ret_caller = scene->chain;
    if (scene->is_exact && scene->machine->step_leaf(scene->stack, &leaf) == YARN_STEP_OK &&
        read_call(scene, leaf.ip, &callee)) {
        *ret_caller = leaf;
        return true;
    }
    return scene->has_chain;
}

static bool find_caller(const struct scene *scene, struct yarn_registers *ret_caller)
{
    if (!readable(scene, scene->lookup_ip))
        return find_unread(scene, ret_caller);
    if (is_told(scene, ret_caller))
        return true;
    uint64_t nearest = nearest_set_up(scene), own = own_set_up(scene, nearest);
    if (is_plain_leaf(scene, own, nearest, ret_caller))
        return true;
    enum finding finding = own ? NOTHING : find_pushed(scene, ret_caller);
    if (finding != NOTHING)
        return finding == FOUND;
    *ret_caller = scene->chain;
    return scene->has_chain && (own || (nearest && !is_chain_of_another(scene)));
}

enum yarn_step yarn_fallback_step(struct yarn_rule_cache *cache,
                                  const struct yarn_stack_copy *stack, bool is_exact,
                                  struct yarn_registers *registers)
{
    struct scene scene = {
        .cache = cache,
        .machine = cache->machine,
        .stack = stack,
        .registers = registers,
        .lookup_ip = registers->ip - !is_exact,
        .is_exact = is_exact,
        .chain = *registers,
    };
    enum yarn_step step = scene.machine->step_frame_pointer(stack, &scene.chain);
    scene.has_chain =
        step == YARN_STEP_OK && is_credible(&scene, &scene.chain, &scene.chain_callee);
    struct yarn_registers caller;
    if (find_caller(&scene, &caller)) {
        *registers = caller;
        return YARN_STEP_OK;
    }
    if (is_process_entry(stack, registers->sp))
        return YARN_STEP_END;
    return step == YARN_STEP_TRUNCATED ? step : YARN_STEP_UNKNOWN;
}
