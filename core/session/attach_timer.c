/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/attach.h"
#include "core/session/host_clock.h"
#include "core/session/mappings.h"
#include "core/session/probe.h"
#include "core/session/timer_threads.h"
#include "core/sys/file.h"
#include "core/sys/proc_maps.h"
#include "core/sys/process.h"
#include "core/sys/signal.h"
#include "core/sys/target.h"
#include "core/sys/valgrind.h"

enum {
    EVENT_ID = 1,
    LET_IN_MANY = 16, /* ticks that a mask held back: set by the host, not by the C library */
    TICKS_MAX = 8,    /* that a busy machine may take before it runs the timers */
};

struct yarn_timer_sampler {
    struct yarn_timer_terms terms;
    struct yarn_mappings mappings;
    struct yarn_timer_threads threads;
    uint32_t event; /* number of the event that the timers stand for */
    uint32_t nr_unbounded_seen;
    bool needs_look;   /* at the mappings: there are stacks that are not known */
    bool is_enabled;   /* by the session, whether or not timers may run */
    bool is_quiet;     /* no thread is stopped inside its handler */
    uint32_t holds;    /* why they may not, a mask */
    uintptr_t foreign; /* a handler of the signal that is not the C library's; 0: none */
    pid_t sentinel_tid;
    int sentinel;                       /* owned: a pidfd of that thread; -1 */
    struct yarn_host_clock clock, held; /* all of the time, and while there were holds */
};

/* ---- events ---- */

/* What a CPU-time timer counts is all of the thread's time: what it spends in the kernel is charged
 * to the user code that called. */
static void take_clock(struct yarn_event_status *state, bool is_auto)
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

/* The first clock is sampled; all else is refused. */
static int choose_event(struct yarn_session *session)
{
    struct yarn_timer_sampler *timer = session->timer;
    bool has_event = false;
    for (uint32_t i = 0; i < session->request->nr_events; i++) {
        struct yarn_event_status *state = &session->statuses[i];
        bool is_auto = state->spec.is_auto;
        if (is_auto) {
            yarn_event_spec_fall_back(&state->spec);
            yarn_event_spec_apply_rate(&state->spec, session->request->frequency_hz);
        }
        bool can_have = state->spec.kind == YARN_EVENT_CLOCK && !state->spec.exclude_user;
        const char *why = state->spec.filter ? "the timer sampler has no filters"
                          : has_event        ? "the timer sampler has one clock only"
                          : !can_have        ? "the timer sampler has clocks only"
                                             : NULL;
        if (why) {
            yarn_usable_refuse(state, -EOPNOTSUPP, why);
            continue;
        }
        take_clock(state, is_auto);
        has_event = true;
        timer->event = i;
    }
    if (!has_event)
        return yarn_probe_fail(session, "the timer sampler has clocks only", -EOPNOTSUPP);
    return 0;
}

/* ---- what handlers read ---- */

/* One for the process, never freed: a handler that was preempted may read it at any time. */
static struct yarn_timer_sampler the_timer;

static void make_terms(struct yarn_session *session)
{
    struct yarn_timer_sampler *timer = session->timer;
    uint64_t word, copy = 0;
    pid_t pid = session->request->pid;
    ssize_t got =
        yarn_target_copy_own(pid, (uint64_t)(uintptr_t)&word, &copy, sizeof copy, NULL, 0);
    uint64_t tick_ns = yarn_timer_tick_ns();
    uint64_t period_ns = session->statuses[timer->event].spec.period;
    session->report.got = yarn_plan_for_timer(session->request, tick_ns);
    timer->terms = (struct yarn_timer_terms){
        .pid = pid,
        .id = EVENT_ID,
        .period_ns = period_ns,
        .periods_max = 1 + TICKS_MAX * tick_ns / period_ns,
        .stack_bytes = session->report.got.stack_bytes & ~7u,
        .can_copy = got == (ssize_t)sizeof copy,
        .bounds = &timer->mappings.bounds,
    };
    timer->terms.registers_mask = yarn_probe_attr(session, timer->event, -1).sample_regs_user;
}

static int open_timer(struct yarn_session *session)
{
    struct yarn_timer_sampler *timer = &the_timer;
    *timer = (struct yarn_timer_sampler){.sentinel = -1};
    session->timer = timer;
    session->report.features = YARN_ATTR_ALL;
    int err = choose_event(session);
    if (err)
        return err;
    make_terms(session);
    err = yarn_mappings_open(&timer->mappings, session->request->pid, &session->merge.decoder.mmap);
    if (err)
        return yarn_probe_fail(session, "/proc/self/maps could not be read", err);
    timer->threads.terms = &timer->terms;
    timer->threads.data_bytes = session->report.got.ring_bytes;
    err = yarn_timer_threads_open(&timer->threads, &session->arena);
    if (!err)
        err = yarn_table_open(&session->numbers, 16, 16);
    if (!err)
        err = yarn_table_put(&session->numbers, EVENT_ID, timer->event);
    return err;
}

