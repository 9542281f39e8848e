/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The instructions of a stretch of a file's code, as objdump of the binutils prints them: it knows
 * every machine that the system's compiler knows, and its names for the targets of calls. It is run
 * without a shell, on an open file. Does not know profiles.
 *
 * Threads: one owner at a time.
 */
#pragma once

#include "core/base/base.h"

struct yarn_disassembly_line {
    uint64_t address; /* linked; first: searched by it */
    uint64_t end;     /* of the next instruction's beginning */
    char *text;       /* owned */
};

struct yarn_disassembly {
    struct yarn_disassembly_line *instructions; /* owned array, by address */
    size_t count, capacity;
};

/* Adds [start, end), which follows what is there. `objdump` NULL: the one that PATH finds. -ENOENT:
 * there is none; -ENOEXEC: it made nothing of the file; nothing is added then. */
YARN_MUST_CHECK int yarn_disassembly_add(struct yarn_disassembly *disassembly, const char *objdump,
                                         int fd, uint64_t start, uint64_t end);
/* Idempotent. */
void yarn_disassembly_fini(struct yarn_disassembly *disassembly);

/* The instruction that the address lies in; NULL: none. */
const struct yarn_disassembly_line *
yarn_disassembly_find(const struct yarn_disassembly *disassembly, uint64_t address);
