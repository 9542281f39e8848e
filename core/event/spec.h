/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the user wants measured: one event of YARN_EVENTS as a value, before anything is opened.
 * Knows type, configuration, rate and modifiers; does not know files, threads or cpus (event.h)
 * nor how a spec becomes a perf_event_attr (attr.h).
 *
 * Threads, signals: values; texts are borrowed from the arena of the parse.
 */
#pragma once

#include "core/base/callgraph.h"
#include "core/base/text.h"

enum yarn_event_kind {
    YARN_EVENT_CLOCK,    /* cpu-clock, task-clock: periods and counts are ns */
    YARN_EVENT_SOFTWARE, /* any other event of the kernel's own */
    YARN_EVENT_HARDWARE, /* needs a PMU, as the next two */
    YARN_EVENT_CACHE,
    YARN_EVENT_RAW,
    YARN_EVENT_KIND_COUNT,
};

#define YARN_EVENT_NAME_MAX 64 /* with its NUL */

/* The kernel's clocks do not tick faster; a shorter period would be a wrong weight. */
#define YARN_CLOCK_PERIOD_MIN_NS UINT64_C(10000)

struct yarn_event_spec {
    char name[YARN_EVENT_NAME_MAX]; /* for views: name=, or event and modifiers, "cpu-clock:u" */
    const char *asked;              /* the words of the list */
    const char *event;              /* canonical: "page-faults" for faults, "r1c2" */
    const char *unit;               /* static: "ns", "cycles", "events" */
    enum yarn_event_kind kind;
    uint32_t type;   /* perf_event_attr.type */
    uint64_t config; /* perf_event_attr.config */
    /* The rate: at most one is not 0; both are 0 until asked for or yarn_event_spec_apply_rate. */
    uint64_t period;           /* count from one sample to the next; ns for clocks */
    uint64_t frequency;        /* samples a second */
    bool has_own_name;         /* by name= */
    bool has_own_rate;         /* by period= or freq= */
    bool has_default_period_1; /* each occurrence is a sample where no rate is asked for */
    bool is_clock;
    bool is_auto;       /* written as `auto`: cycles, and cpu-clock where no PMU has cycles */
    bool has_modifiers; /* u, k or h was asked for: exclusion is not the default's */
    bool exclude_user, exclude_kernel, exclude_hv;
    bool is_in_kernel;    /* what it counts happens there: without the kernel nothing is left */
    bool has_left_kernel; /* see yarn_event_spec_leave_kernel */
    uint8_t precise;      /* how many p: perf_event_attr.precise_ip */
    bool has_callgraph;   /* call-graph= or stack-size= of its own; else the session's counts */
    struct yarn_callgraph callgraph;
};

/* Turns a spec with is_auto from cycles into cpu-clock, keeping what was asked about rate,
 * modifiers and name. Before the rate is applied. */
void yarn_event_spec_fall_back(struct yarn_event_spec *spec);

/* Gives a spec without a rate the default one: clocks get 1e9/frequency as period, events whose
 * every occurrence counts get period 1, all others the kernel's frequency mode (each sample's
 * weight is then its period). A clock's own freq= becomes a period too. Idempotent. */
void yarn_event_spec_apply_rate(struct yarn_event_spec *spec, uint64_t frequency_hz);

/* User mode alone, where it is permitted and the kernel is not: false where the kernel was
 * asked for by a modifier, is left out already, or is all there is. The name stays. */
YARN_MUST_CHECK bool yarn_event_spec_leave_kernel(struct yarn_event_spec *spec);

/* Makes the name out of event and modifiers, as it is without name=. */
void yarn_event_spec_name(struct yarn_event_spec *spec);

/* The spec in the syntax of YARN_EVENTS, with everything that was asked for. `auto` is written as
 * what stands for it. */
void yarn_event_spec_describe(const struct yarn_event_spec *spec, struct yarn_text *text);
