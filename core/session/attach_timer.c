/* SPDX-License-Identifier: Apache-2.0 */
#include <linux/perf_event.h>

#include "core/session/attach.h"
#include "core/session/host_clock.h"
#include "core/session/mappings.h"
#include "core/session/timer_threads.h"
#include "core/sys/clock.h"
#include "core/sys/own_memory.h"
#include "core/sys/process.h"
#include "core/sys/valgrind.h"

enum { EVENT_ID = 1 };

#define SOON_NS (4 * YARN_NS_PER_MS)
#define SOON_MAX_NS (64 * YARN_NS_PER_MS)

struct yarn_timer_sampler {
    struct yarn_timer_terms terms;
    struct yarn_mappings mappings;
    struct yarn_timer_threads threads;
    struct yarn_record_mmap *room;
    int signal_number; /* taken; 0 while there are no timers */
    uint64_t yielded;  /* signals that the host wanted for itself, a mask */
    uint32_t event;    /* number of the spec that the timers stand for */
    uint32_t nr_unbounded_seen;
    bool needs_look; /* at the mappings: there are stacks that are not known */
    bool is_enabled; /* by the session, whether or not there is a signal for it */
    bool is_traced;  /* and so without timers */
    struct yarn_host_clock clock;
};

static int fail(struct yarn_session *session, const char *what, int err)
{
    session->report.failure = what;
    session->report.failure_error = err;
    return err;
}

/* ---- events ---- */

static bool can_have(const struct yarn_event_spec *spec)
{
    return spec->kind == YARN_EVENT_CLOCK && !spec->exclude_user;
}

/* What a CPU-time timer counts is all of the thread's time: what it spends in the kernel is charged
 * to the user code that called. */
static void take_clock(struct yarn_session_event *state, bool is_auto)
{
    struct yarn_event_spec *spec = &state->spec;
    bool has_modifiers = spec->has_modifiers;
    spec->exclude_kernel = spec->exclude_hv = false;
    spec->precise = 0;
    spec->has_modifiers = spec->has_left_kernel = false;
    if (!spec->has_own_name)
        yarn_event_spec_name(spec);
    if (is_auto)
        state->reason = "the timer sampler has no counter of cycles: cpu-clock instead";
    else if (has_modifiers)
        state->reason = "the timer sampler counts user and kernel time alike";
}

static void refuse(struct yarn_session_event *state, const char *why)
{
    state->error = EOPNOTSUPP;
    state->reason = why;
}

/* The first clock is sampled; all else is refused. */
static int choose_event(struct yarn_session *session)
{
    struct yarn_timer_sampler *timer = session->timer;
    bool has_event = false;
    for (uint32_t i = 0; i < session->spec->nr_events; i++) {
        struct yarn_session_event *state = &session->specs[i];
        bool is_auto = state->spec.is_auto;
        if (is_auto) {
            yarn_event_spec_fall_back(&state->spec);
            yarn_event_spec_apply_rate(&state->spec, session->spec->frequency_hz);
        }
        if (has_event || !can_have(&state->spec)) {
            refuse(state, has_event ? "the timer sampler has one clock only"
                                    : "the timer sampler has clocks only");
            continue;
        }
        take_clock(state, is_auto);
        has_event = true;
        timer->event = i;
    }
    if (!has_event)
        return fail(session, "the timer sampler has clocks only", -EOPNOTSUPP);
    return 0;
}

/* ---- what handlers go by ---- */

/* One for the process, never freed: a handler that was stopped on its way may look at any time. */
static struct yarn_timer_sampler the_timer;

static void make_terms(struct yarn_session *session)
{
    struct yarn_timer_sampler *timer = session->timer;
    uint64_t word, copy = 0;
    pid_t pid = session->spec->pid;
    ssize_t got =
        yarn_own_memory_copy(pid, (uint64_t)(uintptr_t)&word, &copy, sizeof copy, NULL, 0);
    session->report.got = yarn_plan_for_timer(session->spec, yarn_timer_tick_ns());
    timer->terms = (struct yarn_timer_terms){
        .pid = pid,
        .id = EVENT_ID,
        .period_ns = session->specs[timer->event].spec.period,
        .stack_bytes = session->report.got.stack_bytes & ~7u,
        .can_copy = got == (ssize_t)sizeof copy,
        .bounds = &timer->mappings.bounds,
    };
    if (session->spec->stack != YARN_SESSION_STACK_NONE) {
        session->stack = YARN_SESSION_STACK_COPY;
        timer->terms.registers_mask = yarn_attr_unwind_registers();
    }
}

