/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/events/hint.h"

#include <dlfcn.h>
#include <stdio.h>

#include "core/base/text.h"
#include "core/event/machine.h"
#include "output/yarnprof/events/encode.h"

enum { WORD_BYTES = 128 };

struct lead {
    const char *word, *form;
};

/* Whole words, and what does it here: `lock:contention_begin` is a tracepoint. */
static const struct lead words[] = {
    {"itimer", "cpu-clock"},
    {"ctimer", "cpu-clock"},
    {"wall", "cpu-clock,off-cpu"},
    {"lock", "off-cpu, and report --by=holder"},
    {"alloc", "uprobe:libc.so.6:malloc"},
    {"heap", "uprobe:libc.so.6:malloc"},
    {"allocations", "uprobe:libc.so.6:malloc"},
    {"nativemem", "uprobe:libc.so.6:malloc"},
    {"exceptions", "uprobe:libstdc++.so.6:__cxa_throw"},
    {"cpu", "cpu-clock"},
    {"cpu-time", "cpu-clock"},
    {"duration_time", "task-clock, and yarnprof stat shows the wall time"},
    {"user_time", "task-clock:u"},
    {"system_time", "task-clock:k"},
    {"wall-clock", "cpu-clock,off-cpu"},
    {"walltime", "cpu-clock,off-cpu"},
    {"real", "cpu-clock,off-cpu"},
    {"realtime", "cpu-clock,off-cpu"},
    {"threads", "cpu-clock, and report --by=thread"},
    {"ctxsw", "context-switches"},
    {"mem-loads", "cpu/mem-loads,ldlat=N/P, where the processor has it"},
    {"mem-stores", "cpu/mem-stores/P, where the processor has it"},
    {"MEM", "yarnprof stat -M list shows the groups"},
    {"CACHE", "yarnprof stat -M list shows the groups"},
    {"ENERGY", "yarnprof stat -M list shows the groups"},
    {"metric", "yarnprof stat -M list shows the groups"},
    {"metricgroup", "yarnprof stat -M list shows the groups"},
    {"metrics", "yarnprof stat -M list shows the groups"},
    {"metricgroups", "yarnprof stat -M list shows the groups"},
    {"groups", "yarnprof stat -M list shows the groups"},
    {"hw", "cycles, instructions"},
    {"hardware", "cycles, instructions"},
    {"sw", "cpu-clock, page-faults"},
    {"software", "cpu-clock, page-faults"},
    {"cache", "L1-dcache-load-misses"},
    {"hwcache", "L1-dcache-load-misses"},
    {"pmu", "PMU/EVENT/"},
    {"tracepoint", "SYSTEM:NAME, sched:*"},
    {"nativelock", "off-cpu, and report --by=holder"},
    {"sdt", "uprobe:PATH:SYMBOL+OFFSET of its place"},
    {"slots", "yarnprof stat -M list shows the groups"},
    {"BEGIN", "yarnprof script shows each record"},
    {"breakpoint", "mem:ADDRESS/LENGTH:rw"},
};

