/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/pipeline/off_cpu.h"

#include "core/base/pages.h"
#include "core/sys/blocked.h"
#include "core/sys/clock.h"
#include "core/sys/file.h"
#include "core/sys/process.h"
#include "recording/dump/preamble.h"

enum {
    FILES_MAX = 256, /* kept open: opening one costs five times as much as reading it */
    FILES_SPARE = 32,
    THREADS_LISTED_MAX = 4096,
    LOOKS_A_CLOCK = 16, /* looks before the clock is asked whether the round takes too long */
};

#define ROUND_MOST_NS (5 * YARN_NS_PER_MS)
#define QUEUED_BYTES (sizeof(struct yarn_queued) + sizeof(struct yarn_frames))

static uint64_t now(void)
{
    return yarn_clock_ns(YARN_TIME_MONOTONIC);
}

static const struct yarn_target *target_of(const struct yarn_off_cpu *off_cpu)
{
    return off_cpu->dump->session->request->target;
}

static bool has_thread(const struct yarn_off_cpu *off_cpu, uint32_t tid)
{
    return yarn_target_has_thread(target_of(off_cpu), off_cpu->dump->session->request->pid,
                                  (pid_t)tid);
}

/* ---- what is stored ---- */

static bool begin_dump(struct yarn_off_cpu *off_cpu)
{
    return off_cpu->begin_dump ? off_cpu->begin_dump(off_cpu->self)
                               : yarn_process_dump_begin(off_cpu->dump);
}

static void write(void *self, const struct yarn_wait *wait, uint64_t weight_ns, uint64_t time_ns)
{
    struct yarn_off_cpu *off_cpu = self;
    const struct yarn_wait_place *place = &wait->place;
    if (!begin_dump(off_cpu))
        return;
    struct yarn_dump_writer *writer = off_cpu->dump->writer;
    bool is_known = place->epoch == yarn_dump_writer_epoch(writer);
    struct yarn_sample sample = {
        .time_ns = time_ns,
        .weight = weight_ns,
        .event = (uint32_t)off_cpu->dump->job->nr_perf_events,
        .tid = wait->tid,
        .cpu = wait->cpu,
        .stack = is_known ? place->stack : YARN_DUMP_NONE,
        .stack_end = is_known ? place->stack_end : YARN_DUMP_STACK_NONE,
        .address = place->address,
        .raw = {(const uint8_t *)&place->holder, place->holder ? sizeof place->holder : 0},
    };
    yarn_dump_write_sample(writer, &sample);
    yarn_account_sample(off_cpu->dump->account, &sample, place->is_leaf_unknown);
}

static void release(void *self, struct yarn_wait *wait)
{
    struct yarn_off_cpu *off_cpu = self;
    off_cpu->nr_files -= wait->fd >= 0;
    yarn_file_close(wait->fd);
    wait->fd = -1;
}

static void open_event(struct yarn_off_cpu *off_cpu, const char *why_not)
{
    struct yarn_process_dump *dump = off_cpu->dump;
    off_cpu->event = (struct yarn_event_status){
        .spec = dump->job->events.specs[dump->job->nr_perf_events],
        .format = yarn_span_of_text(YARN_OFF_CPU_FORMAT),
        .reason = why_not,
        .error = why_not ? EOPNOTSUPP : 0,
    };
    dump->off_cpu_event = &off_cpu->event;
    if (why_not)
        YARN_WARN(dump->messages, "%s: %s", off_cpu->event.spec.name, why_not);
}

