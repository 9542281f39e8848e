/* SPDX-License-Identifier: Apache-2.0 */
#include <poll.h>

#include "core/session/attach.h"
#include "core/session/changeover.h"
#include "core/session/core_clocks.h"
#include "core/session/core_rings.h"
#include "core/session/cpu_wide.h"
#include "core/session/doubles.h"
#include "core/session/groups.h"
#include "core/session/probe.h"
#include "core/session/session.h"
#include "core/session/switch_event.h"
#include "core/session/thread_scan.h"
#include "core/sys/clock.h"
#include "core/sys/perf.h"
#include "core/sys/process.h"

enum {
    THREADS_MORE = 64,
    SPARE_FILES = 8,
    OTHER_EVENTS_MAX = 1024, /* opened while samples come: 10 ms */
    CHANGES_MAX = 2 * YARN_CHANGEOVER_TRIES,
};

/* ---- leaders and their rings ---- */

static int open_leader(struct yarn_session *session, int cpu, struct yarn_event *ret_leader)
{
    struct yarn_attr_options options = {.features = session->report.features};
    size_t watermark = yarn_plan_watermark(&session->report.got);
    struct perf_event_attr attr = yarn_attr_of_leader(&options, (uint32_t)watermark);
    return yarn_event_open(ret_leader, &attr, UINT32_MAX, 0, cpu);
}

static int open_core(struct yarn_session *session, int cpu)
{
    struct yarn_event leader = YARN_EVENT_CLOSED;
    int err = open_leader(session, cpu, &leader);
    if (!err)
        err = yarn_core_rings_add(session, &leader);
    if (err)
        yarn_event_close(&leader);
    return err;
}

static int open_cores(struct yarn_session *session)
{
    for (size_t i = 0; i < session->nr_cpus; i++) {
        int err = open_core(session, session->cpus[i]);
        if (err == -EINVAL && session->nr_cores)
            continue; /* present and yet not possible */
        if (err)
            return err;
    }
    return 0;
}

/* Rings that are to grow need other events, and descriptors for them. */
static struct yarn_plan plan_to_begin(const struct yarn_session *session)
{
    const struct yarn_session_request *spec = session->spec;
    size_t nr_events = spec->nr_events + yarn_switches_are_recorded(session);
    size_t nr_files = session->nr_cpus * (1 + session->nr_threads * nr_events);
    bool may_grow = !yarn_core_clocks_are_needed(session) &&
                    spec->strategy != YARN_STRATEGY_CORES && !session->may_drop_events &&
                    yarn_process_has_spare_files(2 * nr_files + SPARE_FILES);
    return may_grow ? yarn_plan_to_begin(spec, session->nr_cpus)
                    : yarn_plan_of_core(spec, session->nr_cpus);
}

/* With ever smaller sizes while the memlock limit refuses, and fewer features while the kernel does
 * not know them. */
static int open_all_cores(struct yarn_session *session)
{
    int err = yarn_core_rings_init(session, session->nr_cpus);
    if (err)
        return err;
    const struct yarn_plan begin = plan_to_begin(session);
    session->report.got = begin;
    for (;;) {
        err = open_cores(session);
        if (!err) {
            if (session->report.got.ring_bytes < begin.ring_bytes)
                yarn_plan_slow_down(session->spec, session->nr_cpus, &session->report.got);
            return 0;
        }
        yarn_core_rings_close(session);
        if (err == -ENOMEM && yarn_plan_smaller(&session->report.got))
            continue;
        if (yarn_probe_give_up_feature(session, err))
            continue;
        return yarn_probe_fail(session, yarn_probe_reason(err), err);
    }
}

/* ---- events on threads ---- */

static int add_event(struct yarn_session *session, const struct yarn_event *event)
{
    if (session->nr_events == session->max_events)
        return -ENOSPC;
    int err = yarn_switches_is_of(session, event)
                  ? 0
                  : yarn_table_put(&session->numbers, event->id, event->spec);
    if (err)
        return err;
    session->events[session->nr_events++] = *event;
    return 0;
}

/* Takes the event over; on failure it is closed. */
static int join_core(struct yarn_session *session, const struct yarn_session_core *core,
                     struct yarn_event *event)
{
    int err = yarn_event_redirect(event, yarn_core_clocks_leader(session, core, event));
    if (!err)
        err = add_event(session, event);
    if (err)
        yarn_event_close(event);
    return err;
}

