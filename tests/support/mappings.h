/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * How many mappings the process has: lines of /proc/self/maps.
 */
#pragma once

#include <check.h>
#include <stdio.h>

static inline size_t nr_mappings(void)
{
    size_t count = 0;
    int byte;
    FILE *maps = fopen("/proc/self/maps", "re");
    ck_assert_ptr_nonnull(maps);
    while ((byte = fgetc(maps)) != EOF)
        count += byte == '\n';
    fclose(maps);
    return count;
}
