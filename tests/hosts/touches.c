/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * touches N: eight threads and a child touch N pages each that nobody has touched. Prints the page
 * faults that the kernel charges to itself and the child. Ends with status 7.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 8, PAGE = 4096, STATUS = 7 };

static size_t nr_pages;

static void *touch(void *unused)
{
    size_t size = nr_pages * PAGE;
    char *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)unused;
    if (pages == MAP_FAILED)
        abort();
    (void)madvise(pages, size, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < nr_pages; i++)
        ((volatile char *)pages)[i * PAGE] = 1;
    (void)munmap(pages, size);
    return NULL;
}

static long faults_of(int who)
{
    struct rusage usage;
    (void)getrusage(who, &usage);
    return usage.ru_minflt + usage.ru_majflt;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    nr_pages = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    pid_t child = fork();
    if (child == 0) {
        touch(NULL);
        _exit(0);
    }
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, touch, NULL))
            abort();
    for (int i = 0; i < THREADS; i++)
        (void)pthread_join(threads[i], NULL);
    (void)waitpid(child, NULL, 0);
    (void)printf("%ld\n", faults_of(RUSAGE_SELF) + faults_of(RUSAGE_CHILDREN));
    return STATUS;
}
