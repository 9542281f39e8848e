/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A performance monitoring unit as its folder in sysfs describes it: its type, on which cpus it
 * counts, which bits of the configuration each term is (`format`), and events with names of their
 * own (`events`). Knows the files; does not know what a term is given (parse_pmu.c).
 *
 * Threads, signals: safe as far as the arena is.
 */
#pragma once

#include "core/base/arena.h"
#include "core/event/machine.h"

struct yarn_pmu {
    const struct yarn_event_machine *machine; /* borrowed */
    const char *name;
    uint32_t type;
    const char *cpus; /* on which it counts, "0-3,8"; NULL: every one */
    bool is_of_cpus;  /* counts cpus, not threads: its file is called cpumask */
    bool is_core;     /* of the cores: the generic events are its own */
};

enum { YARN_PMU_CONFIGS = 3 }; /* config, config1, config2 */

struct yarn_pmu_format {
    unsigned config; /* which */
    uint64_t bits;   /* the value's lowest bit is the lowest of these */
};

struct yarn_pmu_event {
    char terms[256];  /* "event=0xcd,umask=0x1,ldlat=3" */
    double scale;     /* 1 where nothing is said */
    const char *unit; /* NULL where nothing is said */
};

/* -ENOENT: no such folder; -ENOMEM. Texts are the arena's. */
YARN_MUST_CHECK int yarn_pmu_find(const struct yarn_event_machine *machine, struct yarn_span name,
                                  struct yarn_arena *arena, struct yarn_pmu *ret_pmu);

/* Whether each kind of core has a PMU of its own and this is one of them: x86's hybrid machines,
 * where the kernel takes the PMU's type above a generic event's number. */
static inline bool yarn_pmu_is_one_of_several(const struct yarn_pmu *pmu)
{
    return pmu->is_core && pmu->cpus && strncmp(pmu->name, "cpu_", 4) == 0;
}

/* -ENOENT: there is none of that name; -EINVAL: one that cannot be understood. - and _ alike. */
YARN_MUST_CHECK int yarn_pmu_find_format(const struct yarn_pmu *pmu, struct yarn_span term,
                                         struct yarn_pmu_format *ret_format);
YARN_MUST_CHECK int yarn_pmu_find_event(const struct yarn_pmu *pmu, struct yarn_span name,
                                        struct yarn_arena *arena, struct yarn_pmu_event *ret_event);

/* Whether there is one of just that name. */
YARN_MUST_CHECK bool yarn_pmu_has_event(const struct yarn_pmu *pmu, struct yarn_span name);

/* Names of PMUs, of one's terms, of one's events: all that the kernel lists and lets be read. */
void yarn_pmu_list(const struct yarn_event_machine *machine, yarn_machine_name_fn *tell,
                   void *self);
void yarn_pmu_list_formats(const struct yarn_pmu *pmu, yarn_machine_name_fn *tell, void *self);
void yarn_pmu_list_events(const struct yarn_pmu *pmu, yarn_machine_name_fn *tell, void *self);

/* "config1:0-7,32-35". -EINVAL where it is none such, and for a configuration that the kernel's
 * header does not have. */
YARN_MUST_CHECK int yarn_pmu_format_parse(struct yarn_span text,
                                          struct yarn_pmu_format *ret_format);

/* The largest value that the format holds. */
uint64_t yarn_pmu_format_max(const struct yarn_pmu_format *format);

/* Puts the value, which fits, in place of what the bits have been. */
void yarn_pmu_format_put(const struct yarn_pmu_format *format, uint64_t value, uint64_t *config);

/* "2.3283064365386962890625e-10". -EINVAL where it is no number above 0. */
YARN_MUST_CHECK int yarn_pmu_scale_parse(struct yarn_span text, double *ret_scale);
