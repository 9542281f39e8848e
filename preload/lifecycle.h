/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * How the life of the host moves the recorder: its constructor starts it; its end, by whatever way,
 * ends it. In a process that did not start it (a child after fork or vfork) nothing is touched.
 *
 *     return, exit ──> our exit handler, after all of the host's ───────> end(EXIT)
 *     _exit, _Exit ──> interposed ─────────────────────────────────────> end(EXIT)
 *     the last thread leaves by pthread_exit ──> the C library's exit(0), as above
 *     the last thread leaves by raw SYS_exit ──> the reader sees that it is alone
 *     exit_group by raw call, a fatal signal, SIGKILL: what was flushed stays readable
 */
#pragma once

/* On the host's first thread, before main. Prints one line where a value cannot be used. */
void yarn_lifecycle_begin(int argc, char *const argv[], char *const envp[]);

/* The host's status as its exit handlers see it. */
void yarn_lifecycle_note_status(int status);

/* From the host's last moments; returns within a bounded time. */
void yarn_lifecycle_end(void);

/* After the calling thread has changed its rights: the reader takes the same. */
void yarn_lifecycle_follow_ids(void);

struct yarn_recorder;

/* The recorder of this process; NULL where there is none. */
struct yarn_recorder *yarn_lifecycle_recorder(void);
