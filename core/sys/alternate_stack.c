/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sys/alternate_stack.h"

#include <stdatomic.h>

#include "core/sys/signal.h"

enum {
    HOSTS_BYTES = 4096, /* what a handler of the host's may use, beside its frame */
    OURS_BYTES = 512,   /* what ours uses, beside its frame */
};

static _Atomic bool is_small;
static _Atomic size_t needed; /* 0: not asked yet, which a virtual machine makes slow */

static size_t needed_bytes(void)
{
    size_t bytes = atomic_load(&needed);
    if (!bytes) {
        bytes = 2 * yarn_signal_frame_bytes() + HOSTS_BYTES + OURS_BYTES;
        atomic_store(&needed, bytes);
    }
    return bytes;
}

bool yarn_alternate_stack_note(size_t bytes)
{
    return bytes < needed_bytes() && !atomic_exchange(&is_small, true);
}

bool yarn_alternate_stack_is_small(void)
{
    return atomic_load(&is_small);
}