static int find_signal(const struct yarn_session *session)
{
    return yarn_signal_find(yarn_timer_sample_on_signal,
                            session->spec->blocked_signals | session->timer->yielded);
}

static int open_timer(struct yarn_session *session)
{
    struct yarn_timer_sampler *timer = &the_timer;
    *timer = (struct yarn_timer_sampler){.signal_number = 0};
    session->timer = timer;
    session->report.features = YARN_ATTR_ALL;
    int err = choose_event(session);
    if (err)
        return err;
    make_terms(session);
    if (find_signal(session) < 0)
        return fail(session, "the host uses or blocks every real-time signal", -EBUSY);
    timer->room = &session->merge.decoder.mmap;
    err = yarn_mappings_open(&timer->mappings, session->spec->pid, timer->room);
    if (err)
        return fail(session, "/proc/self/maps could not be read", err);
    timer->threads.terms = &timer->terms;
    timer->threads.data_bytes = session->report.got.ring_bytes;
    err = yarn_timer_threads_open(&timer->threads, &session->arena);
    if (!err)
        err = yarn_table_open(&session->numbers, 16, 16);
    if (!err)
        err = yarn_table_put(&session->numbers, EVENT_ID, timer->event);
    return err;
}

/* ---- running ---- */

static void arm(struct yarn_session *session)
{
    struct yarn_timer_sampler *timer = session->timer;
    int err = yarn_timer_threads_scan(&timer->threads, timer->signal_number, true, NULL);
    if (err)
        fail(session, "the list of threads could not be read", err);
    session->report.nr_threads = (size_t)timer->threads.nr_found;
    session->report.nr_rings = (size_t)timer->threads.nr_found;
}

static void start(struct yarn_session *session)
{
    struct yarn_timer_sampler *timer = session->timer;
    int number = find_signal(session);
    int err = number < 0 ? number : yarn_signal_take(number, yarn_timer_sample_on_signal);
    if (err) {
        fail(session, "the host uses or blocks every real-time signal", err);
        return;
    }
    timer->signal_number = number;
    if (!timer->is_traced)
        arm(session);
}

/* Valgrind counts as a tracer: where a signal comes while a stack grows, it ends the program. */
static bool is_traced(const struct yarn_session *session)
{
    return yarn_valgrind_is_processor() || yarn_process_thread_is_traced(session->spec->pid);
}

/* A tracer is told of each signal, and a debugger stops the host for it: no timers meanwhile. */
static void heed_tracer(struct yarn_session *session)
{
    struct yarn_timer_sampler *timer = session->timer;
    if (is_traced(session) == timer->is_traced)
        return;
    timer->is_traced = !timer->is_traced;
    session->report.has_waited_for_tracer |= timer->is_traced;
    session->soon_ns = 0;
    if (!timer->signal_number)
        return;
    if (timer->is_traced)
        yarn_timer_threads_quiet(&timer->threads);
    else
        arm(session);
}

static void enable_timer(struct yarn_session *session)
{
    struct yarn_timer_sampler *timer = session->timer;
    if (timer->is_enabled)
        return;
    timer->is_enabled = true;
    yarn_host_clock_start(&timer->clock);
    heed_tracer(session);
    start(session);
}

/* The three phases of timer_slot.h. `has_signal`: it is still ours to give back, unless there is a
 * tracer: one that was told of a signal lets it through when it likes, and without the handler that
 * ends the host. */
static bool stop(struct yarn_session *session, bool has_signal)
{
    struct yarn_timer_sampler *timer = session->timer;
    yarn_timer_threads_quiet(&timer->threads);
    if (has_signal && !is_traced(session))
        yarn_signal_give_back(timer->signal_number);
    else
        yarn_signal_lose();
    timer->signal_number = 0;
    return yarn_timer_threads_wait(&timer->threads);
}

static void disable_timer(struct yarn_session *session)
{
    struct yarn_timer_sampler *timer = session->timer;
    timer->is_enabled = false;
    /* A write of a stopped thread may come late, but not before its buffer is there again. */
    bool is_quiet = !timer->signal_number || stop(session, true);
    yarn_host_clock_stop(&timer->clock);
    if (!is_quiet)
        return;
}

static void yield_signal_timer(struct yarn_session *session)
{
    struct yarn_timer_sampler *timer = session->timer;
    int number = timer->signal_number;
    if (!number)
        return;
    timer->yielded |= UINT64_C(1) << (number - 1);
    if (stop(session, true))
        start(session);
    else
        fail(session, "a thread was stopped inside its sample", -ETIMEDOUT);
}

