/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/account/thread_snapshot.h"

#include "core/sys/clock.h"
#include "core/sys/process.h"
#include "core/sys/timer.h"

enum { COMM_BYTES = 64, NOTES_MANY = YARN_THREAD_ENDS_MAX / 16 };

/* Longer than it takes a record to become visible. */
#define LOOK_AGAIN_NS YARN_NS_PER_MS

/* When the thread began and by whom, where that was reported. */
static void set_birth(const struct yarn_thread_snapshot *snapshot, struct yarn_dump_thread *thread)
{
    size_t at = thread->tid % YARN_SNAPSHOT_MAX;
    if (snapshot->born[at].thread.tid != thread->tid || snapshot->born[at].end.tid ||
        thread->tid == (uint32_t)snapshot->session->request->pid)
        return;
    thread->time_ns = snapshot->born[at].thread.time_ns;
    thread->parent_tid = snapshot->born[at].thread.parent_tid;
}

static void write_over(const struct yarn_thread_snapshot *snapshot, struct yarn_dump_writer *writer)
{
    for (size_t i = 0; snapshot->has_ended && i < YARN_SNAPSHOT_MAX; i++) {
        if (!snapshot->born[i].end.tid)
            continue;
        yarn_dump_write_thread(writer, &snapshot->born[i].thread);
        yarn_dump_write_thread_end(writer, &snapshot->born[i].end);
    }
}

void yarn_thread_snapshot_begin(const struct yarn_thread_snapshot *snapshot,
                                struct yarn_dump_writer *writer, uint64_t process_start_ns)
{
    pid_t tids[YARN_SNAPSHOT_MAX];
    /* Who follows another process knows its threads: one that is listed may be dying, and its end
     * reported before. */
    bool is_own = snapshot->session->request->target->kind == YARN_TARGET_OWN;
    size_t count =
        is_own ? yarn_session_list_threads(snapshot->session, tids, YARN_SNAPSHOT_MAX) : 0;
    uint64_t now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    for (size_t i = 0; i < count; i++) {
        char comm[COMM_BYTES];
        yarn_target_thread_name(snapshot->session->request->target, tids[i], comm, sizeof comm);
        struct yarn_dump_thread thread = {
            .tid = (uint32_t)tids[i],
            .time_ns = tids[i] == snapshot->session->request->pid ? process_start_ns : now_ns,
            .comm = yarn_span_of_text(comm),
        };
        set_birth(snapshot, &thread);
        yarn_dump_write_thread(writer, &thread);
    }
    write_over(snapshot, writer);
}

void yarn_thread_snapshot_take(struct yarn_thread_snapshot *snapshot)
{
    snapshot->count =
        yarn_session_list_threads(snapshot->session, snapshot->tids, YARN_SNAPSHOT_MAX);
}

static void remove_tid(struct yarn_thread_snapshot *snapshot, pid_t tid)
{
    for (size_t i = 0; i < snapshot->count; i++)
        if (snapshot->tids[i] == tid)
            snapshot->tids[i] = snapshot->tids[--snapshot->count];
}

/* Kept for a dump that begins later. */
static void write_end(struct yarn_thread_snapshot *snapshot, struct yarn_dump_writer *writer,
                      const struct yarn_dump_thread_end *end)
{
    size_t at = end->tid % YARN_SNAPSHOT_MAX;
    if (writer) {
        yarn_dump_write_thread_end(writer, end);
    } else if (snapshot->born[at].thread.tid == end->tid) {
        snapshot->born[at].end = *end;
        snapshot->has_ended = true;
    }
}

static pid_t *noted(struct yarn_thread_snapshot *snapshot, pid_t tid)
{
    return &snapshot->noted[(size_t)tid % YARN_THREAD_ENDS_MAX];
}

static bool is_reported(struct yarn_thread_snapshot *snapshot, pid_t tid)
{
    return *noted(snapshot, tid) == -tid;
}

static void clear_note(struct yarn_thread_snapshot *snapshot, pid_t tid)
{
    if (*noted(snapshot, tid) == tid || is_reported(snapshot, tid))
        *noted(snapshot, tid) = 0;
}

void yarn_thread_snapshot_on_begin(struct yarn_thread_snapshot *snapshot,
                                   struct yarn_dump_writer *writer,
                                   const struct yarn_dump_thread *thread)
{
    size_t at = thread->tid % YARN_SNAPSHOT_MAX;
    clear_note(snapshot, (pid_t)thread->tid);
    snapshot->born[at].thread = *thread;
    snapshot->born[at].end.tid = 0;
    if (writer)
        yarn_dump_write_thread(writer, thread);
}

