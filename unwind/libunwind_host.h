/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What libunwind sees instead of the host's C library: scripts/lib/cmake/build-libunwind renames
 * its references to these. Memory comes from pages.h, locks do nothing (each address space has one
 * owner at a time), and its messages are discarded.
 *
 * Threads: one at a time uses libunwind. Signals: not safe.
 */
#pragma once

#include <sys/types.h>

#include "core/base/base.h"

void *yarn_libunwind_host_malloc(size_t size);
void *yarn_libunwind_host_calloc(size_t count, size_t size);
void yarn_libunwind_host_free(void *memory);
void *yarn_libunwind_host_mmap(void *at, size_t size, int protection, int flags, int fd,
                               off_t offset);
int yarn_libunwind_host_munmap(void *at, size_t size);

/* Memory that is mapped between these two is unmapped by the second: libunwind forgets it. */
void yarn_libunwind_host_note(void);
void yarn_libunwind_host_unmap_noted(void);

int yarn_libunwind_host_pthread_mutex_init(void *mutex, const void *attributes);
int yarn_libunwind_host_pthread_mutex_lock(void *mutex);
int yarn_libunwind_host_pthread_mutex_unlock(void *mutex);

/* Not thread-local: that variable's offset depends on the sizes of all the host's TLS blocks, and
 * may lie outside of the reader's small one. */
int *yarn_libunwind_host___errno_location(void);

int yarn_libunwind_host_getpagesize(void);
long yarn_libunwind_host_sysconf(int name);
int yarn_libunwind_host_sigfillset(void *set);
ssize_t yarn_libunwind_host_write(int fd, const void *data, size_t size);
char *yarn_libunwind_host_strerror(int error);

/* Ends the calling thread, not the host. Behind it are only assertions. */
_Noreturn void yarn_libunwind_host_abort(void);

/* The initialisers of the local address space, which does not exist here, and its list of code
 * that was registered at run time. */
void yarn_libunwind_host_no_local(void);
void yarn_libunwind_host_no_probe(void);
unsigned long yarn_libunwind_host_no_list(void);
