/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/glob.h"
#include "core/base/text.h"
#include "core/event/machine.h"
#include "output/analysis/profile/event_status.h"
#include "output/analysis/time/kernel_time.h"
#include "output/analysis/value/runtime.h"
#include "output/yarnprof/events/usable.h"
#include "output/yarnprof/io/numbers.h"
#include "output/yarnprof/io/written.h"
#include "output/yarnprof/verbs/doctor.h"
#include "output/yarnprof/verbs/launch.h"
#include "output/yarnprof/verbs/loadable.h"
#include "output/yarnprof/verbs/outcome.h"

bool yarn_doctor_check_place(struct yarn_findings *findings, char *ret_preload, size_t size)
{
    struct yarn_launch launch;
    char why[4096 + 512];
    if (access("/proc/self/maps", R_OK)) {
        yarn_findings_add(findings, YARN_FINDING_BAD, "/proc",
                          "a program's mappings and threads cannot be read: %s", strerror(errno));
        yarn_findings_mend(findings, "mount -t proc proc /proc");
        return false;
    }
    if (yarn_launch_find(&launch, why, sizeof why)) {
        yarn_findings_add(findings, YARN_FINDING_BAD, "library", "libyarn_preload.so is missing");
        yarn_findings_mend(findings, "%.1000s", why);
        return false;
    }
    if (launch.preload[strcspn(launch.preload, ": \t")]) {
        yarn_findings_add(findings, YARN_FINDING_BAD, "library",
                          "its path has a blank or a colon, which LD_PRELOAD cannot hold: %.900s",
                          launch.preload);
        yarn_findings_mend(findings, "install it in another folder");
        return false;
    }
    yarn_findings_add(findings, YARN_FINDING_GOOD, "library", "%.1400s", launch.preload);
    (void)snprintf(ret_preload, size, "%s", launch.preload);
    return true;
}

/* The sections of a file: whether one of this type is there. */
static bool has_section(const uint8_t *file, size_t size, uint32_t type)
{
    const Elf64_Ehdr *elf = (const void *)file;
    size_t room = size - yarn_size_min(size, elf->e_shoff);
    for (size_t i = 0; i < elf->e_shnum && i < room / sizeof(Elf64_Shdr); i++) {
        Elf64_Shdr header;
        memcpy(&header, file + elf->e_shoff + i * sizeof header, sizeof header);
        if (header.sh_type == type)
            return true;
    }
    return false;
}

static bool has_symbols(const char *path)
{
    struct stat status;
    bool is_named = true; /* also where nothing can be said */
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > (off_t)sizeof(Elf64_Ehdr)) {
        size_t size = (size_t)status.st_size;
        uint8_t *file = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (file != MAP_FAILED) {
            if (memcmp(file, ELFMAG, SELFMAG) == 0)
                is_named = has_section(file, size, SHT_SYMTAB);
            (void)munmap(file, size);
        }
    }
    if (fd >= 0)
        (void)close(fd);
    return is_named;
}

static bool is_shell(const char *path)
{
    static const char *const names[] = {"sh", "bash", "dash", "zsh", "ksh", "busybox", "fish"};
    for (size_t i = 0; i < YARN_COUNT_OF(names); i++)
        if (strcmp(yarn_path_base(path), names[i]) == 0)
            return true;
    return false;
}

static void check_names(struct yarn_findings *findings, const char *command)
{
    char path[PATH_MAX];
    (void)yarn_loadable_program(command, path);
    char *real = realpath(path, NULL);
    const char *file = real ? real : path;
    if (is_shell(file)) {
        yarn_findings_add(findings, YARN_FINDING_LIMIT, "names",
                          "%.700s runs by %.700s, a shell: what that starts in turn is recorded, "
                          "too, but which programs these are is not known before",
                          command, file);
        yarn_findings_mend(findings, "yarnprof doctor -- PROGRAM says of one how well");
        free(real);
        return;
    }
    const struct yarn_runtime *runtime = yarn_runtime_of(file);
    if (!runtime)
        runtime = yarn_runtime_of(path);
    if (has_symbols(file))
        yarn_findings_add(findings, YARN_FINDING_GOOD, "names", "%.1400s has its symbols", file);
    else {
        yarn_findings_add(findings, YARN_FINDING_LIMIT, "names",
                          "%.1200s is stripped: only what it exports has a name", file);
        yarn_findings_mend(findings, "install its debug symbols, or build it without -s");
    }
    if (runtime && !getenv(runtime->variable)) {
        yarn_findings_add(findings, YARN_FINDING_LIMIT, runtime->name,
                          "its functions have no names by default");
        yarn_findings_mend(findings, "%s%s%s%s, or yarnprof record --jit", runtime->way,
                           runtime->note ? " (" : "", runtime->note ? runtime->note : "",
                           runtime->note ? ")" : "");
    }
    free(real);
}

