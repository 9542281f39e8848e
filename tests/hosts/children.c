/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host that makes children, in the way that its first argument names. What it prints is the
 * same in every run.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/hosts/work.h"

extern pid_t _Fork(void);

__attribute__((noinline)) static void parent_work(uint64_t nr_units)
{
    printf("parent: %016" PRIx64 "\n", yarn_host_work(nr_units, 1, 3));
    fflush(stdout);
}

__attribute__((noinline)) static void child_work(uint64_t nr_units)
{
    printf("child: %016" PRIx64 "\n", yarn_host_work(nr_units, 1, 5));
    fflush(stdout);
}

static int wait_for(pid_t child)
{
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror("child");
        exit(EXIT_FAILURE);
    }
    return status;
}

static void report(pid_t child)
{
    printf("status %x\n", (unsigned)wait_for(child));
    fflush(stdout);
}

/* CPU time, not wall time. */
/* Not by the process's clock, on which a profiler's thread would burn, too. */
static void burn_ms(long milliseconds)
{
    struct timespec now;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while (now.tv_sec == 0 && now.tv_nsec < milliseconds * 1000000);
}

/* `many COUNT MS`: one after the other, each with so much CPU time. */
static int many(char **argv)
{
    long count = strtol(argv[2], NULL, 10);
    long milliseconds = strtol(argv[3], NULL, 10);
    for (long i = 0; i < count; i++) {
        pid_t child = fork();
        if (child == 0) {
            burn_ms(milliseconds);
            _exit(0);
        }
        if (wait_for(child))
            return EXIT_FAILURE;
    }
    return 0;
}

/* `tree`: a child and a grandchild, each with work. */
static int tree(void)
{
    parent_work(10);
    pid_t child = fork();
    if (child == 0) {
        child_work(10);
        pid_t grandchild = fork();
        if (grandchild == 0) {
            child_work(10);
            exit(2);
        }
        report(grandchild);
        exit(1);
    }
    report(child);
    return 0;
}

/* `daemon FILE` and `daemonize FILE`: what a process without a terminal sees, written into the
 * file. */
static void write_report(const char *path)
{
    child_work(15);
    FILE *file = fopen(path, "w");
    if (!file)
        _exit(EXIT_FAILURE);
    char folder[64] = "";
    fprintf(file, "in %s\n", getcwd(folder, sizeof folder));
    fclose(file);
}

static int by_daemon(const char *path)
{
    parent_work(5);
    if (daemon(0, 0))
        return EXIT_FAILURE;
    write_report(path);
    return 0;
}

static int by_hand(const char *path)
{
    parent_work(5);
    pid_t child = fork();
    if (child)
        return child < 0;
    if (setsid() < 0)
        return EXIT_FAILURE;
    child = fork();
    if (child)
        _exit(child < 0);
    if (chdir("/"))
        return EXIT_FAILURE;
    for (int fd = 0; fd < 1024; fd++)
        close(fd);
    if (open("/dev/null", O_RDWR) != 0 || dup2(0, 1) != 1 || dup2(0, 2) != 2)
        return EXIT_FAILURE;
    write_report(path);
    return 0;
}

/* `chroot FOLDER USER`: a server that gives everything up as it starts. For root. */
static int jailed(char **argv)
{
    pid_t child = fork();
    if (child == 0) {
        if (chroot(argv[2]) || chdir("/") || setgid(60002) || setuid(60002))
            _exit(EXIT_FAILURE);
        child_work(15);
        exit(0);
    }
    report(child);
    return 0;
}

static int by__fork(void)
{
    pid_t child = _Fork();
    if (child == 0) {
        child_work(10);
        _exit(9);
    }
    report(child);
    parent_work(10);
    return 0;
}

static int by_forkpty(void)
{
    int terminal;
    char text[256];
    pid_t child = forkpty(&terminal, NULL, NULL, NULL);
    if (child == 0) {
        child_work(10);
        exit(9);
    }
    while (read(terminal, text, sizeof text) > 0)
        ;
    report(child);
    return 0;
}

static int run_clone(void *unused)
{
    (void)unused;
    child_work(5);
    _exit(6);
}

