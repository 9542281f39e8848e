/* SPDX-License-Identifier: Apache-2.0 */
#include <asm/perf_regs.h>
#include <linux/bpf_perf_event.h>
#include <linux/hw_breakpoint.h>

#include "core/event/attr.h"

uint64_t yarn_attr_unwind_registers(void)
{
    uint64_t general = (UINT64_C(1) << (PERF_REG_X86_SP + 1)) - 1; /* ax … sp */
    uint64_t high = UINT64_C(0xff) << PERF_REG_X86_R8;
    return general | UINT64_C(1) << PERF_REG_X86_IP | high;
}

size_t yarn_attr_bpf_ip_offset(void)
{
    return offsetof(struct bpf_perf_event_data, regs.rip);
}

const char *yarn_attr_breakpoint_fault(uint32_t access, uint64_t length_bytes)
{
    if (access == HW_BREAKPOINT_R)
        return "this processor cannot watch reads alone: rw";
    if (access & HW_BREAKPOINT_X && access != HW_BREAKPOINT_X)
        return "an instruction is watched alone: x, without r and w";
    if (access == HW_BREAKPOINT_X && length_bytes != sizeof(long))
        return "an instruction is watched with a length of 8";
    return NULL;
}
