/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * jit-PID.dump: the binary file in which a compiler inside the process says what code it has loaded
 * and where it has moved it; its machine code, lines and unwind tables are skipped. Followed as
 * it grows: only complete records are read.
 * Knows the format (version 1, of this machine's byte order); does not know how the file is found.
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "unwind/symbol/code_names.h"

struct yarn_jitdump {
    uint32_t pid;                     /* whose records count: as the process itself sees it */
    uint32_t user;                    /* of the process, or YARN_OWN_FILE_OURS */
    const struct yarn_target *target; /* borrowed: whose files are read; NULL: the calling one */
    uint64_t offset;                  /* of the first record that was not read; 0: nothing was */
    bool is_done;                     /* it was closed, is damaged, or is not ours */
};

enum {
    YARN_JITDUMP_HEADER_BYTES = 40,
    YARN_JITDUMP_RECORD_BYTES = 16,  /* the head of a record */
    YARN_JITDUMP_NEEDED_BYTES = 2048 /* of a record: beyond there is nothing but code */
};

/* The size of the header at the front of `bytes`; 0 where it is none, or not of this `pid`. */
uint64_t yarn_jitdump_header(struct yarn_span bytes, uint32_t pid);

/* Takes the record at the front of `bytes`, of which only the first YARN_JITDUMP_NEEDED_BYTES need
 * be there, and which was there at `since_ns`. Its size; 0 where it is damaged or the last one. */
uint64_t yarn_jitdump_take(struct yarn_span bytes, uint32_t pid, uint64_t since_ns,
                           struct yarn_code_names *names);

/* Begins all zero but for `pid`. Adds what is new in the file, as far as `most` bytes (about); true
 * where more is left. */
bool yarn_jitdump_read(struct yarn_jitdump *jitdump, const char *path, uint64_t most,
                       struct yarn_code_names *names);
