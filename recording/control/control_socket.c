/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/control/control_socket.h"

#include <sys/stat.h>

#include "core/sys/clock.h"
#include "core/sys/folder.h"
#include "core/sys/process.h"
#include "core/sys/socket.h"

enum {
    REPLY_BYTES = YARN_PATH_MAX + 512,
    RECEIVES_MAX = 16, /* of one client before the rings are looked at again */
    SPARE_FILES = 2,   /* for the dump and a file that is read */
};

#define ACCEPT_PAUSE_NS (100 * YARN_NS_PER_MS)

/* Only a socket of this user's on which no process listens any more. */
static bool is_left_behind(const struct yarn_control_socket *control)
{
    struct yarn_file_info info;
    if (yarn_file_stat_name(YARN_FILE_CWD, control->path, &info) || !S_ISSOCK(info.mode) ||
        info.owner != control->user)
        return false;
    int fd = yarn_socket_connect(control->path);
    yarn_file_close(fd < 0 ? -1 : fd);
    return fd == -ECONNREFUSED;
}

/* Why under a lock: of two processes that find a stale socket, the slower would remove the
 * quicker's new one; and a socket that is bound and does not listen yet looks stale. */
static int begin_listening(struct yarn_control_socket *control)
{
    char folder[YARN_PATH_MAX];
    int lock = yarn_folder_lock(yarn_path_folder(control->path, folder));
    int fd = yarn_socket_listen(control->path);
    if (fd == -EADDRINUSE && lock != -EAGAIN && is_left_behind(control)) {
        int err = yarn_file_remove(YARN_FILE_CWD, control->path);
        fd = err ? err : yarn_socket_listen(control->path);
    }
    yarn_file_close(lock < 0 ? -1 : lock);
    return fd;
}

int yarn_control_socket_open(struct yarn_control_socket *control, const char *pattern,
                             const struct yarn_facts *facts, char *const envp[])
{
    *control = YARN_CONTROL_SOCKET_CLOSED;
    for (size_t i = 0; i < YARN_CONTROL_CLIENTS_MAX; i++)
        control->clients[i].fd = -1;
    struct yarn_pattern_facts given = yarn_path_facts(facts, envp);
    given.in_folder = YARN_PATTERN_CONTROL;
    int err = yarn_path_find(control->path, pattern, &given);
    if (!err && strlen(control->path) > YARN_SOCKET_PATH_MAX)
        err = -ENAMETOOLONG;
    if (!err)
        err = yarn_path_make_folders(control->path);
    if (!err && !yarn_process_has_spare_files(2 + SPARE_FILES)) /* itself, a client */
        err = -EMFILE;
    control->user = yarn_process_user();
    control->fd = err ? err : begin_listening(control);
    err = control->fd < 0 ? control->fd
                          : yarn_file_stat_name(YARN_FILE_CWD, control->path, &control->made);
    if (err)
        yarn_file_close(control->fd);
    control->is_open = !err;
    return err;
}

size_t yarn_control_socket_watch(const struct yarn_control_socket *control,
                                 struct pollfd ret_fds[YARN_CONTROL_FDS_MAX])
{
    size_t count = 0;
    if (!control->is_open)
        return 0;
    if (yarn_clock_ns(YARN_TIME_MONOTONIC) >= control->accepts_after_ns)
        ret_fds[count++] = (struct pollfd){.fd = control->fd, .events = POLLIN};
    for (size_t i = 0; i < YARN_CONTROL_CLIENTS_MAX; i++)
        if (control->clients[i].fd >= 0)
            ret_fds[count++] = (struct pollfd){.fd = control->clients[i].fd, .events = POLLIN};
    return count;
}

static void send_away(struct yarn_control_client *client)
{
    yarn_file_close(client->fd);
    client->fd = -1;
}

static void welcome(struct yarn_control_socket *control, int fd)
{
    struct yarn_control_client *slot = &control->clients[0];
    for (size_t i = 0; i < YARN_CONTROL_CLIENTS_MAX; i++) {
        struct yarn_control_client *client = &control->clients[i];
        if (slot->fd >= 0 && (client->fd < 0 || client->used_at < slot->used_at))
            slot = client;
    }
    send_away(slot);
    slot->fd = fd;
    slot->used_at = ++control->nr_uses;
    slot->lines = (struct yarn_control_lines){.size = 0};
}