static void check_file(struct yarn_findings *findings, const char *command, const char *path)
{
    char bytes[YARN_FINDING_BYTES];
    struct yarn_text why = yarn_text_of(bytes, sizeof bytes);
    if (yarn_loadable_is(command, &why)) {
        yarn_findings_add(findings, YARN_FINDING_GOOD, "command", "%.1400s takes the preload",
                          path);
        check_names(findings, command);
        return;
    }
    char *way = strstr(bytes, "; ");
    if (way)
        *way = 0;
    yarn_findings_add(findings, YARN_FINDING_BAD, "command", "%s", bytes);
    yarn_findings_mend(findings, "%s", way ? way + 2 : "");
}

/* Why the kernel would not run it, as far as its file says: a negative errno. */
static int try_to_run(const char *command, char ret_path[PATH_MAX])
{
    struct stat status;
    if (!yarn_loadable_find(command, ret_path) || stat(ret_path, &status))
        return -ENOENT;
    if (!S_ISREG(status.st_mode))
        return -EACCES;
    if (access(ret_path, X_OK))
        return -errno;
    char program[PATH_MAX];
    (void)yarn_loadable_program(command, program);
    return access(program, X_OK) ? -errno : 0;
}

static void check_choice(struct yarn_findings *findings, const struct yarn_options *options,
                         const char *command)
{
    const char *base = yarn_path_base(command);
    if (yarn_unrecorded_is_of(options->comm, command))
        return;
    bool has_others = options->follow == (YARN_FOLLOW_FORK | YARN_FOLLOW_EXEC);
    yarn_findings_add(findings, has_others ? YARN_FINDING_LIMIT : YARN_FINDING_BAD, "command",
                      "YARN_COMM=%.500s leaves out %.500s%s", options->comm, base,
                      has_others ? " itself; what it starts is recorded where it has such a name"
                                 : "");
    yarn_findings_mend(findings, "leave YARN_COMM empty, or add the name to it");
}

void yarn_doctor_check_command(struct yarn_findings *findings, const struct yarn_options *options,
                               const char *command)
{
    char path[PATH_MAX];
    int err = try_to_run(command, path);
    if (err) {
        yarn_findings_add(findings, YARN_FINDING_BAD, "command", "%.1000s: %s", command,
                          strerror(-err));
        yarn_findings_mend(findings, err == -ENOENT
                                         ? "name a program that is in PATH, or its path; a "
                                           "script's first line names one"
                                         : "name a file that this user may run");
        return;
    }
    check_file(findings, command, path);
    check_choice(findings, options, command);
}

/* What keeps a recording from beginning with the command. */
void yarn_doctor_check_start(struct yarn_findings *findings, const struct yarn_options *options)
{
    if (options->start == YARN_START_OFF) {
        yarn_findings_add(findings, YARN_FINDING_LIMIT, "start",
                          "nothing is recorded until something starts it (YARN_START=off)");
        yarn_findings_mend(findings,
                           options->control[0]
                               ? "yarnprof ctl SOCKET start, or the program's yarn_start()"
                               : "YARN_CONTROL=SOCKET and yarnprof ctl SOCKET start, or "
                                 "the program's yarn_start()");
    }
    if (options->delay_ns) {
        yarn_findings_add(findings, YARN_FINDING_LIMIT, "start",
                          "what ends before YARN_DELAY=%.100s is over is not recorded",
                          options->texts[YARN_OPTION_DELAY]);
        yarn_findings_mend(findings, "leave YARN_DELAY empty");
    }
}

void yarn_doctor_check_folder(struct yarn_findings *findings, const struct yarn_options *options)
{
    struct yarn_written_folder folder;
    yarn_written_folder(options->output, &folder);
    int err = yarn_unrecorded_try_to_write(folder.path);
    if (!err) {
        yarn_findings_add(findings, YARN_FINDING_GOOD, "dumps", "can be written in %.1400s",
                          folder.path);
        return;
    }
    yarn_findings_add(findings, YARN_FINDING_BAD, "dumps", "cannot be written in %.1200s: %s",
                      folder.path, strerror(-err));
    yarn_findings_mend(findings, "yarnprof record -o FOLDER/ (YARN_OUTPUT) takes another place");
}

