/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/rule.h"

#include "unwind/cfi_row.h"

/* Farther from the copy than any stack is long: not cut off, but senseless. */
#define REACH_MAX (UINT64_C(1) << 30)

enum { WORD_SIZE = 8, OP_BREG0 = 0x70, OP_BREG31 = 0x8f };

enum yarn_step yarn_step_missing(const struct yarn_stack_copy *stack, uint64_t address)
{
    if (stack->windows)
        return YARN_STEP_FAILED; /* nothing is mapped there */
    uint64_t end = stack->start + stack->first.size + stack->second.size;
    bool is_above = address > end - WORD_SIZE && address - stack->start < REACH_MAX;
    return is_above && !(address & (WORD_SIZE - 1)) ? YARN_STEP_TRUNCATED : YARN_STEP_FAILED;
}

void yarn_rule_restore(struct yarn_registers *registers, unsigned number, int16_t slot,
                       uint64_t from, const struct yarn_stack_copy *stack)
{
    if (slot == YARN_SLOT_SAME)
        return;
    uint64_t address = from + (uint64_t)((int64_t)slot * WORD_SIZE);
    if (slot != YARN_SLOT_LOST && address < registers->sp)
        return;
    uint64_t bit = UINT64_C(1) << number;
    if (slot != YARN_SLOT_LOST && yarn_stack_copy_read(stack, address, &registers->value[number]))
        registers->valid |= bit;
    else
        registers->valid &= ~bit;
}

static bool slot_of(int64_t offset, int16_t *ret_slot)
{
    int64_t words = offset / WORD_SIZE;
    if (offset % WORD_SIZE || words > INT16_MAX || words <= YARN_SLOT_LOST)
        return false;
    *ret_slot = (int16_t)words;
    return true;
}

/* An expression that is `bregN offset` and no more. */
static bool read_register_offset(struct yarn_span expression, int *ret_register,
                                 int64_t *ret_offset)
{
    struct yarn_cursor cursor = yarn_cursor_of(expression);
    int opcode = yarn_cursor_u8(&cursor);
    int64_t offset = yarn_cursor_sleb(&cursor);
    if (cursor.failed || yarn_cursor_left(&cursor) || opcode < OP_BREG0 || opcode > OP_BREG31)
        return false;
    *ret_register = opcode - OP_BREG0;
    *ret_offset = offset;
    return true;
}

bool yarn_rule_slot(const struct yarn_cfi_place *place, int base, int16_t *ret_slot)
{
    int number;
    int64_t offset;
    switch (place->where) {
    case YARN_CFI_SAME:
        *ret_slot = YARN_SLOT_SAME;
        return true;
    case YARN_CFI_UNDEFINED:
        *ret_slot = YARN_SLOT_LOST;
        return true;
    case YARN_CFI_AT_CFA:
        return base < 0 && slot_of(place->value, ret_slot);
    case YARN_CFI_AT_EXPRESSION:
        return base >= 0 &&
               read_register_offset(yarn_span_of(place->expression, place->expression_size),
                                    &number, &offset) &&
               number == base && slot_of(offset, ret_slot);
    default:
        return false;
    }
}
