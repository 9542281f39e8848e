/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Bounds the memory that a library takes for an untrusted file: beyond it allocations fail, and
 * whatever the library does then, abort included, ends this call and not the program.
 *
 * Threads: one at a time.
 */
#pragma once

#include "core/base/base.h"

/* What RLIMIT_DATA counts; 0: unknown. */
uint64_t yarn_bounded_data_bytes(void);

/* `left`: how many bytes may be allocated; what was is subtracted. -E2BIG: they were not enough;
 * what `work` used can only be freed then. Otherwise what `work` returns. */
YARN_MUST_CHECK int yarn_bounded_call(uint64_t *left, int (*work)(void *context), void *context);

/* For libraries that call where there is no memory. Ends the work. Why an attribute: with _Noreturn
 * it is of another type than libdw asks for. */
__attribute__((noreturn)) void yarn_bounded_give_up(void);
