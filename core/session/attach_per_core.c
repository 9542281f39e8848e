/* SPDX-License-Identifier: Apache-2.0 */
#include <poll.h>

#include "core/session/alternates.h"
#include "core/session/attach.h"
#include "core/session/core_rings.h"
#include "core/session/crowd.h"
#include "core/session/probe.h"
#include "core/session/state.h"
#include "core/session/switches.h"
#include "core/session/thread_scan.h"
#include "core/sys/clock.h"
#include "core/sys/perf.h"
#include "core/sys/process.h"

enum {
    THREADS_MORE = 64,
    SPARE_FILES = 8,
    FEW_THREADS = 8,
    TREE_RING_BYTES = 1024 * 1024,
    TREE_COPY_BYTES = 16 * 1024,
};

#define MACHINE_LOOK_NS (100 * YARN_NS_PER_MS)

/* ---- clocks of whole cores ---- */

/* Clocks of whole cores instead of clocks that threads inherit: those begin a full period at a
 * thread's start, so a shorter thread is never sampled, and cost each start, end and switch. A
 * core's clock does neither, but it also hits other processes: their samples are dropped, yet they
 * lie in the rings, which the host's code could read. So only on request (the strategy `cores`),
 * where the kernel permits it (CAP_PERFMON, or perf_event_paranoid 0), and never beyond a change of
 * the host's rights, root or namespaces: the recording ends before it. */

/* ---- larger rings ---- */

/* Larger rings for the cores of a session that lives longer than most: once there are samples, the
 * same events are redirected into larger rings. So the contexts of the host's threads stay clones
 * of each other, and the kernel goes on to exchange them at a switch instead of stopping and
 * starting each clock.
 *
 * To redirect an event that is enabled takes the caller a grace period of the kernel, 8 to 20 ms:
 * not in the first 100 ms, and one event between two drains. An event with an alternate rests
 * meanwhile (alternates.h), and its redirection takes no time: where all have one, rings grow
 * earlier once they were found half full. */

/* Whether they are to become larger, and are not yet. */
static inline bool growth_is_to_come(const struct yarn_session *session)
{
    return session->growth.ring_bytes > session->report.got.ring_bytes;
}

enum { MANY_SAMPLES = 12, PAGE_BYTES = 4096 };
#define LIFE_LEAST_NS (100 * YARN_NS_PER_MS)
#define GRACE_NS (30 * YARN_NS_PER_MS)
#define TURN_NS (10 * YARN_NS_PER_MS)

/* ---- how large ---- */

/* Once the first rings are there: how large they will be, by what the limit of locked memory leaves
 * beside them. */
static void plan_growth(struct yarn_session *session)
{
    struct yarn_plan *got = &session->report.got;
    struct yarn_plan whole = yarn_plan_of_core(session->request, session->nr_cpus);
    if (!session->growth.may_grow)
        whole.ring_bytes = got->ring_bytes;
    if (whole.ring_bytes > got->ring_bytes) {
        uint64_t lockable = yarn_locked_memory_left();
        while (whole.ring_bytes > got->ring_bytes &&
               session->nr_cores * (uint64_t)(whole.ring_bytes + PAGE_BYTES) > lockable)
            whole.ring_bytes /= 2;
        session->growth.is_refused = whole.ring_bytes <= got->ring_bytes;
    }
    session->growth.ring_bytes = yarn_size_max(whole.ring_bytes, got->ring_bytes);
    whole.stack_bytes = got->stack_bytes;
    yarn_plan_slow_down(session->request, session->nr_cpus, yarn_plan_watermark(&whole), &whole);
    got->rate_permille = whole.rate_permille;
}

/* ---- the rings ---- */

/* As large as there is memory for, beside those that there are. */
static int open_rings(struct yarn_session *session)
{
    const struct yarn_plan former = session->report.got;
    struct yarn_session_core *cores =
        YARN_ARENA_NEW(&session->arena, struct yarn_session_core, session->nr_cpus);
    size_t ring_bytes = session->growth.ring_bytes;
    int err = -ENOMEM;
    for (; cores && err == -ENOMEM && ring_bytes > former.ring_bytes; ring_bytes /= 2) {
        size_t nr_cores = 0;
        session->report.got.ring_bytes = ring_bytes;
        err = yarn_core_rings_open(session, cores, &nr_cores);
        if (!err)
            err = yarn_core_rings_replace(session, cores, nr_cores);
    }
    if (err)
        session->report.got = former;
    return err;
}

