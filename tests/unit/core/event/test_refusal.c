/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "core/event/spec.h"
#include "core/event/status.h"
#include "tests/support/suite.h"

/* What perf_event_open(2) is documented to refuse with, and what else comes out of it. */
static const int errnos[] = {
    E2BIG,  EACCES, EBADF,  EBUSY,  EFAULT, EINTR,      EINVAL,    EMFILE, ENFILE, ENODEV,
    ENOENT, ENOMEM, ENOSPC, ENOSYS, EPERM,  EOPNOTSUPP, EOVERFLOW, ESRCH,  524,
};

START_TEST(each_errno_has_a_sentence_of_its_own)
{
    const char *other = yarn_event_refusal(-1000);
    for (size_t i = 0; i < YARN_COUNT_OF(errnos); i++) {
        const char *why = yarn_event_refusal(-errnos[i]);
        ck_assert_str_ne(why, other);
        for (size_t j = 0; j < i; j++)
            ck_assert_str_ne(why, yarn_event_refusal(-errnos[j]));
    }
}
END_TEST

START_TEST(what_happens_in_the_kernel_is_not_counted_without_it)
{
    const char *why;
    struct yarn_event_spec spec = {.is_in_kernel = true};
    ck_assert_int_eq(yarn_event_spec_check(&spec, &why), 0);
    spec.exclude_kernel = true;
    ck_assert_int_eq(yarn_event_spec_check(&spec, &why), -EOPNOTSUPP);
    ck_assert_ptr_nonnull(strstr(why, "would always be 0"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("refusals");
    TCase *sentences = tcase_create("sentences");
    tcase_add_test(sentences, each_errno_has_a_sentence_of_its_own);
    tcase_add_test(sentences, what_happens_in_the_kernel_is_not_counted_without_it);
    suite_add_tcase(suite, sentences);
    return run_suite(suite);
}
