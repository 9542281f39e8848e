/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The Unix socket of YARN_CONTROL: listens, takes the commands of its clients line by line and
 * gives each its one line of reply. Its descriptors lie in the reader's own table, where the host
 * neither sees nor closes them; its file has the mode 0600, and only the user that the process had
 * when it was made is listened to.
 *
 * A name that is taken by anything but the socket of a process that has gone is left alone.
 * Bounded: a few clients (a new one takes the place of the one that was silent the longest), a line
 * each, and who does not read the replies is sent away. Does not know what a command does.
 *
 * Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include <poll.h>

#include "core/config/control.h"
#include "core/sys/file.h"
#include "preload/process/path.h"

enum { YARN_CONTROL_CLIENTS_MAX = 4, YARN_CONTROL_FDS_MAX = YARN_CONTROL_CLIENTS_MAX + 1 };

struct yarn_control_client {
    int fd;           /* owned; -1: free */
    uint64_t used_at; /* grows with each use of any client */
    struct yarn_control_lines lines;
};

struct yarn_control_socket {
    bool is_open;
    int fd;                     /* owned; listens */
    uint32_t user;              /* whose commands are taken */
    struct yarn_file_info made; /* its file */
    uint64_t nr_uses;
    uint64_t deaf_until_ns; /* there is no descriptor for one client more: they wait */
    char path[YARN_PATH_MAX];
    struct yarn_control_client clients[YARN_CONTROL_CLIENTS_MAX];
};

#define YARN_CONTROL_SOCKET_CLOSED ((struct yarn_control_socket){.is_open = false})

/* -EADDRINUSE where the name is taken, -ENAMETOOLONG where it is longer than a socket's may be. On
 * failure it is closed, and `path` holds what was tried. */
YARN_MUST_CHECK int yarn_control_socket_open(struct yarn_control_socket *control,
                                             const char *pattern, const struct yarn_facts *facts,
                                             char *const envp[]);

/* In a child after fork, to which nothing of it belongs; one that is closed is not written to. */
void yarn_control_socket_forget(struct yarn_control_socket *control);

/* What to wait for; the number, 0 where it is closed. */
size_t yarn_control_socket_watch(const struct yarn_control_socket *control,
                                 struct pollfd ret_fds[YARN_CONTROL_FDS_MAX]);

/* What a command does; *reply is empty and becomes the line behind "ok", or, with a negative errno,
 * behind "error". */
typedef int (*yarn_control_fn)(void *self, const struct yarn_control_command *command,
                               struct yarn_text *reply);

/* Carries out what has come, without waiting. */
void yarn_control_socket_serve(struct yarn_control_socket *control, yarn_control_fn answer_fn,
                               void *self);

/* Sends clients away and removes the file where it is still ours. Idempotent. */
void yarn_control_socket_close(struct yarn_control_socket *control);
