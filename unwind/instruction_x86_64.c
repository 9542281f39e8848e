/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/instruction_x86_64.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };
enum { MAP_1 = 0, MAP_0F = 1, MAP_0F38 = 2, MAP_0F3A = 3, MAP_FP16 = 5, MAP_FP16_FUSED = 6 };

#define BIT(number) ((uint16_t)(1U << (number)))

/* What an opcode has behind it, and which of its operands it changes. */
enum {
    MODRM = 1 << 0,
    IMM8 = 1 << 1,
    IMM16 = 1 << 2,
    IMM32 = 1 << 3, /* 16 bits with the prefix 66 */
    INVALID = 1 << 4,
    SETS_RM = 1 << 5,
    SETS_REG = 1 << 6,
    IS_BYTE = 1 << 7,
};

struct decoding {
    struct yarn_cursor cursor;
    struct yarn_instruction *made;
    unsigned map, opcode, rex, traits;
    bool has_66, has_67, has_f2, has_f3, is_vector;
    unsigned vector_register; /* VEX.vvvv */
    unsigned mod, reg, rm;
    unsigned base; /* of a memory operand, where it is one register and no index */
    int32_t displacement;
};

/* clang-format off */
enum {
    __ = 0, XX = INVALID, I1 = IMM8, I2 = IMM16, I3 = IMM16 | IMM8, I4 = IMM32,
    M_ = MODRM, MG = MODRM | SETS_REG, MR = MODRM | SETS_RM, MB = MG | MR,
    M1 = M_ | I1, G1 = MG | I1, G4 = MG | I4, R1 = MR | I1, R4 = MR | I4,
    b_ = M_ | IS_BYTE, bG = MG | IS_BYTE, bR = MR | IS_BYTE, bB = MB | IS_BYTE, r1 = R1 | IS_BYTE,
};

/* Prefixes are read before: no opcode is one. */
static const uint8_t one_byte[256] = {
    bR, MR, bG, MG, I1, I4, XX, XX, bR, MR, bG, MG, I1, I4, XX, XX, /* 00 */
    bR, MR, bG, MG, I1, I4, XX, XX, bR, MR, bG, MG, I1, I4, XX, XX, /* 10 */
    bR, MR, bG, MG, I1, I4, XX, XX, bR, MR, bG, MG, I1, I4, XX, XX, /* 20 */
    bR, MR, bG, MG, I1, I4, XX, XX, b_, M_, b_, M_, I1, I4, XX, XX, /* 30 */
    XX, XX, XX, XX, XX, XX, XX, XX, XX, XX, XX, XX, XX, XX, XX, XX, /* 40 */
    __, __, __, __, __, __, __, __, __, __, __, __, __, __, __, __, /* 50 */
    XX, XX, XX, MG, XX, XX, XX, XX, I4, G4, I1, G1, __, __, __, __, /* 60 */
    I1, I1, I1, I1, I1, I1, I1, I1, I1, I1, I1, I1, I1, I1, I1, I1, /* 70 */
    r1, R4, XX, R1, b_, M_, bB, MB, bR, MR, bG, MG, MR, MG, M_, MR, /* 80 */
    __, __, __, __, __, __, __, __, __, __, XX, __, __, __, __, __, /* 90 */
    __, __, __, __, __, __, __, __, I1, I4, __, __, __, __, __, __, /* a0 */
    I1, I1, I1, I1, I1, I1, I1, I1, I4, I4, I4, I4, I4, I4, I4, I4, /* b0 */
    r1, R1, I2, __, XX, XX, r1, R4, I3, __, I2, __, __, I1, XX, __, /* c0 */
    bR, MR, bR, MR, XX, XX, XX, __, M_, M_, M_, M_, M_, M_, M_, M_, /* d0 */
    I1, I1, I1, I1, I1, I1, I1, I1, I4, I4, XX, I1, __, __, __, __, /* e0 */
    XX, __, XX, XX, __, __, M_, M_, __, __, __, __, __, __, bR, M_, /* f0 */
};

