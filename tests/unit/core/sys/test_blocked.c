/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/sys/blocked.h"
#include "core/sys/process.h"
#include "tests/support/suite.h"

static const struct {
    const char *text;
    bool is_blocked;
    int64_t call;
    uint64_t argument, sp, ip;
} texts[] = {
    {"202 0x1000 0x80 0x2 0x0 0x0 0x3 0x7ffc01 0x7f02\n", true, 202, 0x1000, 0x7ffc01, 0x7f02},
    {"0 0x0 0x80 0x2 0x0 0x0 0x3 0x7ffc01 0x7f02", true, 0, 0, 0x7ffc01, 0x7f02},
    {"-1 0x7ffc01 0x7f02\n", true, YARN_BLOCKED_NO_CALL, 0, 0x7ffc01, 0x7f02},
    {"running\n", false, 0, 0, 0, 0},
    {"", false, 0, 0, 0, 0},
    {"-", false, 0, 0, 0, 0},
    {"-1", false, 0, 0, 0, 0},
    {"-1 0x0 0x0\n", false, 0, 0, 0, 0},
    {"202 0x1000 0x80\n", false, 0, 0, 0, 0},
    {"202 0x1000 0x80 0x2 0x0 0x0 0x3 0x7ffc01\n", false, 0, 0, 0, 0},
    {"202 0x1000 0x80 0x2 0x0 0x0 0x3 0x7ffc01 zz\n", false, 0, 0, 0, 0},
    {"202 1000g 0x80 0x2 0x0 0x0 0x3 0x7ffc01 0x1\n", false, 0, 0, 0, 0},
};

START_TEST(the_kernels_text_says_where_a_thread_is)
{
    struct yarn_blocked blocked = {.call = 77};
    const char *text = texts[_i].text;
    ck_assert_int_eq(yarn_blocked_parse(text, strlen(text), &blocked), texts[_i].is_blocked);
    if (!texts[_i].is_blocked)
        return;
    ck_assert_int_eq(blocked.call, texts[_i].call);
    ck_assert_uint_eq(blocked.argument[0], texts[_i].argument);
    ck_assert_uint_eq(blocked.sp, texts[_i].sp);
    ck_assert_uint_eq(blocked.ip, texts[_i].ip);
}
END_TEST

static _Atomic pid_t runner;
static _Atomic bool has_to_end;

static void *run(void *argument)
{
    runner = yarn_process_tid();
    while (!has_to_end) {
    }
    return argument;
}

START_TEST(who_runs_is_not_blocked)
{
    struct yarn_blocked blocked;
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, run, NULL), 0);
    while (!runner)
        usleep(100);
    int fd = yarn_blocked_open(&yarn_target_self, runner);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(yarn_blocked_read(fd, &blocked), -EAGAIN);
    has_to_end = true;
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(yarn_blocked_read(fd, &blocked), -ESRCH);
    close(fd);
    ck_assert_int_lt(yarn_blocked_open(&yarn_target_self, 0x7ffffffe), 0);
}
END_TEST

/* ---- locks ---- */

enum kind {
    PLAIN,
    RECURSIVE,
    ERRORCHECK,
    ADAPTIVE,
    PI,
    ROBUST,
    TIMED,
    WRITER,
    READER,
    HELD_BY_READER,
    CONDITION,
    KINDS
};

static pthread_mutex_t mutex;
static pthread_rwlock_t rwlock;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static enum kind kind;
static _Atomic pid_t waiter;

static void make_mutex(void)
{
    static const int types[KINDS] = {[RECURSIVE] = PTHREAD_MUTEX_RECURSIVE,
                                     [ERRORCHECK] = PTHREAD_MUTEX_ERRORCHECK,
                                     [ADAPTIVE] = PTHREAD_MUTEX_ADAPTIVE_NP};
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, types[kind]);
    if (kind == PI)
        pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    if (kind == ROBUST)
        pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

static void *wait_for_lock(void *argument)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 60;
    waiter = yarn_process_tid();
    if (kind == WRITER)
        ck_assert_int_eq(pthread_rwlock_wrlock(&rwlock), 0);
    else if (kind == READER || kind == HELD_BY_READER)
        ck_assert_int_eq(
            kind == READER ? pthread_rwlock_rdlock(&rwlock) : pthread_rwlock_wrlock(&rwlock), 0);
    else if (kind == TIMED)
        ck_assert_int_eq(pthread_mutex_timedlock(&mutex, &end), 0);
    else
        ck_assert_int_eq(pthread_mutex_lock(&mutex), 0);
    if (kind >= WRITER && kind <= HELD_BY_READER)
        pthread_rwlock_unlock(&rwlock);
    else
        pthread_mutex_unlock(&mutex);
    return argument;
}

static void *wait_for_condition(void *argument)
{
    pthread_mutex_lock(&mutex);
    waiter = yarn_process_tid();
    pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
    return argument;
}

static struct yarn_blocked_lock look(void)
{
    struct yarn_blocked blocked;
    while (!waiter)
        usleep(100);
    int fd = yarn_blocked_open(&yarn_target_self, waiter);
    ck_assert_int_ge(fd, 0);
    while (yarn_blocked_read(fd, &blocked) || blocked.call != SYS_futex)
        usleep(100);
    close(fd);
    return yarn_blocked_lock_of(&yarn_target_self, &blocked);
}

START_TEST(the_holder_of_a_lock_is_known)
{
    pthread_t thread;
    bool is_rwlock = _i >= WRITER && _i <= HELD_BY_READER;
    kind = (enum kind)_i;
    waiter = 0;
    make_mutex();
    pthread_rwlock_init(&rwlock, NULL);
    if (!is_rwlock)
        ck_assert_int_eq(pthread_mutex_lock(&mutex), 0);
    else if (kind == HELD_BY_READER)
        ck_assert_int_eq(pthread_rwlock_rdlock(&rwlock), 0);
    else
        ck_assert_int_eq(pthread_rwlock_wrlock(&rwlock), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_lock, NULL), 0);
    struct yarn_blocked_lock lock = look();
    ck_assert_uint_eq(lock.holder, kind == HELD_BY_READER ? 0 : (uint32_t)yarn_process_tid());
    ck_assert_int_eq(lock.address != 0, kind != HELD_BY_READER);
    if (is_rwlock)
        pthread_rwlock_unlock(&rwlock);
    else
        pthread_mutex_unlock(&mutex);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}
END_TEST

START_TEST(a_condition_has_no_holder)
{
    pthread_t thread;
    kind = PLAIN;
    waiter = 0;
    make_mutex();
    ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_condition, NULL), 0);
    struct yarn_blocked_lock lock = look();
    ck_assert_uint_eq(lock.holder, 0);
    pthread_mutex_lock(&mutex);
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("blocked");
    TCase *tcase = tcase_create("where a thread is");
    tcase_add_loop_test(tcase, the_kernels_text_says_where_a_thread_is, 0, YARN_COUNT_OF(texts));
    tcase_add_test(tcase, who_runs_is_not_blocked);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("what it waits for");
    tcase_add_loop_test(tcase, the_holder_of_a_lock_is_known, 0, CONDITION);
    tcase_add_test(tcase, a_condition_has_no_holder);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
