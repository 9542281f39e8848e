/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/depth_x86_64.h"

#include "unwind/instruction_x86_64.h"

enum { RSP = 4, RBP = 5, WORD_SIZE = 8 };
enum {
    CODE_MAX = 8192,
    WAYS_MAX = 64,
    WORDS_MAX = UINT16_MAX,
    AT_BEGIN = 1, /* the return address */
    IN_FRAME = 2, /* and the caller's frame pointer, to which the own one points */
};

struct sweep {
    struct yarn_span code;
    uint16_t words[CODE_MAX]; /* from the CFA to the stack pointer, by offset; 0: not seen */
    uint16_t ways[WAYS_MAX];  /* offsets that are left for later */
    unsigned nr_ways;
    bool has_failed;
    struct yarn_code_depth depth;
};

/* True where the way goes on there. */
static bool come_to(struct sweep *sweep, int64_t at, int64_t words)
{
    if (at < 0 || at >= (int64_t)sweep->code.size)
        return false;
    if (words < AT_BEGIN || words >= WORDS_MAX ||
        (sweep->words[at] && sweep->words[at] != (uint16_t)words))
        sweep->has_failed = true;
    bool is_new = !sweep->words[at];
    sweep->words[at] = (uint16_t)words;
    return is_new && !sweep->has_failed;
}

static void note_outside(struct sweep *sweep, int64_t at)
{
    struct yarn_code_depth *depth = &sweep->depth;
    bool is_first = !depth->first_outside;
    depth->first_outside = is_first || at < depth->first_outside ? at : depth->first_outside;
    depth->last_outside = is_first || at > depth->last_outside ? at : depth->last_outside;
}

static void leave_for_later(struct sweep *sweep, int64_t at, int64_t words)
{
    if ((at < 0 || at >= (int64_t)sweep->code.size) && words != AT_BEGIN)
        note_outside(sweep, at);
    if (!come_to(sweep, at, words))
        return;
    sweep->has_failed = sweep->has_failed || sweep->nr_ways == WAYS_MAX;
    if (!sweep->has_failed)
        sweep->ways[sweep->nr_ways++] = (uint16_t)at;
}

static bool changes(const struct yarn_instruction *now, unsigned number)
{
    switch (now->effect) {
    case YARN_EFFECT_SET:
    case YARN_EFFECT_LOAD:
    case YARN_EFFECT_POP:
    case YARN_EFFECT_CONSTANT:
        if (now->target == number)
            return true;
        break;
    default:
        break;
    }
    return now->clobbered >> number & 1;
}

/* What the function restores it has saved; else it may only point to the frame. */
static bool keeps_frame_pointer(struct sweep *sweep, const struct yarn_instruction *now,
                                int64_t words)
{
    if (!changes(now, RBP) || now->effect == YARN_EFFECT_POP)
        return true;
    sweep->depth.has_frame = now->effect == YARN_EFFECT_SET && now->source == RSP &&
                             words - now->value / WORD_SIZE == IN_FRAME;
    return sweep->depth.has_frame;
}

/* 0: only a register knows. */
static int64_t words_behind(const struct yarn_instruction *now, int64_t words)
{
    if (now->effect == YARN_EFFECT_PUSH)
        return words + 1;
    if (now->effect == YARN_EFFECT_LEAVE)
        return AT_BEGIN;
    if (now->effect == YARN_EFFECT_POP && now->target != RSP)
        return words - 1;
    if (!changes(now, RSP))
        return words;
    bool is_set = now->effect == YARN_EFFECT_SET && now->target == RSP;
    if (!is_set || now->value % WORD_SIZE || (now->source != RSP && now->source != RBP))
        return 0;
    return (now->source == RSP ? words : IN_FRAME) - now->value / WORD_SIZE;
}

/* Of one that goes nowhere: ud2, ud1, ud0, int3, hlt. Another one's target is not known. */
static bool is_trap(struct yarn_span code)
{
    uint8_t first = code.data[0], second = code.size > 1 ? code.data[1] : 0;
    return first == 0xcc || first == 0xf4 ||
           (first == 0x0f && (second == 0x0b || second == 0xb9 || second == 0xff));
}

/* True where the way goes on behind the instruction. */
static bool follow(struct sweep *sweep, const struct yarn_instruction *now, size_t at,
                   int64_t words)
{
    int64_t target = (int64_t)at + now->size + now->distance;
    switch (now->flow) {
    case YARN_FLOW_NEXT:
    case YARN_FLOW_SYSCALL:
    case YARN_FLOW_CALL:
        return true;
    case YARN_FLOW_BRANCH:
        leave_for_later(sweep, target, words);
        return true;
    case YARN_FLOW_JUMP:
        leave_for_later(sweep, target, words);
        return false;
    case YARN_FLOW_JUMP_MEMORY:
        return false;
    case YARN_FLOW_RETURN:
        sweep->has_failed = sweep->has_failed || words != AT_BEGIN;
        return false;
    default:
        sweep->has_failed = sweep->has_failed || now->flow != YARN_FLOW_STOP ||
                            !is_trap(yarn_span_from(sweep->code, at));
        return false;
    }
}

static void follow_way(struct sweep *sweep, size_t at)
{
    struct yarn_instruction now;
    bool goes_on = true;
    while (goes_on) {
        int64_t words = sweep->words[at];
        if (!yarn_instruction_read(yarn_span_from(sweep->code, at), &now) ||
            !keeps_frame_pointer(sweep, &now, words)) {
            sweep->has_failed = true;
            return;
        }
        words = words_behind(&now, words);
        goes_on = follow(sweep, &now, at, words);
        at += now.size;
        goes_on = goes_on && come_to(sweep, (int64_t)at, words);
    }
}

bool yarn_code_depth_x86_64(struct yarn_span code, uint32_t at, struct yarn_code_depth *ret_depth)
{
    struct sweep sweep = {.code = code};
    if (code.size > CODE_MAX || at >= code.size)
        return false;
    leave_for_later(&sweep, 0, AT_BEGIN);
    while (sweep.nr_ways && !sweep.has_failed)
        follow_way(&sweep, sweep.ways[--sweep.nr_ways]);
    *ret_depth = sweep.depth;
    ret_depth->bytes = (uint32_t)sweep.words[at] * WORD_SIZE;
    return !sweep.has_failed && sweep.words[at];
}

bool yarn_code_allocates_x86_64(struct yarn_span code)
{
    struct yarn_instruction now;
    while (code.size) {
        if (!yarn_instruction_read(code, &now) || !words_behind(&now, WORDS_MAX))
            return true;
        code = yarn_span_from(code, now.size);
    }
    return false;
}
