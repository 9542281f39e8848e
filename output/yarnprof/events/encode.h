/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Names of events beyond the kernel's own: libpfm4's, of the processor that this is or that
 * LIBPFM_FORCE_PMU names. Only the tool knows them; what it hands on are their encodings.
 * Threads: one.
 */
#pragma once

#include "core/event/parse.h"

/* This machine with those names. */
const struct yarn_event_machine *yarn_encode_machine(void);

/* Reports each name that there is on this processor; false: enough. */
void yarn_encode_list(yarn_machine_name_fn *tell, void *self);

/* The list's text with encodings in place of such names; NULL: no memory. To be freed. */
char *yarn_encode_text(const char *text, const struct yarn_event_list *list);
