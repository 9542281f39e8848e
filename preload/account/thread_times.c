/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/account/thread_times.h"

#include "core/sys/clock.h"
#include "core/sys/process.h"

enum { THREADS_MAX = 1024, THREADS_A_SECOND = 64, AT_ONCE = 32 };

bool yarn_thread_times_read(pid_t tid, struct yarn_dump_thread_time *ret_row)
{
    struct yarn_thread_times times;
    if (!yarn_process_thread_times(tid, &times))
        return false;
    *ret_row = (struct yarn_dump_thread_time){
        .time_ns = yarn_clock_ns(YARN_TIME_MONOTONIC),
        .tid = (uint32_t)tid,
        .run_ns = times.run_ns,
        .wait_ns = times.wait_ns,
        .nr_runs = times.nr_runs,
    };
    return true;
}

void yarn_thread_times_write(struct yarn_dump_writer *writer, pid_t pid, pid_t reader_tid,
                             bool is_last)
{
    pid_t tids[THREADS_MAX];
    struct yarn_dump_thread_time rows[AT_ONCE];
    size_t count = 0;
    int listed = yarn_process_own_threads(pid, tids, THREADS_MAX);
    if (listed > THREADS_A_SECOND && !is_last)
        return;
    for (int i = 0; i < listed && i < THREADS_MAX; i++) {
        if (count == AT_ONCE) {
            yarn_dump_write_thread_times(writer, rows, count);
            count = 0;
        }
        if (tids[i] != reader_tid && yarn_thread_times_read(tids[i], &rows[count]))
            count++;
    }
    if (count)
        yarn_dump_write_thread_times(writer, rows, count);
}