/* What begins so, and what does it here. */
static const struct lead beginnings[] = {
    {"syscalls:sys_enter_*", "raw_syscalls:sys_enter, which is all of them, and report --by=id"},
    {"syscalls:sys_exit_*", "raw_syscalls:sys_exit, which is all of them, and report --by=id"},
    {"syscalls:*", "raw_syscalls:sys_enter, which is all of them, and report --by=id"},
    {"profile:hz:", "cpu-clock/freq=HZ/"},
    {"profile:", "cpu-clock/freq=HZ/"},
    {"interval:", "yarnprof stat -I TIME -- COMMAND"},
    {"i:", "yarnprof stat -I TIME -- COMMAND"},
    {"p:", "cpu-clock/freq=HZ/"},
    {"k:", "kprobe:SYMBOL"},
    {"kr:", "kretprobe:SYMBOL"},
    {"u:", "uprobe:PATH:SYMBOL"},
    {"ur:", "uretprobe:PATH:SYMBOL"},
    {"w:", "mem:ADDRESS/LENGTH:rw"},
    {"iter:", "yarnprof info FILE has the threads"},
    {"malloc:", "uprobe:libc.so.6:malloc"},
    {"topdown-", "yarnprof stat -M list shows the groups"},
    {"FLOPS_", "yarnprof stat -M list shows the groups"},
    {"ITIMER", "--sampler=timer"},
    {"CPUPROFILE", "-F HZ, -o FILE"},
    {"intel_bts", "branch traces are not decoded; -e cycles/branch=any/ samples branches"},
    {"Java_", "uprobe:PATH:SYMBOL, with the path of libjvm.so or of its library"},
    {"java.", "uprobe:PATH:SYMBOL; functions of Java alone: report --function=REGEX"},
    {"G1CollectedHeap::", "uprobe:PATH:SYMBOL, with libjvm.so's path and the mangled name"},
    {"usdt:", "uprobe:PATH:SYMBOL+OFFSET of its place"},
    {"sdt_", "uprobe:PATH:SYMBOL+OFFSET of its place"},
    {"probe_", "uprobe:PATH:SYMBOL, which needs no definition before"},
    {"probe:", "kprobe:SYMBOL, which needs no definition before"},
    {"fentry:", "kprobe:SYMBOL"},
    {"kfunc:", "kprobe:SYMBOL"},
    {"fexit:", "kretprobe:SYMBOL"},
    {"kretfunc:", "kretprobe:SYMBOL"},
    {"watchpoint:", "mem:ADDRESS/LENGTH:w"},
    {"rawtracepoint:", "SYSTEM:NAME"},
    {"PERF_COUNT_HW_CPU_CYCLES", "cycles"},
    {"PERF_COUNT_HW_INSTRUCTIONS", "instructions"},
    {"PERF_COUNT_SW_PAGE_FAULTS", "page-faults"},
    {"PAPI_TOT_CYC", "cycles"},
    {"PAPI_TOT_INS", "instructions"},
    {"PAPI_L1_DCM", "L1-dcache-load-misses"},
    {"PAPI_BR_MSP", "branch-misses"},
    {"INSTR_RETIRED_ANY", "instructions"},
    {"CPU_CLK_UNHALTED_CORE", "cycles"},
    {"CPU_CLK_UNHALTED_REF", "ref-cycles"},
    {"cpu/", "yarnprof list has this machine's events; -e cycles is everywhere with a counter"},
    {"intel_pt", "branch traces are not decoded; -e cycles/branch=any/ samples branches"},
    {"cs_etm", "branch traces are not decoded; -e cycles/branch=any/ samples branches"},
};

/* Without tracefs these are known. */
static const char *const scheduling[] = {
    "sched_switch",       "sched_wakeup",       "sched_waking",      "sched_migrate_task",
    "sched_process_exec", "sched_process_fork", "sched_process_exit"};

static bool is_in_tracefs(const char *word, char *ret_name, size_t size)
{
    char path[YARN_MACHINE_PATH_MAX], line[256];
    bool is_found = false;
    (void)snprintf(path, sizeof path, "%s/available_events", yarn_event_machine_here.tracing);
    FILE *file = fopen(path, "re");
    while (file && !is_found && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        const char *colon = strchr(line, ':');
        is_found = colon && strcmp(colon + 1, word) == 0;
    }
    if (file)
        (void)fclose(file);
    if (is_found)
        (void)snprintf(ret_name, size, "%.180s", line);
    return is_found;
}

static bool is_tracepoint(const char *word, char *ret_name, size_t size)
{
    for (size_t i = 0; i < YARN_COUNT_OF(scheduling); i++) {
        if (strcmp(word, scheduling[i]) == 0) {
            (void)snprintf(ret_name, size, "sched:%s", word);
            return true;
        }
    }
    if (strncmp(word, "sys_enter", 9) == 0 || strncmp(word, "sys_exit", 8) == 0) {
        bool is_raw = strcmp(word, "sys_enter") == 0 || strcmp(word, "sys_exit") == 0;
        (void)snprintf(ret_name, size, "%s:%s", is_raw ? "raw_syscalls" : "syscalls", word);
        return true;
    }
    return is_in_tracefs(word, ret_name, size);
}

static bool is_name(const char *word)
{
    return word[0] && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                         "0123456789_")];
}

static bool is_function(const char *word, char *ret_name, size_t size)
{
    void *library = is_name(word) ? dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD) : NULL;
    bool is_found = library && dlsym(library, word);
    if (library)
        (void)dlclose(library);
    if (is_found)
        (void)snprintf(ret_name, size, "uprobe:libc.so.6:%s", word);
    else if (strncmp(word, "vfs_", 4) == 0 || strncmp(word, "tcp_", 4) == 0 ||
             strncmp(word, "do_", 3) == 0 || strncmp(word, "__x64_sys_", 10) == 0) {
        (void)snprintf(ret_name, size, "kprobe:%s", word);
        is_found = true;
    }
    return is_found;
}

