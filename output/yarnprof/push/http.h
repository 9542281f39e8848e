/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Posts to a server by libcurl, which is loaded when it is wanted: no other verb needs it or waits
 * for it. Threads: one.
 */
#pragma once

#include "core/base/span.h"

enum { YARN_HTTP_HEADERS_MAX = 16 };

struct yarn_http {
    void *loaded;                               /* owned */
    void *session;                              /* owned; libcurl's */
    const char *headers[YARN_HTTP_HEADERS_MAX]; /* borrowed; lines more */
    size_t nr_headers;
};

#define YARN_HTTP_CLOSED ((struct yarn_http){.loaded = NULL})

enum { YARN_HTTP_ANSWER_BYTES = 512 };

/* How a post ended: `status` is the server's, 0 where none came; `text` what it, or libcurl, says;
 * `place` where it sends whoever asks, "" where nowhere. */
struct yarn_http_answer {
    long status;
    char place[YARN_HTTP_ANSWER_BYTES];
    char text[YARN_HTTP_ANSWER_BYTES];
    size_t size;
};

/* Why there is no libcurl; NULL: there is. After it, fini. Headers stay. */
YARN_MUST_CHECK const char *yarn_http_open(struct yarn_http *http);
/* Idempotent. */
void yarn_http_fini(struct yarn_http *http);

/* True where the server took it. */
bool yarn_http_post(struct yarn_http *http, const char *url, const char *type,
                    struct yarn_span body, struct yarn_http_answer *ret_answer);
