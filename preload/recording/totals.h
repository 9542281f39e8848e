/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a dump says about itself: messages, running totals, the events' own counts. The recording
 * stores them at each flush, so that a dump that ends early has them too. Reader thread only.
 */
#pragma once

#include "preload/recording/recording.h"

/* True where children that were never recorded used as much time as a sample stands for. */
bool yarn_totals_has_children(const struct yarn_recording *recording);

/* True where the process has used so much time without a sample that it is no accident: in threads
 * shorter than the time between two samples, or in the kernel. */
bool yarn_totals_lacks_samples(const struct yarn_recording *recording);

/* True where the kernel's part of the CPU time is not sampled. */
bool yarn_totals_leaves_kernel(const struct yarn_recording *recording);

/* Messages that are not stored yet, and the totals up to now. */
void yarn_totals_write(struct yarn_recording *recording);

/* At the end: the counts of every event, with the kernel's exact number of lost samples. */
void yarn_totals_write_final(struct yarn_recording *recording);
