/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * From the registers of a sample, in perf's order, to those that the unwinder takes, in DWARF's.
 * One implementation a machine. Pure functions; safe anywhere.
 */
#pragma once

#include "core/record/record.h"
#include "unwind/unwinder.h"

/* False where the sample lacks the instruction or stack pointer. */
bool yarn_registers_of(const struct yarn_record_sample *sample,
                       struct yarn_registers *ret_registers);
