/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/thread_scan.h"

#include "core/session/probe.h"
#include "core/sys/clock.h"
#include "core/sys/process.h"

enum { THREADS_AT_ONCE = 1024, SCANS_MAX = 32 };

struct scan {
    yarn_thread_attach_fn attach;
    pid_t known[THREADS_AT_ONCE];
    size_t nr_known;
};

void yarn_thread_report_name(pid_t pid, pid_t tid, const char *name,
                             const struct yarn_record_listener *listener)
{
    struct yarn_typed_record record = {
        .type = YARN_RECORD_COMM,
        .perf = {.type = PERF_RECORD_COMM,
                 .pid = (uint32_t)pid,
                 .tid = (uint32_t)tid,
                 .time = yarn_clock_ns(YARN_TIME_MONOTONIC)},
        .comm = {.pid = (uint32_t)pid, .tid = (uint32_t)tid},
    };
    memcpy(record.comm.name, name, strlen(name) + 1);
    if (listener && name[0])
        listener->record(listener->self, &record);
}

static bool is_known(const struct scan *scan, pid_t tid)
{
    for (size_t i = 0; i < scan->nr_known; i++)
        if (scan->known[i] == tid)
            return true;
    return false;
}

/* Attaches the threads of the list that are not known yet; their number, or a negative errno. */
static int attach_new(struct yarn_session *session, struct scan *scan, const pid_t *tids,
                      size_t count)
{
    struct yarn_session_report *report = &session->report;
    int found = 0;
    for (size_t i = 0; i < count; i++) {
        if (tids[i] == session->own_tid || is_known(scan, tids[i]))
            continue;
        if (scan->nr_known == THREADS_AT_ONCE)
            return -ENOSPC;
        scan->known[scan->nr_known++] = tids[i];
        int err = scan->attach(session, tids[i]);
        if (!err) {
            found++;
            report->nr_threads++;
            report->nr_late_threads += report->nr_scans > 0;
        } else if (err != -ESRCH) {
            /* One thread of several that cannot be had, where that is no hindrance. */
            if (!session->request->may_refuse_threads || !report->nr_threads)
                return err;
            report->thread_refusal = err;
            report->nr_refused_threads++;
        }
    }
    return found;
}

/* What the user can do something about, by its own sentence. */
static const char *reason_of(int err)
{
    if (yarn_probe_lacks_files(err) || err == -ENOMEM)
        return yarn_event_refusal(err);
    return "an event could not be opened on every thread";
}

int yarn_thread_scan(struct yarn_session *session, yarn_thread_attach_fn attach)
{
    pid_t tids[THREADS_AT_ONCE];
    struct scan scan;
    scan.attach = attach;
    scan.nr_known = 0;
    const struct yarn_session_request *request = session->request;
    const struct yarn_target *target = request->follows_tree ? request->target : &yarn_target_self;
    const unsigned max = session->request->max_scans ? session->request->max_scans : SCANS_MAX;
    session->report.nr_threads = session->report.nr_late_threads = session->report.nr_scans = 0;
    session->report.is_stable = false;
    for (unsigned i = 0; i < max && !session->report.is_stable; i++) {
        int count = yarn_target_threads(target, request->pid, tids, YARN_COUNT_OF(tids));
        if (count < 0)
            return yarn_probe_fail(session, "the list of threads could not be read", count);
        size_t listed = yarn_size_min((size_t)count, YARN_COUNT_OF(tids));
        int found = attach_new(session, &scan, tids, listed);
        if (found < 0)
            return yarn_probe_fail(session, reason_of(found), found);
        session->report.nr_scans = i + 1;
        session->report.is_stable = found == 0;
    }
    return 0;
}
