/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * An event spec: one event of YARN_EVENTS as a value, before anything is opened. Knows type,
 * configuration, rate and modifiers; does not know files, threads or cpus (event.h) nor how a spec
 * becomes a perf_event_attr (attr.h).
 *
 * Threads, signals: values; texts are borrowed from the arena of the parse.
 */
#pragma once

#include "core/base/base.h"
#include "core/base/callgraph.h"
#include "core/base/span.h"
#include "core/base/text.h"

enum yarn_event_kind {
    YARN_EVENT_CLOCK,    /* cpu-clock, task-clock: periods and counts are ns */
    YARN_EVENT_SOFTWARE, /* any other event of the kernel's own */
    YARN_EVENT_HARDWARE, /* needs a PMU, as the next two */
    YARN_EVENT_CACHE,
    YARN_EVENT_RAW,
    YARN_EVENT_PMU,        /* by the terms or the event names of a PMU's folder */
    YARN_EVENT_TRACEPOINT, /* its number is the config */
    YARN_EVENT_BREAKPOINT, /* address and length are config1 and config2 */
    YARN_EVENT_PROBE,      /* becomes a tracepoint where it is defined; config until then: 0 */
    YARN_EVENT_OFF_CPU,    /* no counter: the recorder looks at threads that are blocked */
    YARN_EVENT_KIND_COUNT,
};

enum yarn_event_probe {
    YARN_EVENT_UPROBE,
    YARN_EVENT_URETPROBE,
    YARN_EVENT_KPROBE,
    YARN_EVENT_KRETPROBE,
};

/* The site of a probe or a breakpoint, as it was written: only who measures can say where that is.
 */
struct yarn_event_site {
    const char *path;   /* of a uprobe: a file, or the name of a mapped one; else NULL */
    const char *symbol; /* of a probe a pattern, too; NULL: `offset` is all there is */
    uint64_t offset;    /* behind the symbol; without one in the file, or an address */
};

#define YARN_EVENT_NAME_MAX 64 /* with its NUL */
#define YARN_PRECISE_MAX 3u

/* The kernel's clocks do not tick faster; a shorter period would be a wrong weight. */
#define YARN_CLOCK_PERIOD_MIN_NS UINT64_C(10000)

struct yarn_event_spec {
    char name[YARN_EVENT_NAME_MAX]; /* for views: name=, or event and modifiers, "cpu-clock:u"; no
                                       S, D, e, W */
    const char *asked;              /* the words of the list, or of who asked (asked=) */
    size_t asked_at, asked_end;     /* where the words stand in it */
    const char *refusal;            /* why this machine has no number for it, or NULL: see below */
    int refusal_error;              /* errno of that; 0: by the kind */
    const char *event;              /* canonical: "page-faults" for faults, "r1c2" */
    const char *unit;               /* static: "ns", "cycles", "events" */
    enum yarn_event_kind kind;
    uint32_t type;                     /* perf_event_attr.type */
    uint64_t config, config1, config2; /* perf_event_attr.config, … */
    uint32_t breakpoint;               /* HW_BREAKPOINT_R, W, X: perf_event_attr.bp_type */
    enum yarn_event_probe probe;       /* where kind says so */
    struct yarn_event_site site;       /* of probes, and of breakpoints until config1 is known */
    const char *filter;                /* filter='…' as written, without the quotes; NULL: none */
    uint64_t branches;                 /* perf_event_attr.branch_sample_type; 0: none */
    /* The rate: at most one is not 0; both are 0 until asked for or yarn_event_spec_apply_rate. */
    uint64_t period;                   /* count from one sample to the next; ns for clocks */
    uint64_t frequency;                /* samples a second */
    bool has_own_name, is_told_apart;  /* by name=; from one called alike: the name stays */
    bool is_encoded;                   /* from a name that only the tool knows */
    bool has_own_rate, has_own_period; /* by period= or freq=; by period= */
    bool has_default_period_1;         /* each occurrence is a sample where no rate is asked for */
    bool is_clock;
    bool is_auto;       /* written as `auto`: cycles, and cpu-clock where no PMU has cycles */
    bool has_modifiers; /* u, k or h was asked for: exclusion is not the default's */
    bool exclude_user, exclude_kernel, exclude_hv, exclude_idle, exclude_host, exclude_guest;
    bool is_in_kernel;    /* what it counts happens there: without the kernel nothing is left */
    bool has_left_kernel; /* see yarn_event_spec_leave_kernel */
    uint8_t precise;      /* how many p */
    bool is_most_precise; /* P: as precise as the kernel takes */
    bool reads_group;     /* S: a sample of the leader has what each member counted */
    bool is_counted;      /* beside what is sampled: see counted.h */
    bool is_scheduling;   /* of YARN_SCHED: see scheduling.h */
    bool is_of_machine;   /* of every thread on every core */
    bool is_if_permitted; /* that it is refused is no fault */
    bool is_pinned;       /* D: always on a counter, or in error; of the leader or of one alone */
    bool is_exclusive;    /* e: no other group beside it; likewise */
    bool is_weak;         /* W: its members go alone where they do not fit together */
    /* Number of the group, from 1; its members stand side by side, the leader first. 0: alone. On
     * a machine with several kinds of core a group as typed becomes one for each. */
    uint8_t group;
    /* Number of what was typed, from 0: a pattern's tracepoints share it, and the specs that one
     * event becomes where each kind of core has a PMU of its own, which are shown as one. */
    uint8_t item;
    /* The PMU. */
    const char *pmu;    /* its folder's name; NULL: as the kernel finds it by the type */
    const char *cpus;   /* on which it counts, "0-3,8"; NULL: every one */
    bool is_of_cpus;    /* counts cpus, not threads (uncore): never sampled */
    double scale;       /* a count times this is in `unit`; 1 where nothing is said */
    bool has_callgraph; /* call-graph= or stack-size= of its own; else the session's counts */
    struct yarn_callgraph callgraph;
};

