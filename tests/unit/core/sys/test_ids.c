/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/sys/ids.h"
#include "core/sys/thread.h"
#include "tests/support/suite.h"

enum { NOBODY = 65534, GROUP = 1234 };

START_TEST(ids_are_as_libc_says)
{
    struct yarn_ids ids;
    uid_t users[3];
    gid_t groups[3], more[YARN_IDS_GROUPS_MAX];
    ck_assert_int_eq(yarn_ids_read(&ids), 0);
    ck_assert_int_eq(getresuid(&users[0], &users[1], &users[2]), 0);
    ck_assert_int_eq(getresgid(&groups[0], &groups[1], &groups[2]), 0);
    int nr_groups = getgroups(YARN_COUNT_OF(more), more);
    ck_assert_uint_eq(ids.real_user, users[0]);
    ck_assert_uint_eq(ids.effective_user, users[1]);
    ck_assert_uint_eq(ids.saved_user, users[2]);
    ck_assert_uint_eq(ids.real_group, groups[0]);
    ck_assert_uint_eq(ids.effective_group, groups[1]);
    ck_assert_uint_eq(ids.saved_group, groups[2]);
    ck_assert_uint_eq(ids.nr_groups, (size_t)nr_groups);
    for (int i = 0; i < nr_groups; i++)
        ck_assert_uint_eq(ids.groups[i], more[i]);
}
END_TEST

START_TEST(ids_of_oneself_can_always_be_taken)
{
    struct yarn_ids before, after;
    ck_assert_int_eq(yarn_ids_read(&before), 0);
    ck_assert_int_eq(yarn_ids_take(&before), 0);
    ck_assert_int_eq(yarn_ids_read(&after), 0);
    ck_assert_uint_eq(after.real_user, before.real_user);
    ck_assert_uint_eq(after.saved_group, before.saved_group);
    ck_assert_uint_eq(after.nr_groups, before.nr_groups);
    ck_assert_uint_eq(after.effective, before.effective);
    ck_assert_uint_eq(after.permitted, before.permitted);
    ck_assert_uint_eq(after.inheritable, before.inheritable);
}
END_TEST

START_TEST(capabilities_are_as_proc_says)
{
    struct yarn_ids ids;
    char line[256];
    unsigned long long mask;
    int nr_seen = 0;
    ck_assert_int_eq(yarn_ids_read(&ids), 0);
    FILE *status = fopen("/proc/self/status", "re");
    ck_assert_ptr_nonnull(status);
    while (fgets(line, sizeof line, status)) {
        if (sscanf(line, "CapEff: %llx", &mask) == 1)
            nr_seen += mask == ids.effective;
        else if (sscanf(line, "CapPrm: %llx", &mask) == 1)
            nr_seen += mask == ids.permitted;
        else if (sscanf(line, "CapInh: %llx", &mask) == 1)
            nr_seen += mask == ids.inheritable;
    }
    fclose(status);
    ck_assert_int_eq(nr_seen, 3);
}
END_TEST

/* In a child: rights can be had before and after each step. */
static int steps_that_can_be_taken_back(void)
{
    struct yarn_ids_hold root, before;
    yarn_ids_hold_read(&root);
    bool is_good = !setegid(GROUP) && !seteuid(NOBODY) && yarn_ids_can_regain(&root, true);
    is_good &= !setresgid((gid_t)-1, (gid_t)-1, GROUP) && yarn_ids_can_regain(&root, true);
    is_good &= !setresuid((uid_t)-1, 0, NOBODY) && yarn_ids_can_regain(&root, true);
    /* Without capabilities only what is among the three. */
    is_good &= !setresgid(GROUP, GROUP, NOBODY) && !setresuid(NOBODY, NOBODY, GROUP);
    is_good &= !yarn_ids_can_regain(&root, false);
    yarn_ids_hold_read(&before);
    is_good &= !setresuid((uid_t)-1, GROUP, (uid_t)-1) && yarn_ids_can_regain(&before, false);
    is_good &= !setresgid((gid_t)-1, NOBODY, (gid_t)-1) && yarn_ids_can_regain(&before, false);
    is_good &= !yarn_ids_can_regain(&before, true);
    is_good &= !setresgid(NOBODY, NOBODY, NOBODY) && !yarn_ids_can_regain(&before, false);
    return !is_good;
}

START_TEST(what_can_be_taken_back_is_known)
{
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(steps_that_can_be_taken_back());
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}
END_TEST

static const struct yarn_ids nobody = {
    .real_user = NOBODY,
    .effective_user = NOBODY,
    .saved_user = NOBODY,
    .real_group = NOBODY,
    .effective_group = NOBODY,
    .saved_group = NOBODY,
    .groups = {GROUP, NOBODY},
    .nr_groups = 2,
};

static struct {
    int taken, read, taken_back;
    struct yarn_ids ids, after;
} found;

/* The user changes, and one capability of two that are kept is effective. */
static int become_nobody_with_capabilities(void *argument)
{
    struct yarn_ids wanted = *(const struct yarn_ids *)argument;
    found.taken = yarn_ids_take(&wanted);
    found.read = yarn_ids_read(&found.ids);
    wanted.effective = wanted.permitted = INT64_MAX;
    found.taken_back = yarn_ids_take(&wanted);
    return yarn_ids_read(&found.after);
}

