/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Work of a library on a file that nobody vouches for, which ends where it takes more memory than
 * such a file may: allocations fail then, and what the library makes of that, an abort included,
 * ends the work and not the program.
 *
 * Threads: one at a time.
 */
#pragma once

#include "core/base/base.h"

/* `left`: how many bytes may be taken; less what was, later. -E2BIG: they were not enough; what was
 * worked on is only good for being freed. Else what `work` returns. */
YARN_MUST_CHECK int yarn_bounded_call(uint64_t *left, int (*work)(void *context), void *context);

/* For libraries that call where there is no memory. Ends the work. Why an attribute: with _Noreturn
 * it is of another type than libdw asks for. */
__attribute__((noreturn)) void yarn_bounded_give_up(void);
