/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Which event of the profile a dump's is. Threads: one owner at a time.
 */
#pragma once

#include "output/analysis/load/loader.h"

/* The profile's event that a kept record is of, found or added. */
YARN_MUST_CHECK int yarn_loader_find_event(struct yarn_loader *loader,
                                           const struct yarn_dump_event *record,
                                           uint32_t *ret_event);
/* At the end: where several dumps have an event of one name with other filters or units. */
YARN_MUST_CHECK int yarn_loader_tell_events_apart(struct yarn_profile *profile);
