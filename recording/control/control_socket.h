/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The Unix socket of YARN_CONTROL: listens, takes the commands of its clients line by line and
 * gives each its one line of reply. Its descriptors lie in the table of the calling thread: in the
 * preload that is the reader's own, where the host neither sees nor closes them. Its file has the
 * mode 0600, and only the user of the process at its creation may send commands.
 *
 * An existing file is replaced only if it is the socket of a process that has ended. Bounded: a few
 * clients (a new one replaces the one that was silent the longest), a line each; a client that does
 * not read its replies is disconnected. Does not know what a command does.
 *
 * Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include <poll.h>

#include "core/config/control.h"
#include "core/sys/file.h"
#include "recording/process/path.h"

enum { YARN_CONTROL_CLIENTS_MAX = 4, YARN_CONTROL_FDS_MAX = YARN_CONTROL_CLIENTS_MAX + 1 };

struct yarn_control_client {
    int fd;           /* owned; -1: free */
    uint64_t used_at; /* grows with each use of any client */
    struct yarn_control_lines lines;
};

struct yarn_control_socket {
    bool is_open;  /* a forked child, which owns nothing of it, resets this and nothing else */
    int fd;        /* owned; listens */
    uint32_t user; /* who may send commands */
    struct yarn_file_info made; /* its file */
    uint64_t nr_uses;
    uint64_t accepts_after_ns; /* no descriptor for another client: they wait until then */
    char path[YARN_PATH_MAX];
    struct yarn_control_client clients[YARN_CONTROL_CLIENTS_MAX];
};

#define YARN_CONTROL_SOCKET_CLOSED ((struct yarn_control_socket){.is_open = false})

/* -EADDRINUSE where the file exists, -ENAMETOOLONG where it is longer than a socket's may be. On
 * failure it is closed, and `path` holds what was tried. */
YARN_MUST_CHECK int yarn_control_socket_open(struct yarn_control_socket *control,
                                             const char *pattern, const struct yarn_facts *facts,
                                             char *const envp[]);

/* The descriptors to poll; returns their number, 0 where it is closed. */
size_t yarn_control_socket_watch(const struct yarn_control_socket *control,
                                 struct pollfd ret_fds[YARN_CONTROL_FDS_MAX]);

/* Executes a command; *reply is empty and becomes the text after "ok" or, with a negative errno,
 * after "error". */
typedef int (*yarn_control_fn)(void *self, const struct yarn_control_command *command,
                               struct yarn_text *reply);

/* Executes the commands that have arrived, without waiting. */
void yarn_control_socket_serve(struct yarn_control_socket *control, yarn_control_fn answer_fn,
                               void *self);

/* Disconnects clients and removes the file if it is still ours. Idempotent. */
void yarn_control_socket_close(struct yarn_control_socket *control);
