/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/attach.h"
#include "core/session/core_rings.h"
#include "core/session/groups.h"
#include "core/session/probe.h"
#include "core/session/thread_scan.h"
#include "core/sys/perf.h"

enum { THREADS_MORE = 8 }; /* than are listed first */

static int attach_core(struct yarn_session *session, const struct perf_event_attr *attr, pid_t tid,
                       int cpu)
{
    struct yarn_event event = YARN_EVENT_CLOSED;
    int err = yarn_probe_open(session, attr, session->mapped.spec, tid, cpu, NULL, &event);
    if (err)
        return err;
    err = yarn_core_rings_add(session, &event);
    if (!err)
        err = yarn_table_put(&session->numbers, event.id, event.spec);
    yarn_event_close(&event);
    if (session->nr_cores)
        session->cores[session->nr_cores - 1].leader = YARN_EVENT_CLOSED;
    return err;
}

static int attach_thread(struct yarn_session *session, pid_t tid)
{
    uint32_t spec = session->mapped.spec;
    struct yarn_attr_options options = yarn_probe_attr_options(session, spec);
    struct perf_event_attr attr = yarn_attr_of(&session->specs[spec].spec, &options);
    for (size_t i = 0; i < session->nr_cpus; i++) {
        int err = attach_core(session, &attr, tid, session->cpus[i]);
        if (err && !(err == -EINVAL && session->nr_cores)) /* present and yet not possible */
            return err;
    }
    return 0;
}

/* Smaller rings while the memlock limit refuses. */
static int attach_threads(struct yarn_session *session)
{
    for (;;) {
        int err = yarn_thread_scan(session, attach_thread);
        if (err != -ENOMEM || !yarn_plan_smaller(&session->report.got))
            return err;
        yarn_core_rings_close(session);
        yarn_table_clear(&session->numbers);
        session->report.failure = NULL;
    }
}

static int make_room(struct yarn_session *session)
{
    size_t max_threads = THREADS_MORE + session->nr_threads;
    session->report.got = yarn_plan_of_core(session->spec, session->nr_cpus * session->nr_threads);
    int err = yarn_core_rings_init(session, max_threads * session->nr_cpus);
    if (err)
        return err;
    err = yarn_table_open(&session->numbers, session->max_cores, session->max_cores * 2);
    return err ? yarn_probe_fail(session, "no memory for the table of events", err) : 0;
}

/* There are descriptors for one event only: it is opened without its group. */
static void leave_group(struct yarn_session *session)
{
    uint32_t first = yarn_group_first(session, session->mapped.spec);
    uint32_t end = yarn_group_end(session, first);
    for (uint32_t i = first; i < end; i++) {
        struct yarn_session_event *state = &session->specs[i];
        state->spec.group = 0;
        state->error = i == session->mapped.spec ? 0 : -session->report.files_error;
        state->reason = state->error ? yarn_probe_reason(-state->error) : state->reason;
    }
}

static int open_mapped(struct yarn_session *session)
{
    int err = make_room(session);
    if (!err)
        err = yarn_probe_specs(session, session->spec->pid, session->cpus[0]);
    if (err)
        return err;
    while (yarn_probe_drop_event(session, session->report.files_error))
        continue;
    session->mapped.spec = yarn_probe_first(session);
    leave_group(session);
    err = attach_threads(session);
    return err ? err : yarn_core_rings_merge(session);
}

static void enable_mapped(struct yarn_session *session)
{
    yarn_perf_enable_own();
    yarn_host_clock_start(&session->mapped.clock);
}

static void disable_mapped(struct yarn_session *session)
{
    yarn_perf_disable_own();
    yarn_host_clock_stop(&session->mapped.clock);
}

static void gather_mapped(struct yarn_session *session, const struct yarn_record_listener *listener)
{
    (void)session;
    (void)listener;
}

/* Only a descriptor would say what an event has counted: of a clock, the process's own says it. */
static bool can_count_mapped(const struct yarn_session *session, uint32_t number)
{
    return number == session->mapped.spec && session->specs[number].spec.is_clock;
}

static struct yarn_perf_count count_mapped(const struct yarn_session *session, uint32_t number)
{
    (void)number;
    uint64_t cpu_ns = yarn_host_clock_ns(&session->mapped.clock);
    return (struct yarn_perf_count){
        .count = cpu_ns,
        .time_enabled_ns = cpu_ns,
        .time_running_ns = cpu_ns,
    };
}

static void close_mapped(struct yarn_session *session)
{
    yarn_core_rings_close(session);
}

const struct yarn_attachment yarn_attach_mapped = {
    .sampler = YARN_SAMPLER_PERF,
    .strategy = YARN_STRATEGY_PER_CORE,
    .open = open_mapped,
    .enable = enable_mapped,
    .disable = disable_mapped,
    .gather = gather_mapped,
    .can_count = can_count_mapped,
    .count = count_mapped,
    .ring_bytes = yarn_core_rings_bytes,
    .close = close_mapped,
};
