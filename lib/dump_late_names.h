/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Names of generated code that a dump learned after the samples in it: they are looked for before
 * the samples are read. Knows records of one kind; does not know frames.
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "core/base/base.h"

/* Begins empty: all zero. */
struct yarn_late_names {
    struct yarn_late_row *rows; /* owned, and so are the names; sorted */
    size_t count, max;
    uint32_t process; /* of the next row */
    bool has_process;
};

/* Reads a dump for them; a pipe, which can be read but once, has none. A negative errno. */
YARN_MUST_CHECK int yarn_late_names_read(struct yarn_late_names *names, const char *path);

/* Of the address in that module (YARN_DUMP_NONE: in none) of the so-manieth process of the file,
 * from 0; NULL: none. */
const char *yarn_late_names_find(const struct yarn_late_names *names, uint32_t process,
                                 uint32_t module, uint64_t address);

/* Idempotent. */
void yarn_late_names_close(struct yarn_late_names *names);
