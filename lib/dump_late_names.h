/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Names of generated code that a dump learned after the samples in it: they are looked for before
 * the samples are read. Knows records of one kind; does not know frames.
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "core/base/table.h"
#include "output/dump/texts.h"

/* Begins all zero, with the index closed. */
struct yarn_late_names {
    struct yarn_texts texts;
    const char **list; /* owned */
    size_t count, max;
    struct yarn_table index; /* a hash of process, module and address to its latest name */
    size_t nr_processes;     /* that have begun */
};

/* Reads a dump for them; a pipe, which can be read but once, has none. A negative errno. */
YARN_MUST_CHECK int yarn_late_names_read(struct yarn_late_names *names, const char *path);

/* Of the address in that module (YARN_DUMP_NONE: in none) when so many processes of the file have
 * begun; NULL: none. */
const char *yarn_late_names_find(const struct yarn_late_names *names, size_t nr_processes,
                                 uint32_t module, uint64_t address);

/* Idempotent. */
void yarn_late_names_close(struct yarn_late_names *names);