#define RATE_LEAST 0.75 /* of what was asked for */
#define TRIAL_MISSES 3  /* samples at its ends and while it waits for a core: it is short */

static bool is_timer(const struct yarn_profile_dump *dump)
{
    return yarn_span_equal(dump->sampler.got, yarn_span_of_text("timer"));
}

static int number_in(const char *path, int unknown)
{
    char text[32];
    return yarn_machine_read(path, text, sizeof text) > 0 ? atoi(text) : unknown;
}

/* Of whom perf_event_open is kept by what is no sysctl: the filter of a container. */
static const char *mend_of_perf(void)
{
    return number_in("/proc/sys/kernel/perf_event_paranoid", 3) <= 2
               ? "a filter refuses perf_event_open: docker run --cap-add=PERFMON --security-opt "
                 "seccomp=unconfined lets it through"
               : "sysctl kernel.perf_event_paranoid=2 or CAP_PERFMON permits it";
}

/* What mends what a sentence of the preload is about; NULL: none of these. */
static const char *mend_of(const char *sentence)
{
    static const struct {
        const char *words, *mend;
    } mends[] = {
        {"no thread could be made", YARN_DOCTOR_MORE_TASKS},
        {"(ulimit -v", "ulimit -v unlimited"},
        {"(ulimit -f)", "ulimit -f unlimited"},
        {"(ulimit -n)", "ulimit -n 256"},
        {"locked memory", "ulimit -l unlimited (memlock in limits.conf), or sysctl "
                          "kernel.perf_event_mlock_kb=8192"},
        {"clocks of whole cores", "sysctl kernel.perf_event_paranoid=0, or CAP_PERFMON"},
    };
    for (size_t i = 0; i < YARN_COUNT_OF(mends); i++)
        if (strstr(sentence, mends[i].words))
            return mends[i].mend;
    return NULL;
}

static void check_sampler(struct yarn_findings *findings, const struct yarn_profile_dump *dump)
{
    const struct yarn_dump_sampler *sampler = &dump->sampler;
    bool is_asked = yarn_span_equal(sampler->asked, sampler->got);
    if (!is_timer(dump)) {
        yarn_findings_add(findings, YARN_FINDING_GOOD, "sampler", "%s, %s",
                          yarn_span_as_text(sampler->got), yarn_span_as_text(sampler->strategy));
        return;
    }
    yarn_findings_add(findings, YARN_FINDING_LIMIT, "sampler",
                      "timer: one sample a tick at most, clocks alone%s%.900s",
                      sampler->reason.size ? "; " : "", yarn_span_as_text(sampler->reason));
    const char *mend = mend_of(yarn_span_as_text(sampler->reason));
    yarn_findings_mend(findings, "%s",
                       is_asked ? "YARN_SAMPLER=auto takes perf where that is permitted"
                       : mend   ? mend
                                : mend_of_perf());
}

static bool has_kernel_names(void)
{
    char line[64] = "";
    FILE *file = fopen("/proc/kallsyms", "re");
    bool has_line = file && fgets(line, sizeof line, file);
    if (file)
        (void)fclose(file);
    return has_line && strtoull(line, NULL, 16) != 0;
}

static void check_kernel(struct yarn_findings *findings, const struct yarn_profile *profile,
                         const struct yarn_profile_dump *dump)
{
    if (is_timer(dump) || yarn_kernel_is_refused(profile)) {
        yarn_findings_add(findings, YARN_FINDING_LIMIT, "kernel",
                          "its part is not sampled: its time is a row [kernel]%s",
                          is_timer(dump) ? ", or the calls'" : "");
        yarn_findings_mend(findings, "sysctl kernel.perf_event_paranoid=1 or CAP_PERFMON permits "
                                     "it");
        return;
    }
    if (has_kernel_names()) {
        yarn_findings_add(findings, YARN_FINDING_GOOD, "kernel", "%s", yarn_kernel_word(dump));
        return;
    }
    yarn_findings_add(findings, YARN_FINDING_LIMIT, "kernel", "%s, but its functions have no names",
                      yarn_kernel_word(dump));
    yarn_findings_mend(findings, "sysctl kernel.kptr_restrict=0 shows them in /proc/kallsyms");
}

