/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the main of a Check suite ends with: the suite is run and freed, and the result is the exit
 * status. CK_FORK, CK_VERBOSITY and Check's other variables hold.
 */
#pragma once

#include <check.h>
#include <stdlib.h>

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
