/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The row of the call frame table at one address: where the frame begins (CFA) and where each
 * register of the caller is to be found. Runs the instructions of CIE and FDE up to the address.
 * Knows DWARF's instructions (DWARF 5, 6.4) and GNU's and ARM's own; does not know what a row
 * means on a machine (rule_*), nor evaluates expressions.
 *
 * Threads, signals: pure functions over bytes; safe anywhere. About 8 KiB of stack.
 */
#pragma once

#include "unwind/cfi.h"

enum {
    YARN_CFI_REGISTERS = 33,    /* higher numbers (vectors) are skipped */
    YARN_CFI_REMEMBERED_MAX = 8 /* of DW_CFA_remember_state; compilers nest once or twice */
};

enum yarn_cfi_where {
    YARN_CFI_SAME,          /* the register still holds the caller's value; the default */
    YARN_CFI_UNDEFINED,     /* it is lost; of the return address: there is no caller */
    YARN_CFI_AT_CFA,        /* saved at CFA + value */
    YARN_CFI_IS_CFA,        /* equal to CFA + value */
    YARN_CFI_IN_REGISTER,   /* in register number `value` */
    YARN_CFI_AT_EXPRESSION, /* saved at the address that the expression gives */
    YARN_CFI_IS_EXPRESSION, /* equal to what the expression gives */
};

struct yarn_cfi_place {
    enum yarn_cfi_where where;
    uint32_t expression_size;
    union {
        int64_t value;
        const uint8_t *expression; /* borrowed from the image */
    };
};

struct yarn_cfi_row {
    bool has_cfa_expression;
    uint64_t cfa_register;
    int64_t cfa_offset;
    struct yarn_span cfa_expression;
    struct yarn_cfi_place place[YARN_CFI_REGISTERS];
};

/* `vaddr` lies in the FDE. -EBADMSG: malformed, or an unknown instruction. -EOVERFLOW: more states
 * remembered than fit. */
YARN_MUST_CHECK int yarn_cfi_row_at(const struct yarn_fde *fde, uint64_t vaddr,
                                    struct yarn_cfi_row *ret_row);
