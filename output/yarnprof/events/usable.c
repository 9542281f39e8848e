/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/events/usable.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/text.h"
#include "core/event/event.h"
#include "core/event/machine.h"
#include "core/event/sample_filter.h"
#include "core/event/status.h"

enum { CAPABILITY_SYS_ADMIN = 21, CAPABILITY_PERFMON = 38, PARANOID_UNKNOWN = 99 };

static int paranoid(void)
{
    char text[32];
    int size = yarn_machine_read("/proc/sys/kernel/perf_event_paranoid", text, sizeof text);
    return size > 0 ? atoi(text) : PARANOID_UNKNOWN;
}

static void say(struct yarn_usable *usable, bool is_usable, const char *why)
{
    usable->is_usable = is_usable;
    (void)snprintf(usable->why, sizeof usable->why, "%s", why);
}

static void say_right(struct yarn_usable *usable, int most)
{
    usable->is_usable = false;
    int now = paranoid();
    if (now == PARANOID_UNKNOWN)
        say(usable, false, "not permitted; CAP_PERFMON would permit it");
    else
        (void)snprintf(usable->why, sizeof usable->why,
                       "not permitted; CAP_PERFMON, or sysctl kernel.perf_event_paranoid=%d (it is "
                       "%d), would permit it",
                       most, now);
}

static void say_refusal(const struct yarn_event_spec *spec, int err, struct yarn_usable *usable)
{
    bool is_of_pmu = spec->type != PERF_TYPE_SOFTWARE && spec->type != PERF_TYPE_TRACEPOINT &&
                     spec->type != PERF_TYPE_BREAKPOINT;
    switch (err) {
    case -EACCES:
    case -EPERM:
        say_right(usable, spec->is_of_cpus ? 0 : spec->kind == YARN_EVENT_TRACEPOINT ? -1 : 1);
        break;
    case -ENOENT:
    case -ENODEV:
    case -EOPNOTSUPP:
    case -ENXIO:
        say(usable, false,
            is_of_pmu ? "this machine shows no such counter; a virtual machine has them where its "
                        "host passes the PMU through"
                      : "this kernel does not have it");
        break;
    default:
        say(usable, false, yarn_event_refusal(err));
        break;
    }
}

/* As a recording would: what an older kernel does not know is left out, newest first. */
static int open_once(const struct yarn_event_spec *spec, bool is_counted)
{
    struct yarn_attr_options options = {.features = YARN_ATTR_ALL};
    for (;;) {
        struct yarn_event event = YARN_EVENT_CLOSED;
        struct perf_event_attr attr = yarn_attr_of(spec, &options);
        if (is_counted) {
            attr.freq = 0;
            attr.sample_period = 0;
        }
        attr.inherit = attr.inherit_thread = !spec->is_of_cpus;
        if (spec->is_of_cpus)
            attr.remove_on_exec = 0;
        int err = yarn_event_open(&event, &attr, 0, spec->is_of_cpus ? -1 : 0,
                                  spec->is_of_cpus ? atoi(spec->cpus) : -1);
        yarn_event_close(&event);
        if ((err != -EINVAL && err != -E2BIG) || !options.features)
            return err;
        options.features = yarn_attr_without_newest(options.features);
    }
}

static int open_spec(const struct yarn_event_spec *spec, struct yarn_usable *usable)
{
    struct yarn_event_spec own = *spec;
    int err = open_once(&own, own.is_of_cpus);
    if ((err == -EACCES || err == -EPERM) && yarn_event_spec_leave_kernel(&own)) {
        int again = open_once(&own, own.is_of_cpus);
        if (!again)
            say(usable, true, yarn_event_status_user_only());
        /* Why EINVAL: some PMUs, as msr, leave nothing out, so that all is needed or nothing. */
        err = again == -EACCES || again == -EPERM || again == -EINVAL ? err : again;
    }
    while (err == -EOPNOTSUPP && yarn_event_spec_lower_precise(&own)) {
        say(usable, true, "less precise than asked: the kernel takes no more");
        err = open_once(&own, own.is_of_cpus);
    }
    if (err == -EINVAL && !open_once(&own, true)) {
        say(usable, true, "counts only, no samples: yarnprof stat");
        err = 0;
    }
    return err;
}

