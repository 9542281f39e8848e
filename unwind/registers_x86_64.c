/* SPDX-License-Identifier: Apache-2.0 */
#include <asm/perf_regs.h>

#include "unwind/registers.h"

enum { DWARF_RSP = 7, DWARF_RIP = 16 };

/* By DWARF number. */
static const uint8_t perf_bit[] = {
    PERF_REG_X86_AX,  PERF_REG_X86_DX,  PERF_REG_X86_CX,  PERF_REG_X86_BX,  PERF_REG_X86_SI,
    PERF_REG_X86_DI,  PERF_REG_X86_BP,  PERF_REG_X86_SP,  PERF_REG_X86_R8,  PERF_REG_X86_R9,
    PERF_REG_X86_R10, PERF_REG_X86_R11, PERF_REG_X86_R12, PERF_REG_X86_R13, PERF_REG_X86_R14,
    PERF_REG_X86_R15, PERF_REG_X86_IP,
};

bool yarn_registers_of_perf(yarn_register_read_fn read, const void *self,
                            struct yarn_registers *ret_registers)
{
    const uint64_t needed = UINT64_C(1) << DWARF_RSP | UINT64_C(1) << DWARF_RIP;
    ret_registers->valid = 0;
    for (unsigned i = 0; i < YARN_COUNT_OF(perf_bit); i++)
        if (read(self, perf_bit[i], &ret_registers->value[i]))
            ret_registers->valid |= UINT64_C(1) << i;
    if ((ret_registers->valid & needed) != needed)
        return false;
    ret_registers->sp = ret_registers->value[DWARF_RSP];
    ret_registers->ip = ret_registers->value[DWARF_RIP];
    return true;
}