static int attach_spec(struct yarn_session *session, uint32_t spec, pid_t tid,
                       const struct yarn_session_core *core, const struct yarn_event *leader)
{
    struct perf_event_attr attr = yarn_probe_attr_on(session, spec, core->cpu);
    struct yarn_event event;
    int err = yarn_probe_open(session, &attr, spec, tid, core->cpu, leader, &event);
    return err ? err : join_core(session, core, &event);
}

/* -ESRCH and a lack of descriptors are the caller's; for all else it goes on without. */
static int attach_switches(struct yarn_session *session, pid_t tid,
                           const struct yarn_session_core *core)
{
    struct yarn_event event;
    if (!yarn_switches_are_recorded(session))
        return 0;
    int err = yarn_switches_open(session, tid, core->cpu, &event);
    if (!err)
        err = join_core(session, core, &event);
    session->switches.is_open |= !err;
    if (!err || err == -ESRCH || yarn_probe_lacks_files(err))
        return err;
    yarn_switches_give_up(session, yarn_probe_reason(err));
    return 0;
}

/* One spec, or the group that it leads, on one thread and core. */
static int attach_group(struct yarn_session *session, uint32_t first, pid_t tid,
                        const struct yarn_session_core *core)
{
    const size_t leader = session->nr_events;
    uint32_t end = yarn_group_end(session, first);
    int err = 0;
    for (uint32_t spec = first; !err && spec < end; spec++)
        err = attach_spec(session, spec, tid, core, spec > first ? &session->events[leader] : NULL);
    return err;
}

/* All specs that the kernel takes and that count on the core. -ESRCH: the thread has gone. */
static int attach_core(struct yarn_session *session, pid_t tid,
                       const struct yarn_session_core *core)
{
    int err = 0;
    for (uint32_t first = 0; !err && first < session->spec->nr_events;
         first = yarn_group_end(session, first)) {
        const struct yarn_session_event *state = &session->specs[first];
        if (!state->error && !state->spec.is_of_machine &&
            yarn_event_spec_is_on(&state->spec, core->cpu))
            err = attach_group(session, first, tid, core);
    }
    return err ? err : attach_switches(session, tid, core);
}

/* With all of them or none. */
static int attach_thread(struct yarn_session *session, pid_t tid)
{
    const size_t before = session->nr_events;
    int err = 0;
    for (size_t i = 0; !err && i < session->nr_cores; i++)
        err = attach_core(session, tid, &session->cores[i]);
    while (err && session->nr_events > before)
        yarn_event_close(&session->events[--session->nr_events]);
    return err;
}

/* Room for every event that the threads listed now can need, and some that come meanwhile. */
static int make_room(struct yarn_session *session)
{
    size_t threads = THREADS_MORE + session->nr_threads;
    size_t per_core = session->spec->nr_events + session->spec->records_switches;
    session->max_events = threads * per_core * session->nr_cores;
    session->events = YARN_ARENA_NEW(&session->arena, struct yarn_event, session->max_events);
    if (!session->events)
        return yarn_probe_fail(session, "no memory for the list of events", -ENOMEM);
    int err = yarn_table_open(&session->numbers, session->max_events,
                              session->max_events * 2 + CHANGES_MAX * OTHER_EVENTS_MAX);
    return err ? yarn_probe_fail(session, "no memory for the table of events", err) : 0;
}

static void close_events(struct yarn_session *session)
{
    for (size_t i = 0; i < session->nr_events; i++)
        yarn_event_close(&session->events[i]);
    session->nr_events = 0;
    yarn_table_clear(&session->numbers);
}

/* Switch records first. False where nothing can be given up. */
static bool give_up_something(struct yarn_session *session, int err)
{
    if (!yarn_switches_are_recorded(session))
        return yarn_probe_drop_event(session, err);
    yarn_switches_give_up(session, yarn_probe_reason(err));
    session->report.failure = NULL;
    return true;
}

/* Fewer events where there are no descriptors for all. */
static int attach_threads(struct yarn_session *session)
{
    for (;;) {
        int err = yarn_thread_scan(session, attach_thread);
        if (!yarn_probe_lacks_files(err) || !session->may_drop_events ||
            !give_up_something(session, err))
            return err;
        close_events(session);
    }
}

/* Those of the whole machine, once a core: their samples say whose they are. -ENODEV: the core is
 * offline. */
