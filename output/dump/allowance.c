/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/allowance.h"

static const struct {
    uint64_t base, a_byte;
} rates[YARN_DUMP_BUDGET_COUNT] = {
    [YARN_DUMP_BUDGET_UNPACKED] = {YARN_MIB(64), 1024},
    [YARN_DUMP_BUDGET_DECODED] = {UINT64_C(16) << 20, 256},
    [YARN_DUMP_BUDGET_SAMPLES] = {UINT64_C(1) << 20, 16},
    [YARN_DUMP_BUDGET_FRAMES] = {UINT64_C(128) << 20, 8192},
    [YARN_DUMP_BUDGET_KEPT] = {YARN_MIB(1024), 0},
    [YARN_DUMP_BUDGET_WEIGHT] = {UINT64_C(1) << 57, 0}, /* sums of many files have 64 bits */
};

void yarn_dump_allowance_init(struct yarn_dump_allowance *allowance)
{
    *allowance = (struct yarn_dump_allowance){0};
    for (size_t i = 0; i < YARN_DUMP_BUDGET_COUNT; i++)
        allowance->left[i] = rates[i].base;
}

void yarn_dump_allowance_earn(struct yarn_dump_allowance *allowance, uint64_t bytes)
{
    for (size_t i = 0; i < YARN_DUMP_BUDGET_COUNT; i++)
        allowance->left[i] += bytes * rates[i].a_byte;
}

void yarn_dump_allowance_reset_kept(struct yarn_dump_allowance *allowance)
{
    allowance->left[YARN_DUMP_BUDGET_KEPT] = rates[YARN_DUMP_BUDGET_KEPT].base;
}

bool yarn_dump_allowance_has(struct yarn_dump_allowance *allowance, enum yarn_dump_budget budget,
                             uint64_t amount)
{
    if (amount > allowance->left[budget])
        return false;
    allowance->left[budget] -= amount;
    return true;
}

bool yarn_dump_allowance_spend(struct yarn_dump_allowance *allowance, enum yarn_dump_budget budget,
                               uint64_t amount)
{
    if (yarn_dump_allowance_has(allowance, budget, amount))
        return true;
    allowance->error = -ENOBUFS;
    return false;
}