static void begin(struct yarn_session *session, uint64_t now_ns)
{
    struct yarn_growth *growth = &session->growth;
    growth->error = open_rings(session);
    growth->ring_bytes = session->report.got.ring_bytes;
    growth->is_refused = growth->error != 0;
    if (growth->error)
        return;
    growth->is_moving = true;
    growth->attach_ns = now_ns + GRACE_NS;
    session->watch_generation++;
    session->nr_changes++;
    growth->error = yarn_alternates_begin(session);
}

/* The next one, which takes a grace period; false where there is none. */
static bool move_one(struct yarn_session *session)
{
    struct yarn_growth *growth = &session->growth;
    while (growth->next < session->nr_events &&
           yarn_alternates_side(session, session->events[growth->next].number) != YARN_SIDE_NONE)
        growth->next++;
    if (growth->next == session->nr_events)
        return false;
    const struct yarn_event *event = &session->events[growth->next++];
    growth->error = yarn_event_redirect(event, yarn_core_rings_leader(session, event->cpu));
    return true;
}

/* Why an error ends it here: an event still writes to a former ring, so all of these stay. */
static void move(struct yarn_session *session, uint64_t now_ns)
{
    struct yarn_growth *growth = &session->growth;
    session->soon_ns = growth->error ? 0 : TURN_NS;
    if (growth->error || now_ns < growth->attach_ns)
        return;
    if (yarn_crowd_waits(session, now_ns)) {
        session->soon_ns = 0;
        return;
    }
    if (growth->attach_ns) {
        growth->error = yarn_alternates_attach_resting(session);
        growth->attach_ns = 0;
        return;
    }
    if (now_ns < growth->since_ns + LIFE_LEAST_NS || move_one(session))
        return;
    growth->is_moving = false;
    session->soon_ns = 0;
}

/* Before a drain: whether the reader comes late for rings of the first size. */
static void grow_before_drain(struct yarn_session *session)
{
    if (!growth_is_to_come(session) || !session->alternates.count)
        return;
    for (size_t i = 0; i < session->nr_cores; i++) {
        struct yarn_ring *ring = &session->cores[i].ring;
        yarn_ring_begin(ring);
        session->growth.is_late |= ring->head - ring->tail >= ring->data.size / 2;
    }
}

/* Why in a crowd: records of switches are alone in the first rings then (move). */
static bool is_due(struct yarn_session *session, uint64_t now_ns)
{
    if (!growth_is_to_come(session) || !session->is_enabled)
        return false;
    if (session->growth.is_late || yarn_crowd_is_host(session, now_ns))
        return true;
    return session->nr_samples >= MANY_SAMPLES &&
           (session->turns.is_deep_wanted || now_ns >= session->growth.since_ns + LIFE_LEAST_NS);
}

/* After a drain: a step, where it is time for one. */
static void grow_after_drain(struct yarn_session *session)
{
    struct yarn_growth *growth = &session->growth;
    uint64_t now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    if (!growth->since_ns)
        growth->since_ns = now_ns;
    if (growth->is_moving)
        move(session, now_ns);
    else if (is_due(session, now_ns))
        begin(session, now_ns);
    session->report.lacks_growth |= growth->is_refused && session->nr_samples >= MANY_SAMPLES;
}

/* The one clock that is sampled by a period; UINT32_MAX where there is none, or more than one, or
 * it is in a group or filtered. */
static uint32_t find_clock(const struct yarn_session *session)
{
    uint32_t found = UINT32_MAX;
    for (uint32_t i = 0; i < session->request->nr_events; i++) {
        const struct yarn_event_status *event = &session->statuses[i];
        if (event->error || !event->spec.is_clock)
            continue;
        if (found != UINT32_MAX || !event->spec.period || event->spec.group || event->spec.filter)
            return UINT32_MAX;
        found = i;
    }
    return found;
}

/* On one core, for all. */
static int try_clock(const struct yarn_session *session, uint32_t number)
{
    struct yarn_event event = YARN_EVENT_CLOSED;
    const int cpu = session->cores[0].cpu;
    struct perf_event_attr attr = yarn_probe_attr(session, number, cpu);
    int err = yarn_event_open(&event, &attr, number, YARN_EVENT_EVERY_THREAD, cpu);
    yarn_event_close(&event);
    return err == -ENODEV ? 0 : err;
}