/* Two things are needed: the file that says where a thread waits, and records of its switches. */
static void ask_off_cpu(const struct yarn_event_spec *spec, struct yarn_usable *usable)
{
    struct yarn_event_spec dummy = *spec;
    dummy.frequency = dummy.period = 0;
    dummy.exclude_kernel = dummy.exclude_hv = true;
    if (access("/proc/thread-self/syscall", R_OK))
        say(usable, false, "this kernel does not say where threads wait: no /proc/PID/syscall");
    else if (open_once(&dummy, true))
        say(usable, false, "needs perf's switch records, which are not permitted");
}

static void ask_filter(const struct yarn_event_spec *spec, struct yarn_usable *usable)
{
    int program = yarn_sample_filter_load(spec->filter);
    if (program < 0)
        say(usable, false, yarn_sample_filter_refusal(program));
    else
        close(program);
}

void yarn_usable_ask(const struct yarn_event_spec *spec, struct yarn_usable *ret_usable)
{
    struct yarn_event_spec own = *spec;
    const char *why = NULL;
    say(ret_usable, true, "");
    if (own.kind == YARN_EVENT_PROBE) {
        bool is_user = own.probe == YARN_EVENT_UPROBE || own.probe == YARN_EVENT_URETPROBE;
        yarn_usable_probes(is_user ? "uprobe_events" : "kprobe_events", ret_usable);
        if (own.site.path && own.site.path[0] == '/' && access(own.site.path, R_OK))
            say(ret_usable, false, "the file cannot be read, or there is none");
        if (ret_usable->is_usable && own.site.symbol)
            say(ret_usable, true, "its symbol is looked up when recording begins");
        return;
    }
    if (own.kind == YARN_EVENT_OFF_CPU) {
        ask_off_cpu(&own, ret_usable);
        return;
    }
    /* A symbol is resolved in the process that is measured; here any address stands for it. */
    if (own.kind == YARN_EVENT_BREAKPOINT && own.site.symbol)
        own.config1 = YARN_KIB(4);
    int err = own.is_of_cpus ? 0 : yarn_event_spec_check(&own, &why);
    if (err) {
        say(ret_usable, false, why);
        return;
    }
    if (own.is_of_cpus)
        say(ret_usable, true, "counts whole cpus and no threads: only in yarnprof stat");
    if (yarn_event_spec_precise(&own) && !yarn_event_spec_can_be_precise(&own))
        say(ret_usable, true, "precise means nothing to an event that no counter counts");
    err = open_spec(&own, ret_usable);
    if (err)
        say_refusal(&own, err, ret_usable);
    ret_usable->is_usable = !err;
    if (!err && yarn_event_spec_has_sample_filter(&own))
        ask_filter(&own, ret_usable);
}

static bool has_capability(void)
{
    char text[4096];
    if (yarn_machine_read("/proc/self/status", text, sizeof text) <= 0)
        return false;
    const char *line = strstr(text, "CapEff:");
    uint64_t bits = line ? strtoull(line + strlen("CapEff:"), NULL, 16) : 0;
    return bits & (UINT64_C(1) << CAPABILITY_SYS_ADMIN | UINT64_C(1) << CAPABILITY_PERFMON);
}

void yarn_usable_tracepoints(int err, const char *system, struct yarn_usable *ret_usable)
{
    if (err == -ENOENT)
        say(ret_usable, false,
            "tracefs is not at /sys/kernel/tracing; as root, mount -t tracefs tracefs "
            "/sys/kernel/tracing");
    else if (err)
        say(ret_usable, false,
            "the numbers cannot be read; as root, mount -o remount,gid=GROUP,mode=750 "
            "/sys/kernel/tracing lets a group read them");
    else if (has_capability() || paranoid() < 0 || strcmp(system, "syscalls") == 0)
        say(ret_usable, true, "");
    else
        say_right(ret_usable, -1);
}

void yarn_usable_probes(const char *path, struct yarn_usable *ret_usable)
{
    char whole[YARN_MACHINE_PATH_MAX];
    (void)snprintf(whole, sizeof whole, "%s/%s", yarn_event_machine_here.tracing, path);
    if (access(whole, W_OK) == 0)
        say(ret_usable, true, "");
    else if (errno == ENOENT && access(yarn_event_machine_here.tracing, X_OK) == 0)
        say(ret_usable, false,
            "this kernel has no such probes, or tracefs is not at /sys/kernel/tracing");
    else
        say(ret_usable, false,
            "only root may define probes; a defined one may be used by whoever can read its number "
            "in tracefs");
}