static const uint8_t behind_0f[256] = {
    MR, MR, MG, MG, XX, __, __, XX, __, __, XX, __, XX, M_, XX, XX, /* 00 */
    M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, /* 10 */
    M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, MG, MG, M_, M_, /* 20 */
    __, __, __, __, __, __, __, __, M_, M_, M_, M_, M_, M_, M_, M_, /* 30 */
    MG, MG, MG, MG, MG, MG, MG, MG, MG, MG, MG, MG, MG, MG, MG, MG, /* 40 */
    MG, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, /* 50 */
    M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, /* 60 */
    M1, M1, M1, M1, M_, M_, M_, __, MG, MG, M_, M_, M_, M_, MR, M_, /* 70 */
    I4, I4, I4, I4, I4, I4, I4, I4, I4, I4, I4, I4, I4, I4, I4, I4, /* 80 */
    bR, bR, bR, bR, bR, bR, bR, bR, bR, bR, bR, bR, bR, bR, bR, bR, /* 90 */
    __, __, __, M_, R1, MR, M_, M_, __, __, __, MR, R1, MR, M_, MG, /* a0 */
    bR, MR, M_, MR, M_, M_, MG, MG, MG, M_, R1, MR, MG, MG, MG, MG, /* b0 */
    bB, MB, M1, M_, M1, G1, M1, MR, __, __, __, __, __, __, __, __, /* c0 */
    M_, M_, M_, M_, M_, M_, M_, MG, M_, M_, M_, M_, M_, M_, M_, M_, /* d0 */
    M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, /* e0 */
    M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, M_, /* f0 */
};
/* clang-format on */

static unsigned group_3_traits(unsigned opcode, unsigned reg)
{
    unsigned immediate = opcode & 1 ? IMM32 : IMM8;
    return reg < 2 ? immediate : (reg < 4 ? SETS_RM : 0);
}

/* Instructions of SSE and AVX that write to a general register. */
static unsigned vector_traits(unsigned opcode)
{
    switch (opcode) {
    case 0x2c:
    case 0x2d:
    case 0x50:
    case 0x78:
    case 0x79:
    case 0x93:
    case 0xd7:
        return MODRM | SETS_REG;
    case 0xc5:
        return MODRM | IMM8 | SETS_REG;
    case 0x7e:
        return MODRM | SETS_RM;
    case 0x70:
    case 0x71:
    case 0x72:
    case 0x73:
    case 0xc2:
    case 0xc4:
    case 0xc6:
        return MODRM | IMM8;
    default:
        return MODRM;
    }
}

static unsigned traits_of(const struct decoding *now)
{
    unsigned opcode = now->opcode;
    switch (now->map) {
    case MAP_1:
        return now->is_vector ? INVALID : one_byte[opcode];
    case MAP_0F:
        if (!now->is_vector)
            return behind_0f[opcode];
        return opcode == 0x77 ? 0 : vector_traits(opcode);
    case MAP_0F38: /* crc32, movbe, and AVX's cmpccxadd, andn, bextr, pdep, mulx and the shifts */
        return MODRM | (opcode >= 0xe0 ? SETS_REG : 0);
    case MAP_0F3A: /* rorx; pextrb, pextrw, pextrd, extractps; the comparisons of strings in rcx */
        return MODRM | IMM8 | (opcode == 0xf0 ? SETS_REG : 0) |
               ((opcode & 0xfc) == 0x14 ? SETS_RM : 0);
    case MAP_FP16:
        return vector_traits(opcode) & ~(unsigned)IMM8;
    case MAP_FP16_FUSED:
        return MODRM;
    default: /* one of them repeats the others with further registers (APX): none is in use */
        return INVALID;
    }
}