static int attach_of_machine(struct yarn_session *session)
{
    int err = 0;
    for (size_t i = 0; !err && i < session->nr_cores; i++) {
        for (uint32_t spec = 0; !err && spec < session->spec->nr_events; spec++)
            if (!session->specs[spec].error && session->specs[spec].spec.is_of_machine) {
                session->watches_machine = true;
                err = attach_spec(session, spec, YARN_EVENT_EVERY_THREAD, &session->cores[i], NULL);
            }
        err = err == -ENODEV ? 0 : err;
    }
    return err;
}

/* Rings of two clocks are not changed over: whole ones from the beginning. */
static int open_clocks(struct yarn_session *session)
{
    if (!yarn_core_clocks_are_needed(session))
        return 0;
    yarn_core_rings_close(session);
    int err = open_all_cores(session);
    return err ? err : yarn_core_clocks_open(session);
}

static int open_per_core(struct yarn_session *session)
{
    int err = open_all_cores(session);
    if (!err)
        err = make_room(session);
    if (!err)
        err = yarn_probe_specs(session, session->spec->pid, session->cores[0].cpu);
    if (!err)
        err = open_clocks(session);
    if (!err)
        err = attach_threads(session);
    if (!err)
        err = attach_of_machine(session);
    if (!err && session->spec->strategy == YARN_STRATEGY_CORES)
        yarn_cpu_wide_open(session);
    if (!err)
        err = yarn_core_rings_merge(session);
    return err;
}

/* ---- running ---- */

/* Without those of switches while they are cut out. */
static void enable_events(const struct yarn_session *session)
{
    /* An event whose thread has gone meanwhile cannot fail in a way that matters. */
    for (size_t i = 0; i < session->nr_events; i++)
        if (!session->switches.are_cut || !yarn_switches_is_of(session, &session->events[i]))
            yarn_perf_enable(session->events[i].fd);
}

static void enable_per_core(struct yarn_session *session)
{
    enable_events(session);
    yarn_cpu_wide_resume(session);
    session->is_enabled = true;
}

static void disable_per_core(struct yarn_session *session)
{
    for (size_t i = 0; i < session->nr_events; i++)
        yarn_perf_disable(session->events[i].fd);
    yarn_cpu_wide_pause(session);
    session->is_enabled = false;
}

static void gather_per_core(struct yarn_session *session,
                            const struct yarn_record_listener *listener)
{
    (void)listener;
    yarn_core_rings_attend(session);
    yarn_core_clocks_attend(session);
    if (session->is_enabled)
        yarn_cpu_wide_attend(session);
}

/* Each core's event of a thread is enabled for all of the thread's time and runs only where its
 * core is: so one core's share of the enabled time is the thread's, and a running time below it is
 * multiplexing. Between the opening of the first core's event and the last's some may be missing.
 */
static void share_enabled_time(struct yarn_perf_count *sum, size_t nr_cores)
{
    uint64_t enabled_ns = sum->time_enabled_ns / yarn_size_max(nr_cores, 1);
    sum->time_enabled_ns = yarn_u64_max(enabled_ns, sum->time_running_ns);
}

static void add_count(struct yarn_perf_count *sum, const struct yarn_perf_count *one)
{
    sum->count += one->count;
    sum->time_enabled_ns += one->time_enabled_ns;
    sum->time_running_ns += one->time_running_ns;
    sum->lost += one->lost;
    sum->is_in_error |= one->is_in_error;
}

/* That its PMU counts on. */
static size_t nr_cores_of(const struct yarn_session *session, uint32_t number)
{
    size_t count = 0;
    for (size_t i = 0; i < session->nr_cores; i++)
        count += yarn_event_spec_is_on(&session->specs[number].spec, session->cores[i].cpu);
    return count;
}

static struct yarn_perf_count count_per_core(const struct yarn_session *session, uint32_t number)
{
    struct yarn_perf_count sum = {0}, one;
    for (size_t i = 0; i < session->nr_events; i++)
        if (session->events[i].spec == number && !yarn_event_count(&session->events[i], &one))
            add_count(&sum, &one);
    share_enabled_time(&sum, nr_cores_of(session, number));
    add_count(&sum, &session->specs[number].before);
    yarn_cpu_wide_count(session, number, &sum);
    return sum;
}

/* Why not by the count: a clock goes on counting while the kernel cancels its timer at a switch,
 * after the thread's time has ended. */
static uint64_t switching_ns_per_core(struct yarn_session *session, uint32_t number,
                                      uint64_t cpu_ns)
{
    bool is_wide = session->wide.events && session->wide.spec == number;
    uint64_t running_ns = is_wide ? cpu_ns : count_per_core(session, number).time_running_ns;
    return cpu_ns - yarn_u64_min(cpu_ns, running_ns);
}

