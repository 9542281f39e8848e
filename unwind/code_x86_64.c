/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/code_x86_64.h"

#include "unwind/instruction_x86_64.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, NR_REGISTERS = 16, WORD_SIZE = 8 };
enum { DWARF_RBP = 6, DWARF_RSP = 7 };
enum {
    INSTRUCTIONS_MAX = 2000,
    ENOUGH = 300,  /* to look for another way out that contradicts */
    WAYS_MAX = 48, /* that are left for later */
    STORES_MAX = 12,
    CALLS_MAX = 4,
    SEEN_SIZE = 4096,     /* a power of two */
    OFFSET_MAX = 1 << 28, /* no stack is that deep */
    SET_UP_SIZE = 4,
    SET_UP_MAX = 8192, /* how far back a function may have begun */
    SIGNAL_RETURN_SIZE = 7,
};

/* Registers that a call preserves. */
static const uint16_t kept = 1 << RBX | 1 << RSP | 1 << RBP | 0xf000;

/* What a register holds, by what the registers hold where the way begins. */
struct word {
    enum { UNKNOWN, REGISTER, STACK } kind : 8; /* base + offset itself, or the word there */
    uint8_t base;
    int32_t offset;
};

struct store {
    struct word place, value;
};

/* One way through the code, up to an address. */
struct way {
    uint64_t at;
    struct word registers[NR_REGISTERS];
    struct store stores[STORES_MAX]; /* words that it wrote to the stack; the newest replace */
    unsigned nr_stores;
    struct word calls[CALLS_MAX]; /* stack pointers at calls */
    unsigned nr_calls;
    struct word top;   /* pushed last, where the stack pointer is not known */
    struct word frame; /* place of the return address, once the frame is taken down */
    int32_t number;    /* the constant in rax */
};

struct exploration {
    struct yarn_code_source *source;
    struct way ways[WAYS_MAX];
    unsigned nr_ways, nr_left; /* instructions */
    uint64_t begin;
    struct {
        uint32_t distance; /* from the start of the first path, plus 1 */
        struct word sp;
    } seen[SEEN_SIZE];
    struct yarn_rule rule; /* of the ways out so far */
    uint64_t goal;         /* 0: none */
    struct word frame;     /* what the frame pointer holds at the goal */
    bool has_contradiction;
    bool ends_at_calls; /* ways without calls only, which need no belief that these return */
};

/* Instructions one by one, of a file or of a process's memory, and which addresses were read near
 * the first. Does not know what they do to the stack. */

struct yarn_code_source {
    const struct yarn_image *image;   /* borrowed; NULL: the process's memory */
    const struct yarn_target *target; /* borrowed: of that */
    struct yarn_code_extent near;     /* grows by what is read within 4 KiB of it */
    struct yarn_span bytes;           /* read last */
    uint64_t at;                      /* of these */
    uint8_t live[256];
};

enum { PAGE = 4096, NEAR = 4096 };

/* The bytes there, as far as they can be read at once; empty where it cannot. */
static struct yarn_span bytes_at(struct yarn_code_source *source, uint64_t vaddr)
{
    if (source->image)
        return yarn_image_at(source->image, vaddr);
    source->bytes = YARN_SPAN_EMPTY; /* which `live` held */
    size_t in_page = PAGE - vaddr % PAGE;
    size_t size = yarn_size_min(in_page, sizeof source->live);
    if (yarn_target_read(source->target, vaddr, source->live, sizeof source->live) == 0)
        size = sizeof source->live;
    else if (yarn_target_read(source->target, vaddr, source->live, size))
        size = 0;
    return yarn_span_of(source->live, size);
}

static void note_near(struct yarn_code_extent *near, uint64_t from, uint64_t to)
{
    if (from < near->from && near->to - from <= 2 * NEAR)
        near->from = from;
    if (to > near->to && to - near->from <= 2 * NEAR)
        near->to = to;
}

static bool read_instruction(struct yarn_code_source *source, uint64_t vaddr,
                             struct yarn_instruction *ret_instruction)
{
    enum { LONGEST = 15 };
    uint64_t from = vaddr - source->at;
    if (from >= source->bytes.size || source->bytes.size - from < LONGEST) {
        source->bytes = bytes_at(source, vaddr);
        source->at = vaddr;
        from = 0;
    }
    if (!yarn_instruction_read(yarn_span_from(source->bytes, from), ret_instruction))
        return false;
    note_near(&source->near, vaddr, vaddr + ret_instruction->size);
    return true;
}

