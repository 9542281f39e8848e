/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The rights of one thread: user, group, supplementary groups and capabilities. To the kernel they
 * belong to a thread; the C library repeats a change of ids on the threads that it knows, which
 * ours is not, and one of capabilities on none. Threads, signals: safe anywhere.
 */
#pragma once

#include "core/base/base.h"

enum { YARN_IDS_GROUPS_MAX = 256 };

struct yarn_ids {
    uint32_t real_user, effective_user, saved_user;
    uint32_t real_group, effective_group, saved_group;
    uint32_t groups[YARN_IDS_GROUPS_MAX];
    size_t nr_groups;
    uint64_t effective, permitted, inheritable; /* capabilities, masks: number n is bit n */
};

/* The facts that decide whether a change of ids can be taken back: the capabilities, and without
 * that one the users or groups that there are to choose from. */
struct yarn_ids_hold {
    uint64_t permitted;
    uint32_t user[3], group[3];
};

/* Of the calling thread. */
void yarn_ids_hold_read(struct yarn_ids_hold *ret_hold);

/* The calling thread, which had `before`, can have all of it again at any time. */
YARN_MUST_CHECK bool yarn_ids_can_regain(const struct yarn_ids_hold *before, bool changed_groups);

/* Of the calling thread. More groups than there is room for are known as too many. */
YARN_MUST_CHECK int yarn_ids_read(struct yarn_ids *ret_ids);

/* True where the calling thread has these already, as after a change that changes nothing. */
YARN_MUST_CHECK bool yarn_ids_are_own(const struct yarn_ids *ids);

/* Gives the calling thread these rights: groups first, users then, capabilities last, as giving up
 * rights demands. It does not get capabilities that it does not have. */
YARN_MUST_CHECK int yarn_ids_take(const struct yarn_ids *ids);

/* The calling thread cannot gain privileges by an exec (no_new_privs). */
void yarn_ids_renounce_exec(void);

/* Empties its bounding set. */
void yarn_ids_drop_bounds(void);