/* `clone`: memory of its own and shared memory, without the C library's fork. */
static int by_clone(void)
{
    const size_t size = 256 * 1024;
    char *stack =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED)
        return EXIT_FAILURE;
    report(clone(run_clone, stack + size, SIGCHLD, NULL));
    report(clone(run_clone, stack + size, SIGCHLD | CLONE_VM | CLONE_VFORK, NULL));
    parent_work(10);
    return 0;
}

static int depth;

static void fork_again(void)
{
    if (depth++)
        return;
    pid_t child = fork();
    if (child == 0)
        return;
    printf("inner status %x\n", (unsigned)wait_for(child));
    fflush(stdout);
}

/* `atfork`: a handler in the child forks. */
static int by_atfork(void)
{
    pthread_atfork(NULL, NULL, fork_again);
    pid_t child = fork();
    if (child == 0) {
        child_work(8);
        exit(3);
    }
    report(child);
    return 0;
}

static volatile pid_t made;

static void fork_in_handler(int signal)
{
    (void)signal;
    made = fork();
    if (made == 0) {
        child_work(8);
        _exit(3);
    }
}

static int by_signal(void)
{
    signal(SIGUSR1, fork_in_handler);
    parent_work(5);
    raise(SIGUSR1);
    report(made);
    return 0;
}

static _Atomic int is_over;

static void *churn(void *unused)
{
    while (!is_over) {
        free(malloc(1000));
        yarn_host_work(0, 1, 1);
    }
    return unused;
}

enum { FORKERS = 6, FORKS = 4 };

static void *fork_often(void *unused)
{
    for (int i = 0; i < FORKS; i++) {
        pid_t child = fork();
        if (child == 0) {
            free(malloc(100000));
            burn_ms(i % 2 ? 0 : 8);
            _exit(0);
        }
        if (wait_for(child))
            exit(EXIT_FAILURE);
    }
    return unused;
}

/* `threads`: many threads work, and some of them fork. */
static int by_threads(void)
{
    enum { WORKERS = 40 };
    pthread_t threads[WORKERS + FORKERS];
    for (int i = 0; i < WORKERS + FORKERS; i++)
        if (pthread_create(&threads[i], NULL, i < WORKERS ? churn : fork_often, NULL))
            return EXIT_FAILURE;
    for (int i = WORKERS; i < WORKERS + FORKERS; i++)
        pthread_join(threads[i], NULL);
    is_over = 1;
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    printf("all %d children have ended well\n", FORKERS * FORKS);
    return 0;
}

static int by_programs(void)
{
    printf("system %x\n", (unsigned)system("exit 3"));
    FILE *pipe = popen("echo popen; exit 4", "r");
    char line[32] = "";
    if (!pipe || !fgets(line, sizeof line, pipe))
        return EXIT_FAILURE;
    printf("%s%x\n", line, (unsigned)pclose(pipe));
    pid_t child = vfork();
    if (child == 0) {
        execlp("no-such-program", "none", (char *)NULL);
        execlp("sh", "sh", "-c", "exit 5", (char *)NULL);
        _exit(127);
    }
    report(child);
    parent_work(10);
    return 0;
}

/* `unshare`: into a user namespace, which only a process of one thread may enter. */
static int by_unshare(void)
{
    parent_work(10);
    printf("unshare %d\n", unshare(CLONE_NEWUSER));
    parent_work(10);
    return 0;
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    if (!strcmp(way, "many") && argc == 4)
        return many(argv);
    if (!strcmp(way, "tree"))
        return tree();
    if (!strcmp(way, "daemon") && argc == 3)
        return by_daemon(argv[2]);
    if (!strcmp(way, "daemonize") && argc == 3)
        return by_hand(argv[2]);
    if (!strcmp(way, "chroot") && argc == 3)
        return jailed(argv);
    if (!strcmp(way, "_Fork"))
        return by__fork();
    if (!strcmp(way, "forkpty"))
        return by_forkpty();
    if (!strcmp(way, "clone"))
        return by_clone();
    if (!strcmp(way, "atfork"))
        return by_atfork();
    if (!strcmp(way, "signal"))
        return by_signal();
    if (!strcmp(way, "threads"))
        return by_threads();
    if (!strcmp(way, "programs"))
        return by_programs();
    if (!strcmp(way, "unshare"))
        return by_unshare();
    return 2;
}
