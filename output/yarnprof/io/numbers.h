/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Numbers as people read them: 12,345; 1.24 s; 3.4 MiB. No locale has a say in it.
 * Threads: safe anywhere.
 */
#pragma once

#include "core/base/base.h"

struct yarn_number {
    char text[48];
};

struct yarn_number yarn_number_grouped(uint64_t value);
struct yarn_number yarn_number_duration(uint64_t ns);
struct yarn_number yarn_number_bytes(uint64_t bytes);
/* In the unit of an event: a duration for ns, else grouped. */
struct yarn_number yarn_number_in_unit(uint64_t value, const char *unit);
/* "1 sample", "2 samples": `noun`, of at most 18 bytes, gets its s. */
struct yarn_number yarn_number_of_things(uint64_t count, const char *noun);

double yarn_percent(uint64_t part, uint64_t whole);