/* ---- what forbids signals ---- */

static bool begins_with(struct yarn_span name, const char *text)
{
    return name.size >= strlen(text) && !memcmp(name.data, text, strlen(text));
}

/* 1: the address is in the C library; 2: elsewhere. */
static int judge_mapping(void *context, const struct yarn_proc_map *map)
{
    uintptr_t address = *(const uintptr_t *)context;
    struct yarn_span name = map->path;
    if (address < map->start || address >= map->end)
        return 0;
    for (size_t i = 0; i < map->path.size; i++)
        if (map->path.data[i] == '/')
            name = yarn_span_of(map->path.data + i + 1, map->path.size - i - 1);
    bool is_c_librarys = begins_with(name, "libc.so") || begins_with(name, "libc-") ||
                         begins_with(name, "libpthread");
    return is_c_librarys ? 1 : 2;
}

static bool is_c_librarys(uintptr_t handler)
{
    return yarn_proc_maps_read(YARN_FILE_CWD, "/proc/self/maps", judge_mapping, &handler) == 1;
}

/* The C library handles the signal by itself once the host cancels a thread (2.33 and older: from
 * the start); it passes over what timers send, until our handler is before its own again. */
static bool can_take(struct yarn_session *session, bool on_alternate)
{
    struct yarn_timer_sampler *timer = session->timer;
    uintptr_t there = yarn_signal_handler();
    uintptr_t own = (uintptr_t)yarn_timer_sample_on_signal;
    if (there && there == timer->foreign)
        return false;
    bool is_free = !there || there == own || is_c_librarys(there);
    timer->foreign = is_free ? 0 : there;
    return is_free && !yarn_signal_take(yarn_timer_sample_on_signal, there, on_alternate);
}

static uint32_t find_holds(struct yarn_session *session)
{
    /* Valgrind counts as a tracer: where a signal comes while a stack grows, it ends the program.
     */
    bool is_traced =
        yarn_valgrind_is_processor() || yarn_process_thread_is_traced(session->request->pid);
    uint32_t holds = is_traced ? YARN_SESSION_HOLD_TRACER : 0;
    if (yarn_alternate_stack_is_small())
        return holds | YARN_SESSION_HOLD_STACK;
    bool on_alternate = yarn_signal_host_wants_alternate();
    if (!yarn_signal_is_taken(yarn_timer_sample_on_signal, on_alternate) &&
        !can_take(session, on_alternate))
        holds |= YARN_SESSION_HOLD_SIGNAL;
    return holds;
}

/* ---- running ---- */

static bool is_running(const struct yarn_timer_sampler *timer)
{
    return timer->is_enabled && !timer->holds;
}

static void arm(struct yarn_session *session)
{
    struct yarn_timer_sampler *timer = session->timer;
    int err = yarn_timer_threads_scan(&timer->threads, true, NULL);
    if (err)
        yarn_probe_fail(session, "the list of threads could not be read", err);
    session->report.nr_threads = (size_t)timer->threads.nr_found;
    session->report.nr_rings = (size_t)timer->threads.nr_found;
}

static void check_signals_timer(struct yarn_session *session)
{
    struct yarn_timer_sampler *timer = session->timer;
    bool was_held = timer->holds;
    if (!timer->is_enabled)
        return;
    timer->holds = find_holds(session);
    session->report.holds |= timer->holds;
    if (was_held == (timer->holds != 0))
        return;
    session->soon_ns = 0;
    if (timer->holds) {
        yarn_timer_threads_quiet(&timer->threads);
        yarn_host_clock_start(&timer->held);
    } else {
        yarn_host_clock_stop(&timer->held);
        arm(session);
    }
}

static void enable_timer(struct yarn_session *session)
{
    struct yarn_timer_sampler *timer = session->timer;
    if (timer->is_enabled)
        return;
    timer->is_enabled = true;
    timer->holds = 0;
    yarn_host_clock_start(&timer->clock);
    check_signals_timer(session);
    if (!timer->holds)
        arm(session);
}

/* The three phases of timer_sample.h. A write of a stopped thread may come late, but not before its
 * buffer is there again. */
static void disable_timer(struct yarn_session *session)
{
    struct yarn_timer_sampler *timer = session->timer;
    if (is_running(timer))
        yarn_timer_threads_quiet(&timer->threads);
    timer->is_enabled = false;
    yarn_host_clock_stop(&timer->held);
    timer->is_quiet = yarn_timer_threads_wait(&timer->threads);
    yarn_host_clock_stop(&timer->clock);
}