static bool is_equal(struct word a, struct word b)
{
    return a.kind == b.kind && a.base == b.base && a.offset == b.offset;
}

static struct word plus(struct word word, int32_t value)
{
    int64_t sum = (int64_t)word.offset + value;
    if (value && (word.kind != REGISTER || sum > OFFSET_MAX || sum < -OFFSET_MAX))
        return (struct word){.kind = UNKNOWN};
    word.offset = (int32_t)sum;
    return word;
}

/* ---- the stack ---- */

/* What a rule may be made of. */
static struct word useful(struct word word)
{
    bool is_kept = word.base == RBX || word.base == RSP || word.base == RBP;
    return is_kept ? word : (struct word){.kind = UNKNOWN};
}

/* Of words below where the way begins those suffice that are of use. */
static void store(struct way *way, struct word place, struct word value)
{
    unsigned i = 0;
    value = useful(value);
    if (place.kind != REGISTER || (place.base != RSP && place.base != RBP))
        return;
    while (i < way->nr_stores && !is_equal(way->stores[i].place, place))
        i++;
    if (i == way->nr_stores && value.kind == UNKNOWN && place.base == RSP && place.offset < 0)
        return;
    if (i == STORES_MAX)
        return;
    way->stores[i] = (struct store){place, value};
    way->nr_stores += i == way->nr_stores;
}

/* Below where the way begins nothing is known but what it stored. */
static struct word load(const struct way *way, struct word place)
{
    for (unsigned i = 0; i < way->nr_stores; i++)
        if (is_equal(way->stores[i].place, place))
            return way->stores[i].value;
    bool is_known =
        place.kind == REGISTER && (place.base == RBP || (place.base == RSP && place.offset >= 0));
    return is_known ? (struct word){STACK, place.base, place.offset} : (struct word){UNKNOWN, 0, 0};
}

static void push(struct way *way, unsigned source)
{
    struct word value =
        source < NR_REGISTERS ? way->registers[source] : (struct word){.kind = UNKNOWN};
    way->registers[RSP] = plus(way->registers[RSP], -WORD_SIZE);
    store(way, way->registers[RSP], value);
    way->top = value;
}

static struct word pop(struct way *way)
{
    struct word value = load(way, way->registers[RSP]);
    way->registers[RSP] = plus(way->registers[RSP], WORD_SIZE);
    return value;
}

/* ---- what an instruction does ---- */

static void invalidate(struct way *way, uint16_t registers)
{
    for (unsigned i = 0; i < NR_REGISTERS; i++)
        if (registers >> i & 1)
            way->registers[i] = (struct word){.kind = UNKNOWN};
    if (registers & 1 << RAX)
        way->number = -1;
}

static void leave(struct way *way)
{
    way->registers[RSP] = way->registers[RBP];
    way->registers[RBP] = pop(way);
    way->frame = way->registers[RSP];
}

static void apply(struct way *way, const struct yarn_instruction *now)
{
    struct word source = {.kind = UNKNOWN}, was_top = way->top;
    if (now->source < NR_REGISTERS)
        source = way->registers[now->source];
    invalidate(way, now->clobbered);
    way->top = (struct word){.kind = UNKNOWN};
    switch (now->effect) {
    case YARN_EFFECT_SET:
        way->registers[now->target] = plus(source, now->value);
        break;
    case YARN_EFFECT_LOAD:
        way->registers[now->target] = load(way, plus(source, now->value));
        break;
    case YARN_EFFECT_STORE:
        store(way, plus(way->registers[now->target], now->value), source);
        way->top = was_top;
        break;
    case YARN_EFFECT_PUSH:
        push(way, now->source);
        break;
    case YARN_EFFECT_POP: {
        struct word value = pop(way);
        if (now->target < NR_REGISTERS)
            way->registers[now->target] = value;
        if (now->target == RBP && value.kind == STACK && value.base == RBP && value.offset == 0)
            way->frame = way->registers[RSP];
        break;
    }
    case YARN_EFFECT_LEAVE:
        leave(way);
        break;
    case YARN_EFFECT_CONSTANT:
        invalidate(way, (uint16_t)(1U << now->target));
        way->number = now->target == RAX ? now->value : way->number;
        break;
    default:
        way->top = was_top;
    }
}

