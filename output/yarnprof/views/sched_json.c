/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "output/text/json.h"
#include "output/yarnprof/views/sched.h"

static void put_row(const struct yarn_sched_view *view, const struct yarn_sched_row *row,
                    struct yarn_json *json)
{
    const struct yarn_sched_sums *sums = &row->sums;
    const struct yarn_sched_waits *waits = &sums->waits;
    yarn_json_begin_object(json, NULL);
    yarn_json_u64(json, "pid", yarn_sched_view_pid(view, row));
    yarn_json_u64(json, "tid", row->life->tid);
    yarn_json_text(json, "comm", yarn_sched_view_comm(view, row));
    yarn_json_u64(json, "life_ns", sums->life_ns);
    yarn_json_text(json, "runnable_from", yarn_sched_runnable_word(sums->runnable_from));
    yarn_json_u64(json, "running_ns", sums->running_ns);
    yarn_json_u64(json, "runnable_ns", sums->runnable_ns);
    yarn_json_u64(json, "blocked_ns", sums->blocked_ns);
    yarn_json_u64(json, "switching_ns", sums->switching_ns);
    yarn_json_u64(json, "unknown_ns", sums->unknown_ns);
    yarn_json_u64(json, "switches", sums->switches);
    yarn_json_u64(json, "preemptions", sums->preemptions);
    yarn_json_u64(json, "wakeups", sums->wakeups);
    yarn_json_u64(json, "migrations", sums->migrations);
    yarn_json_u64(json, "waits", waits->count);
    yarn_json_u64_if(json, "wait_ns_mean", waits->count, waits->mean_ns);
    yarn_json_u64_if(json, "wait_ns_p99", waits->count, waits->p99_ns);
    yarn_json_u64_if(json, "wait_ns_max", waits->count, waits->max_ns);
    yarn_json_u64_if(json, "wait_max_at_ns", waits->count,
                     yarn_u64_minus(waits->longest_at_ns, view->profile->start_ns));
    yarn_json_end_object(json);
}

static void put_waker(const struct yarn_sched_waker *row, struct yarn_json *json)
{
    yarn_json_begin_object(json, NULL);
    yarn_json_u64(json, "waker", row->waker);
    yarn_json_text(json, "waker_comm", row->waker_comm);
    yarn_json_u64(json, "woken", row->woken);
    yarn_json_text(json, "woken_comm", row->woken_comm);
    yarn_json_u64(json, "wakings", row->latency.count);
    yarn_json_u64(json, "latency_ns_mean", row->latency.mean_ns);
    yarn_json_u64(json, "latency_ns_p99", row->latency.p99_ns);
    yarn_json_u64(json, "latency_ns_max", row->latency.max_ns);
    yarn_json_end_object(json);
}

static void put_wakers(const struct yarn_sched_waker *rows, size_t count, bool is_wanted,
                       struct yarn_json *json)
{
    if (!is_wanted)
        return;
    yarn_json_begin_array(json, "wakers");
    for (size_t i = 0; i < count; i++)
        put_waker(&rows[i], json);
    yarn_json_end_array(json);
}

static int put_locks(const struct yarn_sched_view *view, struct yarn_json *json)
{
    struct yarn_sched_lock *rows;
    size_t count;
    int err = yarn_sched_locks_of(view, &rows, &count);
    if (err)
        return err;
    yarn_json_begin_array(json, "locks");
    for (size_t i = 0; i < count; i++) {
        yarn_json_begin_object(json, NULL);
        yarn_json_u64(json, "holder", rows[i].holder);
        yarn_json_text(json, "holder_comm", rows[i].holder_comm);
        yarn_json_u64(json, "waiter", rows[i].waiter);
        yarn_json_text(json, "waiter_comm", rows[i].waiter_comm);
        yarn_json_u64(json, "looks", rows[i].looks);
        yarn_json_u64(json, "ns", rows[i].ns);
        yarn_json_end_object(json);
    }
    yarn_json_end_array(json);
    free(rows);
    return 0;
}

int yarn_sched_json(const struct yarn_sched_view *view, const struct yarn_out *out)
{
    struct yarn_sched_missing missing = yarn_sched_view_missing(view);
    struct yarn_sched_waker *rows = NULL;
    size_t nr_rows = 0;
    int err = view->wakers ? yarn_sched_wakers_of(view, &rows, &nr_rows) : 0;
    struct yarn_json *json = err ? NULL : yarn_json_new(out->file);
    if (!json) {
        free(rows);
        return -ENOMEM;
    }
    yarn_json_begin_object(json, NULL);
    yarn_json_begin_array(json, "threads");
    for (size_t i = 0; i < yarn_sched_view_count(view); i++)
        put_row(view, &view->rows[i], json);
    yarn_json_end_array(json);
    put_wakers(rows, nr_rows, view->wakers != NULL, json);
    if (view->wakers)
        err = put_locks(view, json);
    if (!err && view->couples)
        err = yarn_couples_json(view->couples, view->shown, json);
    yarn_json_begin_object(json, "notes");
    yarn_json_u64(json, "cut_ns", missing.cut_ns);
    yarn_json_u64(json, "switches_lost", missing.lost);
    yarn_json_u64(json, "refused", missing.refused);
    yarn_json_u64(json, "processes_without_switches", missing.nr_unrecorded);
    yarn_json_end_object(json);
    yarn_json_end_object(json);
    yarn_json_free(json);
    free(rows);
    return err;
}
