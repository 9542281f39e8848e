/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/sys/ancestors.h"
#include "core/sys/file.h"
#include "core/sys/own_files.h"
#include "core/sys/process.h"
#include "tests/support/suite.h"

enum { CPUS_MAX = 16, UNTOUCHED = -7 };

static const struct {
    const char *list;
    size_t room;
    size_t count;
    int want[CPUS_MAX];
} cpu_rows[] = {
    {"0", 16, 1, {0}},
    {"0\n", 16, 1, {0}},
    {"0-3", 16, 4, {0, 1, 2, 3}},
    {"0-3\n", 16, 4, {0, 1, 2, 3}},
    {"0-1,8", 16, 3, {0, 1, 8}},
    {"0,2,4-5,7\n", 16, 5, {0, 2, 4, 5, 7}},
    {"127-129", 16, 3, {127, 128, 129}},
    {"3-3", 16, 1, {3}},
    {"", 16, 0, {0}},
    {"\n", 16, 0, {0}},
    {"x", 16, 0, {0}},
    {"-", 16, 0, {0}},
    {"-3", 16, 0, {0}},
    {",1", 16, 0, {0}},
    {"3-1", 16, 0, {0}},
    {"3-1,5", 16, 1, {5}},
    {"5-", 16, 0, {0}},
    {"1,5-", 16, 1, {1}},
    {"1,", 16, 1, {1}},
    {"1,,2", 16, 1, {1}},
    {"1 2", 16, 1, {1}},
    {"1-2-3", 16, 2, {1, 2}},
    {"0-3", 2, 2, {0, 1}},
    {"0,1,2", 2, 2, {0, 1}},
    {"0-3", 0, 0, {0}},
    {"0-18446744073709551615", 4, 4, {0, 1, 2, 3}},
    {"18446744073709551615", 4, 0, {0}},
    {"18446744073709551614-18446744073709551615", 4, 0, {0}},
    {"2147483646-2147483649", 4, 2, {INT_MAX - 1, INT_MAX}},
    {"4294967296", 4, 0, {0}},
    {"1,99999999999999999999", 16, 1, {1}},
};

START_TEST(cpus_of_a_list_are_read_in_its_order)
{
    int cpus[CPUS_MAX];
    size_t length = strlen(cpu_rows[_i].list);
    /* Without a NUL, so that a sanitizer sees a read behind the end. */
    char *list = malloc(length + !length);
    memcpy(list, cpu_rows[_i].list, length);
    for (size_t i = 0; i < CPUS_MAX; i++)
        cpus[i] = UNTOUCHED;
    size_t count = yarn_process_parse_cpus(yarn_span_of(list, length), cpus, cpu_rows[_i].room);
    free(list);
    ck_assert_msg(count == cpu_rows[_i].count, "\"%s\" gives %zu cpus", cpu_rows[_i].list, count);
    for (size_t i = 0; i < CPUS_MAX; i++)
        ck_assert_int_eq(cpus[i], i < count ? cpu_rows[_i].want[i] : UNTOUCHED);
}
END_TEST

START_TEST(cpus_of_this_machine_are_as_many_as_libc_says)
{
    static int online[4096], present[4096];
    size_t nr_online = yarn_process_online_cpus(online, YARN_COUNT_OF(online));
    size_t nr_present = yarn_process_present_cpus(present, YARN_COUNT_OF(present));
    ck_assert_uint_eq(nr_online, (size_t)sysconf(_SC_NPROCESSORS_ONLN));
    ck_assert_uint_ge(nr_present, nr_online);
    for (size_t i = 1; i < nr_present; i++)
        ck_assert_int_lt(present[i - 1], present[i]);
    ck_assert_uint_eq(yarn_process_present_cpus(present, 1), 1);
}
END_TEST

