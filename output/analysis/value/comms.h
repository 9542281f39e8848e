/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What threads were called, from which time on. Records of one chunk are not ordered by time, so
 * the name that a sample's thread had is known only when all names are. Threads: one owner at a
 * time.
 */
#pragma once

#include "core/base/base.h"

#define YARN_COMM_NONE UINT32_MAX

struct yarn_comm {
    uint64_t from_ns;
    uint64_t least_ns; /* of this one and of those behind `jump` */
    uint32_t text;     /* of the profile's strings */
    uint32_t before;   /* the thread's name before, in the list; YARN_COMM_NONE: none */
    uint32_t jump;     /* one further back, such that each is found in a few steps */
    uint32_t depth;    /* names before it */
};

struct yarn_comms {
    struct yarn_comm *list; /* owned array */
    size_t count;
    size_t capacity;
};

/* Another name for the thread whose last name is *last (YARN_COMM_NONE: it has none). */
YARN_MUST_CHECK int yarn_comms_add(struct yarn_comms *comms, uint32_t text, uint64_t from_ns,
                                   uint32_t *last);
/* What a thread was called at that time; before its first name: that. */
uint32_t yarn_comms_at(const struct yarn_comms *comms, uint32_t last, uint64_t time_ns);
void yarn_comms_fini(struct yarn_comms *comms);
