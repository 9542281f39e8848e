/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the kernel's functions are called: /proc/kallsyms, read once when the first address is asked
 * for, as far as the kernel lets this process see addresses. A function ends where the next one
 * begins. Functions of loadable modules bear the module's name: "nf_hook [netfilter]".
 * Bounded: 256 Ki functions and 12 MiB of names.
 * Knows the file; does not know whose addresses are asked for.
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "core/base/arena.h"
#include "core/base/span.h"

struct yarn_kernel_name {
    struct yarn_span text; /* borrowed until the names are closed */
    uint64_t start, end;
};

struct yarn_kernel_symbol {
    uint64_t address;
    struct yarn_span name, module; /* borrowed; module without its brackets, or empty */
};

/* All zero: not read yet, holds nothing. */
struct yarn_kernel_names {
    bool was_read;
    uint64_t base;  /* addresses are kept as distances from it */
    uint64_t *keys; /* owned; sorted: distance << 32 | place of the name in `texts` */
    size_t count, capacity;
    struct yarn_arena texts;
};

/* A line without its newline; -EINVAL where it is none, or names no function or no address. */
YARN_MUST_CHECK int yarn_kernel_names_parse(struct yarn_span line,
                                            struct yarn_kernel_symbol *ret_symbol);

/* Reads a file in the place of /proc/kallsyms. What went wrong shows in that nothing is found. */
void yarn_kernel_names_read(struct yarn_kernel_names *names, const char *path);

/* False where the address has no name. */
bool yarn_kernel_names_find(struct yarn_kernel_names *names, uint64_t address,
                            struct yarn_kernel_name *ret_name);

/* Idempotent. */
void yarn_kernel_names_close(struct yarn_kernel_names *names);
