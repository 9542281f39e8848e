/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The four calls by which a program steers the recording that libyarn_preload.so makes of it, for C
 * and C++. Nothing has to be linked: in a program that runs without the preload they do nothing and
 * return -ESRCH, at the cost of a load and a comparison.
 *
 *     #include <yarn/control.h>
 *
 *     yarn_start();                       with YARN_START=off: only this part is recorded
 *     yarn_mark("request 17 begins");
 *     handle(request);
 *     yarn_stop();
 *
 * All return 0 or a negative errno: -ESRCH where nothing is being recorded in this process,
 * -ETIMEDOUT where the profiler did not answer within a second. errno is kept. May be called from
 * any thread; not from a signal handler, save yarn_mark, which only stores.
 */
#ifndef YARN_CONTROL_H
#define YARN_CONTROL_H

#include <errno.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Finds a weak symbol of the preload; null where there is none. Why not as C says it: in a program
 * that is not position independent the linker would take the null for granted. */
#if defined(__x86_64__)
#define YARN_CONTROL_FIND(name, ret_call)                                                          \
    __asm__(".weak " #name "\n\tmovq " #name "@GOTPCREL(%%rip), %0" : "=r"(ret_call))
#else
#define YARN_CONTROL_FIND(name, ret_call) (ret_call = preloaded_##name)
extern int preloaded_yarn_start(void) __asm__("yarn_start") __attribute__((weak));
extern int preloaded_yarn_stop(void) __asm__("yarn_stop") __attribute__((weak));
extern int preloaded_yarn_mark(const char *text) __asm__("yarn_mark") __attribute__((weak));
extern int preloaded_yarn_flush(void) __asm__("yarn_flush") __attribute__((weak));
#endif

/* Why another name for the assembler: the plain one is the preload's. */
static __inline__ int yarn_start(void) __asm__("yarn_control_start");
static __inline__ int yarn_stop(void) __asm__("yarn_control_stop");
static __inline__ int yarn_mark(const char *text) __asm__("yarn_control_mark");
static __inline__ int yarn_flush(void) __asm__("yarn_control_flush");

/* Begins or goes on; samples are taken when it returns. */
static __inline__ int yarn_start(void)
{
    int (*call)(void);
    YARN_CONTROL_FIND(yarn_start, call);
    return call ? call() : -ESRCH;
}

/* Pauses: when it returns, every sample up to the call is in the dump. */
static __inline__ int yarn_stop(void)
{
    int (*call)(void);
    YARN_CONTROL_FIND(yarn_stop, call);
    return call ? call() : -ESRCH;
}

/* Stores a text of at most 239 bytes (else -EMSGSIZE) at this moment of the calling thread.
 * -EAGAIN where too many marks wait to be stored. */
static __inline__ int yarn_mark(const char *text)
{
    int (*call)(const char *);
    YARN_CONTROL_FIND(yarn_mark, call);
    return call ? call(text) : -ESRCH;
}

/* Brings every sample up to the call into the file. */
static __inline__ int yarn_flush(void)
{
    int (*call)(void);
    YARN_CONTROL_FIND(yarn_flush, call);
    return call ? call() : -ESRCH;
}

#undef YARN_CONTROL_FIND

#ifdef __cplusplus
}
#endif

#endif
