/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When its recording begins: does what its arguments say, one after the other, and prints after
 * each how many rings of events it has mapped, at the end its CPU time since main in ns.
 *
 *   look      nothing
 *   work US   so much CPU time
 *   rest MS   sleeps
 *   thread    makes a thread and waits for its end
 *   fork US   a child that uses so much CPU time
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int nr_rings(void)
{
    char line[4096];
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        count += strstr(line, "[perf_event]") != NULL;
    if (maps)
        fclose(maps);
    return count;
}

static uint64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void work(uint64_t us)
{
    uint64_t end_ns = cpu_ns() + us * 1000;
    volatile uint64_t value = 1;
    while (cpu_ns() < end_ns)
        for (int i = 0; i < 1000; i++)
            value = value * UINT64_C(6364136223846793005) + 1;
}

static void *leave(void *argument)
{
    return argument;
}

static void make_thread(void)
{
    pthread_t thread;
    if (!pthread_create(&thread, NULL, leave, NULL))
        pthread_join(thread, NULL);
}

static void fork_child(uint64_t us)
{
    pid_t child = fork();
    if (!child) {
        work(us);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
    uint64_t begun_ns = cpu_ns();
    for (int i = 1; i < argc; i++) {
        uint64_t number = i + 1 < argc ? strtoull(argv[i + 1], NULL, 10) : 0;
        if (!strcmp(argv[i], "work"))
            work(number);
        else if (!strcmp(argv[i], "rest"))
            usleep((useconds_t)number * 1000);
        else if (!strcmp(argv[i], "thread"))
            make_thread();
        else if (!strcmp(argv[i], "fork"))
            fork_child(number);
        else if (strcmp(argv[i], "look"))
            continue; /* a number */
        printf("%s %d\n", argv[i], nr_rings());
    }
    printf("cpu %llu\n", (unsigned long long)(cpu_ns() - begun_ns));
    return 0;
}