int yarn_off_cpu_open(struct yarn_off_cpu *off_cpu, struct yarn_process_dump *dump,
                      struct yarn_unwinder *unwinder, struct yarn_stack_store *stacks,
                      const char *why_not)
{
    const struct yarn_waits_listener listener = {
        .self = off_cpu, .write = write, .release = release};
    *off_cpu = (struct yarn_off_cpu){
        .dump = dump,
        .unwinder = unwinder,
        .stacks = stacks,
    };
    if (dump->job->nr_perf_events == dump->job->events.count)
        return 0;
    open_event(off_cpu, why_not);
    if (why_not)
        return 0;
    int err = yarn_waits_open(&off_cpu->waits, off_cpu->event.spec.period, &listener);
    off_cpu->windows = yarn_pages_map(sizeof *off_cpu->windows);
    off_cpu->queued = yarn_pages_map(QUEUED_BYTES);
    if (!err && (!off_cpu->windows || !off_cpu->queued))
        err = -ENOMEM;
    if (err)
        yarn_off_cpu_close(off_cpu);
    return err;
}

void yarn_off_cpu_close(struct yarn_off_cpu *off_cpu)
{
    yarn_waits_close(&off_cpu->waits);
    yarn_pages_unmap(off_cpu->windows, sizeof *off_cpu->windows);
    yarn_pages_unmap(off_cpu->queued, QUEUED_BYTES);
    off_cpu->windows = NULL;
    off_cpu->queued = NULL;
}

/* ---- one look ---- */

/* -ESRCH: the thread has gone; -EAGAIN: it is awake; all else is a refusal. */
static int read_blocked(struct yarn_off_cpu *off_cpu, struct yarn_wait *wait,
                        struct yarn_blocked *ret_blocked)
{
    bool is_kept = wait->fd >= 0;
    int fd = is_kept ? wait->fd : yarn_blocked_open(target_of(off_cpu), (pid_t)wait->tid);
    /* It has gone, or /proc is another namespace's, or there is none. */
    if (fd == -ENOENT && !has_thread(off_cpu, wait->tid))
        return -ESRCH;
    if (fd < 0)
        return fd;
    int err = yarn_blocked_read(fd, ret_blocked);
    if (!is_kept && off_cpu->nr_files < FILES_MAX && yarn_process_has_spare_files(FILES_SPARE)) {
        wait->fd = fd;
        off_cpu->nr_files++;
    } else if (!is_kept) {
        yarn_file_close(fd);
    }
    return err;
}

static void note_lock(const struct yarn_off_cpu *off_cpu, uint32_t waiter,
                      const struct yarn_blocked_lock *lock, struct yarn_wait_place *place)
{
    if (!lock->holder || lock->holder == waiter ||
        !(yarn_waits_has(&off_cpu->waits, lock->holder) || has_thread(off_cpu, lock->holder)))
        return;
    place->address = lock->address;
    place->holder = lock->holder;
}

/* Names what is new, which takes a while: the thread may go on meanwhile. */
static bool intern(struct yarn_off_cpu *off_cpu, const struct yarn_wait *wait,
                   struct yarn_wait_place *place)
{
    if (!begin_dump(off_cpu))
        return false;
    struct yarn_dump_writer *writer = off_cpu->dump->writer;
    struct yarn_queued *queued = off_cpu->queued;
    queued->sample.tid = wait->tid;
    queued->sample.time_ns = now();
    place->is_leaf_unknown = yarn_stacks_intern(off_cpu->stacks, writer, NULL, queued);
    place->stack = queued->sample.stack;
    place->stack_end = queued->sample.stack_end;
    place->epoch = yarn_dump_writer_epoch(writer);
    return true;
}

static bool read_clock(const struct yarn_off_cpu *off_cpu, uint32_t tid, uint64_t *ret_cpu_ns)
{
    return yarn_target_thread_is_alive(target_of(off_cpu), off_cpu->dump->session->request->pid,
                                       (pid_t)tid, ret_cpu_ns);
}

static bool is_still_at(const struct yarn_off_cpu *off_cpu, const struct yarn_wait *wait)
{
    uint64_t cpu_ns;
    return read_clock(off_cpu, wait->tid, &cpu_ns) && cpu_ns == wait->cpu_ns;
}

/* For example of a process that forbids to be read by others (PR_SET_DUMPABLE), or without a /proc
 * of its namespace: what was opened before stays readable. How long it waits is known by its
 * switches. */