static void read_vex(struct decoding *now, unsigned first)
{
    enum { EVEX = 0x62, VEX_3 = 0xc4, EVEX_BYTES = 3 };
    unsigned payload = yarn_cursor_u8(&now->cursor), last = payload;
    now->is_vector = true;
    now->map = MAP_0F;
    now->rex = payload & 0x80 ? 0 : 4;
    if (first != (VEX_3 | 1)) {
        now->map = payload & (first == EVEX ? 7 : 31);
        now->rex |= payload & 0x20 ? 0 : 1;
        last = yarn_cursor_u8(&now->cursor);
    }
    now->vector_register = ~last >> 3 & 15;
    now->has_f3 |= (last & 3) == 2;
    if (first == EVEX)
        (void)yarn_cursor_u8(&now->cursor);
    now->opcode = yarn_cursor_u8(&now->cursor);
}

/* Prefixes, and the opcode in its map. */
static void read_opcode(struct decoding *now)
{
    unsigned byte = yarn_cursor_u8(&now->cursor);
    for (;; byte = yarn_cursor_u8(&now->cursor)) {
        now->has_66 |= byte == 0x66;
        now->has_67 |= byte == 0x67;
        now->has_f2 |= byte == 0xf2;
        now->has_f3 |= byte == 0xf3;
        if (byte != 0x66 && byte != 0x67 && byte != 0xf2 && byte != 0xf3 && byte != 0xf0 &&
            (byte & 0xe7) != 0x26 && (byte & 0xfe) != 0x64)
            break;
    }
    if ((byte & 0xf0) == 0x40) {
        now->rex = byte;
        byte = yarn_cursor_u8(&now->cursor);
    }
    if (byte == 0xc4 || byte == 0xc5 || byte == 0x62) {
        read_vex(now, byte);
        return;
    }
    if (byte == 0x0f) {
        now->map = MAP_0F;
        byte = yarn_cursor_u8(&now->cursor);
        if (byte == 0x38 || byte == 0x3a) {
            now->map = byte == 0x38 ? MAP_0F38 : MAP_0F3A;
            byte = yarn_cursor_u8(&now->cursor);
        }
    }
    now->opcode = byte;
}

static void read_modrm(struct decoding *now)
{
    unsigned modrm = yarn_cursor_u8(&now->cursor), sib;
    now->mod = modrm >> 6;
    now->reg = (modrm >> 3 & 7) | (now->rex & 4) << 1;
    now->rm = modrm & 7;
    now->base = now->rm | (now->rex & 1) << 3;
    bool has_32 = now->mod == 2 || (now->mod == 0 && now->rm == 5);
    if (now->mod == 0 && now->rm == 5)
        now->base = YARN_REGISTER_NONE;
    if (now->mod != 3 && now->rm == RSP) {
        sib = yarn_cursor_u8(&now->cursor);
        has_32 |= now->mod == 0 && (sib & 7) == 5;
        now->base = (sib & 7) | (now->rex & 1) << 3;
        if ((sib >> 3 & 7) != RSP || now->rex & 2 || (now->mod == 0 && (sib & 7) == 5))
            now->base = YARN_REGISTER_NONE;
    }
    now->rm |= (now->rex & 1) << 3;
    if (now->mod == 1)
        now->displacement = (int8_t)yarn_cursor_u8(&now->cursor);
    else if (has_32)
        now->displacement = (int32_t)yarn_cursor_u32(&now->cursor);
}

/* The immediate operand, sign-extended. */
static int32_t read_immediate(struct decoding *now)
{
    int32_t value = 0;
    bool is_jump = now->map == MAP_1 ? (now->opcode & 0xfe) == 0xe8 : (now->opcode & 0xf0) == 0x80;
    if (now->map == MAP_1 && (now->opcode & 0xf8) == 0xb8 && now->rex & 8)
        return (int32_t)yarn_cursor_u64(&now->cursor);
    if (now->map == MAP_1 && now->opcode >= 0xa0 && now->opcode < 0xa4)
        (void)(now->has_67 ? yarn_cursor_u32(&now->cursor) : yarn_cursor_u64(&now->cursor));
    if (now->traits & IMM32 && now->has_66 && !(now->rex & 8) && !is_jump)
        value = (int16_t)yarn_cursor_u16(&now->cursor);
    else if (now->traits & IMM32)
        value = (int32_t)yarn_cursor_u32(&now->cursor);
    if (now->traits & IMM16)
        value = yarn_cursor_u16(&now->cursor);
    if (now->traits & IMM8)
        value = (int8_t)yarn_cursor_u8(&now->cursor);
    return value;
}

