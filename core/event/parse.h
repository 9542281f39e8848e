/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The comma list of YARN_EVENTS, in perf's syntax, becomes specs:
 *     EVENT[/period=N,freq=N,call-graph=HOW,name=TEXT,filter='EXPR',branch=KIND/][:MODIFIERS]
 *     {EVENT,…}[:MODIFIERS]
 * Knows the grammar, and what the kernel's files say of PMUs and tracepoints; asks the kernel for
 * no event.
 *
 * Threads: one owner of the arena. Signals: safe as far as the arena is.
 */
#pragma once

#include "core/base/arena.h"
#include "core/event/machine.h"
#include "core/event/spec.h"

#define YARN_EVENT_LIST_MAX 32

struct yarn_event_list {
    struct yarn_event_spec specs[YARN_EVENT_LIST_MAX];
    size_t count;
    char sentence[240]; /* a fault's, where it is made of names */
};

/* -EINVAL with *ret_error filled, at an offset of `text`, good as long as the list; -ENOMEM where
 * the arena is full. The specs keep nothing of `text`. What is an event, but none that can be
 * opened here, has a refusal. */
YARN_MUST_CHECK int yarn_event_list_parse(const char *text, size_t size, struct yarn_arena *arena,
                                          struct yarn_event_list *ret_list,
                                          struct yarn_parse_error *ret_error);

/* The same on a machine whose files are elsewhere. */
YARN_MUST_CHECK int yarn_event_list_parse_on(const struct yarn_event_machine *machine,
                                             const char *text, size_t size,
                                             struct yarn_arena *arena,
                                             struct yarn_event_list *ret_list,
                                             struct yarn_parse_error *ret_error);

/* Events with one name are called as they were asked for, and numbered where that is one, too. What
 * is counted, what is sampled and what is of YARN_SCHED are three lists; the events that one item
 * became for the kinds of core keep one name. Again where events were added. */
void yarn_event_specs_tell_apart(struct yarn_event_spec *specs, size_t count);