/* Sees that the signal is still ours: a host that handles it itself gets it, we take another. */
static void keep_signal(struct yarn_session *session)
{
    struct yarn_timer_sampler *timer = session->timer;
    int number = timer->signal_number;
    if (yarn_signal_is_taken(number, yarn_timer_sample_on_signal))
        return;
    timer->yielded |= UINT64_C(1) << (number - 1);
    if (stop(session, false))
        start(session);
}

/* Where threads come and go, the next may be there soon. */
static uint64_t next_look_ns(uint64_t before_ns, bool has_new)
{
    if (has_new)
        return SOON_NS;
    return before_ns >= SOON_MAX_NS ? 0 : before_ns * 2;
}

static void attend_threads(struct yarn_session *session,
                           const struct yarn_record_listener *listener)
{
    struct yarn_timer_sampler *timer = session->timer;
    uint64_t nr_before = timer->threads.nr_found;
    int err = yarn_timer_threads_scan(&timer->threads, timer->signal_number, false, listener);
    if (err)
        fail(session, "the list of threads could not be read", err);
    bool has_new = timer->threads.nr_found != nr_before;
    timer->needs_look |= has_new;
    session->soon_ns = next_look_ns(session->soon_ns, has_new);
    session->report.nr_refused_threads = timer->threads.nr_refused;
    session->report.thread_refusal = timer->threads.refusal;
}

/* What is mapped now matters to the samples of now: an idle host costs no look. */
static void look_at_mappings(struct yarn_session *session,
                             const struct yarn_record_listener *listener)
{
    struct yarn_timer_sampler *timer = session->timer;
    uint32_t nr_unbounded = atomic_load(&timer->terms.nr_unbounded);
    timer->needs_look |= nr_unbounded != timer->nr_unbounded_seen;
    timer->nr_unbounded_seen = nr_unbounded;
    if (!yarn_timer_threads_have_data(&timer->threads))
        return;
    enum yarn_mappings_need need = timer->needs_look ? YARN_MAPPINGS_NEEDED : YARN_MAPPINGS_USUAL;
    if (!timer->signal_number)
        need = YARN_MAPPINGS_LAST;
    if (yarn_mappings_refresh(&timer->mappings, need, session->spec->interval_ns, listener))
        timer->needs_look = false;
}

static void gather_timer(struct yarn_session *session, const struct yarn_record_listener *listener)
{
    struct yarn_timer_sampler *timer = session->timer;
    if (timer->is_enabled)
        heed_tracer(session);
    if (timer->signal_number)
        keep_signal(session);
    if (timer->signal_number && !timer->is_traced)
        attend_threads(session, listener);
    look_at_mappings(session, listener);
    yarn_timer_threads_gather(&timer->threads, &session->merge, listener);
}

static struct yarn_perf_count count_timer(const struct yarn_session *session, uint32_t number)
{
    const struct yarn_timer_sampler *timer = session->timer;
    if (number != timer->event)
        return (struct yarn_perf_count){.count = 0};
    uint64_t cpu_ns = yarn_host_clock_ns(&timer->clock);
    return (struct yarn_perf_count){
        .count = cpu_ns,
        .time_enabled_ns = cpu_ns,
        .time_running_ns = cpu_ns,
        .lost = yarn_timer_threads_lost(&timer->threads),
    };
}

static size_t ring_bytes_timer(const struct yarn_session *session)
{
    return yarn_timer_threads_bytes(&session->timer->threads);
}

static void close_timer(struct yarn_session *session)
{
    struct yarn_timer_sampler *timer = session->timer;
    if (!timer)
        return;
    disable_timer(session);
    bool is_quiet = yarn_timer_threads_wait(&timer->threads);
    yarn_timer_threads_close(&timer->threads);
    /* Otherwise a thread that was stopped inside its handler may look something up yet. */
    if (is_quiet)
        yarn_mappings_close(&timer->mappings);
    session->timer = NULL;
}

const struct yarn_attachment yarn_attach_timer = {
    .sampler = "timer",
    .strategy = "per-thread",
    .open = open_timer,
    .enable = enable_timer,
    .disable = disable_timer,
    .yield_signal = yield_signal_timer,
    .gather = gather_timer,
    .count = count_timer,
    .ring_bytes = ring_bytes_timer,
    .close = close_timer,
};
