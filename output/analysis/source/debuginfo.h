/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The debug information of one module as it was recorded, whichever file holds it: the module
 * itself, a file of its build id below the debug folders, the file that its .gnu_debuglink names
 * or, if the user has set DEBUGINFOD_URLS, a server. A file that is not the recorded one is never
 * used. Knows libdwfl; does not know what the information says (code_units, lines).
 *
 * Threads: one owner at a time.
 */
#pragma once

#include "core/base/span.h"

struct Dwarf; /* of libdw */

enum yarn_debuginfo_state {
    YARN_DEBUGINFO_FOUND,
    YARN_DEBUGINFO_ABSENT,
    YARN_DEBUGINFO_OTHER_FILE, /* none, and at the module's path there is another file now */
    YARN_DEBUGINFO_TOO_LARGE,  /* found, but it asks for more memory or time than any of its size */
};

struct yarn_debuginfo;

/* `build_id` and `file_bytes` as recorded. No build id: the file at `path` is believed if it has
 * that size, or the size is 0, unknown. `folders` in the
 * syntax of libdwfl's debuginfo path; NULL: its default, ":.debug:/usr/lib/debug". *ret_debuginfo
 * is NULL unless it was FOUND. -ENOMEM. */
YARN_MUST_CHECK int yarn_debuginfo_open(const char *path, struct yarn_span build_id,
                                        uint64_t file_bytes, const char *folders,
                                        enum yarn_debuginfo_state *ret_state,
                                        struct yarn_debuginfo **ret_debuginfo);
/* NULL is allowed. */
void yarn_debuginfo_close(struct yarn_debuginfo *debuginfo);

/* Of the file that has it. */
uint64_t yarn_debuginfo_file_bytes(const struct yarn_debuginfo *debuginfo);

struct Dwarf *yarn_debuginfo_dwarf(const struct yarn_debuginfo *debuginfo);
/* What to take from a linked address of the module to get one of the debug information. */
uint64_t yarn_debuginfo_bias(const struct yarn_debuginfo *debuginfo);
