/* SPDX-License-Identifier: Apache-2.0 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "core/config/control.h"
#include "core/sys/folder.h"
#include "core/sys/socket.h"
#include "output/yarnprof/io/status.h"
#include "output/yarnprof/options/arguments.h"
#include "output/yarnprof/verbs/verb.h"

enum { TIMEOUT = YARN_ARGUMENT_OWN, REPLY_BYTES = 8192, TIMEOUT_MS = 10000 };

static const struct yarn_argument arguments[] = {
    {"timeout", 0, "SECONDS", "how long to wait for the reply (10)", TIMEOUT},
    {"help", 'h', NULL, "this text", YARN_ARGUMENT_HELP},
    {0},
};

struct request {
    int timeout_ms;
    char line[YARN_CONTROL_LINE_MAX + 2]; /* with its newline */
};

static int take(void *self, int id, const char *value, const char **ret_right)
{
    struct request *request = self;
    char *end;
    (void)id;
    *ret_right = "a number of seconds from 0.001 to 100000";
    double seconds = strtod(value, &end);
    if (end == value || *end || !(seconds >= 0.001 && seconds <= 100000))
        return -EINVAL;
    request->timeout_ms = (int)(seconds * 1000);
    return 0;
}

/* The words as one line, checked before it is sent. */
static int make_line(struct request *request, char **words)
{
    struct yarn_text text = yarn_text_of(request->line, sizeof request->line - 1);
    struct yarn_control_command parsed;
    const char *why;
    for (size_t i = 0; words[i]; i++) {
        yarn_text_add(&text, i ? " " : "");
        yarn_control_add_line(&text, yarn_span_of_text(words[i]));
    }
    if (text.cut || yarn_control_parse(yarn_span_of(text.data, text.size), &parsed, &why)) {
        yarn_complain("ctl", "%s: %s", words[0], text.cut ? "the line is too long" : why);
        return -EINVAL;
    }
    request->line[text.size] = '\n';
    request->line[text.size + 1] = 0;
    return 0;
}

static const char *why_not(int error)
{
    switch (error) {
    case -ENAMETOOLONG:
        return "the path is longer than a socket's may be, which is 107 bytes";
    case -ECONNREFUSED:
        return "nobody listens there: the process has gone";
    case -ENOTSOCK:
        return "this is no socket";
    default:
        return strerror(-error);
    }
}

static uint64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static int lock_folder_of(const char *path, int timeout_ms)
{
    uint64_t end_ms = now_ms() + (uint64_t)timeout_ms;
    const char *slash = strrchr(path, '/');
    int lock;
    char *folder = slash ? strndup(path, (size_t)(slash - path + 1)) : strdup(".");
    if (!folder)
        return -ENOMEM;
    do
        lock = yarn_folder_lock(folder);
    while (lock == -EAGAIN && now_ms() < end_ms);
    free(folder);
    return lock;
}

/* Why twice: a socket that is bound and does not listen yet refuses, too. Who makes it holds its
 * folder's lock until it listens. */
static int connect_to(const char *path, int timeout_ms)
{
    int fd = yarn_socket_connect(path);
    if (fd != -ECONNREFUSED)
        return fd;
    int lock = lock_folder_of(path, timeout_ms);
    fd = yarn_socket_connect(path);
    if (lock >= 0)
        (void)close(lock);
    return fd;
}

/* The first line that comes, without its newline; or a negative errno. */
static int read_reply(int fd, char ret_reply[REPLY_BYTES], int timeout_ms)
{
    size_t size = 0;
    uint64_t end_ms = now_ms() + (uint64_t)timeout_ms;
    while (size < REPLY_BYTES - 1) {
        uint64_t at_ms = now_ms();
        struct pollfd wanted = {.fd = fd, .events = POLLIN};
        int ready = at_ms < end_ms ? poll(&wanted, 1, (int)(end_ms - at_ms)) : 0;
        if (ready == 0)
            return -ETIMEDOUT;
        if (ready < 0)
            return -errno;
        ssize_t got = read(fd, ret_reply + size, REPLY_BYTES - 1 - size);
        if (got <= 0)
            return got < 0 ? -errno : -ECONNRESET;
        size += (size_t)got;
        char *newline = memchr(ret_reply, '\n', size);
        if (newline) {
            *newline = 0;
            return 0;
        }
    }
    return -EMSGSIZE;
}

/* "ok …" goes to standard output, everything else to standard error. */
static int print_reply(const char *reply)
{
    if (strcmp(reply, "ok") == 0)
        return YARN_STATUS_OK;
    if (strncmp(reply, "ok ", 3) == 0) {
        bool is_printed = printf("%s\n", reply + 3) > 0 && fflush(stdout) == 0;
        if (!is_printed)
            yarn_complain("ctl", "standard output: %s", strerror(errno));
        return is_printed ? YARN_STATUS_OK : YARN_STATUS_FAILED;
    }
    yarn_complain("ctl", "%s", strncmp(reply, "error ", 6) == 0 ? reply + 6 : reply);
    return YARN_STATUS_FAILED;
}

static int ask(const char *path, const struct request *request)
{
    char reply[REPLY_BYTES];
    int fd = connect_to(path, request->timeout_ms);
    if (fd < 0) {
        yarn_complain("ctl", "%s: %s", path, why_not(fd));
        return YARN_STATUS_FAILED;
    }
    int err = yarn_socket_send(fd, yarn_span_of_text(request->line));
    if (!err || err == -EPIPE) /* who was sent away was sent the reason */
        err = read_reply(fd, reply, request->timeout_ms);
    (void)close(fd);
    if (!err)
        return print_reply(reply);
    yarn_complain("ctl", "%s: %s", path,
                  err == -ETIMEDOUT    ? "no reply in time"
                  : err == -ECONNRESET ? "the process hung up without a reply"
                                       : strerror(-err));
    return YARN_STATUS_FAILED;
}

static int run(void *self, char **operands)
{
    struct request *request = self;
    if (!operands[0] || !operands[1]) {
        yarn_complain("ctl", "a socket and a command are needed; see yarnprof ctl --help");
        return YARN_STATUS_USAGE;
    }
    return make_line(request, operands + 1) ? YARN_STATUS_USAGE : ask(operands[0], request);
}

const struct yarn_command yarn_verb_ctl = {
    .verb = "ctl",
    .operands = "SOCKET COMMAND",
    .about =
        "Has a process that was started with YARN_CONTROL=SOCKET start or stop its recording,\n"
        "flush it (all up to now is in the dump), show its status or add a mark. Prints the\n"
        "reply.",
    .arguments = arguments,
    .stops_at_operand = true,
    .take = take,
    .initial = &(const struct request){.timeout_ms = TIMEOUT_MS},
    .request_bytes = sizeof(struct request),
    .run = run,
};
