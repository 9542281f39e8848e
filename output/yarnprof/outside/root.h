/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The root folders of processes that are not in ours: of another mount namespace (a container) it
 * is kept open while such a process is recorded, so that files can be had of one that is dead by
 * then; of a chroot in our own only its path is, so that what is mounted there can be unmounted.
 *
 * Threads: one.
 */
#pragma once

#include "core/sys/target.h"

/* As it is now, where that can be seen; else it stays. Files of the process are looked for below
 * it. Of one that has ended that is noted. */
void yarn_tree_root_look(struct yarn_target *target);

/* A child begins in its parent's. */
void yarn_tree_root_share(struct yarn_target *child, const struct yarn_target *parent);

/* It is not asked for any more. Idempotent. */
void yarn_tree_root_leave(struct yarn_target *target);