/* Whether the event is to be one clock a core; where that is refused threads inherit it, and the
 * error is in session->wide. -ENOENT: there is not just one clock that is sampled by a period. */
static void choose_cpu_wide(struct yarn_session *session)
{
    struct yarn_cpu_wide *wide = &session->wide;
    wide->number = find_clock(session);
    wide->error = wide->number == UINT32_MAX ? -ENOENT : try_clock(session, wide->number);
    wide->is_on = !wide->error;
}

/* ---- leaders and their rings ---- */

/* Larger ones later need descriptors. Who has many threads already is no short process. */
static struct yarn_plan plan_to_begin(struct yarn_session *session)
{
    const struct yarn_session_request *request = session->request;
    size_t nr_events = 2 * request->nr_events + yarn_switches_are_recorded(session);
    size_t nr_files = session->nr_cpus * (2 + session->nr_threads * nr_events);
    session->growth.may_grow = request->strategy != YARN_STRATEGY_CORES && !request->follows_tree &&
                               !session->may_drop_events && session->nr_threads <= FEW_THREADS &&
                               yarn_process_has_spare_files(nr_files + SPARE_FILES);
    return session->growth.may_grow ? yarn_plan_to_begin(request, session->nr_cpus)
                                    : yarn_plan_of_core(request, session->nr_cpus);
}

/* What a tree is sampled into is emptied each few ms, at best: of smaller rings, and of many,
 * copies are to be smaller, too, where the user set no size. */
static void suit_copies(struct yarn_session *session)
{
    struct yarn_plan *got = &session->report.got;
    if (session->request->follows_tree && session->request->may_deepen &&
        (got->ring_bytes < TREE_RING_BYTES || session->nr_cpus > YARN_TREE_CPUS_FEW) &&
        got->stack_bytes > TREE_COPY_BYTES)
        got->stack_bytes = TREE_COPY_BYTES;
}

/* With ever smaller sizes while the memlock limit refuses, and fewer features while the kernel does
 * not know them. */
static int open_all_cores(struct yarn_session *session)
{
    session->cores = YARN_ARENA_NEW(&session->arena, struct yarn_session_core, session->nr_cpus);
    if (!session->cores)
        return yarn_probe_fail(session, "no memory for the list of rings", -ENOMEM);
    const struct yarn_plan begin = plan_to_begin(session);
    session->report.got = begin;
    for (;;) {
        int err = yarn_core_rings_open(session, session->cores, &session->nr_cores);
        if (!err) {
            suit_copies(session);
            plan_growth(session);
            return 0;
        }
        bool may_be_smaller = err == -ENOMEM && yarn_plan_smaller(&session->report.got);
        if (!may_be_smaller && !yarn_probe_give_up_feature(session, err))
            return yarn_probe_fail(session, yarn_event_refusal(err), err);
    }
}

/* ---- events on threads ---- */

/* Takes the event over; on failure it is closed. */
static int add_event(struct yarn_session *session, struct yarn_event *event)
{
    int err = session->nr_events == session->max_events ? -ENOSPC : 0;
    if (!err && !yarn_switches_is_of(event))
        err = yarn_table_put(&session->numbers, event->id, event->number);
    if (err)
        yarn_event_close(event);
    else
        session->events[session->nr_events++] = *event;
    return err;
}

/* An alternate waits for the larger ring: the first redirection takes no time. */
static int attach_event(struct yarn_session *session, uint32_t number, pid_t tid,
                        const struct yarn_session_core *core, const struct yarn_event *leader)
{
    struct perf_event_attr attr = yarn_probe_attr(session, number, core->cpu);
    struct yarn_event event;
    int err = yarn_probe_open(session, &attr, number, tid, core->cpu, leader, &event);
    if (err)
        return err;
    if (!growth_is_to_come(session) || !yarn_alternates_is_one(session, number))
        err = yarn_event_redirect(&event, &core->leader);
    if (err)
        yarn_event_close(&event);
    return err ? err : add_event(session, &event);
}

/* -ESRCH and a lack of descriptors are the caller's; for all else it goes on without. */
static int attach_switches(struct yarn_session *session, pid_t tid,
                           const struct yarn_session_core *core)
{
    struct yarn_event event;
    if (!yarn_switches_are_recorded(session))
        return 0;
    int err = yarn_switches_open(session, tid, core->cpu, &core->leader, &event);
    if (!err)
        err = add_event(session, &event);
    session->switches.is_open |= !err;
    if (!err || err == -ESRCH || yarn_probe_lacks_files(err) || session->request->follows_tree)
        return err;
    session->switches.reason = yarn_event_refusal(err);
    return 0;
}