static void pass_over(struct yarn_off_cpu *off_cpu, struct yarn_wait *wait, int refusal)
{
    const struct yarn_wait_place nowhere = {
        .stack = YARN_DUMP_NONE, .stack_end = YARN_DUMP_STACK_NONE, .is_leaf_unknown = true};
    uint64_t now_ns = now();
    if (!off_cpu->refusal)
        YARN_WARN(off_cpu->dump->messages, "off-cpu: some threads could not be looked at: %s",
                  refusal == -EMFILE || refusal == -ENFILE
                      ? "there are no descriptors for it"
                      : "their files in /proc are not readable");
    off_cpu->refusal = refusal;
    if (wait->state == YARN_WAIT_BLOCKED && !off_cpu->waits.is_by_clock)
        yarn_waits_add_look(&off_cpu->waits, wait, now_ns, now_ns, &nowhere);
}

static void sample_thread(struct yarn_off_cpu *off_cpu, struct yarn_wait *wait)
{
    struct yarn_waits *waits = &off_cpu->waits;
    uint64_t cpu_ns;
    struct yarn_blocked blocked;
    struct yarn_wait_place place = {.stack = YARN_DUMP_NONE};
    /* Why the state by itself: a look needs that the thread stands meanwhile, which the waits of a
     * thread that is switched each few us are too short for; they count, and the next look that
     * succeeds says where. */
    if (waits->is_by_clock &&
        (!read_clock(off_cpu, wait->tid, &cpu_ns) || yarn_waits_stands(waits, wait, cpu_ns) ||
         yarn_target_thread_is_awake(target_of(off_cpu), (pid_t)wait->tid)))
        return;
    uint64_t from_ns = now();
    int err = read_blocked(off_cpu, wait, &blocked);
    if (err == -EAGAIN && waits->is_by_clock)
        yarn_waits_void_look(waits, wait);
    else if (err == -EAGAIN)
        yarn_waits_miss(waits, wait, from_ns);
    else if (err && err != -ESRCH)
        pass_over(off_cpu, wait, err);
    if (err)
        return;
    off_cpu->queued->nr_kernel = 0;
    yarn_unwinder_unwind_blocked(off_cpu->unwinder, blocked.ip, blocked.sp, off_cpu->windows,
                                 yarn_queued_frames(off_cpu->queued));
    struct yarn_blocked_lock lock = yarn_blocked_lock_of(target_of(off_cpu), &blocked);
    uint64_t until_ns = now();
    note_lock(off_cpu, wait->tid, &lock, &place);
    if (waits->is_by_clock && !is_still_at(off_cpu, wait))
        yarn_waits_void_look(waits, wait);
    else if (intern(off_cpu, wait, &place))
        yarn_waits_add_look(&off_cpu->waits, wait, from_ns, until_ns, &place);
}

/* ---- all of them ---- */

/* Adds the threads that are there already. */
static void add_threads(struct yarn_off_cpu *off_cpu, uint64_t now_ns)
{
    pid_t *tids = yarn_pages_map(THREADS_LISTED_MAX * sizeof *tids);
    if (!tids)
        return;
    size_t count = yarn_session_list_threads(off_cpu->dump->session, tids, THREADS_LISTED_MAX);
    for (size_t i = 0; i < count; i++)
        yarn_waits_add(&off_cpu->waits, (uint32_t)tids[i], now_ns);
    yarn_pages_unmap(tids, THREADS_LISTED_MAX * sizeof *tids);
}

void yarn_off_cpu_start(struct yarn_off_cpu *off_cpu)
{
    if (!off_cpu->windows || (off_cpu->waits.is_on && !off_cpu->waits.is_by_clock))
        return;
    uint64_t now_ns = now();
    yarn_waits_start(&off_cpu->waits, now_ns);
    add_threads(off_cpu, now_ns);
}

