/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traced start|late COMMAND…: runs the command and traces it as a debugger would: its main thread
 * from the start, or all threads from some time after it handles a timer's signal. Every signal
 * is let through; the late tracer lets no other thread run until the main one is about to get a
 * timer's signal, which it then keeps to itself for a while. Prints how many timer signals
 * were reported, and how the command ended.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    TICK = 32,
    LOOK_US = 10000,
    LATE_US = 300000,
    HELD_US = 2500000,
    LOOKS = 1000,
    THREADS = 64
};

struct traced {
    int pid;
    int others[THREADS]; /* threads that wait until the main one's signal */
    int nr_others;
};

static int start(char *argv[], int is_late)
{
    int end_of_exec[2];
    char byte;
    if (pipe2(end_of_exec, O_CLOEXEC))
        return -1;
    int pid = fork();
    if (!pid) {
        if (is_late || !ptrace(PTRACE_TRACEME, 0, NULL, NULL))
            execvp(argv[0], argv);
        _exit(127);
    }
    close(end_of_exec[1]);
    if (is_late && read(end_of_exec[0], &byte, 1))
        pid = -1;
    close(end_of_exec[0]);
    return pid;
}

static int handles_tick(int pid)
{
    char name[64], line[128];
    unsigned long long mask = 0;
    snprintf(name, sizeof name, "/proc/%d/status", pid);
    FILE *status = fopen(name, "r");
    while (status && fgets(line, sizeof line, status))
        if (!strncmp(line, "SigCgt:", 7))
            mask = strtoull(line + 7, NULL, 16);
    if (status)
        fclose(status);
    return mask >> (TICK - 1) & 1;
}

static int seize(struct traced *traced)
{
    char name[64];
    snprintf(name, sizeof name, "/proc/%d/task", traced->pid);
    DIR *folder = opendir(name);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        int tid = atoi(entry->d_name), status;
        if (!tid || traced->nr_others == THREADS)
            continue;
        if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) || ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) ||
            waitpid(tid, &status, __WALL) != tid)
            return -1;
        if (tid != traced->pid)
            traced->others[traced->nr_others++] = tid;
    }
    if (folder)
        closedir(folder);
    return ptrace(PTRACE_CONT, traced->pid, NULL, NULL) ? -1 : 0;
}

static void hold(struct traced *traced)
{
    if (!traced->nr_others)
        return;
    for (int i = 0; i < traced->nr_others; i++)
        ptrace(PTRACE_CONT, traced->others[i], NULL, NULL);
    traced->nr_others = 0;
    usleep(HELD_US);
}

int main(int argc, char *argv[])
{
    if (argc < 3)
        return 2;
    int is_late = strcmp(argv[1], "late") == 0, nr_reported = 0, status = 0, tid;
    struct traced traced = {.pid = start(argv + 2, is_late)};
    if (traced.pid < 0)
        return 1;
    for (int i = 0; is_late && i < LOOKS && !handles_tick(traced.pid); i++)
        usleep(LOOK_US);
    if (is_late)
        usleep(LATE_US);
    if (is_late && seize(&traced)) {
        perror("traced: ptrace");
        kill(traced.pid, SIGKILL);
        return 1;
    }
    while ((tid = waitpid(-1, &status, __WALL)) > 0) {
        if (!WIFSTOPPED(status) && tid == traced.pid)
            break;
        if (!WIFSTOPPED(status))
            continue;
        int number = WSTOPSIG(status);
        if (number >= TICK) {
            nr_reported++;
            hold(&traced);
        }
        /* The trap is the exec's. */
        ptrace(PTRACE_CONT, tid, NULL, (void *)(long)(number == SIGTRAP ? 0 : number));
    }
    printf("reported: %d signals, exit %d, signal %d\n", nr_reported,
           WIFEXITED(status) ? WEXITSTATUS(status) : -1,
           WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    return 0;
}
