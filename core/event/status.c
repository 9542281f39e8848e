/* SPDX-License-Identifier: Apache-2.0 */
#include "core/event/status.h"

static const struct {
    enum yarn_event_status_bit bit;
    const char *word;
} words[] = {
    {YARN_EVENT_REFUSED, "refused"},
    {YARN_EVENT_MERGED, "merged with another"},
    {YARN_EVENT_USER_ONLY, "user's part alone"},
    {YARN_EVENT_MULTIPLEXED, "multiplexed"},
    {YARN_EVENT_CHILDREN_MISSING, "children missing"},
};

/* The kernel's own errno for what it cannot do, which has no name outside. */
enum { KERNEL_ENOTSUPP = 524 };

static const struct {
    int err;
    const char *why;
} refusals[] = {
    {E2BIG, "this kernel is older than what the event asks for: a newer Linux is needed"},
    {EACCES, "not permitted: CAP_PERFMON or kernel.perf_event_paranoid=1 permits it (0 for whole "
             "cpus, -1 for tracepoints)"},
    {EBADF, "the leader of its group is not open"},
    {EBUSY, "the PMU is taken for others alone: by a pinned or exclusive event, or by the watchdog "
            "(kernel.nmi_watchdog=0 ends it)"},
    {EFAULT, "the kernel could not read what was asked for: a filter of system calls may be in the "
             "way"},
    {EINTR, "perf and ftrace both have this probe: remove it from uprobe_events or kprobe_events"},
    {EINVAL, "the kernel does not take this event with these terms (one that is only counted: "
             "yarnprof stat; a rate may be at most kernel.perf_event_max_sample_rate)"},
    {EMFILE, "no free descriptor: raise the limit of open files (ulimit -n)"},
    {ENFILE, "the whole machine has no free descriptor: raise fs.file-max"},
    {ENODEV, "no PMU of this machine can do it: in a virtual machine the virtual PMU must be on"},
    {ENOENT, "this machine has no such counter: yarnprof list shows which there are"},
    {ENOMEM, "no memory for it: raise the limit of locked memory (ulimit -l) or that of the "
             "control group"},
    {ENOSPC, "all counters or breakpoints of this kind are in use: ask for fewer at once"},
    {ENOSYS, "perf_event_open is not to be had: a kernel without CONFIG_PERF_EVENTS, or a filter "
             "of system calls around it"},
    {EOPNOTSUPP, "the PMU lacks a feature that is asked for: leave out branch= or a modifier such "
                 "as p"},
    {EOVERFLOW, "deeper stacks are asked for than kernel.perf_event_max_stack permits"},
    {EPERM, "forbidden by the security policy: CAP_PERFMON (CAP_SYS_ADMIN before Linux 5.8), or a "
            "container and a filter of system calls that let perf_event_open pass"},
    {ESRCH, "the thread has gone"},
    {KERNEL_ENOTSUPP, "the kernel can put no probe on this instruction: take another offset"},
};

const char *yarn_event_refusal(int err)
{
    for (size_t i = 0; i < YARN_COUNT_OF(refusals); i++)
        if (refusals[i].err == -err)
            return refusals[i].why;
    return "the kernel refused the event";
}

const char *yarn_event_status_word(uint32_t status)
{
    for (size_t i = 0; i < YARN_COUNT_OF(words); i++)
        if (status & words[i].bit)
            return words[i].word;
    return "as asked";
}

void yarn_event_status_describe(uint32_t status, struct yarn_text *text)
{
    for (size_t i = 0; i < YARN_COUNT_OF(words); i++) {
        if (!(status & words[i].bit))
            continue;
        yarn_text_add(text, text->size ? ", " : "");
        yarn_text_add(text, words[i].word);
    }
    if (!text->size)
        yarn_text_add(text, yarn_event_status_word(0));
}

const char *yarn_event_status_user_only(void)
{
    return "the user's part alone: the kernel's is not permitted";
}