/* ah, ch, dh and bh are parts of the first four. */
static uint16_t bit_of(const struct decoding *now, unsigned number)
{
    bool is_high = now->traits & IS_BYTE && !now->rex && number >= 4;
    return BIT(is_high ? number - 4 : number);
}

/* Registers that the instruction does not name: those of multiplications, strings, counters. */
static bool changes_scratch(const struct decoding *now)
{
    unsigned opcode = now->opcode;
    if (now->is_vector)
        return now->map == MAP_0F3A;
    if (now->map == MAP_1)
        return (opcode & 0xfe) == 0x98 || (opcode >= 0xa0 && opcode < 0xb0) || opcode == 0xd7 ||
               (opcode >= 0xe0 && opcode < 0xe8) || (opcode & 0xfe) == 0xec ||
               (opcode & 0xfe) == 0xf6;
    return now->map == MAP_0F ? opcode == 0x01 || (opcode & 0xf8) == 0x30 || opcode == 0xa2 ||
                                    (opcode & 0xfe) == 0xb0 || opcode == 0xc7
                              : true;
}

static void set_clobbered(const struct decoding *now)
{
    uint16_t bits = 0;
    bool is_compared =
        now->map == MAP_1 && now->opcode >= 0x80 && now->opcode <= 0x83 && (now->reg & 7) == 7;
    bool is_movq = now->map == MAP_0F && now->opcode == 0x7e && now->has_f3; /* to a vector */
    if (now->traits & SETS_RM && now->mod == 3 && !is_compared && !is_movq)
        bits |= bit_of(now, now->rm);
    if (now->traits & SETS_REG)
        bits |= bit_of(now, now->reg);
    if (now->is_vector && now->map == MAP_0F38 && (now->opcode & 0xf8) == 0xf0)
        bits |= BIT(now->vector_register);
    if (changes_scratch(now))
        bits |= BIT(RAX) | BIT(RCX) | BIT(RDX) | BIT(RSI) | BIT(RDI);
    now->made->clobbered |= bits;
}

static void set(const struct decoding *now, enum yarn_effect effect, unsigned target,
                unsigned source, int32_t value)
{
    now->made->effect = (uint8_t)effect;
    now->made->target = (uint8_t)target;
    now->made->source = (uint8_t)source;
    now->made->value = value;
}

/* Between registers of 64 bits, and between one and a word in memory. */
static void understand_move(const struct decoding *now)
{
    bool to_reg = now->opcode != 0x89;
    unsigned target = to_reg ? now->reg : now->rm, source = to_reg ? now->rm : now->reg;
    bool is_simple = now->base < YARN_REGISTER_NONE;
    if (!(now->rex & 8) && !(now->opcode == 0x89 && now->mod != 3))
        return;
    if (now->mod == 3 && now->opcode != 0x8d)
        set(now, YARN_EFFECT_SET, target, source, 0);
    else if (now->opcode == 0x8d && is_simple)
        set(now, YARN_EFFECT_SET, now->reg, now->base, now->displacement);
    else if (now->opcode == 0x8b && is_simple)
        set(now, YARN_EFFECT_LOAD, now->reg, now->base, now->displacement);
    else if (now->opcode == 0x89 && is_simple) /* what a part of a word holds is unknown */
        set(now, YARN_EFFECT_STORE, now->base, now->rex & 8 ? now->reg : YARN_REGISTER_NONE,
            now->displacement);
}

