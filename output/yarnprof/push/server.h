/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Servers of profiles: where each takes uploads, and what one looks like. Facts from their own
 * documents and schemas. Knows bodies and addresses; does not know HTTP or what a profile is.
 * Threads: one.
 */
#pragma once

#include "core/base/span.h"
#include "core/base/text.h"

struct yarn_push_label {
    const char *name, *value;
};

struct yarn_server {
    const char *name;
    const char *path;       /* of the upload, behind the server's address */
    const char *port;       /* the server's own, by which it is known */
    const char *type;       /* of the body */
    const char *format;     /* of export: what is uploaded */
    bool takes_one_process; /* an upload each */
    /* The body around a profile; NULL: the profile is it. Owned by the caller, freed by free();
     * -ENOMEM. */
    int (*body)(struct yarn_span profile, const struct yarn_push_label *labels, size_t nr_labels,
                char **ret_body, size_t *ret_size);
    /* Whether an answer of success says that something was not taken, and that. NULL: never. */
    bool (*rejects)(struct yarn_span answer, struct yarn_text *ret_why);
};

/* By its name; NULL: there is none. */
const struct yarn_server *yarn_server_named(const char *name);
/* By the path or the port of the address; NULL: neither says. */
const struct yarn_server *yarn_server_of(const char *url);

/* The address with the server's path, unless it ends in it. Owned by the caller; NULL: no memory.
 */
char *yarn_server_url(const struct yarn_server *server, const char *url);
