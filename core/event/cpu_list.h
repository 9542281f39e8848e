/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The kernel's text for a set of cpus, "0-3,8", as its files `cpus` and `cpumask` have it.
 * Threads, signals: pure functions over values; safe anywhere.
 */
#pragma once

#include "core/base/base.h"

/* False, too, where the text is none such. */
YARN_MUST_CHECK bool yarn_cpu_list_has(const char *list, unsigned cpu);