static void check_rings(struct yarn_findings *findings, const struct yarn_profile_dump *dump)
{
    const struct yarn_dump_sampler *sampler = &dump->sampler;
    if (is_timer(dump))
        return;
    const char *reason = yarn_span_as_text(sampler->reason);
    bool is_about_memory = strstr(reason, "memory"), has_reason = reason[0] && is_about_memory;
    bool is_small = has_reason || sampler->stack_got_bytes < sampler->stack_asked_bytes ||
                    sampler->ring_got_bytes < sampler->ring_asked_bytes;
    char ring[64];
    (void)snprintf(ring, sizeof ring, "%s", yarn_number_bytes(sampler->ring_got_bytes).text);
    yarn_findings_add(findings, is_small ? YARN_FINDING_LIMIT : YARN_FINDING_GOOD, "ring memory",
                      "%u of %s, stack copies of %s%s%.900s", sampler->nr_rings, ring,
                      yarn_number_bytes(sampler->stack_got_bytes).text, has_reason ? "; " : "",
                      has_reason ? reason : "");
    if (is_small)
        yarn_findings_mend(findings, "%s", mend_of("locked memory"));
    if (!reason[0] || is_about_memory)
        return;
    bool is_refused = strstr(reason, "refused") != NULL;
    yarn_findings_add(findings, is_refused ? YARN_FINDING_LIMIT : YARN_FINDING_GOOD, "strategy",
                      "%.1400s", reason);
    if (is_refused && mend_of(reason))
        yarn_findings_mend(findings, "%s", mend_of(reason));
}

/* Samples a second that an event asks for; 0: a list that is at fault. */
static double rate_of(const char *asked, const struct yarn_options *options)
{
    static struct yarn_event_list list;
    struct yarn_arena arena;
    struct yarn_parse_error error;
    double rate = 0;
    yarn_arena_open(&arena, YARN_MIB(1));
    if (!yarn_event_list_parse(asked, strlen(asked), &arena, &list, &error) && list.count) {
        struct yarn_event_spec *spec = &list.specs[0];
        yarn_event_spec_apply_rate(spec, options->frequency_hz);
        rate = spec->period ? 1e9 / (double)spec->period : (double)spec->frequency;
    }
    yarn_arena_close(&arena);
    return rate;
}

static void check_rate(struct yarn_findings *findings, const struct yarn_options *options,
                       const struct yarn_profile_dump *dump)
{
    const struct yarn_profile_dump_event *event = dump->nr_events ? &dump->events[0] : NULL;
    int most = number_in("/proc/sys/kernel/perf_event_max_sample_rate", 0);
    if (!event || !yarn_span_equal(event->record.unit, yarn_span_of_text("ns")) ||
        !dump->trust.cpu_ns || !event->samples)
        return;
    double asked = rate_of(yarn_span_as_text(event->record.asked), options);
    double got = (double)event->samples * 1e9 / (double)dump->trust.cpu_ns;
    double due = asked * (double)dump->trust.cpu_ns / 1e9;
    bool is_less = (double)event->samples + TRIAL_MISSES < RATE_LEAST * due;
    yarn_findings_add(findings, is_less ? YARN_FINDING_LIMIT : YARN_FINDING_GOOD, "clock rate",
                      "%.0f of %.0f samples a second of CPU time", got, asked);
    if (is_less && is_timer(dump))
        yarn_findings_mend(findings, "the kernel's tick is the most that timers give: perf samples "
                                     "as often as asked for");
    else if (is_less && most && asked > most)
        yarn_findings_mend(findings, "sysctl kernel.perf_event_max_sample_rate=%.0f", asked);
    else if (is_less)
        yarn_findings_mend(findings, "a lower YARN_FREQUENCY, or a machine that is less busy");
}

static bool is_shown(const struct yarn_profile *profile, const struct yarn_profile_dump *dump,
                     size_t number)
{
    const struct yarn_profile_dump_event *event = &dump->events[number];
    if (!yarn_profile_event_was_asked(profile, event->event) || event->record.alternate_of)
        return false;
    for (size_t i = 0; i < dump->nr_events; i++)
        if (dump->events[i].record.alternate_of == number + 1 && !dump->events[i].record.error)
            return !event->record.error;
    return true;
}

