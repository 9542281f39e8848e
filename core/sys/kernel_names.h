/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The names of the kernel's functions: /proc/kallsyms, as far as the kernel lets this process
 * see addresses. It takes the kernel tens of ms to write it, so it is read once, in steps, while
 * samples wait between them. A function ends where the next one begins. Functions of loadable
 * modules bear the module's name: "nf_hook [netfilter]". Bounded: 256 Ki functions and 12 MiB of
 * names. Knows the file; does not know whose addresses are asked for. Addresses are good for one
 * boot of the machine, which has an id.
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

struct yarn_kernel_names {
    int fd;         /* owned; -1 once it is read */
    bool is_read;   /* whole, or as far as it can be */
    uint64_t base;  /* addresses are kept as distances from it */
    uint64_t *keys; /* owned; distance << 32 | place of the name in `texts`; sorted once read */
    size_t count;
    struct yarn_arena texts;
    uint8_t *buffer; /* owned; while it is being read */
    size_t held;     /* of a line, in the buffer */
};

#define YARN_KERNEL_NAMES_CLOSED ((struct yarn_kernel_names){.fd = -1})

/* A line without its newline; -EINVAL where it cannot be parsed, or names no function or no
 * address. */
YARN_MUST_CHECK int yarn_kernel_names_parse(struct yarn_span line,
                                            struct yarn_kernel_symbol *ret_symbol);

/* Reads a bit more, beginning with the closed value; true once all is read. `path`: /proc/kallsyms.
 * What goes wrong shows in that nothing is found. */
bool yarn_kernel_names_step(struct yarn_kernel_names *names, const char *path);

/* False where the address has no name, or the names are not all read. */
bool yarn_kernel_names_find(const struct yarn_kernel_names *names, uint64_t address,
                            struct yarn_kernel_name *ret_name);

enum { YARN_BOOT_ID_SIZE = 37 }; /* with its NUL */

/* Of the running kernel; empty where it cannot be read. */
void yarn_kernel_boot_id(char ret_id[YARN_BOOT_ID_SIZE]);

/* Idempotent. */
void yarn_kernel_names_close(struct yarn_kernel_names *names);
