/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * inlined.cc as each compiler made it, in these kinds: "whole"; "bare", which is stripped, and
 * "whole.debug" with what it lost; "linked", which is stripped and names its "linked.debug";
 * "relative", whose compiler was given a relative path (its build id is another one).
 */
#pragma once

#include "core/base/base.h"

extern const char *const inlined_source;

struct inlined {
    char path[512];
    uint8_t build_id[64];
    size_t build_id_size;
    /* Of code in add, which is in sell, which is in day; in day alone; in a lambda in day. All
     * kinds have the same addresses. */
    uint64_t at_add, at_day, at_tip;
};

int inlined_count(void);
struct inlined inlined_of(int compiler, const char *kind);

/* The number of the line in inlined.cc that ends in this comment. */
uint32_t inlined_line(const char *comment);
