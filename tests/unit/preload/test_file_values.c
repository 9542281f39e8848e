/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Values that the recorder hands on into the file as they are: the compiler checks that each is the
 * one that format.def has, and that none is missing.
 */
#include <check.h>

#include "core/config/choices.h"
#include "output/dump/types.h"
#include "preload/dump/messages.h"
#include "tests/support/suite.h"
#include "unwind/module_map.h"
#include "unwind/unwinder.h"

#define SAME(ours, files) _Static_assert((int)(ours) == (int)(files), #ours)

SAME(YARN_UNWIND_COMPLETE, YARN_DUMP_STACK_COMPLETE);
SAME(YARN_UNWIND_TRUNCATED, YARN_DUMP_STACK_TRUNCATED);
SAME(YARN_UNWIND_NO_UNWIND_INFO, YARN_DUMP_STACK_NO_UNWIND_INFO);
SAME(YARN_UNWIND_FAILED, YARN_DUMP_STACK_FAILED);
SAME(YARN_UNWIND_NONE, YARN_DUMP_STACK_NONE);
SAME(YARN_UNWIND_END_COUNT, YARN_DUMP_STACK_END_COUNT);

SAME(YARN_MODULE_FILE, YARN_DUMP_MODULE_FILE);
SAME(YARN_MODULE_VDSO, YARN_DUMP_MODULE_VDSO);
SAME(YARN_MODULE_ANONYMOUS, YARN_DUMP_MODULE_ANONYMOUS);
SAME(YARN_MODULE_KIND_COUNT, YARN_DUMP_MODULE_KIND_COUNT);

SAME(YARN_IMAGE_UNTRIED, YARN_DUMP_MODULE_UNTRIED);
SAME(YARN_IMAGE_OPEN, YARN_DUMP_MODULE_OPEN);
SAME(YARN_IMAGE_ABSENT, YARN_DUMP_MODULE_ABSENT);
SAME(YARN_IMAGE_REPLACED, YARN_DUMP_MODULE_REPLACED);
SAME(YARN_IMAGE_STATE_COUNT, YARN_DUMP_MODULE_STATE_COUNT);

SAME(YARN_MESSAGE_ERROR, YARN_DUMP_MESSAGE_ERROR);
SAME(YARN_MESSAGE_WARNING, YARN_DUMP_MESSAGE_WARNING);
SAME(YARN_MESSAGE_INFO, YARN_DUMP_MESSAGE_INFO);
SAME(YARN_MESSAGE_DEBUG, YARN_DUMP_MESSAGE_DEBUG);
SAME(YARN_MESSAGE_DEBUG + 1, YARN_DUMP_MESSAGE_MARK);

SAME(YARN_CLOCK_MONOTONIC, YARN_DUMP_CLOCK_MONOTONIC);
SAME(YARN_CLOCK_MONOTONIC_RAW, YARN_DUMP_CLOCK_MONOTONIC_RAW);
SAME(YARN_CLOCK_BOOTTIME, YARN_DUMP_CLOCK_BOOTTIME);

START_TEST(values_were_checked_by_the_compiler)
{
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("values in the file");
    TCase *tcase = tcase_create("as format.def has them");
    tcase_add_test(tcase, values_were_checked_by_the_compiler);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