static void refuse(int fd, const char *why)
{
    int err = yarn_socket_send(fd, yarn_span_of_text(why));
    yarn_file_close(fd);
    if (err)
        return; /* it has gone already */
}

static void accept_clients(struct yarn_control_socket *control)
{
    int fd;
    for (size_t i = 0; i < YARN_CONTROL_CLIENTS_MAX; i++) {
        uint32_t user;
        fd = yarn_socket_accept(control->fd);
        if (fd == -EMFILE || fd == -ENFILE) /* it would wake us again at once */
            control->accepts_after_ns = yarn_clock_ns(YARN_TIME_MONOTONIC) + ACCEPT_PAUSE_NS;
        if (fd < 0)
            return;
        int err = yarn_socket_peer_user(fd, &user);
        if (err || user != control->user)
            refuse(fd, "error only the user of this process may command it\n");
        else if (!yarn_process_has_spare_files(SPARE_FILES))
            refuse(fd, "error there is no descriptor for another client\n");
        else
            welcome(control, fd);
    }
}

/* False where the client does not read. */
static bool answer(const struct yarn_control_client *client, enum yarn_control_next next,
                   struct yarn_span line, yarn_control_fn answer_fn, void *self)
{
    char bytes[REPLY_BYTES], sent[REPLY_BYTES];
    struct yarn_text text = yarn_text_of(bytes, sizeof bytes - 16);
    struct yarn_text reply = yarn_text_of(sent, sizeof sent - 1);
    struct yarn_control_command command;
    const char *why = "the line is too long";
    bool is_command =
        next != YARN_CONTROL_LINE_TOO_LONG && !yarn_control_parse(line, &command, &why);
    if (!is_command)
        yarn_text_add(&text, why);
    bool is_ok = is_command && !answer_fn(self, &command, &text);
    yarn_text_add_format(&reply, "%s%s", is_ok ? "ok" : "error", text.size ? " " : "");
    yarn_control_add_line(&reply, yarn_span_of(text.data, text.size));
    sent[reply.size] = '\n';
    return yarn_socket_send(client->fd, yarn_span_of(sent, reply.size + 1)) == 0;
}

/* False where the client has gone. */
static bool serve_client(struct yarn_control_client *client, yarn_control_fn answer_fn, void *self)
{
    for (size_t i = 0; i < RECEIVES_MAX; i++) {
        size_t room;
        struct yarn_span line = YARN_SPAN_EMPTY;
        enum yarn_control_next next;
        char *to = yarn_control_lines_room(&client->lines, &room);
        ssize_t got = yarn_socket_receive(client->fd, to, room);
        if (got == -EAGAIN || got == -EINTR)
            return true;
        if (got <= 0)
            return false;
        yarn_control_lines_added(&client->lines, (size_t)got);
        while ((next = yarn_control_lines_next(&client->lines, &line)) != YARN_CONTROL_NO_LINE)
            if (!answer(client, next, line, answer_fn, self))
                return false;
    }
    return true;
}

void yarn_control_socket_serve(struct yarn_control_socket *control, yarn_control_fn answer_fn,
                               void *self)
{
    if (!control->is_open)
        return;
    accept_clients(control);
    for (size_t i = 0; i < YARN_CONTROL_CLIENTS_MAX; i++) {
        struct yarn_control_client *client = &control->clients[i];
        if (client->fd >= 0 && !serve_client(client, answer_fn, self))
            send_away(client);
    }
}

void yarn_control_socket_close(struct yarn_control_socket *control)
{
    if (!control->is_open)
        return;
    control->is_open = false;
    for (size_t i = 0; i < YARN_CONTROL_CLIENTS_MAX; i++)
        send_away(&control->clients[i]);
    yarn_file_remove_same(YARN_FILE_CWD, control->path, &control->made);
    yarn_file_close(control->fd);
}
