/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The four calls by which a program steers the recording that libyarn_preload.so makes of it.
 * They are weak: in a program that runs without the preload they are null, so test before a call:
 *
 *     if (yarn_mark)
 *         yarn_mark("request begins");
 *
 * All return 0 or a negative errno: -ESRCH where nothing is being recorded in this process,
 * -ETIMEDOUT where the profiler did not answer within a second. errno is kept. May be called from
 * any thread; not from a signal handler, save yarn_mark, which only stores.
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Goes on after a yarn_stop. */
__attribute__((weak)) int yarn_start(void);

/* Pauses the recording: when it returns, every sample up to the call is in the dump. */
__attribute__((weak)) int yarn_stop(void);

/* Stores a text of at most 239 bytes at this moment of the calling thread. -EAGAIN where too many
 * marks wait to be stored. */
__attribute__((weak)) int yarn_mark(const char *text);

/* Brings every sample up to the call into the file. */
__attribute__((weak)) int yarn_flush(void);

#ifdef __cplusplus
}
#endif
