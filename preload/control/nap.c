/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/control/nap.h"

#include "core/base/pages.h"
#include "core/sys/clock.h"
#include "core/sys/futex.h"

#define NAP_NS (5 * YARN_NS_PER_MS)
/* An exec is waited for a second: a signal handler may have led its thread elsewhere. */
enum { LOOKS_AT_EXEC = 200 };

static bool change_state(struct yarn_recorder *recorder, uint32_t from, uint32_t to)
{
    if (!atomic_compare_exchange_strong(&recorder->state, &from, to))
        return false;
    yarn_futex_wake(&recorder->state);
    return true;
}

bool yarn_nap_take(struct yarn_recorder *recorder)
{
    if (atomic_load(&recorder->state) == YARN_RECORDER_STARTING)
        return true;
    yarn_futex_wait(&recorder->requests.wanted, 0, NAP_NS);
    for (int i = 0; !change_state(recorder, YARN_RECORDER_NAPPING, YARN_RECORDER_STARTING); i++) {
        if (atomic_load(&recorder->state) != YARN_RECORDER_LEAVING)
            return false;
        yarn_futex_wait(&recorder->state, YARN_RECORDER_LEAVING, NAP_NS);
        if (i >= LOOKS_AT_EXEC)
            yarn_nap_return(recorder);
    }
    recorder->has_only_napped = false;
    yarn_pages_forget();
    yarn_pages_hide_from_children();
    yarn_pages_count(sizeof *recorder + recorder->job.arena.touched);
    yarn_thread_settle(&recorder->thread);
    return true;
}

/* Not where another recording of the process had its part before. */
static bool has_all_to_pay(struct yarn_recorder *recorder)
{
    return atomic_load(&recorder->above) && !recorder->job.facts.lineage.predecessor;
}

uint64_t yarn_nap_used_ns(struct yarn_recorder *recorder)
{
    return has_all_to_pay(recorder) ? yarn_coverage_host_cpu_ns() : 0;
}

void yarn_nap_end(struct yarn_recorder *recorder)
{
    atomic_store(&recorder->ledger, yarn_ledger_new());
    recorder->recording.ledger = atomic_load(&recorder->ledger);
    if (!recorder->starts_paused)
        recorder->recording.missed_ns = yarn_nap_used_ns(recorder);
}

void yarn_nap_pay(struct yarn_recorder *recorder)
{
    const struct yarn_ledger *ledger = recorder->recording.ledger;
    recorder->paid_ns = 0;
    if ((recorder->recording.writer && !recorder->recording.is_early) || !has_all_to_pay(recorder))
        return;
    uint64_t used_ns = yarn_coverage_host_cpu_ns();
    uint64_t off_ns = yarn_coverage_off_cpu_ns(&recorder->recording.coverage);
    recorder->paid_ns =
        (used_ns > off_ns ? used_ns - off_ns : 0) + (ledger ? atomic_load(&ledger->cpu_ns) : 0);
    if (recorder->paid_ns)
        yarn_ledger_pay(atomic_load(&recorder->above), recorder->paid_ns);
}

void yarn_nap_take_back(struct yarn_recorder *recorder)
{
    if (recorder->paid_ns)
        yarn_ledger_take_back(atomic_load(&recorder->above), recorder->paid_ns);
    recorder->paid_ns = 0;
}

/* Pays once. */
static bool leave_failed(struct yarn_recorder *recorder, bool for_good)
{
    if (for_good)
        return change_state(recorder, YARN_RECORDER_FAILED, YARN_RECORDER_ENDED);
    return atomic_load(&recorder->state) == YARN_RECORDER_FAILED;
}

bool yarn_nap_leave(struct yarn_recorder *recorder, bool for_good)
{
    uint32_t to = for_good ? YARN_RECORDER_ENDED : YARN_RECORDER_LEAVING;
    if (!change_state(recorder, YARN_RECORDER_NAPPING, to) && !leave_failed(recorder, for_good))
        /* Paid already, by a thread that is in exec. */
        return for_good ? change_state(recorder, YARN_RECORDER_LEAVING, YARN_RECORDER_ENDED)
                        : atomic_load(&recorder->state) == YARN_RECORDER_LEAVING;
    /* Who would not be recorded has nothing to pay: nobody asked for its time. */
    if (recorder->starts_paused)
        return true;
    recorder->paid_ns = yarn_clock_ns(YARN_TIME_PROCESS_CPU);
    yarn_ledger_pay(atomic_load(&recorder->above), recorder->paid_ns);
    return true;
}

void yarn_nap_return(struct yarn_recorder *recorder)
{
    uint32_t state = atomic_load(&recorder->state);
    if (state != YARN_RECORDER_LEAVING && state != YARN_RECORDER_FAILED)
        return;
    yarn_nap_take_back(recorder);
    change_state(recorder, YARN_RECORDER_LEAVING, YARN_RECORDER_NAPPING);
}
