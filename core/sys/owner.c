/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sys/owner.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "core/base/raw.h"
#include "core/sys/process.h"
#include "core/sys/wiped.h"

struct yarn_wiped yarn_wiped __attribute__((common));

static YARN_IN_DATA bool asks_for_list;

static bool has_list(void)
{
    void *head = NULL;
    size_t size;
    yarn_raw_call(SYS_get_robust_list, 0, (long)&head, (long)&size, 0, 0, 0);
    return head;
}

int yarn_owner_claim(bool asks_list)
{
    long result =
        yarn_raw_call(SYS_madvise, (long)&yarn_wiped, sizeof yarn_wiped, MADV_WIPEONFORK, 0, 0, 0);
    if (yarn_raw_is_error(result))
        return (int)result;
    asks_for_list = asks_list && has_list();
    atomic_store(&yarn_wiped.owner, (uint32_t)yarn_process_pid());
    return 0;
}

/* Why not read first: that would be another page fault in the child. */
bool yarn_owner_inherit(void)
{
    uint32_t nobody = 0;
    return atomic_compare_exchange_strong(&yarn_wiped.owner, &nobody, (uint32_t)yarn_process_pid());
}

bool yarn_owner_has_memory(void)
{
    return atomic_load_explicit(&yarn_wiped.owner, memory_order_relaxed);
}

/* Why not a process's first thread: a child in a PID namespace of its own is that by number. */
static bool is_later_thread(pid_t pid)
{
    return yarn_process_tid() != pid;
}

bool yarn_owner_is_caller(void)
{
    if (!yarn_owner_has_memory())
        return false;
    pid_t pid = (pid_t)atomic_load_explicit(&yarn_wiped.owner, memory_order_relaxed);
    return yarn_process_pid() == pid && (!asks_for_list || has_list() || is_later_thread(pid));
}
