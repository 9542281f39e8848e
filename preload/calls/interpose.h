/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the constructor tells the interposed functions of, or takes from them.
 */
#pragma once

/* Where something is recorded, threads that the host makes tell their CPU time when they end. Takes
 * one of the host's 1024 keys of data of threads; without one, or before, threads are made as if
 * nothing stood between. */
void yarn_interpose_threads_begin(void);

/* A handler of quick_exit, after all of the host's: with the status that it was called with. */
void yarn_interpose_end_quickly(void *unused);
