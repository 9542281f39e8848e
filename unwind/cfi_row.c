/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/cfi_row.h"

#include "unwind/cfi_pointer.h"

enum {
    CFA_NOP = 0x00,
    CFA_SET_LOC = 0x01,
    CFA_ADVANCE_LOC1 = 0x02,
    CFA_ADVANCE_LOC2 = 0x03,
    CFA_ADVANCE_LOC4 = 0x04,
    CFA_OFFSET_EXTENDED = 0x05,
    CFA_RESTORE_EXTENDED = 0x06,
    CFA_UNDEFINED = 0x07,
    CFA_SAME_VALUE = 0x08,
    CFA_REGISTER = 0x09,
    CFA_REMEMBER_STATE = 0x0a,
    CFA_RESTORE_STATE = 0x0b,
    CFA_DEF_CFA = 0x0c,
    CFA_DEF_CFA_REGISTER = 0x0d,
    CFA_DEF_CFA_OFFSET = 0x0e,
    CFA_DEF_CFA_EXPRESSION = 0x0f,
    CFA_EXPRESSION = 0x10,
    CFA_OFFSET_EXTENDED_SF = 0x11,
    CFA_DEF_CFA_SF = 0x12,
    CFA_DEF_CFA_OFFSET_SF = 0x13,
    CFA_VAL_OFFSET = 0x14,
    CFA_VAL_OFFSET_SF = 0x15,
    CFA_VAL_EXPRESSION = 0x16,
    CFA_MIPS_ADVANCE_LOC8 = 0x1d,
    CFA_NEGATE_RA_STATE_WITH_PC = 0x2c,
    CFA_NEGATE_RA_STATE = 0x2d,
    CFA_GNU_ARGS_SIZE = 0x2e,
    CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
    CFA_ADVANCE_LOC = 0x40, /* with the operand in the low six bits, as the next two */
    CFA_OFFSET = 0x80,
    CFA_RESTORE = 0xc0,
    CFA_OPERAND_MASK = 0x3f,
};

struct program {
    const struct yarn_fde *fde;
    uint64_t target; /* the row is the last that begins at or before it */
    uint64_t at;     /* address that the instructions have reached */
    unsigned nr_remembered;
    struct yarn_cfi_row *row;
    struct yarn_cfi_row initial; /* as the CIE leaves it */
    struct yarn_cfi_row remembered[YARN_CFI_REMEMBERED_MAX];
};

static void put_place(struct program *program, uint64_t number, struct yarn_cfi_place place)
{
    if (number < YARN_CFI_REGISTERS)
        program->row->place[number] = place;
}

static void put_value(struct program *program, uint64_t number, enum yarn_cfi_where where,
                      int64_t value)
{
    put_place(program, number, (struct yarn_cfi_place){.where = where, .value = value});
}

static int64_t factored(const struct program *program, uint64_t value)
{
    return (int64_t)(value * (uint64_t)program->fde->data_align);
}

static struct yarn_span read_expression(struct yarn_cursor *cursor)
{
    return yarn_cursor_span(cursor, yarn_cursor_uleb(cursor));
}

static void put_expression(struct program *program, struct yarn_cursor *cursor,
                           enum yarn_cfi_where where)
{
    uint64_t number = yarn_cursor_uleb(cursor);
    struct yarn_span span = read_expression(cursor);
    put_place(program, number,
              (struct yarn_cfi_place){
                  .where = where,
                  .expression_size = (uint32_t)yarn_size_min(span.size, UINT32_MAX),
                  .expression = span.data,
              });
}

static void restore_register(struct program *program, uint64_t number)
{
    if (number < YARN_CFI_REGISTERS)
        program->row->place[number] = program->initial.place[number];
}

static void define_cfa(struct program *program, uint64_t number, int64_t offset)
{
    program->row->has_cfa_expression = false;
    program->row->cfa_register = number;
    program->row->cfa_offset = offset;
}

static int remember(struct program *program)
{
    if (program->nr_remembered == YARN_CFI_REMEMBERED_MAX)
        return -EOVERFLOW;
    program->remembered[program->nr_remembered++] = *program->row;
    return 0;
}

static int recall(struct program *program)
{
    if (program->nr_remembered == 0)
        return -EBADMSG;
    *program->row = program->remembered[--program->nr_remembered];
    return 0;
}

static void advance(struct program *program, uint64_t delta)
{
    program->at += delta * program->fde->code_align;
}

static int run_location(struct program *program, struct yarn_cursor *cursor, uint8_t opcode)
{
    switch (opcode) {
    case CFA_SET_LOC:
        /* Relative to here in the section, which an FDE alone does not know: linkers leave none. */
        if (program->fde->pointer_encoding != YARN_POINTER_ABSOLUTE)
            return -EBADMSG;
        program->at = yarn_cursor_u64(cursor);
        return 0;
    case CFA_ADVANCE_LOC1:
        advance(program, yarn_cursor_u8(cursor));
        return 0;
    case CFA_ADVANCE_LOC2:
        advance(program, yarn_cursor_u16(cursor));
        return 0;
    case CFA_ADVANCE_LOC4:
        advance(program, yarn_cursor_u32(cursor));
        return 0;
    case CFA_MIPS_ADVANCE_LOC8:
        advance(program, yarn_cursor_u64(cursor));
        return 0;
    default:
        return -EBADMSG;
    }
}

