/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Stacks written down as words, lowest address first, and the one FDE that they are stepped by.
 */
#pragma once

#include "unwind/cfi.h"
#include "unwind/unwinder.h"

#define MADE_STACK UINT64_C(0x7ffd00001000)

#define MADE_WORDS(...)                                                                            \
    ((struct yarn_stack_copy){                                                                     \
        .start = MADE_STACK,                                                                       \
        .first = yarn_span_of((const uint64_t[]){__VA_ARGS__},                                     \
                              sizeof((const uint64_t[]){__VA_ARGS__})),                            \
    })

/* The address of word n. */
#define MADE_AT(n) (MADE_STACK + 8 * (uint64_t)(n))

#define MADE_CODE(...)                                                                             \
    yarn_span_of((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))