/* ---- ways out ---- */

static int16_t slot_of(const struct yarn_rule *rule, unsigned base, unsigned number,
                       struct word value)
{
    if (value.kind == REGISTER && value.base == number && value.offset == 0)
        return YARN_SLOT_SAME;
    int32_t distance = value.offset - rule->cfa_offset;
    if (value.kind != STACK || value.base != base || distance % WORD_SIZE ||
        distance < INT16_MIN / 2 || distance > INT16_MAX / 2)
        return YARN_SLOT_LOST;
    return (int16_t)(distance / WORD_SIZE);
}

/* Where the next function begins behind a call that does not return, it returns by the stack
 * pointer that the call had. A call by the rules never has that of its caller's caller. */
static bool is_of_next_function(const struct way *way, struct word place)
{
    for (unsigned i = 0; i < way->nr_calls; i++)
        if (is_equal(way->calls[i], place))
            return true;
    return false;
}

/* The way returns by the word at `place`. */
static void take_out(struct exploration *all, const struct way *way, struct word place,
                     unsigned popped)
{
    bool is_by_frame = place.base == RBP;
    if (place.kind != REGISTER || (!is_by_frame && (place.base != RSP || place.offset < 0)) ||
        is_of_next_function(way, place))
        return;
    struct yarn_rule rule = {
        .kind = YARN_RULE_REGISTER,
        .base = is_by_frame ? DWARF_RBP : DWARF_RSP,
        .cfa_offset = place.offset + WORD_SIZE,
        .popped = (uint8_t)popped,
    };
    rule.frame = slot_of(&rule, place.base, RBP, way->registers[RBP]);
    rule.second = slot_of(&rule, place.base, RBX, way->registers[RBX]);
    if (all->rule.kind == YARN_RULE_NONE) {
        all->rule = rule;
        if (!all->goal && all->nr_left > ENOUGH)
            all->nr_left = ENOUGH;
    }
    if (all->rule.base != rule.base || all->rule.cfa_offset != rule.cfa_offset ||
        all->rule.frame != rule.frame)
        all->has_contradiction = true;
    if (all->rule.popped != rule.popped)
        all->rule.popped = YARN_POPPED_UNKNOWN;
    if (all->rule.second != rule.second)
        all->rule.second = YARN_SLOT_LOST;
}

/* By the word that lies where it always did, or was fetched from its place behind the frame and
 * pushed: then arguments lay there, and how many only a register knew. Of another word nobody can
 * say where it leads. */
static void take_return(struct exploration *all, const struct way *way, int32_t popped_bytes)
{
    struct word sp = way->registers[RSP];
    bool is_known = sp.kind == REGISTER && (sp.base == RSP || sp.base == RBP);
    struct word word = is_known ? load(way, sp) : way->top;
    struct word place = {REGISTER, word.base, word.offset};
    if (word.kind != STACK || popped_bytes < 0 || popped_bytes % WORD_SIZE ||
        popped_bytes / WORD_SIZE >= YARN_POPPED_UNKNOWN)
        return;
    if (is_equal(place, sp))
        take_out(all, way, place, (unsigned)popped_bytes / WORD_SIZE);
    else if (is_equal(place, way->frame))
        take_out(all, way, place, YARN_POPPED_UNKNOWN);
}

/* ---- all ways ---- */

/* Whether the code there has no tables either; if it has, and begins there, a function leads to it
 * as its last act. */
static bool lead(struct exploration *all, const struct way *way, uint64_t target)
{
    struct yarn_fde fde;
    const struct yarn_image *image = all->source->image;
    int err = image ? yarn_cfi_find(image, target, &fde) : -ENOENT;
    if (err)
        return err == -ENOENT;
    struct yarn_rule rule = yarn_machine_native.compile(&fde, target);
    if (rule.kind == YARN_RULE_REGISTER && rule.base == DWARF_RSP && rule.cfa_offset == WORD_SIZE &&
        rule.frame == YARN_SLOT_SAME)
        take_return(all, way, 0);
    return false;
}