/* ---- other rings, deeper copies ---- */

/* The events on threads while others take their place. */
struct events {
    struct yarn_event *list;
    size_t count, max;
};

static struct events events_of(const struct yarn_session *session)
{
    return (struct events){session->events, session->nr_events, session->max_events};
}

static void use_events(struct yarn_session *session, const struct events *events)
{
    session->events = events->list;
    session->nr_events = events->count;
    session->max_events = events->max;
}

/* Of the plan that the report has, on the same threads, disabled; rings where they were set aside.
 * Why not where a thread appears meanwhile: it may have inherited one, and would be sampled twice.
 */
static int open_others(struct yarn_session *session)
{
    struct events none = {.max = OTHER_EVENTS_MAX};
    none.list = YARN_ARENA_NEW(&session->arena, struct yarn_event, none.max);
    if (!none.list)
        return -ENOMEM;
    use_events(session, &none);
    int err = session->nr_cores ? 0 : open_cores(session);
    if (!err)
        err = yarn_thread_scan(session, attach_thread);
    if (!err && session->report.nr_late_threads)
        err = -EAGAIN;
    if (!err && session->nr_former_cores)
        err = yarn_core_rings_merge(session);
    for (size_t i = 0; err && i < session->nr_events; i++)
        yarn_event_close(&session->events[i]);
    return err;
}

/* What they counted stays; their ids too, for what lies in the rings. */
static void retire(struct yarn_session *session, const struct events *events)
{
    struct events others = events_of(session);
    for (size_t i = 0; i < events->count; i++)
        yarn_perf_disable(events->list[i].fd);
    use_events(session, events);
    session->switches.lost_before = yarn_session_switches_lost(session);
    for (uint32_t spec = 0; spec < session->spec->nr_events; spec++)
        session->specs[spec].before = count_per_core(session, spec);
    for (size_t i = 0; i < events->count; i++)
        yarn_event_close(&events->list[i]);
    use_events(session, &others);
}

/* Both run for a moment: what is mapped then may be reported twice, but is not missed. */
static int change_per_core(struct yarn_session *session, const struct yarn_plan *plan)
{
    const struct yarn_session_report report = session->report;
    struct events events = events_of(session);
    if (session->wide.events || session->nr_clocks || !session->is_enabled)
        return -EOPNOTSUPP;
    bool are_others = plan->ring_bytes != report.got.ring_bytes;
    int err = are_others ? yarn_core_rings_set_aside(session) : 0;
    if (err)
        return err;
    session->report.got = *plan;
    err = open_others(session);
    session->report = report;
    if (err) {
        use_events(session, &events);
        if (are_others)
            yarn_core_rings_take_back(session);
        return err;
    }
    session->report.got = *plan;
    session->watch_generation++;
    if (session->doubles) /* no thread appeared while the others were opened */
        session->doubles->end_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    enable_events(session);
    retire(session, &events);
    return 0;
}

static size_t watched_per_core(const struct yarn_session *session, struct pollfd *fds, size_t size)
{
    size_t count = yarn_size_min(session->nr_cores, size);
    for (size_t i = 0; i < count; i++)
        fds[i] = (struct pollfd){.fd = session->cores[i].leader.fd, .events = POLLIN};
    for (size_t i = 0; i < session->nr_clocks && count < size; i++)
        fds[count++] = (struct pollfd){.fd = session->clocks[i].core.leader.fd, .events = POLLIN};
    return count;
}

static void close_per_core(struct yarn_session *session)
{
    close_events(session);
    yarn_cpu_wide_close(session);
    yarn_core_clocks_close(session);
    yarn_core_rings_close(session);
}

static size_t ring_bytes_per_core(const struct yarn_session *session)
{
    return yarn_core_rings_bytes(session) + yarn_core_clocks_bytes(session);
}

const struct yarn_attachment yarn_attach_per_core = {
    .sampler = YARN_SAMPLER_PERF,
    .strategy = YARN_STRATEGY_PER_CORE,
    .open = open_per_core,
    .enable = enable_per_core,
    .disable = disable_per_core,
    .change = change_per_core,
    .gather = gather_per_core,
    .watched = watched_per_core,
    .count = count_per_core,
    .switching_ns = switching_ns_per_core,
    .ring_bytes = ring_bytes_per_core,
    .close = close_per_core,
};
