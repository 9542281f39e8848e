/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/process/restrictions.h"

#include <sys/auxv.h>
#include <sys/resource.h>

#include "core/base/pages.h"
#include "core/sys/owner.h"
#include "core/sys/process.h"

#define MEMORY_LEAST YARN_MIB(40)

enum { MEMORY_SHARE = 8, FILE_LEAST = 16 * 1024 };

static int refuse(struct yarn_text *line, const char *why, const char *what, int err)
{
    yarn_text_add_format(line, "yarn: nothing is recorded: %s%s", why, what);
    return err;
}

static const char filtered[] = "the program was started behind a seccomp filter that ends it for ";

static int probe_seccomp(struct yarn_seccomp_probe *ret_probe, struct yarn_text *line)
{
    int err = yarn_seccomp_probe_is_due();
    if (err < 0)
        return refuse(line, "/proc/self could not be opened", "", err);
    if (err == 0)
        return 0;
    err = yarn_seccomp_probe_run(ret_probe);
    if (err == -ENOTSUP)
        return refuse(line, "behind a seccomp filter valgrind cannot be recorded", "", err);
    if (err)
        return refuse(line, "what the program's seccomp filter permits could not be tried",
                      ": no process could be made", err);
    if (ret_probe->deadly[YARN_SECCOMP_LINE])
        return -EPERM;
    const char *deadly = ret_probe->deadly[YARN_SECCOMP_ALL];
    return deadly ? refuse(line, filtered, deadly, -EPERM) : 0;
}

int yarn_restrictions_probe(struct yarn_seccomp_probe *ret_probe, char *const envp[],
                            struct yarn_text *line)
{
    int err = probe_seccomp(ret_probe, line);
    if (err && !yarn_job_is_wanted_early(envp, (const char *)getauxval(AT_EXECFN)))
        line->size = 0;
    return err;
}

static int check_filter(const struct yarn_job *job, struct yarn_text *line)
{
    const char *perf = job->seccomp.deadly[YARN_SECCOMP_PERF];
    const char *timer = job->seccomp.deadly[YARN_SECCOMP_TIMER];
    bool is_timer = job->options.sampler == YARN_SAMPLER_TIMER;
    bool needs_perf = job->options.sampler == YARN_SAMPLER_PERF || timer;
    const char *deadly = is_timer ? timer : needs_perf ? perf : NULL;
    return deadly ? refuse(line, filtered, deadly, -EPERM) : 0;
}

static int check_limits(struct yarn_text *line)
{
    if (yarn_process_limit(RLIMIT_FSIZE) < FILE_LEAST)
        return refuse(line, "the limit of file size (ulimit -f) leaves no room for a dump",
                      ": 16 KiB at least", -EFBIG);
    uint64_t limit = yarn_u64_min(yarn_process_limit(RLIMIT_AS), yarn_process_limit(RLIMIT_DATA));
    if (limit / MEMORY_SHARE < MEMORY_LEAST)
        return refuse(line,
                      "the limit of address space or data (ulimit -v, -d) leaves too little memory",
                      ": 320 MiB at least", -ENOMEM);
    if (limit < UINT64_MAX)
        yarn_pages_cap((size_t)(limit / MEMORY_SHARE));
    return 0;
}

int yarn_restrictions_check(const struct yarn_job *job, struct yarn_text *line)
{
    int err = check_filter(job, line);
    if (!err)
        err = check_limits(line);
    if (err)
        return err;
    err = yarn_owner_claim(!job->seccomp.deadly[YARN_SECCOMP_OWNER]);
    return err == -EINVAL ? refuse(line, "the kernel cannot mark memory that children must not ",
                                   "take for their own (Linux 4.14 and later can)", err)
                          : err;
}