/* A place has one depth of the stack, whatever the way there: else one of the ways was none. */
static bool is_new(struct exploration *all, const struct way *way, uint64_t vaddr)
{
    uint32_t distance = (uint32_t)(vaddr - all->begin) + 1, i = distance;
    struct word sp = way->registers[RSP];
    while (all->seen[i % SEEN_SIZE].distance && all->seen[i % SEEN_SIZE].distance != distance)
        i++;
    struct word *was = &all->seen[i % SEEN_SIZE].sp;
    if (all->seen[i % SEEN_SIZE].distance) {
        if (was->kind == REGISTER && sp.kind == REGISTER && was->base == sp.base &&
            was->offset != sp.offset)
            all->has_contradiction = true;
        return false;
    }
    all->seen[i % SEEN_SIZE].distance = distance;
    *was = sp;
    return true;
}

static void leave_for_later(struct exploration *all, const struct way *way, uint64_t target)
{
    if (!lead(all, way, target) || all->nr_ways == WAYS_MAX || !is_new(all, way, target))
        return;
    all->ways[all->nr_ways] = *way;
    all->ways[all->nr_ways++].at = target;
}

static void note_call(struct way *way)
{
    struct word sp = way->registers[RSP];
    if (!is_of_next_function(way, sp)) {
        way->calls[way->nr_calls % CALLS_MAX] = sp;
        way->nr_calls += way->nr_calls < CALLS_MAX;
    }
    invalidate(way, (uint16_t)~kept);
}

static bool is_last(int32_t number)
{
    enum { RT_SIGRETURN = 15, EXIT = 60, EXIT_GROUP = 231 };
    return number == RT_SIGRETURN || number == EXIT || number == EXIT_GROUP;
}

/* True where the way goes on at way->at. */
static bool follow(struct exploration *all, struct way *way, const struct yarn_instruction *now)
{
    uint64_t target = way->at + (uint64_t)(int64_t)now->distance;
    switch (now->flow) {
    case YARN_FLOW_NEXT:
        return true;
    case YARN_FLOW_SYSCALL:
        return !is_last(way->number);
    case YARN_FLOW_BRANCH:
        leave_for_later(all, way, target);
        return true;
    case YARN_FLOW_CALL:
        note_call(way);
        return !all->ends_at_calls;
    case YARN_FLOW_JUMP:
        leave_for_later(all, way, target);
        return false;
    case YARN_FLOW_JUMP_REGISTER:
        take_out(all, way, way->frame, 0);
        return false;
    case YARN_FLOW_JUMP_MEMORY:
        take_return(all, way, 0);
        return false;
    case YARN_FLOW_RETURN:
        take_return(all, way, now->value);
        return false;
    default:
        return false;
    }
}

/* Until it ends, or comes to where another has been. */
static void explore(struct exploration *all, struct way *way)
{
    struct yarn_instruction now;
    const struct yarn_image *image = all->source->image;
    uint64_t begin, end;
    if (!image || !yarn_cfi_gap(image, way->at, &begin, &end))
        end = UINT64_MAX;
    all->source->bytes = YARN_SPAN_EMPTY;
    while (all->nr_left && way->at < end && read_instruction(all->source, way->at, &now)) {
        all->nr_left--;
        way->at += now.size;
        apply(way, &now);
        bool goes_on = follow(all, way, &now);
        if (way->at == all->goal)
            all->frame = way->registers[RBP];
        if (!goes_on || !is_new(all, way, way->at))
            return;
    }
}

/* mov $15, %eax, or %rax; syscall: where a signal's handler returns to. */
static bool is_signal_return(struct yarn_span code)
{
    static const uint8_t longer[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05};
    static const uint8_t shorter[] = {0xb8, 15, 0, 0, 0, 0x0f, 0x05};
    return yarn_span_equal(yarn_span_sub(code, 0, sizeof longer),
                           yarn_span_of(longer, sizeof longer)) ||
           yarn_span_equal(yarn_span_sub(code, 0, sizeof shorter),
                           yarn_span_of(shorter, sizeof shorter));
}

