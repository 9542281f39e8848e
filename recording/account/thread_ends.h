/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The CPU time that each thread of the host had used when it ended, noted by the thread itself as
 * one of its last acts, for the reader, which sees the end a little later. No other way: once the
 * kernel has reported the end, the thread's clock is gone. The kernel could report counts at a
 * thread's end, too (inherit_stat), but writes each core's into that core's ring from whatever core
 * the thread ends on: two cores writing one ring at once leave it shut for good (Linux 6.18; 3,000
 * pairs of short threads on 2 cores: one ring or both stood still in half of all runs).
 *
 * Threads: note and take from any. Signals: safe.
 */
#pragma once

#include <sys/types.h>

#include "output/dump/types.h"

enum { YARN_THREAD_ENDS_MAX = 8192 };

/* Of the calling thread; its CPU time is that of its life, but for what it does after its last
 * destructor. Where the note of another with the same number modulo
 * YARN_THREAD_ENDS_MAX was not taken yet, it is only counted: numbers are given in turn, so the
 * reader is that many new threads of the machine behind. */
void yarn_thread_ends_note(const struct yarn_dump_thread_end *end);

/* The note of the thread, once; false where it noted nothing until then: what was noted later is
 * another's of the same number. */
bool yarn_thread_ends_take(pid_t tid, uint64_t until_ns, struct yarn_dump_thread_end *ret_end);

/* The next that was noted before until_ns and not taken; it stays. False: there is none any more.
 * *cursor is 0 for the first. */
bool yarn_thread_ends_next(size_t *cursor, uint64_t until_ns, struct yarn_dump_thread_end *ret_end);

/* How many wait to be taken, about. */
size_t yarn_thread_ends_count(void);

/* Ends that were only counted since the last call; adds their CPU time. */
uint64_t yarn_thread_ends_take_unnoted(uint64_t *cpu_ns);

/* In a child after fork: its parent's threads are not its. */
void yarn_thread_ends_after_fork(void);
