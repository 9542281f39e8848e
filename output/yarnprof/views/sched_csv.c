/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/stream/csv.h"
#include "output/yarnprof/views/sched.h"

static void put_head(struct yarn_csv *csv)
{
    static const char *const names[] = {
        "pid",         "tid",        "comm",         "life_ns",     "runnable_from", "running_ns",
        "runnable_ns", "blocked_ns", "switching_ns", "unknown_ns",  "switches",      "preemptions",
        "wakeups",     "migrations", "wait_ns_mean", "wait_ns_p99", "wait_ns_max",
    };
    for (size_t i = 0; i < YARN_COUNT_OF(names); i++)
        yarn_csv_text(csv, names[i]);
    yarn_csv_end_line(csv);
}

void yarn_sched_csv(const struct yarn_sched_view *view, const struct yarn_out *out)
{
    struct yarn_csv csv = {.file = out->file};
    put_head(&csv);
    for (size_t i = 0; i < yarn_sched_view_count(view); i++) {
        const struct yarn_sched_row *row = &view->rows[i];
        const struct yarn_sched_sums *sums = &row->sums;
        const uint64_t before[] = {sums->running_ns,   sums->runnable_ns, sums->blocked_ns,
                                   sums->switching_ns, sums->unknown_ns,  sums->switches,
                                   sums->preemptions,  sums->wakeups,     sums->migrations};
        const uint64_t waits[] = {sums->waits.mean_ns, sums->waits.p99_ns, sums->waits.max_ns};
        yarn_csv_u64(&csv, yarn_sched_view_pid(view, row));
        yarn_csv_u64(&csv, row->life->tid);
        yarn_csv_text(&csv, yarn_sched_view_comm(view, row));
        yarn_csv_u64(&csv, sums->life_ns);
        yarn_csv_text(&csv, yarn_sched_runnable_word(sums->runnable_from));
        for (size_t j = 0; j < YARN_COUNT_OF(before); j++)
            yarn_csv_u64(&csv, before[j]);
        for (size_t j = 0; j < YARN_COUNT_OF(waits); j++) {
            if (sums->waits.count)
                yarn_csv_u64(&csv, waits[j]);
            else
                yarn_csv_text(&csv, "");
        }
        yarn_csv_end_line(&csv);
    }
}
