/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two threads, each of which loads a library of its own, works in it and unloads it, again and
 * again: each library keeps coming up where the other one was. Side by side each may happen to keep
 * a place of its own, so in the end they do it one after the other. `dlloop FOLDER [SECONDS]`: the
 * libraries' folder. The threads are called like their libraries' functions.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TURNS = 100, PATH_BYTES = 4096, STEPS_PER_CALL = 200000 }; /* a fifth of a ms a call */

struct loop {
    const char *function; /* also the thread's name */
    char path[PATH_BYTES];
    int64_t end_ns;
    bool has_failed;
};

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static bool load_and_work(const struct loop *loop, uint64_t *seed)
{
    uint64_t (*function)(uint64_t, uint64_t);
    void *library = dlopen(loop->path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return false;
    /* Why so: POSIX lets an object pointer be a function's address, ISO C has no cast for it. */
    *(void **)&function = dlsym(library, loop->function);
    if (function)
        *seed = function(STEPS_PER_CALL, *seed);
    return dlclose(library) == 0 && function;
}

static void *run(void *argument)
{
    struct loop *loop = argument;
    uint64_t seed = 1;
    (void)pthread_setname_np(pthread_self(), loop->function);
    do
        loop->has_failed = !load_and_work(loop, &seed);
    while (!loop->has_failed && now_ns() < loop->end_ns);
    return NULL;
}

static bool take_turns(struct loop loops[2])
{
    for (int i = 0; i < TURNS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, run, &loops[i % 2]) || pthread_join(thread, NULL))
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    static struct loop loops[] = {{.function = "alpha_work"}, {.function = "beta_work"}};
    pthread_t threads[2];
    if (argc < 2)
        return 2;
    int64_t length_ns = (argc > 2 ? atoi(argv[2]) : 3) * INT64_C(1000000000);
    for (int i = 0; i < 2; i++) {
        loops[i].end_ns = now_ns() + length_ns;
        (void)snprintf(loops[i].path, sizeof loops[i].path, "%s/libdlloop_%s.so", argv[1],
                       i ? "beta" : "alpha");
        if (pthread_create(&threads[i], NULL, run, &loops[i]))
            return EXIT_FAILURE;
    }
    for (int i = 0; i < 2; i++)
        (void)pthread_join(threads[i], NULL);
    bool has_failed = !take_turns(loops) || loops[0].has_failed || loops[1].has_failed;
    puts(has_failed ? "dlloop: failed" : "dlloop: done");
    return has_failed;
}