static int become_nobody(void *argument)
{
    const struct yarn_ids *before = argument;
    found.taken = yarn_ids_take(&nobody);
    found.read = yarn_ids_read(&found.ids);
    found.taken_back = yarn_ids_take(before);
    return 0;
}

/* From an effective user that is not root's back to it, in one step with the groups. */
static int go_and_return(void *argument)
{
    struct yarn_ids root = *(const struct yarn_ids *)argument, wanted = root;
    wanted.effective_user = NOBODY;
    wanted.effective = 0;
    found.taken = yarn_ids_take(&wanted);
    root.nr_groups = 1;
    root.groups[0] = GROUP;
    found.taken_back = yarn_ids_take(&root);
    return yarn_ids_read(&found.after);
}

START_TEST(steps_between_may_be_left_out)
{
    struct yarn_thread thread;
    struct yarn_ids before;
    ck_assert_int_eq(yarn_ids_read(&before), 0);
    ck_assert_int_eq(yarn_thread_start(&thread, go_and_return, &before, false), 0);
    ck_assert_int_eq(yarn_thread_join(&thread, 10 * YARN_NS_PER_SECOND), 0);
    ck_assert_int_eq(found.taken, 0);
    ck_assert_int_eq(found.taken_back, 0);
    ck_assert_uint_eq(found.after.effective_user, 0);
    ck_assert_uint_eq(found.after.groups[0], GROUP);
    ck_assert_uint_eq(found.after.effective, before.effective);
    yarn_thread_fini(&thread);
}
END_TEST

START_TEST(ids_are_given_up_by_our_thread_alone_and_for_good)
{
    struct yarn_thread thread;
    struct yarn_ids before, after;
    ck_assert_int_eq(yarn_ids_read(&before), 0);
    ck_assert_int_eq(yarn_thread_start(&thread, become_nobody, &before, false), 0);
    ck_assert_int_eq(yarn_thread_join(&thread, 10 * YARN_NS_PER_SECOND), 0);
    ck_assert_int_eq(yarn_ids_read(&after), 0);
    ck_assert_uint_eq(after.real_user, before.real_user);
    ck_assert_uint_eq(after.effective_user, before.effective_user);
    ck_assert_uint_eq(after.real_group, before.real_group);
    ck_assert_uint_eq(after.nr_groups, before.nr_groups);
    ck_assert_int_eq(found.taken, 0);
    ck_assert_int_eq(found.read, 0);
    ck_assert_uint_eq(found.ids.real_user, NOBODY);
    ck_assert_uint_eq(found.ids.effective_user, NOBODY);
    ck_assert_uint_eq(found.ids.saved_user, NOBODY);
    ck_assert_uint_eq(found.ids.saved_group, NOBODY);
    ck_assert_uint_eq(found.ids.nr_groups, 2);
    ck_assert_uint_eq(found.ids.groups[0], GROUP);
    ck_assert_int_eq(found.taken_back, -EPERM);
}
END_TEST

START_TEST(capabilities_are_those_that_are_wanted_and_none_more)
{
    enum { FIRST = 1 << 10, SECOND = 1 << 12 };
    struct yarn_thread thread;
    struct yarn_ids wanted = nobody;
    wanted.permitted = FIRST | SECOND;
    wanted.effective = SECOND;
    ck_assert_int_eq(yarn_thread_start(&thread, become_nobody_with_capabilities, &wanted, false),
                     0);
    ck_assert_int_eq(yarn_thread_join(&thread, 10 * YARN_NS_PER_SECOND), 0);
    ck_assert_int_eq(found.taken, 0);
    ck_assert_int_eq(found.read, 0);
    ck_assert_uint_eq(found.ids.effective_user, NOBODY);
    ck_assert_uint_eq(found.ids.permitted, FIRST | SECOND);
    ck_assert_uint_eq(found.ids.effective, SECOND);
    ck_assert_uint_eq(found.ids.inheritable, 0);
    ck_assert_int_eq(found.taken_back, 0);
    ck_assert_uint_eq(found.after.permitted, FIRST | SECOND);
    ck_assert_uint_eq(found.after.effective, FIRST | SECOND);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ids");
    TCase *tcase = tcase_create("the rights of a thread");
    tcase_add_test(tcase, ids_are_as_libc_says);
    tcase_add_test(tcase, ids_of_oneself_can_always_be_taken);
    tcase_add_test(tcase, capabilities_are_as_proc_says);
    if (getuid() == 0) {
        tcase_add_test(tcase, what_can_be_taken_back_is_known);
        tcase_add_test(tcase, steps_between_may_be_left_out);
        tcase_add_test(tcase, ids_are_given_up_by_our_thread_alone_and_for_good);
        tcase_add_test(tcase, capabilities_are_those_that_are_wanted_and_none_more);
    } else {
        printf("skipped: only root has rights to give up\n");
    }
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
