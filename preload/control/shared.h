/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The recorder, as host threads and the reader thread of one process share it. Host threads give
 * commands in one word of memory and sleep until the reader has done them (requests.h): they share
 * no lock and no descriptor, and a host thread never accesses a ring, the dump or anything else of
 * the recording.
 */
#pragma once

#include <stdatomic.h>

#include "core/sys/thread.h"
#include "output/dump/types.h"
#include "preload/control/ids_queue.h"
#include "preload/control/marks.h"
#include "preload/control/requests.h"
#include "preload/control/state.h"
#include "preload/recording/recording.h"
#include "recording/account/child_times.h"
#include "recording/control/control_socket.h"
#include "recording/control/schedule.h"
#include "recording/dump/messages.h"
#include "recording/process/job.h"

/* In order of priority. The wait for the first three has no timeout. */
enum yarn_recorder_command {
    YARN_RECORDER_FOLLOW_IDS, /* and rules of Landlock */
    YARN_RECORDER_LEAVE_ROOT, /* before: opens what it will need; after: closes everything else */
    YARN_RECORDER_CHECK_SIGNALS,
    YARN_RECORDER_EXPECT_FILTER, /* from now on host threads give commands by memory only, without a
                                    system call */
    YARN_RECORDER_RESUME,
    YARN_RECORDER_PAUSE, /* by the program */
    YARN_RECORDER_FLUSH,
    YARN_RECORDER_EXEC, /* seals the dump as at the end, which is undone where the exec fails */
    YARN_RECORDER_END,
    YARN_RECORDER_COMMAND_COUNT,
};

struct yarn_recorder {
    struct yarn_job job;
    /* The fields that a child writes before it records are adjacent, from the job's facts to the
     * marks' head: each page that it writes is copied for it. */
    struct yarn_thread thread;
    _Atomic bool is_asleep; /* for as long as the host is */
    _Atomic bool is_late;   /* the host went on before the recording began, and it was not said */
    struct yarn_state state;
    struct yarn_requests requests; /* bit n: enum yarn_recorder_command */
    _Atomic uint64_t end;          /* enum yarn_dump_end_reason, and above it the status */
    struct yarn_child_times
        *_Atomic child_times;               /* owned; of children; NULL before the recording */
    struct yarn_child_times *_Atomic above; /* of the parent; NULL */
    uint64_t added_to_parent_ns;     /* added there so far, by the reader or before an exec */
    const char *stop_reason;         /* a static sentence; NULL */
    bool starts_paused, is_deferred; /* its recording has not begun */
    uint64_t deferred_at_cpu_ns;     /* of a program: the process's CPU time by then; 0: a child */
    uint64_t restarted_ns; /* by the thread that has set LEFT, as nr_short: the last restart */
    uint64_t restarted_cpu_ns;
    uint32_t nr_short;   /* recordings in a row that ended right after it */
    int host_signal;     /* by the reader: the signal that has to kill the process; 0: none */
    bool expects_filter; /* by the reader: it polls memory, since nothing can wake it */
    struct yarn_schedule schedule;
    struct yarn_ids_queue ids; /* credentials for the reader */
    _Atomic uint64_t rules; /* of Landlock, for it: the descriptor, above it the thread; 0: none */
    bool has_unsaved;       /* a flush has something to write although nothing is sampled */
    uint32_t nr_messages_logged;
    struct yarn_marks marks;
    struct yarn_messages messages;
    struct yarn_control_socket control;
    struct yarn_recording recording; /* the reader thread's */
};
