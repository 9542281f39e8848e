/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The stubs of the procedure linkage table: which relocation an address in .plt, .plt.sec or
 * .plt.got jumps through. The jump names its slot (x86-64).
 * Knows stubs and relocations; does not make names. Bytes are untrusted.
 *
 * Threads, signals: as image.h.
 */
#pragma once

#include "unwind/image.h"

enum { YARN_PLT_SECTIONS = 3, YARN_PLT_RELOCATIONS = 2 };

struct yarn_plt {
    struct yarn_section stubs[YARN_PLT_SECTIONS];
    size_t stub_sizes[YARN_PLT_SECTIONS];
    struct yarn_section relocations[YARN_PLT_RELOCATIONS];
};

struct yarn_plt_stub {
    uint64_t start, end;
    uint32_t symbol;   /* number in .dynsym; 0: none */
    uint64_t resolver; /* where there is no symbol: the function that chooses (IFUNC) */
};

struct yarn_plt yarn_plt_of(const struct yarn_image *image);

/* False where the address is in no stub, or the stub cannot be read. */
bool yarn_plt_find(const struct yarn_plt *plt, uint64_t vaddr, struct yarn_plt_stub *ret_stub);

/* Whether there may be a stub in [start, end). */
bool yarn_plt_overlaps(const struct yarn_plt *plt, uint64_t start, uint64_t end);
