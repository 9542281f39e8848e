/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the variables choose among. The words of each are in option_values.c.
 */
#pragma once

enum yarn_unwinder_choice { YARN_UNWINDER_AUTO, YARN_UNWINDER_LIBUNWIND };
enum yarn_sampler { YARN_SAMPLER_AUTO, YARN_SAMPLER_PERF, YARN_SAMPLER_TIMER };
enum yarn_strategy {
    YARN_STRATEGY_AUTO,
    YARN_STRATEGY_PER_CORE,
    YARN_STRATEGY_PER_THREAD,
    YARN_STRATEGY_CORES
};
enum yarn_reader_choice { YARN_READER_AUTO, YARN_READER_POLL, YARN_READER_TIMED };
/* The numbers are those of struct yarn_dump_process. */
enum yarn_clock_choice { YARN_CLOCK_MONOTONIC, YARN_CLOCK_MONOTONIC_RAW, YARN_CLOCK_BOOTTIME };
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
