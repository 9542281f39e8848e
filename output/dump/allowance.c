/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/allowance.h"

static const struct {
    uint64_t base, a_byte;
} rates[YARN_DUMP_BUDGET_COUNT] = {
    [YARN_DUMP_BUDGET_UNPACKED] = {YARN_MIB(64), 256},
    [YARN_DUMP_BUDGET_DECODED] = {UINT64_C(8) << 20, 32},
    [YARN_DUMP_BUDGET_KEPT] = {YARN_MIB(12), 36},
    [YARN_DUMP_BUDGET_SAMPLES] = {128 << 10, 1},
    [YARN_DUMP_BUDGET_FRAMES] = {UINT64_C(64) << 20, 1024},
    [YARN_DUMP_BUDGET_WEIGHT] = {UINT64_C(1) << 60, 0},
};

void yarn_dump_allowance_init(struct yarn_dump_allowance *allowance)
{
    *allowance = (struct yarn_dump_allowance){0};
    for (size_t i = 0; i < YARN_DUMP_BUDGET_COUNT; i++)
        allowance->shared[i] = rates[i].base;
}

void yarn_dump_allowance_begin(struct yarn_dump_allowance *allowance, size_t nr_files)
{
    for (size_t i = 0; i < YARN_DUMP_BUDGET_COUNT; i++) {
        allowance->shared[i] += allowance->left[i];
        allowance->left[i] = allowance->shared[i] / nr_files;
        allowance->shared[i] -= allowance->left[i];
    }
}

void yarn_dump_allowance_earn(struct yarn_dump_allowance *allowance, uint64_t bytes)
{
    for (size_t i = 0; i < YARN_DUMP_BUDGET_COUNT; i++)
        allowance->left[i] += bytes * rates[i].a_byte;
    uint64_t reserved = bytes * allowance->reserved_a_byte;
    allowance->left[YARN_DUMP_BUDGET_KEPT] -=
        yarn_u64_min(reserved, allowance->left[YARN_DUMP_BUDGET_KEPT]);
}
