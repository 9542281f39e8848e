/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "output/export/export.h"
#include "output/export/samples.h"
#include "output/yarnprof/io/memory.h"
#include "output/yarnprof/io/new_file.h"
#include "output/yarnprof/io/status.h"
#include "output/yarnprof/options/select.h"
#include "output/yarnprof/push/http.h"
#include "output/yarnprof/push/server.h"
#include "output/yarnprof/verbs/verb.h"

enum { TO = YARN_ARGUMENT_OWN, HEADER, NO_LINES, LABELS_MAX = 5 };

struct request {
    struct yarn_select select;
    const struct yarn_server *server;
    const struct yarn_export_format *format;
    const char *name;
    const char *asked; /* the address as it was given */
    char *url;         /* owned */
    struct yarn_http http;
    size_t nr_sent; /* profiles */
};

static const struct yarn_argument arguments[] = {
    {"to", 't', "SERVER",
     "pyroscope, parca or otlp; else the address says (its path, or port 4040, 7070, 4318)", TO},
    {"name", 0, "NAME", "of the service (the program's, of each process)",
     YARN_ARGUMENT_INTO(struct request, name)},
    {"header", 0, "LINE", "a line of the request, such as \"Authorization: Bearer ...\"", HEADER},
    {"no-lines", 0, NULL, "leave the source out, which takes no debug information", NO_LINES},
    YARN_SELECT_ARGUMENTS,
    {"", 0, NULL, "Other options:", 0},
    {"help", 'h', NULL, "this text", YARN_ARGUMENT_HELP},
    {0},
};

static int take(void *self, int id, const char *value, const char **ret_right)
{
    struct request *request = self;
    switch (id) {
    case TO:
        *ret_right = "pyroscope, parca or otlp";
        request->server = yarn_server_named(value);
        return request->server ? 0 : -EINVAL;
    case HEADER:
        *ret_right = "16 lines at most";
        if (request->http.nr_headers == YARN_HTTP_HEADERS_MAX)
            return -EINVAL;
        request->http.headers[request->http.nr_headers++] = value;
        return 0;
    case NO_LINES:
        request->select.inlines = YARN_INLINES_OFF;
        return 0;
    default:
        return yarn_select_take(&request->select, id, value, ret_right);
    }
}

static int fail(const struct request *request, int err)
{
    yarn_complain("push", "%s: %s", request->asked, yarn_memory_why(err));
    return YARN_STATUS_FAILED;
}

/* Mapped; an empty span where nothing was written. */
static int write_profile(const struct request *request, struct yarn_export *export,
                         struct yarn_span *ret_bytes)
{
    int fd = memfd_create("yarn", MFD_CLOEXEC);
    export->file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!export->file) {
        int err = -errno;
        if (fd >= 0)
            (void)close(fd);
        return err;
    }
    int err = request->format->write(export);
    if (!err && fflush(export->file))
        err = -errno;
    off_t size = err ? 0 : lseek(fd, 0, SEEK_END);
    void *bytes = size > 0 ? mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
    if (bytes == MAP_FAILED)
        err = -errno;
    (void)fclose(export->file);
    *ret_bytes = err ? YARN_SPAN_EMPTY : yarn_span_of(bytes, (size_t)size);
    return err;
}

/* What the server says of what it did not take. */
static int refuse(const struct request *request, const struct yarn_http_answer *answer)
{
    char status[32] = "";
    if (answer->status)
        (void)snprintf(status, sizeof status, "the server answers %ld", answer->status);
    yarn_complain("push", "%s: %s%s%s%s%s", request->url, status,
                  status[0] && answer->text[0] ? ": " : "", answer->text,
                  answer->place[0] ? ": that is at " : "", answer->place);
    return YARN_STATUS_FAILED;
}

static int post(struct request *request, struct yarn_span body)
{
    struct yarn_http_answer answer;
    char bytes[YARN_HTTP_ANSWER_BYTES] = "";
    struct yarn_text why = yarn_text_of(bytes, sizeof bytes);
    bool is_taken =
        yarn_http_post(&request->http, request->url, request->server->type, body, &answer);
    request->nr_sent++;
    if (is_taken && (!request->server->rejects ||
                     !request->server->rejects(yarn_span_of(answer.text, answer.size), &why)))
        return -1;
    if (why.size)
        (void)snprintf(answer.text, sizeof answer.text, "%s", bytes);
    answer.text[strcspn(answer.text, "\r\n")] = 0;
    return refuse(request, &answer);
}

/* Labels with few values: each combination is a series. Threads and pids are in the samples. */
static size_t label(const struct request *request, const struct yarn_profile *profile,
                    const struct yarn_profile_dump *dump, struct yarn_push_label *ret_labels)
{
    size_t count = 0;
    ret_labels[count++] = (struct yarn_push_label){"__name__", "process_cpu"};
    ret_labels[count++] = (struct yarn_push_label){
        "service_name", request->name ? request->name : yarn_profile_text(profile, dump->program)};
    ret_labels[count++] =
        (struct yarn_push_label){"command", yarn_profile_text(profile, dump->command)};
    if (dump->process.host.size)
        ret_labels[count++] =
            (struct yarn_push_label){"host", yarn_profile_text(profile, dump->host)};
    if (dump->process.rank.size)
        ret_labels[count++] =
            (struct yarn_push_label){"rank", yarn_profile_text(profile, dump->rank)};
    return count;
}

