/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/thread_scan.h"

#include "core/session/probe.h"
#include "core/sys/clock.h"
#include "core/sys/file.h"
#include "core/sys/process.h"

enum { LISTED_MAX = 32768, THREADS_MORE = 1024, SCANS_MAX = 32 };

struct scan {
    yarn_thread_attach_fn attach;
    size_t max;   /* of each of these two */
    pid_t *tids;  /* that are listed */
    pid_t *known; /* sorted */
    size_t nr_known;
    int spare_fd; /* owned; negative: none */
};

static const uint32_t kernel_types[] = {
    [YARN_RECORD_COMM] = PERF_RECORD_COMM,
    [YARN_RECORD_FORK] = PERF_RECORD_FORK,
    [YARN_RECORD_EXIT] = PERF_RECORD_EXIT,
};

void yarn_thread_report(enum yarn_record_type type, pid_t pid, pid_t tid, const char *name,
                        const struct yarn_record_listener *listener)
{
    const uint32_t own = (uint32_t)pid, thread = (uint32_t)tid;
    struct yarn_typed_record record = {
        .type = type,
        .perf = {.type = kernel_types[type], .pid = own, .tid = thread},
        .task = {.pid = own, .parent_pid = own, .tid = thread},
    };
    record.perf.time = yarn_clock_ns(YARN_TIME_MONOTONIC);
    if (name) {
        record.comm.pid = own;
        record.comm.tid = thread;
        memcpy(record.comm.name, name, strlen(name) + 1);
    }
    if (listener && (!name || name[0]))
        listener->record(listener->self, &record);
}

/* False: it is there already. Why it is fast: the kernel lists threads by their numbers. */
static bool add_known(struct scan *scan, pid_t tid)
{
    size_t low = 0, high = scan->nr_known;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (scan->known[middle] < tid)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < scan->nr_known && scan->known[low] == tid)
        return false;
    memmove(&scan->known[low + 1], &scan->known[low], (scan->nr_known - low) * sizeof tid);
    scan->known[low] = tid;
    scan->nr_known++;
    return true;
}

/* Attaches the threads of the list that are not known yet; their number, or a negative errno. */
static int attach_new(struct yarn_session *session, struct scan *scan, size_t count)
{
    struct yarn_session_report *report = &session->report;
    int found = 0;
    for (size_t i = 0; i < count; i++) {
        const pid_t tid = scan->tids[i];
        if (tid == session->own_tid)
            continue;
        if (scan->nr_known == scan->max)
            return -ENOSPC;
        if (!add_known(scan, tid))
            continue;
        int err = scan->attach(session, tid);
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

/* With a descriptor that was kept back: what is attached may take up all others. */
static int list(const struct yarn_session *session, struct scan *scan)
{
    const struct yarn_session_request *request = session->request;
    const struct yarn_target *target = request->follows_tree ? request->target : &yarn_target_self;
    yarn_file_close(scan->spare_fd);
    int count = yarn_target_threads(target, request->pid, scan->tids, scan->max);
    scan->spare_fd = request->may_refuse_threads ? yarn_file_open_folder(YARN_FILE_CWD, "/") : -1;
    return count;
}

/* All that are listed, again and again until none of them is new. */
static int scan_all(struct yarn_session *session, struct scan *scan)
{
    const unsigned max = session->request->max_scans ? session->request->max_scans : SCANS_MAX;
    for (unsigned i = 0; i < max && !session->report.is_stable; i++) {
        int count = list(session, scan);
        if (count < 0)
            return yarn_probe_fail(session, "the list of threads could not be read", count);
        size_t listed = yarn_size_min((size_t)count, scan->max);
        int found = attach_new(session, scan, listed);
        if (found >= 0 && listed < (size_t)count)
            found = -ENOSPC;
        if (found < 0)
            return yarn_probe_fail(session, reason_of(found), found);
        session->report.nr_scans = i + 1;
        session->report.is_stable = found == 0;
    }
    return 0;
}

int yarn_thread_scan(struct yarn_session *session, yarn_thread_attach_fn attach)
{
    struct scan scan = {.attach = attach, .spare_fd = -1};
    session->report.nr_threads = session->report.nr_late_threads = session->report.nr_scans = 0;
    session->report.is_stable = false;
    scan.max = yarn_size_min(4 * session->nr_threads + THREADS_MORE, LISTED_MAX);
    scan.tids = YARN_ARENA_NEW(&session->arena, pid_t, scan.max);
    scan.known = YARN_ARENA_NEW(&session->arena, pid_t, scan.max);
    if (!scan.tids || !scan.known)
        return yarn_probe_fail(session, "no memory for the list of threads", -ENOMEM);
    int err = scan_all(session, &scan);
    yarn_file_close(scan.spare_fd);
    return err;
}
