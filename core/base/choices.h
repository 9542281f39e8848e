/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The values of the options, also of those that report what was used; of those that a session of
 * libyarn has, too, in its header. The texts for the reports are here, those for parsing in
 * options.def, in the order of the values.
 */
#pragma once

#include "core/include/yarn/session.h"

enum yarn_unwinder_choice {
    YARN_UNWINDER_AUTO,      /* own rules, libunwind for what they cannot express */
    YARN_UNWINDER_LIBUNWIND, /* libunwind for every step by tables: the cross-check */
    YARN_UNWINDER_COUNT,
};
enum yarn_sampler {
    YARN_SAMPLER_AUTO, /* perf, and the timer where the kernel refuses it */
    YARN_SAMPLER_PERF,
    YARN_SAMPLER_TIMER,
    YARN_SAMPLER_COUNT,
};
enum yarn_clock_choice {
    YARN_CLOCK_MONOTONIC,
    YARN_CLOCK_MONOTONIC_RAW,
    YARN_CLOCK_BOOTTIME,
    YARN_CLOCK_COUNT,
};
enum yarn_empty { YARN_EMPTY_DROP, YARN_EMPTY_KEEP };
enum yarn_follow { YARN_FOLLOW_NONE, YARN_FOLLOW_FORK = 1, YARN_FOLLOW_EXEC = 2 }; /* bits */
enum yarn_start_choice { YARN_START_ON, YARN_START_OFF };
enum yarn_log_level {
    YARN_LOG_OFF,
    YARN_LOG_ERROR,
    YARN_LOG_WARNING,
    YARN_LOG_INFO,
    YARN_LOG_DEBUG,
};

enum { YARN_STRATEGY_COUNT = YARN_STRATEGY_CORES + 1, YARN_READER_COUNT = YARN_READER_TIMED + 1 };

/* Indexed by the value; the words of YARN_SAMPLER, YARN_STRATEGY and YARN_READER. */
extern const char *const yarn_sampler_words[YARN_SAMPLER_COUNT];
extern const char *const yarn_strategy_words[YARN_STRATEGY_COUNT];
extern const char *const yarn_reader_words[YARN_READER_COUNT];
