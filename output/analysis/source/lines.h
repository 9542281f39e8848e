/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * From an address of a module's code to the source: file, line, and the inlined functions. Results
 * are cached, also that there is none, and a module is opened when the first address in it is
 * looked up. Knows debug information; does not know profiles.
 *
 * Threads: one owner at a time.
 */
#pragma once

#include "output/analysis/source/debuginfo.h"

struct yarn_lines;

/* Texts live as long as the lines. */
struct yarn_line {
    const char *function; /* as the debug information has it, perhaps mangled; NULL: unknown */
    const char *file;     /* NULL: unknown */
    const char *folder;   /* where a relative `file` begins; NULL: it is absolute, or unknown */
    uint32_t line;        /* 0: unknown */
    uint32_t column;      /* 0: unknown */
    bool is_inlined;      /* its code is part of the next function's */
};

/* Innermost first; all but the last are inlined. No line: nothing is known. */
struct yarn_line_chain {
    const struct yarn_line *lines; /* borrowed; valid until the next search */
    size_t count;
};

/* `folders` as in debuginfo.h. NULL: no memory. */
YARN_MUST_CHECK struct yarn_lines *yarn_lines_new(const char *folders);
/* NULL is allowed. */
void yarn_lines_free(struct yarn_lines *lines);

/* Finds or adds a module; opens nothing yet. */
YARN_MUST_CHECK int yarn_lines_module(struct yarn_lines *lines, const char *path,
                                      struct yarn_span build_id, uint64_t file_bytes,
                                      uint32_t *ret_module);

/* `address`: linked, and inside the instruction: for callers the return address less 1. */
YARN_MUST_CHECK int yarn_lines_find(struct yarn_lines *lines, uint32_t module, uint64_t address,
                                    struct yarn_line_chain *ret_chain);

/* The n-th module whose lines stay unknown, among those that were looked at: its file is another
 * now (OTHER_FILE), or its debug information asks for more than any of its size (TOO_LARGE). NULL:
 * there are no more. */
const char *yarn_lines_unknown(const struct yarn_lines *lines, size_t n,
                               enum yarn_debuginfo_state *ret_why);