static void clobber(const struct decoding *now, unsigned registers)
{
    now->made->clobbered = (uint16_t)(now->made->clobbered | registers);
}

static void understand_group_5(const struct decoding *now)
{
    enum { INC, DEC, CALL, CALL_FAR, JUMP, JUMP_FAR, PUSH };
    switch (now->reg & 7) {
    case INC:
    case DEC:
        if (now->mod == 3)
            clobber(now, BIT(now->rm));
        return;
    case CALL:
        now->made->flow = YARN_FLOW_CALL;
        return;
    case JUMP:
        now->made->flow = YARN_FLOW_STOP;
        now->made->source = (uint8_t)now->rm;
        if (now->mod == 3)
            now->made->flow = YARN_FLOW_JUMP_REGISTER;
        else if (now->mod == 0 && (now->rm & 7) == RBP)
            now->made->flow = YARN_FLOW_JUMP_MEMORY;
        return;
    case PUSH:
        set(now, YARN_EFFECT_PUSH, RSP, now->mod == 3 ? now->rm : YARN_REGISTER_NONE, 0);
        return;
    default:
        now->made->flow = YARN_FLOW_STOP;
    }
}

static void understand_add(const struct decoding *now, int32_t value)
{
    enum { ADD = 0, SUB = 5 };
    unsigned kind = now->reg & 7;
    if (now->mod != 3 || !(now->rex & 8) || (kind != ADD && kind != SUB) || value == INT32_MIN)
        return;
    set(now, YARN_EFFECT_SET, now->rm, now->rm, kind == ADD ? value : -value);
}

/* The eight that name a register in the opcode; false where it is none of these. */
static bool understand_by_register(const struct decoding *now, int32_t value)
{
    unsigned low = (now->opcode & 7) | (now->rex & 1) << 3;
    switch (now->opcode & 0xf8) {
    case 0x50:
        set(now, YARN_EFFECT_PUSH, RSP, low, 0);
        return true;
    case 0x58:
        set(now, YARN_EFFECT_POP, low, RSP, 0);
        return true;
    case 0x90: /* xchg; nop exchanges rax with itself */
        if (low != RAX)
            clobber(now, BIT(low) | BIT(RAX));
        return true;
    case 0xb0:
        clobber(now, BIT(now->rex || low < 4 ? low : low & 3));
        return true;
    case 0xb8:
        set(now, YARN_EFFECT_CONSTANT, low, RSP, value);
        return true;
    default:
        return false;
    }
}

/* Branches, calls, jumps, returns and traps. */
static bool understand_flow(const struct decoding *now, int32_t value)
{
    struct yarn_instruction *made = now->made;
    unsigned opcode = now->opcode;
    made->distance = value;
    if ((opcode & 0xf0) == 0x70 || (opcode & 0xfc) == 0xe0)
        made->flow = YARN_FLOW_BRANCH;
    else if (opcode == 0xe8 && !value) /* to the next instruction, which takes it off the stack */
        set(now, YARN_EFFECT_PUSH, RSP, YARN_REGISTER_NONE, 0);
    else if (opcode == 0xe8)
        made->flow = YARN_FLOW_CALL;
    else if (opcode == 0xe9 || opcode == 0xeb)
        made->flow = YARN_FLOW_JUMP;
    else if (opcode == 0xc2 || opcode == 0xc3)
        made->flow = YARN_FLOW_RETURN;
    else if (opcode == 0xc8 || opcode == 0xca || opcode == 0xcb || opcode == 0xcc ||
             opcode == 0xcd || opcode == 0xcf || opcode == 0xf4)
        made->flow = YARN_FLOW_STOP;
    made->value = made->flow == YARN_FLOW_RETURN ? value : 0;
    return made->flow != YARN_FLOW_NEXT || opcode == 0xe8;
}

