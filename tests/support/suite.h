/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the main of a Check suite ends with: the suite is run and freed, and the result is the exit
 * status. CK_FORK, CK_VERBOSITY and Check's other variables hold.
 */
#pragma once

#include <check.h>
#include <stdlib.h>

/* clang says it otherwise. */
#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#elif __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

/* ThreadSanitizer's runtime has a thread and page faults of its own. */
#ifdef __SANITIZE_THREAD__
enum { IS_THREAD_SANITIZED = 1 };
#else
enum { IS_THREAD_SANITIZED = 0 };
#endif

/* AddressSanitizer's shadow of each address that was ever read may stay in memory. */
#ifdef __SANITIZE_ADDRESS__
enum { IS_ADDRESS_SANITIZED = 1 };
#else
enum { IS_ADDRESS_SANITIZED = 0 };
#endif

static inline int run_suite_forking(Suite *suite, enum fork_status status)
{
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, status);
    srunner_run_all(runner, CK_ENV);
    int nr_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return nr_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

static inline int run_suite(Suite *suite)
{
    return run_suite_forking(suite, CK_FORK_GETENV);
}