static int run_cfa(struct program *program, struct yarn_cursor *cursor, uint8_t opcode)
{
    struct yarn_cfi_row *row = program->row;
    uint64_t number = row->cfa_register;
    switch (opcode) {
    case CFA_DEF_CFA:
        number = yarn_cursor_uleb(cursor);
        define_cfa(program, number, (int64_t)yarn_cursor_uleb(cursor));
        return 0;
    case CFA_DEF_CFA_SF:
        number = yarn_cursor_uleb(cursor);
        define_cfa(program, number, factored(program, (uint64_t)yarn_cursor_sleb(cursor)));
        return 0;
    case CFA_DEF_CFA_REGISTER:
        define_cfa(program, yarn_cursor_uleb(cursor), row->cfa_offset);
        return 0;
    case CFA_DEF_CFA_OFFSET:
        define_cfa(program, number, (int64_t)yarn_cursor_uleb(cursor));
        return 0;
    case CFA_DEF_CFA_OFFSET_SF:
        define_cfa(program, number, factored(program, (uint64_t)yarn_cursor_sleb(cursor)));
        return 0;
    case CFA_DEF_CFA_EXPRESSION:
        row->has_cfa_expression = true;
        row->cfa_expression = read_expression(cursor);
        return 0;
    default:
        return run_location(program, cursor, opcode);
    }
}

static int run_place(struct program *program, struct yarn_cursor *cursor, uint8_t opcode)
{
    uint64_t number = yarn_cursor_uleb(cursor);
    switch (opcode) {
    case CFA_OFFSET_EXTENDED:
        put_value(program, number, YARN_CFI_AT_CFA, factored(program, yarn_cursor_uleb(cursor)));
        return 0;
    case CFA_OFFSET_EXTENDED_SF:
        put_value(program, number, YARN_CFI_AT_CFA,
                  factored(program, (uint64_t)yarn_cursor_sleb(cursor)));
        return 0;
    case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
        put_value(program, number, YARN_CFI_AT_CFA,
                  factored(program, 0 - yarn_cursor_uleb(cursor)));
        return 0;
    case CFA_VAL_OFFSET:
        put_value(program, number, YARN_CFI_IS_CFA, factored(program, yarn_cursor_uleb(cursor)));
        return 0;
    case CFA_VAL_OFFSET_SF:
        put_value(program, number, YARN_CFI_IS_CFA,
                  factored(program, (uint64_t)yarn_cursor_sleb(cursor)));
        return 0;
    case CFA_UNDEFINED:
        put_value(program, number, YARN_CFI_UNDEFINED, 0);
        return 0;
    case CFA_SAME_VALUE:
        put_value(program, number, YARN_CFI_SAME, 0);
        return 0;
    case CFA_REGISTER:
        put_value(program, number, YARN_CFI_IN_REGISTER, (int64_t)yarn_cursor_uleb(cursor));
        return 0;
    default: /* CFA_RESTORE_EXTENDED */
        restore_register(program, number);
        return 0;
    }
}

static int run_extended(struct program *program, struct yarn_cursor *cursor, uint8_t opcode)
{
    switch (opcode) {
    case CFA_NOP:
        return 0;
    case CFA_OFFSET_EXTENDED:
    case CFA_OFFSET_EXTENDED_SF:
    case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
    case CFA_VAL_OFFSET:
    case CFA_VAL_OFFSET_SF:
    case CFA_UNDEFINED:
    case CFA_SAME_VALUE:
    case CFA_REGISTER:
    case CFA_RESTORE_EXTENDED:
        return run_place(program, cursor, opcode);
    case CFA_EXPRESSION:
        put_expression(program, cursor, YARN_CFI_AT_EXPRESSION);
        return 0;
    case CFA_VAL_EXPRESSION:
        put_expression(program, cursor, YARN_CFI_IS_EXPRESSION);
        return 0;
    case CFA_REMEMBER_STATE:
        return remember(program);
    case CFA_RESTORE_STATE:
        return recall(program);
    case CFA_NEGATE_RA_STATE_WITH_PC: /* signatures of return addresses: other machines' */
    case CFA_NEGATE_RA_STATE:
        return 0;
    case CFA_GNU_ARGS_SIZE:
        (void)yarn_cursor_uleb(cursor);
        return 0;
    default:
        return run_cfa(program, cursor, opcode);
    }
}

static int run_one(struct program *program, struct yarn_cursor *cursor)
{
    uint8_t opcode = yarn_cursor_u8(cursor);
    uint8_t operand = opcode & CFA_OPERAND_MASK;
    switch (opcode & ~CFA_OPERAND_MASK) {
    case CFA_ADVANCE_LOC:
        advance(program, operand);
        return 0;
    case CFA_OFFSET:
        put_value(program, operand, YARN_CFI_AT_CFA, factored(program, yarn_cursor_uleb(cursor)));
        return 0;
    case CFA_RESTORE:
        restore_register(program, operand);
        return 0;
    default:
        return run_extended(program, cursor, opcode);
    }
}

static int run(struct program *program, struct yarn_span instructions)
{
    struct yarn_cursor cursor = yarn_cursor_of(instructions);
    while (yarn_cursor_left(&cursor)) {
        int err = run_one(program, &cursor);
        if (err)
            return err;
        if (cursor.failed)
            return -EBADMSG;
        if (program->at > program->target)
            return 0; /* that row begins behind us; nothing was changed by the advance itself */
    }
    return 0;
}

int yarn_cfi_row_at(const struct yarn_fde *fde, uint64_t vaddr, struct yarn_cfi_row *ret_row)
{
    struct yarn_cfi_row row;
    struct program program;
    memset(&row, 0, sizeof row);
    program.fde = fde;
    program.target = UINT64_MAX;
    program.at = 0;
    program.nr_remembered = 0;
    program.row = &row;
    program.initial = row;

    int err = run(&program, fde->cie_instructions);
    if (err)
        return err;
    program.initial = row;
    program.target = vaddr;
    program.at = fde->start;
    err = run(&program, fde->instructions);
    if (err)
        return err;
    *ret_row = row;
    return 0;
}