static struct way begin(uint64_t vaddr)
{
    struct way way = {.at = vaddr, .number = -1};
    for (unsigned i = 0; i < NR_REGISTERS; i++)
        way.registers[i] = (struct word){REGISTER, (uint8_t)i, 0};
    return way;
}

static void explore_all(struct exploration *all, const struct way *first, uint64_t goal,
                        bool ends_at_calls)
{
    struct way way;
    *all = (struct exploration){.source = all->source,
                                .goal = goal,
                                .ends_at_calls = ends_at_calls,
                                .begin = first->at,
                                .nr_ways = 1,
                                .nr_left = INSTRUCTIONS_MAX,
                                .rule.kind = YARN_RULE_NONE};
    all->ways[0] = *first;
    while (all->nr_ways && all->nr_left && (goal || !all->has_contradiction)) {
        way = all->ways[--all->nr_ways];
        explore(all, &way);
    }
}

/* push %rbp; mov %rsp, %rbp, as compilers or as HotSpot write it. */
static bool is_set_up(struct yarn_span code)
{
    static const uint8_t of_compilers[SET_UP_SIZE] = {0x55, 0x48, 0x89, 0xe5};
    static const uint8_t of_hotspot[SET_UP_SIZE] = {0x55, 0x48, 0x8b, 0xec};
    return code.size == SET_UP_SIZE && (memcmp(code.data, of_compilers, SET_UP_SIZE) == 0 ||
                                        memcmp(code.data, of_hotspot, SET_UP_SIZE) == 0);
}

/* The nearest in front of the address; 0: none. */
static uint64_t find_set_up(struct exploration *all, uint64_t vaddr)
{
    enum { LOOK = 64, STEP = LOOK - SET_UP_SIZE + 1 };
    for (uint64_t back = STEP; back < SET_UP_MAX && back < vaddr; back += STEP) {
        struct yarn_span code = bytes_at(all->source, vaddr - back);
        code.size = yarn_size_min(code.size, LOOK);
        for (size_t at = code.size; at-- > 0;)
            if (is_set_up(yarn_span_sub(code, at, SET_UP_SIZE)) && at + SET_UP_SIZE <= back)
                return vaddr - back + at;
    }
    return 0;
}

/* A place that comes to no way out, as before a call that does not return: but it comes from where
 * the function sets up its frame pointer, and has it still. */
static struct yarn_rule rule_of_frame(struct exploration *all, uint64_t vaddr)
{
    const struct yarn_rule none = {.kind = YARN_RULE_NONE};
    struct way first = begin(find_set_up(all, vaddr));
    if (!first.at)
        return none;
    explore_all(all, &first, vaddr, false);
    if (all->frame.kind != REGISTER || all->frame.base != RSP || all->frame.offset != -WORD_SIZE)
        return none;
    return (struct yarn_rule){
        .kind = YARN_RULE_REGISTER,
        .base = DWARF_RBP,
        .cfa_offset = 2 * WORD_SIZE,
        .frame = -2,
        .second = YARN_SLOT_LOST,
        .popped = all->has_contradiction ? YARN_POPPED_UNKNOWN : all->rule.popped,
    };
}

struct yarn_rule yarn_code_rule_x86_64(const struct yarn_image *image,
                                       const struct yarn_target *target, uint64_t vaddr,
                                       bool is_called, struct yarn_code_extent *ret_near)
{
    struct yarn_code_source source = {
        .image = image, .target = target, .near = {vaddr - is_called, vaddr + 1}};
    struct exploration all = {.source = &source};
    struct way first = begin(vaddr);
    *ret_near = source.near;
    if (is_signal_return(bytes_at(&source, vaddr))) {
        ret_near->to = vaddr + SIGNAL_RETURN_SIZE;
        return (struct yarn_rule){.kind = YARN_RULE_SIGNAL, .is_signal = true};
    }
    if (is_called)
        note_call(&first);
    explore_all(&all, &first, 0, !is_called);
    if (all.has_contradiction || all.rule.kind == YARN_RULE_NONE)
        explore_all(&all, &first, 0, false);
    if (all.has_contradiction || all.rule.kind == YARN_RULE_NONE)
        all.rule = rule_of_frame(&all, vaddr);
    *ret_near = source.near;
    return all.rule;
}