void yarn_thread_snapshot_on_exit(struct yarn_thread_snapshot *snapshot,
                                  struct yarn_dump_writer *writer, pid_t tid, uint64_t time_ns)
{
    struct yarn_dump_thread_end end = {.tid = (uint32_t)tid};
    remove_tid(snapshot, tid);
    if (is_reported(snapshot, tid))
        return;
    clear_note(snapshot, tid); /* another of the same number may come */
    if (!yarn_thread_ends_take(tid, time_ns, &end))
        end.cpu_ns = yarn_session_thread_cpu_ns(snapshot->session, tid);
    end.time_ns = time_ns;
    write_end(snapshot, writer, &end);
}

static bool is_alive(const struct yarn_thread_snapshot *snapshot, pid_t tid, uint64_t *ret_cpu_ns)
{
    const struct yarn_session_request *request = snapshot->session->request;
    return yarn_target_thread_is_alive(request->target, request->pid, tid, ret_cpu_ns);
}

static void write_note(struct yarn_thread_snapshot *snapshot, struct yarn_dump_writer *writer,
                       struct yarn_dump_thread_end end)
{
    pid_t tid = (pid_t)end.tid;
    if (!yarn_thread_ends_take(tid, end.time_ns, &end))
        return;
    remove_tid(snapshot, tid);
    *noted(snapshot, tid) = -tid;
    write_end(snapshot, writer, &end);
}

static void write_notes(struct yarn_thread_snapshot *snapshot, struct yarn_dump_writer *writer,
                        uint64_t until_ns)
{
    struct yarn_dump_thread_end end;
    uint64_t cpu_ns;
    size_t cursor = 0;
    while (yarn_thread_ends_next(&cursor, until_ns, &end))
        if (!is_alive(snapshot, (pid_t)end.tid, &cpu_ns))
            write_note(snapshot, writer, end);
}

/* Why not at the first scan at which one is gone: the kernel's records of its end, and of its
 * start, are in the rings by then, and read by the next drain. */
void yarn_thread_snapshot_read_notes(struct yarn_thread_snapshot *snapshot,
                                     struct yarn_dump_writer *writer, uint64_t drained_ns,
                                     bool is_due)
{
    struct yarn_dump_thread_end end;
    uint64_t cpu_ns;
    size_t cursor = 0;
    if ((!is_due && yarn_thread_ends_count() < NOTES_MANY) ||
        drained_ns < snapshot->looked_ns + LOOK_AGAIN_NS)
        return;
    while (yarn_thread_ends_next(&cursor, drained_ns, &end)) {
        pid_t tid = (pid_t)end.tid;
        if (*noted(snapshot, tid) == tid)
            write_note(snapshot, writer, end);
        else if (!is_alive(snapshot, tid, &cpu_ns))
            *noted(snapshot, tid) = tid;
    }
    snapshot->looked_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
}

void yarn_thread_snapshot_compare(struct yarn_thread_snapshot *snapshot,
                                  struct yarn_dump_writer *writer, uint64_t since_ns)
{
    pid_t tids[YARN_SNAPSHOT_MAX];
    size_t count = yarn_session_list_threads(snapshot->session, tids, YARN_SNAPSHOT_MAX);
    for (size_t i = 0; i < count; i++) {
        char comm[COMM_BYTES];
        remove_tid(snapshot, tids[i]);
        if (!writer)
            continue;
        yarn_target_thread_name(snapshot->session->request->target, tids[i], comm, sizeof comm);
        struct yarn_dump_thread_name name = {
            .tid = (uint32_t)tids[i],
            .time_ns = yarn_clock_ns(YARN_TIME_MONOTONIC),
            .comm = yarn_span_of_text(comm),
        };
        yarn_dump_write_thread_name(writer, &name);
    }
    write_notes(snapshot, writer, since_ns);
    /* A list that was cut off lacks threads that exist. */
    for (size_t i = 0; count < YARN_SNAPSHOT_MAX - 1 && i < snapshot->count; i++) {
        pid_t tid = snapshot->tids[i];
        struct yarn_dump_thread_end end = {.tid = (uint32_t)tid};
        end.time_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
        yarn_thread_ends_take(tid, UINT64_MAX, &end);
        *noted(snapshot, tid) = -tid; /* the kernel may report it, too, if it was just now */
        write_end(snapshot, writer, &end);
    }
    snapshot->count = 0;
}

void yarn_thread_snapshot_end(struct yarn_thread_snapshot *snapshot,
                              struct yarn_dump_writer *writer)
{
    pid_t tids[YARN_SNAPSHOT_MAX];
    size_t count = yarn_session_list_threads(snapshot->session, tids, YARN_SNAPSHOT_MAX);
    write_notes(snapshot, writer, UINT64_MAX);
    for (size_t i = 0; i < count; i++) {
        struct yarn_dump_thread_end end = {.tid = (uint32_t)tids[i]};
        uint64_t now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
        if (is_alive(snapshot, tids[i], &end.cpu_ns))
            end.time_ns = now_ns;
        else if (!yarn_thread_ends_take(tids[i], UINT64_MAX, &end)) /* reported before */
            continue;
        if (!is_reported(snapshot, tids[i]))
            write_end(snapshot, writer, &end);
    }
}