static void update_threads(struct yarn_session *session,
                           const struct yarn_record_listener *listener)
{
    struct yarn_timer_sampler *timer = session->timer;
    uint64_t nr_before = timer->threads.nr_found;
    int err = yarn_timer_threads_scan(&timer->threads, false, listener);
    if (err)
        yarn_probe_fail(session, "the list of threads could not be read", err);
    bool has_new = timer->threads.nr_found != nr_before;
    timer->needs_look |= has_new;
    yarn_session_scan_soon(session, has_new);
    session->report.nr_refused_threads = timer->threads.nr_refused;
    session->report.thread_refusal = timer->threads.refusal;
}

/* What is mapped now matters to the samples of now: an idle host costs no look. */
static void scan_mappings(struct yarn_session *session, const struct yarn_record_listener *listener)
{
    struct yarn_timer_sampler *timer = session->timer;
    uint32_t nr_unbounded = atomic_load(&timer->terms.nr_unbounded);
    timer->needs_look |= nr_unbounded != timer->nr_unbounded_seen;
    timer->nr_unbounded_seen = nr_unbounded;
    if (!session->merge.count)
        return;
    enum yarn_mappings_need need = timer->needs_look ? YARN_MAPPINGS_NEEDED : YARN_MAPPINGS_USUAL;
    if (!is_running(timer))
        need = YARN_MAPPINGS_LAST;
    if (yarn_mappings_refresh(&timer->mappings, need, session->request->interval_ns, listener))
        timer->needs_look = false;
}

static void gather_timer(struct yarn_session *session, const struct yarn_record_listener *listener)
{
    struct yarn_timer_sampler *timer = session->timer;
    check_signals_timer(session);
    if (atomic_load(&timer->terms.nr_let_in) >= LET_IN_MANY)
        session->report.holds |= YARN_SESSION_HOLD_MASK;
    if (is_running(timer))
        update_threads(session, listener);
    yarn_timer_threads_gather(&timer->threads, &session->merge, listener);
    scan_mappings(session, listener);
}

/* Any thread but the first, which has no such descriptor. */
static int sentinel_timer(struct yarn_session *session, size_t nr_gone)
{
    struct yarn_timer_sampler *timer = session->timer;
    pid_t pid = session->request->pid;
    (void)nr_gone;
    if (timer->sentinel >= 0 && yarn_process_has_thread(pid, timer->sentinel_tid))
        return timer->sentinel;
    yarn_file_close(timer->sentinel);
    timer->sentinel_tid = yarn_timer_threads_other(&timer->threads, pid);
    timer->sentinel = timer->sentinel_tid ? yarn_thread_end_open(timer->sentinel_tid) : -1;
    return timer->sentinel;
}

static bool call_at_ticks_timer(struct yarn_session *session, _Atomic uint32_t *word)
{
    struct yarn_timer_sampler *timer = session->timer;
    bool can_call = word && is_running(timer) && yarn_timer_threads_have_timers(&timer->threads);
    atomic_store(&timer->terms.called, can_call ? word : NULL);
    return can_call;
}

static struct yarn_perf_count count_timer(const struct yarn_session *session, uint32_t number)
{
    const struct yarn_timer_sampler *timer = session->timer;
    if (number != timer->event)
        return (struct yarn_perf_count){.count = 0};
    return yarn_host_clock_count(&timer->clock, yarn_timer_threads_sums(&timer->threads).nr_lost);
}

/* While all of the process is held, no thread of it is counted beside that. */
static uint64_t blocked_ns_timer(const struct yarn_session *session)
{
    const struct yarn_timer_sampler *timer = session->timer;
    uint64_t withheld = atomic_load(&timer->terms.nr_withheld) * timer->terms.period_ns;
    return withheld + yarn_host_clock_ns(&timer->held) +
           yarn_timer_threads_sums(&timer->threads).blocked_ns;
}

static size_t ring_bytes_timer(const struct yarn_session *session)
{
    return yarn_timer_threads_sums(&session->timer->threads).bytes;
}

static void close_timer(struct yarn_session *session)
{
    struct yarn_timer_sampler *timer = session->timer;
    if (!timer)
        return;
    disable_timer(session);
    yarn_timer_threads_close(&timer->threads);
    yarn_file_close(timer->sentinel);
    timer->sentinel = -1;
    /* Otherwise a thread that was stopped inside its handler may look something up yet. */
    if (timer->is_quiet)
        yarn_mappings_close(&timer->mappings);
    session->timer = NULL;
}

const struct yarn_attachment yarn_attach_timer = {
    .sampler = YARN_SAMPLER_TIMER,
    .strategy = YARN_STRATEGY_PER_THREAD,
    .open = open_timer,
    .enable = enable_timer,
    .disable = disable_timer,
    .check_signals = check_signals_timer,
    .gather = gather_timer,
    .sentinel = sentinel_timer,
    .call_at_ticks = call_at_ticks_timer,
    .count = count_timer,
    .blocked_ns = blocked_ns_timer,
    .ring_bytes = ring_bytes_timer,
    .close = close_timer,
};
