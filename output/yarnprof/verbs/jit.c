/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/verbs/jit.h"

#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/text.h"
#include "output/analysis/value/runtime.h"
#include "output/dump/reader.h"
#include "output/yarnprof/io/status.h"
#include "output/yarnprof/verbs/launch.h"

#define VARIABLE "YARN_JIT"

enum { VALUE_BYTES = 4096 };

/* What holds other options keeps them. */
static int set_one(const struct yarn_runtime *runtime, struct yarn_text *done)
{
    char joined[VALUE_BYTES];
    const char *before = runtime->joins ? getenv(runtime->variable) : NULL;
    if (before && strstr(before, runtime->value))
        return 0;
    struct yarn_text value = yarn_text_of(joined, sizeof joined);
    yarn_text_add_format(&value, "%s%s%s", before ? before : "", before && before[0] ? " " : "",
                         runtime->value);
    yarn_text_add_format(done, "%s%s=%s", done->size ? ", " : "", runtime->variable,
                         runtime->value);
    return value.cut ? -E2BIG : yarn_launch_set(runtime->variable, joined);
}

int yarn_jit_set(void)
{
    char bytes[VALUE_BYTES] = "";
    struct yarn_text done = yarn_text_of(bytes, sizeof bytes);
    const struct yarn_runtime *runtime;
    int err = 0;
    for (size_t i = 0; !err && (runtime = yarn_runtime_at(i)); i++)
        err = runtime->is_safe ? set_one(runtime, &done) : 0;
    if (err || !done.size)
        return err;
    yarn_complain("record",
                  "--jit sets %s; Python's calls take 1.4 to 1.8 times as long with it, and its "
                  "recursion limit is reached earlier",
                  bytes);
    return yarn_launch_set(VARIABLE, bytes);
}

static int note_pid(void *self, const struct yarn_dump_process *process)
{
    *(uint32_t *)self = process->pid;
    return process->pid != 0;
}

static void remove_file(const char *path, uint64_t since_ns)
{
    struct stat status;
    if (lstat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
        (uint64_t)status.st_mtim.tv_sec + 1 >= since_ns / YARN_NS_PER_SECOND)
        (void)unlink(path);
}

static void remove_files(uint32_t pid, uint64_t since_ns)
{
    char path[64];
    glob_t logs = {.gl_pathv = NULL};
    /* Why asked: what runs on still writes them. */
    if (kill((pid_t)pid, 0) == 0 || errno != ESRCH)
        return;
    (void)snprintf(path, sizeof path, "/tmp/perf-%u.map", pid);
    remove_file(path, since_ns);
    /* Why those: node writes them where it is started, whenever it writes the former. */
    (void)snprintf(path, sizeof path, "isolate-0x*-%u-v8.log", pid);
    if (glob(path, 0, NULL, &logs) == 0)
        for (size_t i = 0; i < logs.gl_pathc; i++)
            remove_file(logs.gl_pathv[i], since_ns);
    globfree(&logs);
}

void yarn_jit_clean_up(const struct yarn_sources *sources, uint64_t since_ns)
{
    static const struct yarn_dump_visitor visitor = {.process = note_pid};
    for (size_t i = 0; i < sources->count; i++) {
        struct yarn_dump_summary summary;
        uint32_t pid = 0;
        if (yarn_dump_read_file(sources->list[i].path, &visitor, &pid, &summary) >= 0 && pid)
            remove_files(pid, since_ns);
    }
}