/* 0: all is as wanted. */
static int judge_ancestors(pid_t grandparent)
{
    pid_t parent = getppid();
    struct yarn_ancestor alone = yarn_ancestors_root(getpid(), parent, "no_such_file.so");
    struct yarn_ancestor root = yarn_ancestors_root(getpid(), parent, "libc.so.6");
    if (yarn_process_parent_of(parent) != grandparent || !yarn_process_birth_ns(parent))
        return 1;
    if (alone.pid != getpid() || alone.birth_ns != yarn_process_birth_ns(getpid()))
        return 2;
    return root.pid == getpid() || !root.birth_ns ? 3 : 0;
}

START_TEST(ancestors_are_known_beyond_the_parent)
{
    int status;
    pid_t grandparent = getppid(), child = fork();
    if (!child)
        _exit(judge_ancestors(grandparent));
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(process_knows_who_it_is)
{
    ck_assert_int_eq(yarn_process_pid(), getpid());
    ck_assert_int_eq(yarn_process_parent(), getppid());
    ck_assert_int_eq(yarn_process_tid(), (pid_t)syscall(SYS_gettid));
}
END_TEST

START_TEST(process_that_prefers_latency_keeps_its_policy_and_never_yields_more)
{
    struct sched_param param;
    int nice = getpriority(PRIO_PROCESS, 0);
    errno = 1234;
    yarn_process_prefer_latency();
    ck_assert_int_eq(errno, 1234);
    ck_assert_int_eq(sched_getscheduler(0), SCHED_OTHER);
    ck_assert_int_eq(sched_getparam(0, &param), 0);
    ck_assert_int_eq(param.sched_priority, 0);
    ck_assert_int_le(getpriority(PRIO_PROCESS, 0), nice);
}
END_TEST

/* As the kernel says it: struct sched_attr, whose sched_runtime is at 24. 0 before Linux 6.12. */
static uint64_t own_slice_ns(void)
{
    uint64_t words[6] = {0};
    ck_assert_int_eq(syscall(SYS_sched_getattr, 0, words, sizeof words, 0), 0);
    return words[3];
}

START_TEST(process_takes_short_turns_or_those_of_the_system)
{
    int nice = getpriority(PRIO_PROCESS, 0);
    uint64_t at_first_ns = own_slice_ns();
    yarn_process_take_short_turns(true);
    ck_assert_uint_eq(own_slice_ns(), at_first_ns ? YARN_NS_PER_MS / 10 : 0);
    yarn_process_take_short_turns(false);
    ck_assert_uint_eq(own_slice_ns(), at_first_ns);
    ck_assert_int_eq(getpriority(PRIO_PROCESS, 0), nice);
}
END_TEST

START_TEST(process_names_the_system_as_uname_does)
{
    struct yarn_system_names names;
    struct utsname want;
    memset(&names, 'x', sizeof names);
    ck_assert_int_eq(uname(&want), 0);
    yarn_process_system_names(&names);
    ck_assert_str_eq(names.node, want.nodename);
    ck_assert_str_eq(names.release, want.release);
    ck_assert_str_eq(names.machine, want.machine);
}
END_TEST

enum { THREADS = 200 }; /* more than one getdents64 returns */

static pthread_barrier_t barrier;
static pid_t thread_tids[THREADS];

static void *give_tid_and_wait(void *argument)
{
    *(pid_t *)argument = (pid_t)syscall(SYS_gettid);
    pthread_barrier_wait(&barrier); /* all are there */
    pthread_barrier_wait(&barrier); /* all may go */
    return NULL;
}

static bool has_tid(const pid_t *tids, size_t count, pid_t tid)
{
    for (size_t i = 0; i < count; i++)
        if (tids[i] == tid)
            return true;
    return false;
}

static void start_threads(pthread_t *threads)
{
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    for (size_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, give_tid_and_wait, &thread_tids[i]), 0);
    pthread_barrier_wait(&barrier);
}