/* bpftrace's kinds before perf's own names. */
static bool is_with_kind(const char *word, struct yarn_text *text)
{
    static const char *const kinds[] = {
        "tracepoint:", "t:", "software:", "s:", "sw:", "hardware:", "h:", "hw:"};
    enum { NR_TRACEPOINTS = 2 };
    for (size_t i = 0; i < YARN_COUNT_OF(kinds); i++) {
        size_t size = strlen(kinds[i]);
        if (strncmp(word, kinds[i], size) != 0)
            continue;
        const char *period = i >= NR_TRACEPOINTS ? strchr(word + size, ':') : NULL;
        size_t name = period ? (size_t)(period - word) - size : strlen(word + size);
        yarn_text_add(text, "; ");
        yarn_text_add_sized(text, word + size, name);
        if (period && period[1])
            yarn_text_add_format(text, "/period=%s/", period + 1);
        yarn_text_add(text, "?");
        return true;
    }
    return false;
}

static const char *form_of(const char *word)
{
    for (size_t i = 0; i < YARN_COUNT_OF(words); i++)
        if (strcmp(word, words[i].word) == 0)
            return words[i].form;
    for (size_t i = 0; i < YARN_COUNT_OF(beginnings); i++)
        if (strncmp(word, beginnings[i].word, strlen(beginnings[i].word)) == 0)
            return beginnings[i].form;
    return NULL;
}

/* LIKWID's EVENT:COUNTER. */
static bool has_counter(const char *word)
{
    return strstr(word, ":PMC") || strstr(word, ":FIXC") || strstr(word, ":PWR");
}

/* "; FORM?" behind a sentence, where something is known. `at`: of the fault in the list. */
static void hint(const char *list, size_t at, struct yarn_text *text)
{
    char word[WORD_BYTES], name[WORD_BYTES + 64];
    const char *begin = list + at, *form;
    while (begin > list && begin[-1] != ',' && begin[-1] != '{')
        begin--;
    (void)snprintf(word, sizeof word, "%.*s", (int)strcspn(begin, ",}"), begin);
    if (is_with_kind(word, text))
        return;
    form = form_of(word);
    if (form)
        yarn_text_add_format(text, "; %s?", form);
    else if (has_counter(word))
        yarn_text_add(text, "; a processor's event has no counter's name: rUUEE, or what "
                            "yarnprof list has?");
    else if (is_tracepoint(word, name, sizeof name) || is_function(word, name, sizeof name))
        yarn_text_add_format(text, "; %s?", name);
    else if (!strchr(text->data, '?'))
        yarn_text_add(text, "; yarnprof list has all of them");
}

/* Without tracefs each SYSTEM:NAME may be a tracepoint; such a form is none, or is too many. */
static bool find_foreign(const char *text, const struct yarn_event_list *list,
                         struct yarn_parse_error *ret_error)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct yarn_event_spec *spec = &list->specs[i];
        const char *at = spec->refusal && spec->event ? strstr(text, spec->event) : NULL;
        if (!at || spec->kind != YARN_EVENT_TRACEPOINT ||
            (!form_of(spec->event) && !has_counter(spec->event)))
            continue;
        *ret_error = (struct yarn_parse_error){
            .at = (size_t)(at - text), .size = strlen(spec->event), .why = spec->refusal};
        return true;
    }
    return false;
}

int yarn_events_understand(const char *text, struct yarn_arena *arena,
                           struct yarn_event_list *ret_list, struct yarn_parse_error *ret_error)
{
    char bytes[512];
    struct yarn_text why = yarn_text_of(bytes, sizeof bytes);
    int err = yarn_event_list_parse_on(yarn_encode_machine(), text, strlen(text), arena, ret_list,
                                       ret_error);
    if (!err && find_foreign(text, ret_list, ret_error)) {
        *ret_list = (struct yarn_event_list){0};
        err = -EINVAL;
    }
    if (err == -EINVAL) {
        yarn_text_add(&why, ret_error->why);
        hint(text, ret_error->at, &why);
        ret_error->why = yarn_arena_text(arena, why.data, why.size);
    } else if (err) {
        ret_error->why = strerror(-err);
    }
    return err && !ret_error->why ? -ENOMEM : err;
}