static void understand_one_byte(const struct decoding *now, int32_t value)
{
    if (understand_by_register(now, value) || understand_flow(now, value))
        return;
    switch (now->opcode) {
    case 0x68:
    case 0x6a:
    case 0x9c:
        set(now, YARN_EFFECT_PUSH, RSP, YARN_REGISTER_NONE, 0);
        return;
    case 0x9d:
        set(now, YARN_EFFECT_POP, YARN_REGISTER_NONE, RSP, 0);
        return;
    case 0x8f:
        set(now, YARN_EFFECT_POP, now->mod == 3 ? now->rm : YARN_REGISTER_NONE, RSP, 0);
        return;
    case 0x81:
    case 0x83:
        understand_add(now, value);
        return;
    case 0x89:
    case 0x8b:
    case 0x8d:
        understand_move(now);
        return;
    case 0xc7:
        if (now->mod == 3)
            set(now, YARN_EFFECT_CONSTANT, now->rm, RSP, value);
        return;
    case 0xf6:
    case 0xf7:
        if (now->mod == 3 && (now->reg & 7) >= 2 && (now->reg & 7) < 4) /* not, neg */
            now->made->clobbered |= BIT(now->rm);
        return;
    case 0xc9:
        set(now, YARN_EFFECT_LEAVE, RSP, RBP, 0);
        return;
    case 0xff:
        understand_group_5(now);
        return;
    default:
        return;
    }
}

static void understand_two_bytes(const struct decoding *now, int32_t value)
{
    struct yarn_instruction *made = now->made;
    if ((now->opcode & 0xf0) == 0x80) {
        made->flow = YARN_FLOW_BRANCH;
        made->distance = value;
    } else if ((now->opcode & 0xf8) == 0xc8) {
        made->clobbered |= BIT((now->opcode & 7) | (now->rex & 1) << 3);
    } else if (now->opcode == 0x1e && now->has_f3 && now->mod == 3 && now->reg == 1) {
        made->clobbered |= BIT(now->rm); /* the shadow stack's pointer */
    } else if (now->opcode == 0x05) {
        made->flow = YARN_FLOW_SYSCALL;
    } else if (now->opcode == 0x0b || now->opcode == 0xb9 || now->opcode == 0xff) {
        made->flow = YARN_FLOW_STOP;
    } else if (now->opcode == 0xa2) {
        made->clobbered |= BIT(RBX);
    } else if (now->opcode == 0xa0 || now->opcode == 0xa8) {
        set(now, YARN_EFFECT_PUSH, RSP, YARN_REGISTER_NONE, 0);
    } else if (now->opcode == 0xa1 || now->opcode == 0xa9) {
        set(now, YARN_EFFECT_POP, YARN_REGISTER_NONE, RSP, 0);
    }
}

bool yarn_instruction_read(struct yarn_span code, struct yarn_instruction *ret_instruction)
{
    enum { SIZE_MAX_X86 = 15 };
    struct decoding now = {.cursor = yarn_cursor_of(code), .made = ret_instruction};
    *ret_instruction = (struct yarn_instruction){.flow = YARN_FLOW_NEXT};
    read_opcode(&now);
    now.traits = traits_of(&now);
    if (now.traits & MODRM)
        read_modrm(&now);
    if (now.map == MAP_1 && !now.is_vector && (now.opcode & 0xfe) == 0xf6)
        now.traits |= group_3_traits(now.opcode, now.reg & 7) & (IMM8 | IMM32);
    int32_t value = read_immediate(&now);
    size_t size = code.size - yarn_cursor_left(&now.cursor);
    bool is_xop = now.map == MAP_1 && now.opcode == 0x8f && now.reg & 7;
    if (now.cursor.failed || now.traits & INVALID || size > SIZE_MAX_X86 || is_xop)
        return false;
    ret_instruction->size = (uint8_t)size;
    set_clobbered(&now);
    if (now.map == MAP_1)
        understand_one_byte(&now, value);
    else if (now.map == MAP_0F && !now.is_vector)
        understand_two_bytes(&now, value);
    return true;
}
