/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/ledger.h"

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

void yarn_ledger_take_back(struct yarn_ledger *ledger, uint64_t cpu_ns)
{
    if (!ledger)
        return;
    atomic_fetch_sub(&ledger->nr_children, 1);
    atomic_fetch_sub(&ledger->cpu_ns, cpu_ns);
}