/* Its PMU counts on that cpu. */
YARN_MUST_CHECK bool yarn_event_spec_is_on(const struct yarn_event_spec *spec, int cpu);

/* Whether the spec leads a group; false for a member and for an event alone. */
static inline bool yarn_event_spec_leads(const struct yarn_event_spec *specs, size_t index)
{
    return specs[index].group && (!index || specs[index - 1].group != specs[index].group);
}

/* A negative errno and a static sentence where it cannot be counted on a thread: it can only be
 * recorded, or a symbol or probe of it has no address yet. */
YARN_MUST_CHECK int yarn_event_spec_check(const struct yarn_event_spec *spec, const char **ret_why);

/* Turns a spec with is_auto from cycles into cpu-clock, keeping what was asked about rate,
 * modifiers and name. Before the rate is applied. */
void yarn_event_spec_fall_back(struct yarn_event_spec *spec);

/* Gives a spec without a rate the default one: clocks and off-cpu get 1e9/frequency as period,
 * events whose every occurrence counts get period 1, all others the kernel's frequency mode (each
 * sample's weight is then its period). A clock's own freq= becomes a period too. Idempotent. */
void yarn_event_spec_apply_rate(struct yarn_event_spec *spec, uint64_t frequency_hz);

/* User mode alone, where it is permitted and the kernel is not: false where the kernel was
 * asked for by a modifier, is left out already, or is all there is. The name stays. */
YARN_MUST_CHECK bool yarn_event_spec_leave_kernel(struct yarn_event_spec *spec);

/* Whether a counter of a PMU counts it: all others take any precision without effect. */
YARN_MUST_CHECK bool yarn_event_spec_can_be_precise(const struct yarn_event_spec *spec);

/* A step less precise; false where it is not precise, or has never been asked to be. */
YARN_MUST_CHECK bool yarn_event_spec_lower_precise(struct yarn_event_spec *spec);

/* Its filter='EXPR' is a program of ours (sample_filter.h), not one of the kernel's. */
YARN_MUST_CHECK bool yarn_event_spec_has_sample_filter(const struct yarn_event_spec *spec);

/* The value of perf_event_attr.precise_ip: P begins with the most. */
YARN_MUST_CHECK unsigned yarn_event_spec_precise(const struct yarn_event_spec *spec);

/* Makes the name out of event and modifiers, as it is without name=; or out of any words. */
void yarn_event_spec_name(struct yarn_event_spec *spec);
void yarn_event_spec_call(struct yarn_event_spec *spec, const char *words);

/* The spec in the syntax of YARN_EVENTS, with everything that was asked for. `auto` is written as
 * what stands for it. To encode says for a later reader, too, in which words it was asked for. */
void yarn_event_spec_describe(const struct yarn_event_spec *spec, struct yarn_text *text);
void yarn_event_spec_encode(const struct yarn_event_spec *spec, struct yarn_text *text);

/* Which branches a processor notes beside a sample: the words of branch=, as perf has them, and
 * their bits of perf_event_attr.branch_sample_type. */

/* The first word of a kind is the one that is shown. */
extern const struct yarn_branch_kind {
    const char *word;
    uint64_t bits;
} yarn_branch_kinds[];
extern const size_t yarn_branch_kind_count; /* of those that are shown */

/* 0: not a kind of branch. - and _ alike. */
uint64_t yarn_branch_bits(struct yarn_span word);

/* The kernel's text for a set of cpus, "0-3,8", as its files `cpus` and `cpumask` have it. */

/* False, too, where the text is none such. */
YARN_MUST_CHECK bool yarn_cpu_list_has(const char *list, unsigned cpu);
