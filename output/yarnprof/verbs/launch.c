/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/verbs/launch.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "output/yarnprof/stream/status.h"

#define PRELOAD_NAME "libyarn_preload.so"
#define YARN_BESIDE_LIBDIR "/../" YARN_LIBDIR

/* The folder of the tool itself, without a slash at its end. */
static int own_folder(char *ret_folder, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", ret_folder, size - 1);
    if (length <= 0)
        return -errno;
    ret_folder[length] = 0;
    char *slash = strrchr(ret_folder, '/');
    if (!slash)
        return -ENOENT;
    *slash = 0;
    return 0;
}

static bool is_there(struct yarn_launch *launch, const char *folder, const char *below)
{
    char path[4096 + 64];
    char *real;
    if (snprintf(path, sizeof path, "%s%s/" PRELOAD_NAME, folder, below) >= (int)sizeof path)
        return false;
    real = realpath(path, NULL);
    bool fits = real && access(real, R_OK) == 0 && strlen(real) < sizeof launch->preload;
    if (fits)
        (void)strcpy(launch->preload, real);
    free(real);
    return fits;
}

int yarn_launch_find(struct yarn_launch *launch, char *ret_why, size_t size)
{
    static const char *const places[] = {"", YARN_BESIDE_LIBDIR, "/../lib", "/../lib64"};
    char folder[4096];
    int err = own_folder(folder, sizeof folder);
    for (size_t i = 0; !err && i < YARN_COUNT_OF(places); i++) {
        if (is_there(launch, folder, places[i]))
            return 0;
    }
    if (is_there(launch, YARN_FULL_LIBDIR, ""))
        return 0;
    (void)snprintf(ret_why, size, "%.2000s, %.2000s/../%s and %s were looked into",
                   err ? "?" : folder, err ? "?" : folder, YARN_LIBDIR, YARN_FULL_LIBDIR);
    return -ENOENT;
}

int yarn_launch_set(const char *name, const char *value)
{
    return setenv(name, value, 1) ? -errno : 0;
}

/* An existing LD_PRELOAD is kept, behind ours. */
static int set_preload(const struct yarn_launch *launch)
{
    const char *before = getenv("LD_PRELOAD");
    if (launch->preload[strcspn(launch->preload, ": \t")])
        return -EINVAL;
    if (!before || !before[0])
        return yarn_launch_set("LD_PRELOAD", launch->preload);
    size_t size = strlen(launch->preload) + 1 + strlen(before) + 1;
    char *both = malloc(size);
    if (!both)
        return -ENOMEM;
    (void)snprintf(both, size, "%s:%s", launch->preload, before);
    int err = yarn_launch_set("LD_PRELOAD", both);
    free(both);
    return err;
}

static volatile sig_atomic_t child_pid;

/* The terminal sends SIGINT and SIGQUIT to the command as well; these two come to us alone. */
static void pass_on(int number)
{
    if (child_pid > 0)
        (void)kill((pid_t)child_pid, number);
}

static void watch_signals(void)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction forward = {.sa_handler = pass_on, .sa_flags = SA_RESTART};
    (void)sigaction(SIGINT, &ignore, NULL);
    (void)sigaction(SIGQUIT, &ignore, NULL);
    (void)sigaction(SIGTERM, &forward, NULL);
    (void)sigaction(SIGHUP, &forward, NULL);
}

static int wait_for(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR)
            return YARN_STATUS_FAILED;
    }
    return WIFSIGNALED(status) ? YARN_STATUS_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

/* In the child: becomes the command, or writes the parent why not. */
static _Noreturn void become(const struct yarn_launch *launch, char *const argv[], int report)
{
    int err = set_preload(launch);
    if (!err) {
        (void)execvp(argv[0], argv);
        err = -errno;
    }
    ssize_t written = write(report, &err, sizeof err);
    _exit(written == (ssize_t)sizeof err ? YARN_STATUS_NO_COMMAND : YARN_STATUS_CANNOT_RUN);
}

static int report_failure(const char *command, int err)
{
    yarn_complain("record", "%s: %s", command,
                  err == -EINVAL ? "the path of " PRELOAD_NAME " has a space or colon, which "
                                   "LD_PRELOAD cannot hold"
                                 : strerror(-err));
    return err == -ENOENT ? YARN_STATUS_NO_COMMAND : YARN_STATUS_CANNOT_RUN;
}

int yarn_launch_run(const struct yarn_launch *launch, char *const argv[])
{
    int report[2];
    int err = 0;
    if (pipe2(report, O_CLOEXEC))
        return report_failure(argv[0], -errno);
    pid_t pid = fork();
    if (pid < 0) {
        err = -errno;
        (void)close(report[0]);
        (void)close(report[1]);
        return report_failure(argv[0], err);
    }
    if (pid == 0)
        become(launch, argv, report[1]);
    child_pid = pid;
    watch_signals();
    (void)close(report[1]);
    ssize_t got;
    do {
        got = read(report[0], &err, sizeof err);
    } while (got < 0 && errno == EINTR);
    (void)close(report[0]);
    int status = wait_for(pid);
    return got == (ssize_t)sizeof err ? report_failure(argv[0], err) : status;
}
