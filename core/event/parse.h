/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The comma list of YARN_EVENTS, in perf's syntax, becomes specs:
 *     EVENT[/period=N,freq=N,call-graph=HOW,stack-size=BYTES,name=TEXT/][:MODIFIERS]
 *     {EVENT,…}[:MODIFIERS]
 * Knows the grammar; does not know whether this machine has an event.
 *
 * Threads: one owner of the arena. Signals: safe as far as the arena is.
 */
#pragma once

#include "core/base/arena.h"
#include "core/event/spec.h"

#define YARN_EVENT_LIST_MAX 32

struct yarn_event_list {
    struct yarn_event_spec specs[YARN_EVENT_LIST_MAX];
    size_t count;
};

/* -EINVAL with *ret_error filled, at an offset of `text`; -ENOMEM where the arena is full.
 * The specs keep nothing of `text`. */
YARN_MUST_CHECK int yarn_event_list_parse(const char *text, size_t size, struct yarn_arena *arena,
                                          struct yarn_event_list *ret_list,
                                          struct yarn_parse_error *ret_error);
