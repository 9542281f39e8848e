/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of every kind, many of them: `churn KIND COUNT [STEPS]`, each thread with STEPS thousand
 * steps of work (100 are about 100 us). What is printed depends on the arguments only.
 *
 *   join      one after the other          pairs     two at a time
 *   tiny      on the smallest stacks       altstack  each handles a signal on a stack of its own
 *   at-once   all at the same time         clone     made by clone(2), unknown to the C library
 *   cancel    each waits and is cancelled  c11      made by thrd_create
 *   rounds    destructors of a key work, too, as often as there are rounds
 *   fork      child processes that exit    exec      child processes that exec /bin/true
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include "tests/hosts/own_times.h"

enum { CLONE_STACK_BYTES = 65536, ALTSTACK_BYTES = 65536 };

static uint64_t nr_steps;
static _Atomic uint64_t result, nr_handled, nr_cancelled;
static pthread_barrier_t barrier;
static pthread_key_t key;

static void die(const char *what)
{
    perror(what);
    exit(EXIT_FAILURE);
}

__attribute__((noinline)) static void churn_work(void)
{
    uint64_t value = nr_steps;
    for (uint64_t i = 0; i < nr_steps; i++) {
        value = value * UINT64_C(6364136223846793005) + 29;
        __asm__("" : "+r"(value));
    }
    result += value;
}

static void *work(void *unused)
{
    churn_work();
    yarn_host_print_own_time();
    return unused;
}

static void *work_together(void *unused)
{
    pthread_barrier_wait(&barrier);
    churn_work();
    return unused;
}

static void on_signal(int number)
{
    (void)number;
    nr_handled++;
    churn_work();
}

static void *work_on_altstack(void *unused)
{
    stack_t own = {.ss_sp = malloc(ALTSTACK_BYTES), .ss_size = ALTSTACK_BYTES};
    stack_t none = {.ss_flags = SS_DISABLE};
    if (!own.ss_sp || sigaltstack(&own, NULL))
        die("sigaltstack");
    raise(SIGUSR1);
    sigaltstack(&none, NULL);
    free(own.ss_sp);
    return unused;
}

static void count_cancelled(void *unused)
{
    (void)unused;
    nr_cancelled++;
}

static void *wait_to_be_cancelled(void *unused)
{
    pthread_cleanup_push(count_cancelled, NULL);
    churn_work();
    for (;;)
        pause();
    pthread_cleanup_pop(0);
    return unused;
}

static void work_again(void *value)
{
    churn_work();
    pthread_setspecific(key, value);
}

static void *work_in_rounds(void *unused)
{
    pthread_setspecific(key, &key);
    return work(unused);
}

static int work_c11(void *unused)
{
    (void)unused;
    churn_work();
    yarn_host_print_own_time();
    return 0;
}

static void start(pthread_t *thread, size_t stack_bytes, void *(*run)(void *))
{
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    if (stack_bytes && pthread_attr_setstacksize(&attr, stack_bytes))
        die("pthread_attr_setstacksize");
    if ((errno = pthread_create(thread, &attr, run, NULL)))
        die("pthread_create");
    pthread_attr_destroy(&attr);
}

static void join(pthread_t thread)
{
    if ((errno = pthread_join(thread, NULL)))
        die("pthread_join");
}

static void one_by_one(int count, size_t stack_bytes, void *(*run)(void *))
{
    for (int i = 0; i < count; i++) {
        pthread_t thread;
        start(&thread, stack_bytes, run);
        if (run == wait_to_be_cancelled)
            pthread_cancel(thread);
        join(thread);
    }
}

static void by_c11(int count)
{
    for (int i = 0; i < count; i++) {
        thrd_t thread;
        if (thrd_create(&thread, work_c11, NULL) != thrd_success ||
            thrd_join(thread, NULL) != thrd_success)
            die("thrd_create");
    }
}

static void by_rounds(int count)
{
    if ((errno = pthread_key_create(&key, work_again)))
        die("pthread_key_create");
    one_by_one(count, 0, work_in_rounds);
}

static void by_pairs(int count)
{
    for (int i = 0; i < count; i++) {
        pthread_t threads[2];
        start(&threads[0], 0, work);
        start(&threads[1], 0, work);
        join(threads[0]);
        join(threads[1]);
    }
}

static void at_once(int count)
{
    pthread_t *threads = calloc((size_t)count, sizeof *threads);
    if (!threads)
        die("calloc");
    pthread_barrier_init(&barrier, NULL, (unsigned)count);
    for (int i = 0; i < count; i++)
        start(&threads[i], (size_t)PTHREAD_STACK_MIN, work_together);
    for (int i = 0; i < count; i++)
        join(threads[i]);
    free(threads);
}

static int run_clone(void *unused)
{
    (void)unused;
    churn_work();
    return 0;
}

/* Without a thread block of its own: it calls nothing of the C library. */
static void by_clone(int count)
{
    static _Atomic int tid;
    int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
    char *stack = mmap(NULL, CLONE_STACK_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED)
        die("mmap");
    for (int i = 0; i < count; i++) {
        int before;
        if (clone(run_clone, stack + CLONE_STACK_BYTES, flags, NULL, &tid, NULL, &tid) < 0)
            die("clone");
        while ((before = atomic_load(&tid)))
            syscall(SYS_futex, &tid, FUTEX_WAIT, before, NULL, NULL, 0);
    }
    munmap(stack, CLONE_STACK_BYTES);
}

static void by_fork(int count, int has_exec)
{
    for (int i = 0; i < count; i++) {
        int status;
        pid_t pid = fork();
        if (pid < 0)
            die("fork");
        if (!pid) {
            if (has_exec)
                execl("/bin/true", "true", (char *)NULL);
            _exit(has_exec ? 1 : 0);
        }
        if (waitpid(pid, &status, 0) != pid || status)
            die("child");
    }
}

static int run(const char *kind, int count)
{
    if (!strcmp(kind, "join"))
        one_by_one(count, 0, work);
    else if (!strcmp(kind, "pairs"))
        by_pairs(count);
    else if (!strcmp(kind, "tiny"))
        one_by_one(count, (size_t)PTHREAD_STACK_MIN, work);
    else if (!strcmp(kind, "altstack"))
        one_by_one(count, 0, work_on_altstack);
    else if (!strcmp(kind, "cancel"))
        one_by_one(count, 0, wait_to_be_cancelled);
    else if (!strcmp(kind, "at-once"))
        at_once(count);
    else if (!strcmp(kind, "c11"))
        by_c11(count);
    else if (!strcmp(kind, "rounds"))
        by_rounds(count);
    else if (!strcmp(kind, "clone"))
        by_clone(count);
    else if (!strcmp(kind, "fork") || !strcmp(kind, "exec"))
        by_fork(count, !strcmp(kind, "exec"));
    else
        return 0;
    return 1;
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    if (argc < 3 || sigaction(SIGUSR1, &action, NULL))
        return 2;
    yarn_host_begin_own_times();
    nr_steps = argc > 3 ? strtoull(argv[3], NULL, 10) * 1000 : 0;
    if (!run(argv[1], atoi(argv[2])))
        return 2;
    printf("churn: %s %s, %016" PRIx64 ", handled %" PRIu64 ", cancelled %" PRIu64 "\n", argv[1],
           argv[2], atomic_load(&result), atomic_load(&nr_handled), atomic_load(&nr_cancelled));
    return 0;
}
