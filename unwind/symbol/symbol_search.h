/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The symbols of an ELF file whose names a pattern matches: where a probe or a watchpoint is to be
 * put. Looks into the file itself, its .gnu_debugdata and its separate debug file, by plain
 * passes over their tables: done once for each probe, before anything is measured.
 * Knows names and addresses; does not know what is put there.
 *
 * Threads, signals: as image.h.
 */
#pragma once

#include "unwind/image.h"

enum yarn_symbol_kind { YARN_SYMBOL_CODE, YARN_SYMBOL_DATA };

struct yarn_symbol_hit {
    struct yarn_span name; /* without its version; good during the call */
    uint64_t vaddr, size;  /* linked; size 0: unknown */
    bool is_indirect;      /* an IFUNC: what is there only chooses the function */
    bool is_thread_local;  /* vaddr is an offset in each thread's block */
};

/* False: enough. */
typedef bool yarn_symbol_hit_fn(void *self, const struct yarn_symbol_hit *hit);

/* `pattern` as the shell's (core/base/glob.h); `path` of the image, for its debug file. One address
 * may be reported several times, once for each table and name. The number of reports. */
size_t yarn_symbol_search(const struct yarn_image *image, const char *path,
                          enum yarn_symbol_kind kind, const char *pattern, yarn_symbol_hit_fn *each,
                          void *self);