static int post_profile(struct request *request, const struct yarn_export *export,
                        struct yarn_span bytes)
{
    const struct yarn_profile *profile = export->profile;
    struct yarn_push_label labels[LABELS_MAX];
    char *body = NULL;
    size_t size = 0;
    if (!request->server->body)
        return post(request, bytes);
    size_t count = label(request, profile, &profile->dumps[export->process - 1], labels);
    int err = request->server->body(bytes, labels, count, &body, &size);
    int status = err ? fail(request, err) : post(request, yarn_span_of(body, size));
    free(body);
    return status;
}

/* `process` as yarn_export has it. */
static int push_one(struct request *request, const struct yarn_profile *profile, uint32_t process)
{
    struct yarn_span bytes = YARN_SPAN_EMPTY;
    struct yarn_export export = {
        .profile = profile,
        .choice = &request->select.choices[0],
        .is_part = yarn_select_is_part(&request->select),
        .process = process,
        .name = request->name,
        .version = YARN_VERSION,
        .most_bytes = yarn_new_file_allowed(),
    };
    struct yarn_sum *totals = yarn_export_totals(&export);
    uint64_t count = 0;
    for (size_t i = 0; totals && i < profile->nr_events; i++)
        count += totals[i].samples;
    int err = totals ? 0 : -ENOMEM;
    free(totals);
    if (!err && !count)
        return -1;
    if (!err)
        err = write_profile(request, &export, &bytes);
    int status = err ? fail(request, err) : post_profile(request, &export, bytes);
    if (bytes.size)
        (void)munmap((void *)(uintptr_t)bytes.data, bytes.size);
    return status;
}

static int push(void *self, struct yarn_profile *profile)
{
    struct request *request = self;
    int status = -1;
    if (!request->server->takes_one_process)
        status = push_one(request, profile, 0);
    for (uint32_t i = 0; request->server->takes_one_process && status < 0 && i < profile->nr_dumps;
         i++)
        status = push_one(request, profile, i + 1);
    if (status < 0 && !request->nr_sent) {
        yarn_complain("push", "nothing was sent: there is no sample");
        status = YARN_STATUS_FAILED;
    }
    return status < 0 ? YARN_STATUS_OK : status;
}

static int load_and_push(struct request *request, char *const *paths)
{
    unsigned needs = request->format->needs, shown = 0;
    struct yarn_load_options options = {.by_cpu = needs & YARN_EXPORT_CPUS,
                                        .frames = request->format->frames};
    if (request->select.inlines != YARN_INLINES_OFF)
        shown = YARN_SELECT_LINES | YARN_SELECT_INLINES;
    return yarn_select_show("push", &request->select, shown, paths, &options, push, request);
}

static const struct yarn_export_format *format_named(const char *name)
{
    const struct yarn_export_format *format = NULL;
    for (size_t i = 0; (format = yarn_export_format(i)) && strcmp(format->name, name) != 0;)
        i++;
    return format;
}

/* -1, or an exit status. */
static int find_server(struct request *request)
{
    if (!strstr(request->asked, "://")) {
        yarn_complain("push", "%s is no address: http://HOST:PORT", request->asked);
        return YARN_STATUS_USAGE;
    }
    if (!request->server)
        request->server = yarn_server_of(request->asked);
    if (!request->server) {
        yarn_complain("push",
                      "%s: neither path nor port says which server that is: "
                      "--to=pyroscope, --to=parca or --to=otlp",
                      request->asked);
        return YARN_STATUS_USAGE;
    }
    request->format = format_named(request->server->format);
    request->url = yarn_server_url(request->server, request->asked);
    if (!request->url || !request->format)
        return fail(request, -ENOMEM);
    const char *why = yarn_http_open(&request->http);
    if (!why)
        return -1;
    yarn_complain("push", "%s", why);
    return YARN_STATUS_FAILED;
}

static int run(void *self, char **operands)
{
    struct request *request = self;
    if (!operands[0]) {
        yarn_complain("push",
                      "no address is named: push http://HOST:PORT FILE; see yarnprof push --help");
        return YARN_STATUS_USAGE;
    }
    request->asked = operands[0];
    int status = find_server(request);
    return status < 0 ? load_and_push(request, operands + 1) : status;
}

static void fini(void *self)
{
    struct request *request = self;
    yarn_http_fini(&request->http);
    free(request->url);
    yarn_select_fini(&request->select);
}

const struct yarn_command yarn_verb_push = {
    .verb = "push",
    .operands = "URL FILE...",
    .about = "Sends dumps to a server of profiles: Pyroscope and Parca get a profile for each "
             "process, OTLP/HTTP gets all as one request.",
    .arguments = arguments,
    .take = take,
    .initial = &(const struct request){.select = YARN_SELECT_EMPTY},
    .request_bytes = sizeof(struct request),
    .run = run,
    .fini = fini,
};
