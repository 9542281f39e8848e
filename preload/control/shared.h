/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What host threads and the reader thread of one process share. Host threads hand over commands in
 * one word of memory and sleep until the reader has done them (requests.h): no lock is shared, no
 * descriptor, and a host thread never touches a ring, the dump or anything else of the recording.
 */
#pragma once

#include <stdatomic.h>

#include "core/sys/thread.h"
#include "output/dump/types.h"
#include "preload/account/charges.h"
#include "preload/control/control_socket.h"
#include "preload/control/ids_queue.h"
#include "preload/control/marks.h"
#include "preload/control/requests.h"
#include "preload/control/schedule.h"
#include "preload/control/state.h"
#include "preload/dump/messages.h"
#include "preload/process/job.h"
#include "preload/recording/recording.h"

/* In the order in which they are done where several wait; without bound are the first three. */
enum yarn_recorder_command {
    YARN_RECORDER_FOLLOW_IDS,
    YARN_RECORDER_LEAVE_ROOT, /* before: opens what it will need; after: has nothing else open */
    YARN_RECORDER_CHECK_SIGNALS,
    YARN_RECORDER_EXPECT_FILTER, /* from now on host threads hand commands over by memory alone */
    YARN_RECORDER_RESUME,
    YARN_RECORDER_PAUSE, /* by the program */
    YARN_RECORDER_FLUSH,
    YARN_RECORDER_EXEC, /* as if it were the end, which the host takes back where the exec fails */
    YARN_RECORDER_END,
    YARN_RECORDER_COMMAND_COUNT,
};

struct yarn_recorder {
    struct yarn_job job;
    /* What a child writes before it records is together, from the job's facts to the marks' head:
     * each page that it writes is copied for it. */
    struct yarn_thread thread;
    struct yarn_state state;
    struct yarn_requests requests;        /* bit n: enum yarn_recorder_command */
    _Atomic uint64_t end;                 /* enum yarn_dump_end_reason, and above it the status */
    struct yarn_charges *_Atomic charges; /* owned; of children; NULL before the recording */
    struct yarn_charges *_Atomic above;   /* of the process that forked this one; NULL */
    uint64_t charged_ns;                  /* there, by the reader or before an exec */
    const char *stop_reason;              /* a static sentence; NULL */
    bool starts_paused, is_deferred;      /* a child whose recording has not begun */
    int host_signal;                      /* the reader's: of which the process has to die; 0 */
    bool expects_filter; /* the reader's: it has to look at memory, nobody wakes it */
    struct yarn_schedule schedule;
    struct yarn_ids_queue ids; /* that the reader is to take */
    bool has_unsaved; /* a flush has to bring something into the file though nothing is sampled */
    uint32_t nr_messages_logged;
    struct yarn_marks marks;
    struct yarn_messages messages;
    struct yarn_control_socket control;
    struct yarn_recording recording; /* the reader thread's */
};