static void end_threads(const pthread_t *threads)
{
    pthread_barrier_wait(&barrier);
    for (size_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
}

START_TEST(threads_are_all_listed_each_time)
{
    static pid_t tids[THREADS + 8];
    pthread_t threads[THREADS];
    start_threads(threads);
    for (int round = 0; round < 2; round++) {
        int count = yarn_process_threads(tids, YARN_COUNT_OF(tids));
        ck_assert_int_ge(count, THREADS + 1);
        ck_assert(has_tid(tids, (size_t)count, getpid()));
        for (size_t i = 0; i < THREADS; i++)
            ck_assert(has_tid(tids, (size_t)count, thread_tids[i]));
    }
    end_threads(threads);
}
END_TEST

START_TEST(threads_beyond_the_room_are_counted_and_not_written)
{
    pid_t tids[4] = {UNTOUCHED, UNTOUCHED, UNTOUCHED, UNTOUCHED};
    pthread_t threads[THREADS];
    start_threads(threads);
    ck_assert_int_ge(yarn_process_threads(tids, 3), THREADS + 1);
    ck_assert_int_gt(tids[2], 0);
    ck_assert_int_eq(tids[3], UNTOUCHED);
    ck_assert_int_ge(yarn_process_threads(NULL, 0), THREADS + 1);
    end_threads(threads);
}
END_TEST

START_TEST(thread_that_lives_is_not_dead_whatever_its_name)
{
    static const char *const names[] = {"plain", ") Z (", "a) X 1", "(((", ")))", ""};
    for (size_t i = 0; i < YARN_COUNT_OF(names); i++) {
        char name[16];
        ck_assert_int_eq(prctl(PR_SET_NAME, names[i]), 0);
        ck_assert(!yarn_process_thread_is_dead(getpid()));
        yarn_process_thread_name(getpid(), name, sizeof name);
        ck_assert_str_eq(name, names[i]);
    }
}
END_TEST

START_TEST(thread_that_is_not_there_is_dead_and_has_no_name)
{
    char name[16] = "untouched";
    ck_assert(yarn_process_thread_is_dead(1 << 30));
    yarn_process_thread_name(1 << 30, name, sizeof name);
    ck_assert_str_eq(name, "");
}
END_TEST

START_TEST(thread_is_not_called_dead_where_no_file_can_be_opened)
{
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = 0;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    bool is_dead = yarn_process_thread_is_dead(getpid());
    limit.rlim_cur = limit.rlim_max;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    ck_assert(!is_dead);
}
END_TEST

START_TEST(thread_name_is_cut_to_its_room)
{
    char name[5] = "....";
    ck_assert_int_eq(prctl(PR_SET_NAME, "abcdefgh"), 0);
    yarn_process_thread_name(getpid(), name, sizeof name);
    ck_assert_str_eq(name, "abcd");
}
END_TEST

/* What a thread of a child process saw of its leader's end. */
struct verdict {
    _Atomic bool was_alive, is_dead;
    _Atomic int status, nr_threads;
};

static struct verdict *share_verdict(void)
{
    struct verdict *verdict =
        mmap(NULL, sizeof *verdict, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(verdict, MAP_FAILED);
    return verdict;
}

static _Atomic bool may_leave;

static void *watch_the_leader(void *argument)
{
    struct verdict *verdict = argument;
    verdict->was_alive = !yarn_process_thread_is_dead(getpid());
    may_leave = true;
    for (int i = 0; i < 5000 && !yarn_process_thread_is_dead(getpid()); i++)
        usleep(1000);
    verdict->is_dead = yarn_process_thread_is_dead(getpid());
    struct yarn_process_leader leader = {.nr_threads = 0};
    if (!yarn_process_read_leader(-1, &leader) && leader.is_dead) {
        verdict->status = leader.exit_status;
        verdict->nr_threads = leader.nr_threads;
    }
    _exit(0);
}

static _Noreturn void leave_as_leader(struct verdict *verdict, int status)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, watch_the_leader, verdict))
        _exit(1);
    while (!may_leave)
        usleep(1000);
    if (status)
        syscall(SYS_exit, status);
    pthread_exit(NULL);
}

