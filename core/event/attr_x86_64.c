/* SPDX-License-Identifier: Apache-2.0 */
#include <asm/perf_regs.h>

#include "core/event/attr.h"

uint64_t yarn_attr_unwind_registers(void)
{
    uint64_t general = (UINT64_C(1) << (PERF_REG_X86_SP + 1)) - 1; /* ax … sp */
    uint64_t high = UINT64_C(0xff) << PERF_REG_X86_R8;
    return general | UINT64_C(1) << PERF_REG_X86_IP | high;
}