static void check_event(struct yarn_findings *findings, const struct yarn_dump_event *event,
                        bool is_all)
{
    if (!event->error) {
        yarn_findings_add(findings, YARN_FINDING_GOOD, "event", "%.700s, as %.700s",
                          yarn_span_as_text(event->asked), yarn_span_as_text(event->got));
        return;
    }
    yarn_findings_add(findings, is_all ? YARN_FINDING_BAD : YARN_FINDING_LIMIT, "event",
                      "%.500s is refused: %.900s", yarn_span_as_text(event->asked),
                      event->reason.size ? yarn_span_as_text(event->reason)
                                         : strerror((int)event->error));
    yarn_findings_mend(findings, "yarnprof list '%.200s' says what it needs",
                       yarn_span_as_text(event->asked));
}

static void check_events(struct yarn_findings *findings, const struct yarn_profile *profile,
                         const struct yarn_profile_dump *dump)
{
    size_t nr_refused = 0;
    for (size_t i = 0; i < dump->nr_events; i++)
        nr_refused += dump->events[i].record.error != 0;
    for (size_t i = 0; i < dump->nr_events; i++) {
        if (is_shown(profile, dump, i))
            check_event(findings, &dump->events[i].record, nr_refused == dump->nr_events);
    }
}

static void check_untried(struct yarn_findings *findings, const struct yarn_options *options)
{
    static struct yarn_event_list list;
    struct yarn_arena arena;
    struct yarn_parse_error error;
    yarn_arena_open(&arena, YARN_MIB(1));
    int err =
        yarn_event_list_parse(options->events, strlen(options->events), &arena, &list, &error);
    for (size_t i = 0; !err && i < list.count; i++) {
        const char *asked = list.specs[i].asked;
        if (!yarn_doctor_is_of_command(&list.specs[i]))
            continue;
        yarn_findings_add(findings, YARN_FINDING_LIMIT, "event",
                          "%.700s: whether the command has that symbol is not tried", asked);
        yarn_findings_mend(findings, "yarnprof list '%.200s' says what it needs", asked);
    }
    yarn_arena_close(&arena);
}

static void check_scheduling(struct yarn_findings *findings, const struct yarn_options *options,
                             const struct yarn_profile_dump *dump)
{
    struct yarn_usable tracepoints;
    char path[YARN_MACHINE_PATH_MAX];
    bool is_wanted = options->sched.kind >= YARN_SCHED_TRACEPOINTS;
    if (dump->has_sched)
        yarn_findings_add(
            findings,
            dump->sched.reason.size && options->sched.kind != YARN_SCHED_AUTO ? YARN_FINDING_LIMIT
                                                                              : YARN_FINDING_GOOD,
            "switches", "%.200s%s%.900s", yarn_span_as_text(dump->sched.got),
            dump->sched.reason.size ? "; " : "", yarn_span_as_text(dump->sched.reason));
    (void)snprintf(path, sizeof path, "%s/available_events", yarn_event_machine_here.tracing);
    int fd = access(path, R_OK) ? -errno : 0;
    yarn_usable_tracepoints(fd, "", &tracepoints);
    if (tracepoints.is_usable) {
        yarn_findings_add(findings, YARN_FINDING_GOOD, "tracepoints", "can be recorded");
        return;
    }
    yarn_findings_add(findings, is_wanted ? YARN_FINDING_LIMIT : YARN_FINDING_GOOD, "tracepoints",
                      "none%s", is_wanted ? "" : " (none is asked for)");
    yarn_findings_mend(findings, "%s", tracepoints.why);
}

void yarn_doctor_check_trial(struct yarn_findings *findings, const struct yarn_options *options,
                             const struct yarn_doctor_trial *trial)
{
    const struct yarn_profile_dump *dump = trial->dump;
    if (!dump || !dump->has_sampler || !dump->sampler.got.size) {
        const char *line = strncmp(trial->line, "yarn: ", 6) == 0 ? trial->line + 6 : trial->line;
        yarn_findings_add(findings, YARN_FINDING_BAD, "recording", "%.1400s",
                          line[0] ? line : "a trial left no dump, and no word why");
        const char *mend = mend_of(line);
        yarn_findings_mend(findings, "%s%s",
                           mend ? mend : "yarnprof list shows the events that are to be had",
                           mend || options->sampler != YARN_SAMPLER_PERF
                               ? ""
                               : "; YARN_SAMPLER=auto takes timers where perf is refused");
        return;
    }
    check_sampler(findings, dump);
    check_kernel(findings, &trial->profile, dump);
    check_rings(findings, dump);
    if (!trial->has_no_events) {
        check_rate(findings, options, dump);
        check_events(findings, &trial->profile, dump);
    }
    check_untried(findings, options);
    check_scheduling(findings, options, dump);
}
