/* SPDX-License-Identifier: Apache-2.0 */
/* 256 functions of a tenth of a millisecond each: their names and unwind tables are far apart. */
#include "tests/hosts/files_plugin.h"

#define STEPS UINT64_C(100000)

#define FUNCTION(number)                                                                           \
    __attribute__((noinline)) static uint64_t                                                      \
        a_function_with_a_name_as_long_as_those_of_templates_in_a_large_program_##number(          \
            uint64_t value)                                                                        \
    {                                                                                              \
        for (uint64_t i = 0; i < STEPS; i++) {                                                     \
            value = value * UINT64_C(6364136223846793005) + (number);                              \
            __asm__ volatile("" : "+r"(value));                                                    \
        }                                                                                          \
        return value;                                                                              \
    }
#define POINTER(number)                                                                            \
    a_function_with_a_name_as_long_as_those_of_templates_in_a_large_program_##number,

#define EACH(DO, n) DO(n##0) DO(n##1) DO(n##2) DO(n##3) DO(n##4) DO(n##5) DO(n##6) DO(n##7)
#define EIGHT(DO, n)                                                                               \
    EACH(DO, n##0)                                                                                 \
    EACH(DO, n##1)                                                                                 \
    EACH(DO, n##2) EACH(DO, n##3) EACH(DO, n##4) EACH(DO, n##5) EACH(DO, n##6) EACH(DO, n##7)
#define ALL(DO) EIGHT(DO, 1) EIGHT(DO, 2) EIGHT(DO, 3) EIGHT(DO, 4)

ALL(FUNCTION)

static uint64_t (*const functions[])(uint64_t) = {ALL(POINTER)};

__attribute__((visibility("default"))) uint64_t files_work(uint64_t seed, unsigned first,
                                                           unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        seed = functions[(first + i) % (sizeof functions / sizeof functions[0])](seed);
    return seed;
}
