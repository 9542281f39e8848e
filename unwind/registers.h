/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * From the registers of a sample, in perf's numbers, to those that the unwinder takes, in DWARF's.
 * One implementation a machine. Pure functions; safe anywhere.
 */
#pragma once

#include "unwind/stack.h"

/* The register that is that bit of the mask; false where the sample lacks it. */
typedef bool (*yarn_register_read_fn)(const void *self, unsigned bit, uint64_t *ret_value);

/* False where the sample lacks the instruction or stack pointer. */
bool yarn_registers_of_perf(yarn_register_read_fn read, const void *self,
                            struct yarn_registers *ret_registers);
