/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/account/charges.h"

#include "core/base/pages.h"

struct yarn_charges *yarn_charges_new(void)
{
    return yarn_pages_map_shared(sizeof(struct yarn_charges));
}

void yarn_charges_free(struct yarn_charges *charges)
{
    yarn_pages_release(charges, sizeof *charges);
}

void yarn_charges_add(struct yarn_charges *charges, uint64_t cpu_ns)
{
    if (!charges)
        return;
    atomic_fetch_add(&charges->nr_children, 1);
    atomic_fetch_add(&charges->cpu_ns, cpu_ns);
}

enum { FREE, BUSY, READY };

void yarn_charges_note(struct yarn_charges *charges, const struct yarn_charges_dump *dump)
{
    for (size_t i = 0; charges && i < YARN_CHARGES_DUMPS_MAX; i++) {
        uint32_t free = FREE;
        if (!atomic_compare_exchange_strong(&charges->state[i], &free, BUSY))
            continue;
        charges->dump[i] = *dump;
        atomic_store(&charges->state[i], READY);
        return;
    }
}

void yarn_charges_visit(struct yarn_charges *charges, yarn_charges_fn look, void *self)
{
    for (size_t i = 0; charges && i < YARN_CHARGES_DUMPS_MAX; i++)
        if (atomic_load(&charges->state[i]) == READY && look(self, &charges->dump[i]))
            atomic_store(&charges->state[i], FREE);
}

void yarn_charges_take_back(struct yarn_charges *charges, uint64_t cpu_ns)
{
    if (!charges)
        return;
    atomic_fetch_sub(&charges->nr_children, 1);
    atomic_fetch_sub(&charges->cpu_ns, cpu_ns);
}
