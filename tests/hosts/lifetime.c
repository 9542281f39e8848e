/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole life in little time, for tests that run it thousands of times: threads, a library that
 * comes and goes, a child that works, one that leaves at once, a new image of itself. It prints
 * what a guest could have changed at every station. `lifetime LIBRARY`.
 */
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 2, STEPS = 12000000, STEPS_OF_THREAD = STEPS / 3, DESCRIPTORS = 64 };

static uint64_t work(uint64_t seed, int steps)
{
    uint64_t value = seed;
    for (int i = 0; i < steps; i++) {
        value = value * UINT64_C(6364136223846793005) + 1;
        __asm__("" : "+r"(value));
    }
    return value;
}

static void *run(void *seed)
{
    *(uint64_t *)seed = work(*(uint64_t *)seed, STEPS_OF_THREAD);
    return NULL;
}

/* By the kernel's own words where there are any: libraries could lie. */
static void print_state(const char *station)
{
    sigset_t blocked;
    struct rlimit files;
    uint64_t handled = 0, mask = 0, open_files = 0;
    int kept = errno;
    for (int number = 1; number < 65; number++) {
        struct sigaction action;
        if (!sigaction(number, NULL, &action) && action.sa_handler != SIG_DFL)
            handled |= UINT64_C(1) << (number - 1);
    }
    if (!sigprocmask(SIG_SETMASK, NULL, &blocked))
        memcpy(&mask, &blocked, sizeof mask);
    for (int fd = 0; fd < DESCRIPTORS; fd++)
        if (dup2(fd, fd) == fd)
            open_files |= UINT64_C(1) << fd;
    if (getrlimit(RLIMIT_NOFILE, &files))
        files.rlim_cur = 0;
    printf("%s: errno %d, handled %" PRIx64 ", blocked %" PRIx64 ", open %" PRIx64 " of %ju\n",
           station, kept, handled, mask, open_files, (uintmax_t)files.rlim_cur);
    fflush(stdout);
    errno = kept;
}

static void run_threads(void)
{
    pthread_t threads[THREADS];
    uint64_t values[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        values[i] = i;
        if (pthread_create(&threads[i], NULL, run, &values[i]))
            exit(EXIT_FAILURE);
    }
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("threads: %016" PRIx64 "\n", values[0] ^ values[1]);
}

static void use_library(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    printf("library: %d\n", library != NULL);
    if (library)
        dlclose(library);
}

static void run_child(int does_work)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        if (!does_work)
            _exit(3);
        printf("child: %016" PRIx64 "\n", work(7, STEPS));
        print_state("child");
        exit(4);
    }
    if (child > 0)
        waitpid(child, &status, 0);
    printf("child ended: %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOFBF, 1 << 14);
    errno = 0;
    print_state(argc > 2 ? "second image" : "main");
    printf("work: %016" PRIx64 "\n", work(1, STEPS));
    if (argc > 2)
        return 5;
    run_threads();
    use_library(argv[1]);
    fflush(stdout);
    run_child(0);
    run_child(1);
    print_state("before exec");
    execl("/no/such/file", "none", NULL);
    print_state("after a failed exec");
    execl(argv[0], argv[0], argv[1], "again", NULL);
    return EXIT_FAILURE;
}
