/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The reader's own descriptor table. Its numbers 0 to 2 are held by unused descriptors, which
 * are replaced by files where no other number is free: a host may lower its limit of open files
 * (RLIMIT_NOFILE), which holds for the reader's table too, below every number that is in use.
 *
 * Threads: the reader thread only, but for lend and is_reserved, which change nothing on any other.
 * Signals: not safe.
 */
#pragma once

#include "core/base/base.h"

/* Gives the calling thread a descriptor table of its own, unless it was cloned with one
 * (`is_apart`), and closes every descriptor in it but those three. */
YARN_MUST_CHECK int yarn_own_files_open(bool is_apart);

/* Frees one number for the next file. False where none is left. */
bool yarn_own_files_lend(void);

/* Whether the number is kept for the dump and for files that are soon closed. */
bool yarn_own_files_is_reserved(int fd);

/* Holds those again that are free. */
YARN_MUST_CHECK int yarn_own_files_hold(void);
