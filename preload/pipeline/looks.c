/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/pipeline/looks.h"

#include "core/base/pages.h"
#include "core/sys/blocked.h"
#include "core/sys/clock.h"
#include "core/sys/file.h"
#include "core/sys/process.h"

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

/* ---- what is stored ---- */

static void write(void *self, const struct yarn_wait *wait, uint64_t weight_ns, uint64_t time_ns)
{
    struct yarn_looks *looks = self;
    const struct yarn_wait_place *place = &wait->place;
    if (!yarn_process_dump_begin(looks->dump))
        return;
    struct yarn_dump_writer *writer = looks->dump->writer;
    bool is_known = place->epoch == yarn_dump_writer_epoch(writer);
    struct yarn_dump_sample sample = {
        .time_ns = time_ns,
        .weight = weight_ns,
        .event = looks->event,
        .tid = wait->tid,
        .cpu = wait->cpu,
        .stack = is_known ? place->stack : YARN_DUMP_NONE,
        .stack_end = is_known ? place->stack_end : YARN_DUMP_STACK_NONE,
        .address = place->address,
        .raw = yarn_span_of(&place->holder, place->holder ? sizeof place->holder : 0),
    };
    yarn_dump_write_sample(writer, &sample);
    yarn_account_sample(looks->dump->account, &sample, place->is_leaf_unknown);
}

static void forget(void *self, struct yarn_wait *wait)
{
    struct yarn_looks *looks = self;
    looks->nr_files -= wait->fd >= 0;
    yarn_file_close(wait->fd);
    wait->fd = -1;
}

int yarn_looks_open(struct yarn_looks *looks, struct yarn_process_dump *dump,
                    struct yarn_unwinder *unwinder, struct yarn_stack_store *stacks)
{
    const struct yarn_waits_listener listener = {.self = looks, .write = write, .forget = forget};
    *looks = (struct yarn_looks){
        .dump = dump,
        .unwinder = unwinder,
        .stacks = stacks,
        .event = (uint32_t)dump->job->nr_perf_events,
        .pid = (uint32_t)dump->session->request->pid,
        .reader_tid = (uint32_t)dump->session->own_tid,
    };
    int err = yarn_waits_open(&looks->waits, dump->looked_at->spec.period, &listener);
    looks->windows = yarn_pages_map(sizeof *looks->windows);
    looks->queued = yarn_pages_map(QUEUED_BYTES);
    if (!err && (!looks->windows || !looks->queued))
        err = -ENOMEM;
    if (err)
        yarn_looks_close(looks);
    return err;
}

void yarn_looks_close(struct yarn_looks *looks)
{
    yarn_waits_close(&looks->waits);
    yarn_pages_unmap(looks->windows, sizeof *looks->windows);
    yarn_pages_unmap(looks->queued, QUEUED_BYTES);
    *looks = YARN_LOOKS_CLOSED;
}

/* ---- one look ---- */

/* -ESRCH: the thread has gone; -EAGAIN: it is awake; all else is a refusal. */
static int read_blocked(struct yarn_looks *looks, struct yarn_wait *wait,
                        struct yarn_blocked *ret_blocked)
{
    bool is_kept = wait->fd >= 0;
    int fd = is_kept ? wait->fd : yarn_blocked_open((pid_t)wait->tid);
    /* It has gone, or /proc is another namespace's, or there is none. */
    if (fd == -ENOENT && !yarn_process_has_thread((pid_t)looks->pid, (pid_t)wait->tid))
        return -ESRCH;
    if (fd < 0)
        return fd;
    int err = yarn_blocked_read(fd, ret_blocked) ? 0 : -EAGAIN;
    if (!is_kept && looks->nr_files < FILES_MAX && yarn_process_has_spare_files(FILES_SPARE)) {
        wait->fd = fd;
        looks->nr_files++;
    } else if (!is_kept) {
        yarn_file_close(fd);
    }
    return err;
}

static bool is_ours(const struct yarn_looks *looks, uint32_t tid)
{
    return yarn_waits_has(&looks->waits, tid) ||
           yarn_process_has_thread((pid_t)looks->pid, (pid_t)tid);
}

static void note_lock(const struct yarn_looks *looks, uint32_t waiter,
                      const struct yarn_blocked_lock *lock, struct yarn_wait_place *place)
{
    if (!lock->holder || lock->holder == waiter || !is_ours(looks, lock->holder))
        return;
    place->address = lock->address;
    place->holder = lock->holder;
}

/* Names what is new, which takes a while: the thread may go on meanwhile. */
static bool intern(struct yarn_looks *looks, const struct yarn_wait *wait,
                   struct yarn_wait_place *place)
{
    if (!yarn_process_dump_begin(looks->dump))
        return false;
    struct yarn_dump_writer *writer = looks->dump->writer;
    struct yarn_queued *queued = looks->queued;
    queued->tid = wait->tid;
    queued->time_ns = now();
    struct yarn_stack_result stack = yarn_stacks_of(looks->stacks, writer, NULL, queued);
    place->stack = stack.stack;
    place->stack_end = yarn_stacks_end(queued->frames->end);
    place->is_leaf_unknown = stack.is_leaf_unknown;
    place->epoch = yarn_dump_writer_epoch(writer);
    return true;
}

