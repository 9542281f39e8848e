/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/account/ledger.h"

#include "core/base/pages.h"

struct yarn_ledger *yarn_ledger_new(void)
{
    return yarn_pages_map_shared(sizeof(struct yarn_ledger));
}

void yarn_ledger_free(struct yarn_ledger *ledger)
{
    yarn_pages_release(ledger, sizeof *ledger);
}

void yarn_ledger_pay(struct yarn_ledger *ledger, uint64_t cpu_ns)
{
    if (!ledger)
        return;
    atomic_fetch_add(&ledger->nr_children, 1);
    atomic_fetch_add(&ledger->cpu_ns, cpu_ns);
}

enum { FREE, BUSY, READY };

void yarn_ledger_note(struct yarn_ledger *ledger, const struct yarn_ledger_dump *dump)
{
    for (size_t i = 0; ledger && i < YARN_LEDGER_DUMPS_MAX; i++) {
        uint32_t free = FREE;
        if (!atomic_compare_exchange_strong(&ledger->state[i], &free, BUSY))
            continue;
        ledger->dump[i] = *dump;
        atomic_store(&ledger->state[i], READY);
        return;
    }
}

void yarn_ledger_go_through(struct yarn_ledger *ledger, yarn_ledger_fn look, void *self)
{
    for (size_t i = 0; ledger && i < YARN_LEDGER_DUMPS_MAX; i++)
        if (atomic_load(&ledger->state[i]) == READY && look(self, &ledger->dump[i]))
            atomic_store(&ledger->state[i], FREE);
}

void yarn_ledger_take_back(struct yarn_ledger *ledger, uint64_t cpu_ns)
{
    if (!ledger)
        return;
    atomic_fetch_sub(&ledger->nr_children, 1);
    atomic_fetch_sub(&ledger->cpu_ns, cpu_ns);
}
