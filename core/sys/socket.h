/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Unix stream sockets by raw system calls, close-on-exec, and after their making non-blocking.
 * Knows the calls; does not know what is said (recording/control/control_socket, output/yarnprof).
 * Threads, signals: safe anywhere; a peer that has gone never costs a signal.
 */
#pragma once

#include <sys/types.h>

#include "core/base/span.h"

/* The longest path that the kernel takes; a longer one is -ENAMETOOLONG here. */
enum { YARN_SOCKET_PATH_MAX = 107 };

/* A listening socket whose file has the mode 0600 from its first moment. -EADDRINUSE where the
 * name is taken, by whatever it is. */
YARN_MUST_CHECK int yarn_socket_listen(const char *path);

/* Never waits for the listener. -ECONNREFUSED where nobody listens any more, -EAGAIN where too many
 * wait. */
YARN_MUST_CHECK int yarn_socket_connect(const char *path);

/* -EAGAIN where nobody waits. */
YARN_MUST_CHECK int yarn_socket_accept(int fd);

/* The effective user that the peer had when it connected. */
YARN_MUST_CHECK int yarn_socket_peer_user(int fd, uint32_t *ret_user);

/* The number of bytes, 0 at the end, -EAGAIN where there is nothing now. */
YARN_MUST_CHECK ssize_t yarn_socket_receive(int fd, void *ret_data, size_t size);

/* All of it, or -EAGAIN where the peer does not read. */
YARN_MUST_CHECK int yarn_socket_send(int fd, struct yarn_span data);
