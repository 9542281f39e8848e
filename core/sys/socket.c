/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sys/socket.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "core/base/raw.h"
#include "core/sys/file.h"

enum { WAITING_MAX = 16, MODE = 0600 };

_Static_assert(YARN_SOCKET_PATH_MAX == sizeof(((struct sockaddr_un *)0)->sun_path) - 1,
               "the path with its NUL fills the address");

static int address_of(const char *path, struct sockaddr_un *ret_address)
{
    size_t size = strlen(path);
    if (!size)
        return -ENOENT;
    if (size > YARN_SOCKET_PATH_MAX)
        return -ENAMETOOLONG;
    *ret_address = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(ret_address->sun_path, path, size);
    return 0;
}

/* The descriptor of a socket that is to have that address. */
static int make_socket(const char *path, struct sockaddr_un *ret_address)
{
    int err = address_of(path, ret_address);
    if (err)
        return err;
    return (int)yarn_raw_call(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, 0,
                              0, 0);
}

int yarn_socket_listen(const char *path)
{
    struct sockaddr_un address;
    int fd = make_socket(path, &address);
    if (fd < 0)
        return fd;
    /* Why on the socket: its file gets this mode (and the umask) when it is made. */
    long result = yarn_file_change_mode(fd, MODE);
    if (!yarn_raw_is_error(result))
        result = yarn_raw_call(SYS_bind, fd, (long)&address, sizeof address, 0, 0, 0);
    if (!yarn_raw_is_error(result))
        result = yarn_raw_call(SYS_listen, fd, WAITING_MAX, 0, 0, 0, 0);
    if (!yarn_raw_is_error(result))
        return fd;
    yarn_file_close(fd);
    return (int)result;
}

int yarn_socket_connect(const char *path)
{
    struct sockaddr_un address;
    int fd = make_socket(path, &address);
    if (fd < 0)
        return fd;
    long result = yarn_raw_call(SYS_connect, fd, (long)&address, sizeof address, 0, 0, 0);
    if (!yarn_raw_is_error(result))
        return fd;
    yarn_file_close(fd);
    return (int)result;
}

int yarn_socket_accept(int fd)
{
    return (int)yarn_raw_call(SYS_accept4, fd, 0, 0, SOCK_CLOEXEC | SOCK_NONBLOCK, 0, 0);
}

int yarn_socket_peer_user(int fd, uint32_t *ret_user)
{
    struct {
        pid_t pid;
        uid_t uid;
        gid_t gid;
    } peer;
    socklen_t size = sizeof peer;
    long result =
        yarn_raw_call(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, (long)&peer, (long)&size, 0);
    if (yarn_raw_is_error(result))
        return (int)result;
    *ret_user = peer.uid;
    return 0;
}

ssize_t yarn_socket_receive(int fd, void *ret_data, size_t size)
{
    return yarn_raw_call(SYS_recvfrom, fd, (long)ret_data, (long)size, MSG_DONTWAIT, 0, 0);
}

int yarn_socket_send(int fd, struct yarn_span data)
{
    while (data.size) {
        long result = yarn_raw_call(SYS_sendto, fd, (long)data.data, (long)data.size,
                                    MSG_DONTWAIT | MSG_NOSIGNAL, 0, 0);
        if (result == -EINTR)
            continue;
        if (yarn_raw_is_error(result))
            return (int)result;
        data = yarn_span_from(data, (uint64_t)result);
    }
    return 0;
}