START_TEST(leader_that_left_before_the_others_is_dead_and_listed_with_its_status)
{
    static const int statuses[] = {0, 1, 77, 255};
    struct verdict *verdict = share_verdict();
    int status;
    pid_t child = fork();
    if (!child)
        leave_as_leader(verdict, statuses[_i]);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert(verdict->was_alive);
    ck_assert(verdict->is_dead);
    ck_assert_int_ge(verdict->nr_threads, 2); /* a sanitizer may have one of its own */
    ck_assert_int_eq(verdict->status, statuses[_i]);
}
END_TEST

static bool is_dev_null(int fd)
{
    struct stat info, null;
    return !fstat(fd, &info) && !stat("/dev/null", &null) && info.st_rdev == null.st_rdev &&
           S_ISCHR(info.st_mode);
}

/* 0 or the number of the step that went wrong. */
static int own_files_in_a_child(void)
{
    int high = fcntl(0, F_DUPFD, 300);
    if (high < 300 || dup2(high, 17) != 17)
        return 1;
    if (yarn_own_files_open(false))
        return 2;
    for (int fd = 0; fd < 3; fd++)
        if (!is_dev_null(fd) || (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDWR)
            return 3;
    for (int fd = 3; fd < 1024; fd++)
        if (fcntl(fd, F_GETFD) != -1)
            return 4;
    return 0;
}

START_TEST(own_files_are_three_times_dev_null_and_nothing_else)
{
    int status;
    int pipe_fds[2];
    ck_assert_int_eq(pipe(pipe_fds), 0);
    pid_t child = fork();
    if (!child)
        _exit(own_files_in_a_child());
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
    ck_assert_int_eq(write(pipe_fds[1], "x", 1), 1); /* ours are as they were */
}
END_TEST

START_TEST(threads_are_counted_and_namespaces_known)
{
    int fd = open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC);
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    /* A sanitizer has a thread of its own. */
    ck_assert_int_eq(yarn_process_nr_threads(), yarn_process_threads(NULL, 0));
    ck_assert_int_eq(yarn_process_namespace_kind(fd), CLONE_NEWUTS);
    ck_assert_int_eq(yarn_process_namespace_kind(null), -ENOTTY);
    ck_assert_int_eq(yarn_process_namespace_kind(-1), -EBADF);
    close(null);
    close(fd);
}
END_TEST

static void add_thread_tests(TCase *tcase)
{
    tcase_add_test(tcase, ancestors_are_known_beyond_the_parent);
    tcase_add_test(tcase, threads_are_all_listed_each_time);
    tcase_add_test(tcase, threads_beyond_the_room_are_counted_and_not_written);
    tcase_add_test(tcase, thread_that_lives_is_not_dead_whatever_its_name);
    tcase_add_test(tcase, thread_that_is_not_there_is_dead_and_has_no_name);
    tcase_add_test(tcase, thread_is_not_called_dead_where_no_file_can_be_opened);
    tcase_add_test(tcase, thread_name_is_cut_to_its_room);
    tcase_add_test(tcase, threads_are_counted_and_namespaces_known);
    tcase_add_loop_test(
        tcase, leader_that_left_before_the_others_is_dead_and_listed_with_its_status, 0, 4);
}

int main(void)
{
    Suite *suite = suite_create("process");

    TCase *facts = tcase_create("facts");
    tcase_add_loop_test(facts, cpus_of_a_list_are_read_in_its_order, 0, YARN_COUNT_OF(cpu_rows));
    tcase_add_test(facts, cpus_of_this_machine_are_as_many_as_libc_says);
    tcase_add_test(facts, process_knows_who_it_is);
    tcase_add_test(facts, process_that_prefers_latency_keeps_its_policy_and_never_yields_more);
    tcase_add_test(facts, process_takes_short_turns_or_those_of_the_system);
    tcase_add_test(facts, process_names_the_system_as_uname_does);
    suite_add_tcase(suite, facts);

    TCase *threads = tcase_create("threads");
    tcase_set_timeout(threads, 20);
    add_thread_tests(threads);
    suite_add_tcase(suite, threads);

    TCase *files = tcase_create("a table of descriptors of one's own");
    tcase_add_test(files, own_files_are_three_times_dev_null_and_nothing_else);
    suite_add_tcase(suite, files);
    return run_suite(suite);
}