/* One spec and its alternate, or the group that it leads, on one thread and core. */
static int attach_group(struct yarn_session *session, uint32_t first, pid_t tid,
                        const struct yarn_session_core *core)
{
    const size_t leader = session->nr_events;
    uint32_t end = yarn_group_end(session, first), alternate = session->statuses[first].alternate;
    int err = 0;
    for (uint32_t number = first; !err && number < end; number++)
        err = attach_event(session, number, tid, core,
                           number > first ? &session->events[leader] : NULL);
    return err || !alternate ? err : attach_event(session, alternate, tid, core, NULL);
}

/* All specs that the kernel takes and that count on the core. -ESRCH: the thread has gone. */
static int attach_core(struct yarn_session *session, pid_t tid,
                       const struct yarn_session_core *core)
{
    int err = 0;
    for (uint32_t first = 0; !err && first < session->request->nr_events;
         first = yarn_group_end(session, first)) {
        const struct yarn_event_status *state = &session->statuses[first];
        if (!state->error && !yarn_session_is_of_core(session, first) &&
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
    if (err)
        yarn_events_close(session->events, &session->nr_events, before);
    return err;
}

/* Room for every event that the threads listed now can need, and some that come meanwhile. */
static int make_room(struct yarn_session *session)
{
    size_t threads = THREADS_MORE + session->nr_threads;
    size_t per_core = session->request->nr_events + session->alternates.count +
                      session->request->records_switches;
    session->max_events = threads * per_core * session->nr_cores;
    session->events = YARN_ARENA_NEW(&session->arena, struct yarn_event, session->max_events);
    if (!session->events)
        return yarn_probe_fail(session, "no memory for the list of events", -ENOMEM);
    int err = yarn_table_open(&session->numbers, session->max_events, session->max_events * 2);
    return err ? yarn_probe_fail(session, "no memory for the table of events", err) : 0;
}

static void close_events(struct yarn_session *session)
{
    yarn_events_close(session->events, &session->nr_events, 0);
    yarn_table_clear(&session->numbers);
}

/* Switch records first. False where nothing can be given up. */
static bool give_up_something(struct yarn_session *session, int err)
{
    if (!yarn_switches_are_recorded(session) || session->request->follows_tree)
        return yarn_probe_drop_event(session, err);
    session->switches.reason = yarn_event_refusal(err);
    session->report.failure = NULL;
    return true;
}

/* Beside those whose turn it is not: while it is paused, what samples. */
static bool rests(const struct yarn_session *session, const struct yarn_event *event)
{
    return session->is_paused ? !yarn_switches_is_of(event)
                              : yarn_alternates_rests(session, event->number);
}

/* Why each event is enabled by itself: what the thread makes meanwhile inherits those that are. */
static int attach_later(struct yarn_session *session, pid_t tid)
{
    const size_t before = session->nr_events;
    int err = attach_thread(session, tid);
    for (size_t i = before; i < session->nr_events; i++)
        if (!rests(session, &session->events[i]))
            yarn_perf_enable(session->events[i].fd);
    session->report.nr_threads += !err;
    return err;
}

/* Fewer events where there are no descriptors for all. */
static int attach_threads(struct yarn_session *session)
{
    if (session->request->attaches_later || session->request->of_cores)
        return 0;
    for (;;) {
        int err = yarn_thread_scan(session, attach_thread);
        if (!yarn_probe_lacks_files(err) || !session->may_drop_events ||
            !give_up_something(session, err))
            return err;
        close_events(session);
    }
}

/* Events of every thread, once a core: their samples say whose they are. -ENODEV: the core is
 * offline. */
static int attach_machine_to(struct yarn_session *session, const struct yarn_session_core *core)
{
    int err = 0;
    for (uint32_t number = 0; !err && number < session->request->nr_events; number++)
        if (!session->statuses[number].error && yarn_session_is_of_core(session, number)) {
            session->watches_machine = true;
            err = attach_event(session, number, YARN_EVENT_EVERY_THREAD, core, NULL);
        }
    if (!err && session->request->of_cores)
        err = attach_switches(session, YARN_EVENT_EVERY_THREAD, core);
    return err;
}

static int attach_of_machine(struct yarn_session *session)
{
    int err = 0;
    for (size_t i = 0; !err && i < session->nr_cores; i++) {
        err = attach_machine_to(session, &session->cores[i]);
        err = err == -ENODEV ? 0 : err;
    }
    return err;
}

static bool is_machine_on(const struct yarn_event *event, const struct yarn_session_core *core)
{
    return event->tid == YARN_EVENT_EVERY_THREAD && event->cpu == core->cpu;
}

/* An event of a core that was offline is no longer enabled, also once the core is back. */
static bool is_machine_alive(const struct yarn_session *session, struct yarn_session_core *core)
{
    struct yarn_perf_count sum = {0};
    uint64_t seen_ns = core->machine_seen_ns;
    for (size_t i = 0; i < session->nr_events; i++)
        if (is_machine_on(&session->events[i], core))
            yarn_event_add_count(&session->events[i], &sum);
    core->machine_seen_ns = sum.time_enabled_ns;
    return sum.time_enabled_ns != seen_ns;
}

static void close_machine_of(struct yarn_session *session, const struct yarn_session_core *core)
{
    size_t kept = 0;
    for (size_t i = 0; i < session->nr_events; i++) {
        struct yarn_event *event = &session->events[i];
        if (is_machine_on(event, core)) {
            yarn_event_add_count(event, &session->statuses[event->number].before);
            yarn_event_close(event);
        } else
            session->events[kept++] = *event;
    }
    session->nr_events = kept;
}

/* All of its events or none; those that are missing are tried again at the next look. */
static void attach_machine_again(struct yarn_session *session, struct yarn_session_core *core)
{
    close_machine_of(session, core);
    size_t first = session->nr_events;
    core->machine_seen_ns = 0;
    if (attach_machine_to(session, core)) {
        yarn_events_close(session->events, &session->nr_events, first);
        return;
    }
    for (size_t i = first; i < session->nr_events; i++) {
        session->report.has_core_back |= !yarn_cpu_wide_is(session, session->events[i].number);
        session->statuses[session->events[i].number].before.is_in_error = true;
        yarn_perf_enable(session->events[i].fd);
    }
}

/* Not while events move to other rings one by one, by their places in the list. */
static void check_machine(struct yarn_session *session)
{
    uint64_t now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    if (!session->watches_machine || now_ns < session->machine_look_ns || session->growth.is_moving)
        return;
    session->machine_look_ns = now_ns + MACHINE_LOOK_NS;
    for (size_t i = 0; i < session->nr_cores; i++)
        if (!is_machine_alive(session, &session->cores[i]))
            attach_machine_again(session, &session->cores[i]);
}

static int open_per_core(struct yarn_session *session)
{
    int err = open_all_cores(session);
    if (!err)
        err = yarn_probe_specs(session, session->request->pid, session->cores[0].cpu);
    if (!err && session->request->times_tree && !session->request->can_pause &&
        !session->request->of_cores)
        yarn_alternates_choose_light(session);
    else if (!err && !session->request->follows_tree)
        yarn_alternates_choose(session);
    session->is_paused = session->request->starts_paused;
    if (!err && session->request->strategy == YARN_STRATEGY_CORES)
        choose_cpu_wide(session);
    if (!err)
        err = make_room(session);
    if (!err)
        err = attach_threads(session);
    if (!err && session->request->watches_waits)
        yarn_wake_switches_open(session);
    if (!err)
        err = attach_of_machine(session);
    if (!err)
        err = yarn_core_rings_merge(session);
    session->turns.can_begin =
        session->alternates.count && !session->request->times_tree && !growth_is_to_come(session);
    return err;
}

/* ---- running ---- */

/* Without those of switches while they are cut out, and those whose turn it is not. */
static void enable_per_core(struct yarn_session *session)
{
    if (session->wide.is_on)
        yarn_host_clock_start(&session->wide.clock);
    /* An event whose thread has gone meanwhile cannot fail in a way that matters. */
    for (size_t i = 0; i < session->nr_events; i++)
        if (!(session->switches.are_cut && yarn_switches_is_of(&session->events[i])) &&
            !yarn_alternates_rests(session, session->events[i].number))
            yarn_perf_enable(session->events[i].fd);
    session->is_enabled = true;
    session->is_paused = false;
}

static void pause_per_core(struct yarn_session *session)
{
    session->is_paused = true;
    for (size_t i = 0; i < session->nr_events; i++)
        if (rests(session, &session->events[i]))
            yarn_perf_disable(session->events[i].fd);
}

static void disable_per_core(struct yarn_session *session)
{
    for (size_t i = 0; i < session->nr_events; i++)
        yarn_perf_disable(session->events[i].fd);
    if (session->wide.is_on)
        yarn_host_clock_stop(&session->wide.clock);
    session->is_enabled = false;
}

static void gather_per_core(struct yarn_session *session,
                            const struct yarn_record_listener *listener)
{
    (void)listener;
    yarn_core_rings_close_former(session);
    grow_before_drain(session);
    if (session->is_enabled)
        check_machine(session);
}

/* The number of cores that the event's PMU counts on. */
static size_t nr_cores_of(const struct yarn_session *session, uint32_t number)
{
    size_t count = 0;
    for (size_t i = 0; i < session->nr_cores; i++)
        count += yarn_event_spec_is_on(&session->statuses[number].spec, session->cores[i].cpu);
    return count;
}

/* The events of one thread on one core, which others inherit. Not while one may have no ring, which
 * polls as a hang-up. */
static int sentinel_per_core(struct yarn_session *session, size_t nr_gone)
{
    const struct yarn_event *first = session->events;
    for (size_t i = 0; !session->growth.is_moving && i < session->nr_events; i++) {
        const struct yarn_event *event = &session->events[i];
        if (event->number == first->number && event->cpu == first->cpu && event->tid > 0 &&
            nr_gone-- == 0)
            return event->fd;
    }
    return -1;
}

static struct yarn_perf_count count_per_core(const struct yarn_session *session, uint32_t number)
{
    struct yarn_perf_count sum = session->statuses[number].before;
    for (size_t i = 0; i < session->nr_events; i++)
        if (yarn_alternates_first(session, session->events[i].number) == number)
            yarn_event_add_count(&session->events[i], &sum);
    if (yarn_cpu_wide_is(session, number)) /* it samples the process's CPU time */
        return yarn_host_clock_count(&session->wide.clock, sum.lost);
    /* Each core's event of a thread is enabled for all of the thread's time and runs only where its
     * core is: so one core's share of the enabled time is the thread's, and a running time below it
     * is multiplexing. Between the opening of the first core's event and the last's some may be
     * missing. */
    sum.time_enabled_ns /= yarn_size_max(nr_cores_of(session, number), 1);
    sum.time_enabled_ns = yarn_u64_max(sum.time_enabled_ns, sum.time_running_ns);
    return sum;
}

/* Why not by the count: a clock goes on counting while the kernel cancels its timer at a switch,
 * after the thread's time has ended. */
static uint64_t switching_ns_per_core(struct yarn_session *session, uint32_t number,
                                      uint64_t cpu_ns)
{
    if (yarn_cpu_wide_is(session, number))
        return 0;
    return yarn_u64_minus(cpu_ns, count_per_core(session, number).time_running_ns);
}

static void after_drain_per_core(struct yarn_session *session)
{
    grow_after_drain(session);
    yarn_alternates_after_drain(session);
}

static size_t watched_per_core(const struct yarn_session *session, struct pollfd *fds, size_t size)
{
    size_t count = yarn_size_min(session->nr_cores, size);
    for (size_t i = 0; i < count; i++)
        fds[i] = (struct pollfd){.fd = session->cores[i].leader.fd, .events = POLLIN};
    for (size_t i = 0; i < session->wake_switches.nr_cores && count < size; i++)
        fds[count++] =
            (struct pollfd){.fd = session->wake_switches.cores[i].leader.fd, .events = POLLIN};
    return count;
}

static void close_per_core(struct yarn_session *session)
{
    close_events(session);
    yarn_wake_switches_close(session);
    yarn_core_rings_close(session->cores, &session->nr_cores);
    yarn_core_rings_close(session->former_cores, &session->nr_former_cores);
}

const struct yarn_attachment yarn_attach_per_core = {
    .sampler = YARN_SAMPLER_PERF,
    .strategy = YARN_STRATEGY_PER_CORE,
    .open = open_per_core,
    .attach = attach_later,
    .enable = enable_per_core,
    .disable = disable_per_core,
    .pause = pause_per_core,
    .deepen = yarn_alternates_deepen,
    .weigh = yarn_alternates_weigh,
    .after_drain = after_drain_per_core,
    .gather = gather_per_core,
    .watched = watched_per_core,
    .sentinel = sentinel_per_core,
    .count = count_per_core,
    .switching_ns = switching_ns_per_core,
    .ring_bytes = yarn_core_rings_bytes,
    .close = close_per_core,
};
