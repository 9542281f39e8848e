/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Names of functions from files that are found by their build id: the path where they were mapped,
 * if the file there still has it, else a debug file below /usr/lib/debug. By the same code and
 * rules as those that a recording finds by itself (unwind/symbol). Since a dump may say anything,
 * there are at most a thousand files, which stay open, and half a minute to ask them. Threads: one
 * owner at a time.
 */
#pragma once

#include "unwind/symbol/symbols.h"

struct yarn_build_file;

/* Begins all zero. */
struct yarn_build_names {
    struct yarn_symbols *symbols;  /* owned; NULL: nothing was asked yet */
    struct yarn_build_file *files; /* owned array of as many as there may be */
    size_t nr_files;
    struct yarn_arena texts; /* of the names */
    uint64_t spent_ns;
};

/* Idempotent. */
void yarn_build_names_close(struct yarn_build_names *names);

/* Answers what it can; names are valid until it is closed. -ENOENT: there is no file of that build
 * id; -ETIMEDOUT: enough was asked. */
YARN_MUST_CHECK int yarn_build_names_ask(struct yarn_build_names *names, struct yarn_span path,
                                         struct yarn_span build_id,
                                         struct yarn_symbol_question *questions, size_t count);
