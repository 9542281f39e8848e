/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Threads that the host makes with pthread_create or thrd_create tell their CPU time when they end.
 */
#pragma once

/* In the constructor, where something is recorded. Takes one of the host's 1024 keys of data of
 * threads; without one, or before, threads are made as if nothing stood between. */
void yarn_interpose_threads_begin(void);
