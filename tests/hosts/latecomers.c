/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Makes threads from before the constructors of libraries on, all the time, until main runs: some
 * end at once, the others wait and then touch PAGES pages each, in touch_pages. Prints how many
 * pages they have touched.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAKERS = 3, LIVING = 30, PAGES = 20, PAGE = 4096, STEP_US = 200 };

static struct {
    pthread_t thread, living[LIVING];
    unsigned nr_living;
} makers[MAKERS];
static _Atomic unsigned nr_ready;
static _Atomic int may_end, may_touch;

__attribute__((noinline)) static void touch_pages(volatile char *pages)
{
    for (unsigned i = 0; i < PAGES; i++)
        pages[i * PAGE] = 1;
}

static void *live(void *unused)
{
    char *pages = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        abort();
    (void)madvise(pages, (size_t)PAGES * PAGE, MADV_NOHUGEPAGE);
    atomic_fetch_add(&nr_ready, 1);
    while (!atomic_load(&may_touch))
        usleep(STEP_US);
    touch_pages(pages);
    return unused;
}

static void *end(void *unused)
{
    return unused;
}

static void begin(pthread_t *thread, void *(*run)(void *), void *argument)
{
    if (pthread_create(thread, NULL, run, argument))
        abort();
}

static void *make(void *argument)
{
    const unsigned number = (unsigned)(uintptr_t)argument;
    while (!atomic_load(&may_end)) {
        pthread_t brief;
        if (makers[number].nr_living < LIVING)
            begin(&makers[number].living[makers[number].nr_living++], live, NULL);
        begin(&brief, end, NULL);
        pthread_join(brief, NULL);
    }
    return argument;
}

/* Before what a preloaded library does. */
static void before_all(int argc, char **argv, char **envp)
{
    (void)argc;
    (void)argv;
    (void)envp;
    for (uintptr_t i = 0; i < MAKERS; i++)
        begin(&makers[i].thread, make, (void *)i);
}

__attribute__((section(".preinit_array"), used)) static void (*const first)(int, char **,
                                                                            char **) = before_all;

int main(void)
{
    unsigned nr_living = 0;
    atomic_store(&may_end, 1);
    for (unsigned i = 0; i < MAKERS; i++) {
        pthread_join(makers[i].thread, NULL);
        nr_living += makers[i].nr_living;
    }
    while (atomic_load(&nr_ready) < nr_living)
        usleep(STEP_US);
    atomic_store(&may_touch, 1);
    for (unsigned i = 0; i < MAKERS; i++)
        for (unsigned k = 0; k < makers[i].nr_living; k++)
            pthread_join(makers[i].living[k], NULL);
    printf("%u\n", nr_living * PAGES);
    return 0;
}
