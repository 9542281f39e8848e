/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A queue of marks from host threads to the reader: a host thread stores one and continues, the
 * reader takes it when it runs next. Bounded. Does not know the dump.
 *
 * Threads: any puts, the reader takes. Signals: putting is safe.
 */
#pragma once

#include "core/base/slots.h"
#include "core/config/control.h"

enum { YARN_MARKS_MAX = 64 };

struct yarn_mark {
    uint32_t tid;
    uint64_t time_ns;
    char text[YARN_CONTROL_MARK_MAX + 1]; /* one line */
};

struct yarn_marks {
    _Atomic uint32_t count;                 /* being written or waiting to be taken */
    _Atomic uint32_t state[YARN_MARKS_MAX]; /* free, being written, written */
    struct yarn_mark mark[YARN_MARKS_MAX];
};

/* Also in a forked child: pending marks of the parent's threads are not the child's. Does not write
 * values that are right already: each page written in a child is copied for it. */
void yarn_marks_init(struct yarn_marks *marks);

/* With the current time, from the calling thread. -EAGAIN where too many wait, -EMSGSIZE where the
 * text is longer than YARN_CONTROL_MARK_MAX. */
YARN_MUST_CHECK int yarn_marks_put(struct yarn_marks *marks, const char *text);

/* The next mark that waits, to be released afterwards; NULL where there is none. */
const struct yarn_mark *yarn_marks_next(struct yarn_marks *marks);
void yarn_marks_free(struct yarn_marks *marks, const struct yarn_mark *mark);
