/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Functions that stand for something that is not there: a stack, or its root side. They are the
 * first of a profile's functions, and their places the first of its places.
 */
#pragma once

#include "core/base/base.h"

enum yarn_pseudo_function {
    YARN_FUNCTION_NO_STACK,
    YARN_FUNCTION_TRUNCATED,
    YARN_FUNCTION_NO_UNWIND_INFO,
    YARN_FUNCTION_FAILED,
    YARN_FUNCTION_PSEUDO_COUNT,
};

/* The one at the root side of a stack that ended so, or for the stack; YARN_DUMP_NONE: none. */
uint32_t yarn_profile_root_of(uint32_t stack, uint32_t stack_end);
