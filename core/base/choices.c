/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/choices.h"

const char *const yarn_sampler_words[] = {
    [YARN_SAMPLER_AUTO] = "auto",
    [YARN_SAMPLER_PERF] = "perf",
    [YARN_SAMPLER_TIMER] = "timer",
};

const char *const yarn_strategy_words[] = {
    [YARN_STRATEGY_AUTO] = "auto",
    [YARN_STRATEGY_PER_CORE] = "per-core",
    [YARN_STRATEGY_PER_THREAD] = "per-thread",
    [YARN_STRATEGY_CORES] = "cores",
};

const char *const yarn_reader_words[] = {
    [YARN_READER_AUTO] = "auto",
    [YARN_READER_POLL] = "poll",
    [YARN_READER_TIMED] = "timed",
};