void yarn_off_cpu_start_at_birth(struct yarn_off_cpu *off_cpu, uint64_t since_ns)
{
    if (off_cpu->windows)
        yarn_waits_start(&off_cpu->waits, since_ns);
}

void yarn_off_cpu_go_by_clock(struct yarn_off_cpu *off_cpu)
{
    if (off_cpu->windows)
        yarn_waits_go_by_clock(&off_cpu->waits, now());
}

static void account(const struct yarn_off_cpu *off_cpu, uint64_t now_ns)
{
    uint64_t *value = off_cpu->dump->account->totals.value;
    value[YARN_DUMP_TOTAL_WAITED_NS] = yarn_waits_sum_ns(&off_cpu->waits, now_ns);
    value[YARN_DUMP_TOTAL_LOOKS] = off_cpu->waits.nr_seen;
    value[YARN_DUMP_TOTAL_LOOKS_VOID] = off_cpu->waits.nr_void;
}

void yarn_off_cpu_stop(struct yarn_off_cpu *off_cpu, uint64_t now_ns)
{
    if (!off_cpu->windows)
        return;
    yarn_waits_stop(&off_cpu->waits, now_ns);
    account(off_cpu, now_ns);
}

static void note_period(struct yarn_off_cpu *off_cpu)
{
    struct yarn_process_dump *dump = off_cpu->dump;
    off_cpu->event.spec.period = off_cpu->waits.period_ns;
    YARN_WARN(dump->messages,
              "off-cpu looks each %lu ms from now on: there were more than 2000 looks a second",
              off_cpu->event.spec.period / YARN_NS_PER_MS);
    if (dump->writer)
        yarn_preamble_write_off_cpu(dump->writer, dump->job, &off_cpu->event);
}

static size_t run_round(struct yarn_off_cpu *off_cpu, uint64_t now_ns)
{
    size_t count = 0;
    struct yarn_wait *wait = NULL;
    uint64_t end_ns = now_ns + ROUND_MOST_NS;
    if (off_cpu->waits.is_by_clock)
        add_threads(off_cpu, now_ns);
    yarn_waits_begin_round(&off_cpu->waits, now_ns);
    while ((wait = yarn_waits_next(&off_cpu->waits, wait))) {
        if (++count % LOOKS_A_CLOCK == 0 && now() >= end_ns)
            break;
        sample_thread(off_cpu, wait);
    }
    if (yarn_waits_end_round(&off_cpu->waits, wait, now()))
        note_period(off_cpu);
    return count;
}

void yarn_off_cpu_slow_down(struct yarn_off_cpu *off_cpu, uint64_t period_ns)
{
    if (!off_cpu->windows || off_cpu->waits.period_ns >= period_ns)
        return;
    off_cpu->waits.period_ns = period_ns;
    off_cpu->waits.nr_looks = 0;
    note_period(off_cpu);
}

/* Numbers of stacks are of no use in a new epoch: places are looked up anew. */
static void follow_epoch(struct yarn_off_cpu *off_cpu)
{
    const struct yarn_dump_writer *writer = off_cpu->dump->writer;
    uint32_t epoch = writer ? yarn_dump_writer_epoch(writer) : off_cpu->epoch;
    if (epoch != off_cpu->epoch)
        yarn_waits_repeat_looks(&off_cpu->waits);
    off_cpu->epoch = epoch;
}

size_t yarn_off_cpu_sample_due(struct yarn_off_cpu *off_cpu, uint64_t seen_ns)
{
    if (!off_cpu->waits.is_on)
        return 0;
    yarn_waits_update(&off_cpu->waits, seen_ns);
    account(off_cpu, seen_ns);
    uint64_t now_ns = now();
    if (now_ns < off_cpu->waits.due_ns)
        return 0;
    follow_epoch(off_cpu);
    return run_round(off_cpu, now_ns);
}

void yarn_off_cpu_wake(struct yarn_off_cpu *off_cpu)
{
    if (off_cpu->waits.is_on)
        yarn_waits_skip(&off_cpu->waits, now());
}
