/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * AttachmentStrategy: from event specs to open events. per_core: for each present cpu, thread and
 * spec one inherited event, redirected into the ring of the cpu's leader. Private to core/session.
 */
#pragma once

#include "core/session/session.h"

/* Fills the session's cores and events. On failure what was opened stays for the close. */
YARN_MUST_CHECK int yarn_attach_per_core(struct yarn_session *session);
