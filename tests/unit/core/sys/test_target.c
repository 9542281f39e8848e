/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/sys/target.h"
#include "tests/support/suite.h"

static const char written[] = "what the other process wrote";

struct other {
    pid_t pid;
    char *memory; /* at the same address here, with other bytes */
};

static void begin(struct other *other)
{
    int ready[2];
    char byte;
    ck_assert_int_eq(pipe(ready), 0);
    other->memory = calloc(1, sizeof written);
    ck_assert_ptr_nonnull(other->memory);
    other->pid = fork();
    if (other->pid == 0) {
        memcpy(other->memory, written, sizeof written);
        if (write(ready[1], "", 1) == 1)
            pause();
        _exit(1);
    }
    ck_assert_int_gt(other->pid, 0);
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
}

static void end(const struct other *other)
{
    ck_assert_int_eq(kill(other->pid, SIGKILL), 0);
    ck_assert_int_eq(waitpid(other->pid, NULL, 0), other->pid);
    free(other->memory);
}

START_TEST(another_process_s_memory_is_its_own)
{
    struct other other;
    char bytes[sizeof written] = "";
    begin(&other);
    const struct yarn_target target = yarn_target_of(other.pid);
    uint64_t address = (uint64_t)(uintptr_t)other.memory;
    ck_assert_int_eq(yarn_target_read(&target, address, bytes, sizeof bytes), 0);
    ck_assert_str_eq(bytes, written);
    ck_assert_int_eq(yarn_target_read(&yarn_target_self, address, bytes, sizeof bytes), 0);
    ck_assert_str_eq(bytes, "");
    ck_assert_int_eq(yarn_target_read(&yarn_target_nobody, address, bytes, 1), -ESRCH);
    end(&other);
    ck_assert_int_ne(yarn_target_read(&target, address, bytes, sizeof bytes), 0);
}
END_TEST

START_TEST(another_process_s_threads_are_listed_until_it_has_gone)
{
    struct other other;
    pid_t tids[4];
    char name[16], own[16];
    uint64_t cpu_ns = 0;
    begin(&other);
    const struct yarn_target target = yarn_target_of(other.pid);
    ck_assert_int_eq(yarn_target_threads(&target, other.pid, tids, 4), 1 + IS_THREAD_SANITIZED);
    ck_assert_int_eq(tids[0], other.pid);
    yarn_target_thread_name(&target, other.pid, name, sizeof name);
    yarn_target_thread_name(&yarn_target_self, getpid(), own, sizeof own);
    ck_assert_str_eq(name, own);
    ck_assert(yarn_target_thread_is_alive(&target, other.pid, other.pid, &cpu_ns));
    ck_assert_uint_gt(cpu_ns, 0);
    ck_assert_uint_ge(yarn_target_ran_ns(&target), cpu_ns);
    end(&other);
    ck_assert_uint_eq(yarn_target_ran_ns(&target), target.cpu_ns);
    ck_assert_int_lt(yarn_target_threads(&target, other.pid, tids, 4), 0);
    ck_assert(!yarn_target_thread_is_alive(&target, other.pid, other.pid, &cpu_ns));
}
END_TEST

START_TEST(one_that_is_known_to_have_ended_is_not_taken_for_another_of_its_number)
{
    struct other other;
    char bytes[sizeof written] = "", name[16] = "?";
    struct yarn_thread_schedstat stat;
    pid_t tids[4];
    uint32_t pid, user;
    begin(&other);
    struct yarn_target target = yarn_target_of(other.pid);
    ck_assert(yarn_target_identity(&target, &pid, &user));
    ck_assert(yarn_target_thread_schedstat(&target, other.pid, &stat));
    target.has_ended = true;
    uint64_t address = (uintptr_t)other.memory;
    ck_assert_int_eq(yarn_target_read(&target, address, bytes, sizeof bytes), -ESRCH);
    ck_assert_int_eq(yarn_target_threads(&target, other.pid, tids, 4), -ESRCH);
    ck_assert(!yarn_target_identity(&target, &pid, &user));
    ck_assert(!yarn_target_thread_schedstat(&target, other.pid, &stat));
    ck_assert(!yarn_target_has_thread(&target, other.pid, other.pid));
    yarn_target_thread_name(&target, other.pid, name, sizeof name);
    ck_assert_str_eq(name, "");
    target.cpu_ns = 7;
    ck_assert_uint_eq(yarn_target_ran_ns(&target), 7);
    end(&other);
}
END_TEST

START_TEST(another_process_s_cpu_time_is_what_its_follower_knows)
{
    struct yarn_target target = yarn_target_of(1);
    target.cpu_ns = 77;
    target.ticks.all_ns = 70;
    ck_assert_uint_eq(yarn_target_cpu_ns(&target), 77);
    ck_assert_uint_eq(yarn_target_ticks(&target).all_ns, 70);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("target");
    TCase *tests = tcase_create("another process");
    tcase_add_test(tests, another_process_s_memory_is_its_own);
    tcase_add_test(tests, another_process_s_threads_are_listed_until_it_has_gone);
    tcase_add_test(tests, one_that_is_known_to_have_ended_is_not_taken_for_another_of_its_number);
    tcase_add_test(tests, another_process_s_cpu_time_is_what_its_follower_knows);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
