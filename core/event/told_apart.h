/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The names of a list's events, as views show them: two that are called alike get what sets them
 * apart, since their samples and counts are two things. Knows specs, no kernel.
 *
 * Threads, signals: pure functions; safe anywhere.
 */
#pragma once

#include "core/event/spec.h"

/* Events with one name are called as they were asked for, and numbered where that is one, too. What
 * is counted, what is sampled and what is of YARN_SCHED are three lists; the events that one item
 * became for the kinds of core keep one name. Again where events were added. */
void yarn_event_specs_tell_apart(struct yarn_event_spec *specs, size_t count);