static void look(struct yarn_looks *looks, struct yarn_wait *wait)
{
    struct yarn_blocked blocked;
    struct yarn_wait_place place = {.stack = YARN_DUMP_NONE};
    uint64_t from_ns = now();
    int err = read_blocked(looks, wait, &blocked);
    if (err == -EAGAIN)
        yarn_waits_miss(&looks->waits, wait, from_ns);
    else if (err && err != -ESRCH && !looks->refusal)
        looks->refusal = err;
    if (err)
        return;
    looks->queued->nr_kernel = 0;
    yarn_unwinder_unwind_blocked(looks->unwinder, blocked.ip, blocked.sp, looks->windows,
                                 yarn_queued_frames(looks->queued));
    struct yarn_blocked_lock lock = yarn_blocked_lock_of(&blocked);
    uint64_t until_ns = now();
    note_lock(looks, wait->tid, &lock, &place);
    if (intern(looks, wait, &place))
        yarn_waits_look(&looks->waits, wait, from_ns, until_ns, &place);
}

/* ---- all of them ---- */

/* Those that are there already. */
static void add_threads(struct yarn_looks *looks, uint64_t now_ns)
{
    pid_t *tids = yarn_pages_map(THREADS_LISTED_MAX * sizeof *tids);
    if (!tids)
        return;
    int count = yarn_process_own_threads((pid_t)looks->pid, tids, THREADS_LISTED_MAX);
    for (int i = 0; i < count && i < THREADS_LISTED_MAX; i++)
        if (tids[i] != (pid_t)looks->reader_tid)
            yarn_waits_add(&looks->waits, (uint32_t)tids[i], now_ns);
    yarn_pages_unmap(tids, THREADS_LISTED_MAX * sizeof *tids);
}

void yarn_looks_start(struct yarn_looks *looks)
{
    if (!yarn_looks_are_open(looks) || looks->waits.is_on)
        return;
    uint64_t now_ns = now();
    yarn_waits_start(&looks->waits, now_ns);
    add_threads(looks, now_ns);
}

static void account(const struct yarn_looks *looks, uint64_t now_ns)
{
    uint64_t *value = looks->dump->account->totals.value;
    value[YARN_DUMP_TOTAL_WAITED_NS] = yarn_waits_sum_ns(&looks->waits, now_ns);
    value[YARN_DUMP_TOTAL_LOOKS] = looks->waits.nr_seen;
    value[YARN_DUMP_TOTAL_LOOKS_VOID] = looks->waits.nr_void;
}

void yarn_looks_stop(struct yarn_looks *looks, uint64_t now_ns)
{
    if (!yarn_looks_are_open(looks))
        return;
    yarn_waits_stop(&looks->waits, now_ns);
    account(looks, now_ns);
}

void yarn_looks_on_record(struct yarn_looks *looks, const struct yarn_typed_record *record)
{
    struct yarn_waits *waits = &looks->waits;
    if (!yarn_looks_are_open(looks))
        return;
    if (record->type == YARN_RECORD_LOST)
        yarn_waits_lose(waits, record->perf.time);
    if (record->type == YARN_RECORD_EXIT && record->task.pid == looks->pid)
        yarn_waits_on_end(waits, record->task.tid, record->perf.time);
    if (record->type != YARN_RECORD_SWITCH || record->perf.pid != looks->pid ||
        record->perf.tid == looks->reader_tid)
        return;
    if (record->switched.is_out)
        yarn_waits_on_out(waits, record->perf.tid, record->perf.time,
                          record->switched.is_preempted);
    else
        yarn_waits_on_in(waits, record->perf.tid, record->perf.time, record->perf.cpu);
}

static bool run_round(struct yarn_looks *looks, uint64_t now_ns)
{
    struct yarn_wait *wait = NULL;
    uint64_t end_ns = now_ns + ROUND_MOST_NS;
    yarn_waits_begin_round(&looks->waits, now_ns);
    for (unsigned i = 1; (wait = yarn_waits_next(&looks->waits, wait)); i++) {
        if (i % LOOKS_A_CLOCK == 0 && now() >= end_ns)
            break;
        look(looks, wait);
    }
    return yarn_waits_end_round(&looks->waits, wait, now());
}

/* Numbers of stacks are of no use in a new epoch: places are looked up anew. */
static void follow_epoch(struct yarn_looks *looks)
{
    const struct yarn_dump_writer *writer = looks->dump->writer;
    uint32_t epoch = writer ? yarn_dump_writer_epoch(writer) : looks->epoch;
    if (epoch != looks->epoch)
        yarn_waits_look_again(&looks->waits);
    looks->epoch = epoch;
}

bool yarn_looks_attend(struct yarn_looks *looks, uint64_t seen_ns)
{
    if (!yarn_looks_are_open(looks) || !looks->waits.is_on)
        return false;
    yarn_waits_settle(&looks->waits, seen_ns);
    account(looks, seen_ns);
    uint64_t now_ns = now();
    if (now_ns < looks->waits.due_ns)
        return false;
    follow_epoch(looks);
    return run_round(looks, now_ns);
}

uint64_t yarn_looks_due_ns(const struct yarn_looks *looks, bool is_asleep)
{
    if (!yarn_looks_are_open(looks))
        return UINT64_MAX;
    return is_asleep ? looks->waits.grown_ns : looks->waits.due_ns;
}

void yarn_looks_wake(struct yarn_looks *looks)
{
    if (yarn_looks_are_open(looks) && looks->waits.is_on)
        yarn_waits_skip(&looks->waits, now());
}
