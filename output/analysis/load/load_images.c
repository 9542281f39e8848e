/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "output/analysis/load/loader.h"

/* Of one number, other hosts' among them, that are looked at: more are not of one process. */
enum { SAME_NUMBER_MAX = 64 };

static int order(const void *a, const void *b)
{
    const struct yarn_dump_process *one = *(struct yarn_dump_process *const *)a;
    const struct yarn_dump_process *other = *(struct yarn_dump_process *const *)b;
    if (one->pid != other->pid)
        return one->pid < other->pid ? -1 : 1;
    return one->start_ns == other->start_ns ? 0 : one->start_ns < other->start_ns ? -1 : 1;
}

static bool may_be_image_before(const struct yarn_dump_process *before,
                                const struct yarn_dump_process *process)
{
    return before->start_ns >= process->birth_ns && before->start_ns < process->start_ns &&
           yarn_span_equal(before->boot_id, process->boot_id) &&
           yarn_span_equal(before->host, process->host);
}

static void find_image_before(struct yarn_dump_process **sorted, size_t at)
{
    struct yarn_dump_process *process = sorted[at];
    for (size_t i = 1; i <= at && i <= SAME_NUMBER_MAX; i++) {
        const struct yarn_dump_process *before = sorted[at - i];
        if (before->pid != process->pid)
            return;
        if (may_be_image_before(before, process)) {
            process->predecessor_pid = before->pid;
            process->predecessor_start_ns = before->start_ns;
            return;
        }
    }
}

int yarn_loader_link_images(struct yarn_profile *profile)
{
    size_t count = profile->nr_dumps;
    struct yarn_dump_process **sorted = calloc(count + 1, sizeof *sorted);
    if (!sorted)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        sorted[i] = &profile->dumps[i].process;
    qsort(sorted, count, sizeof *sorted, order);
    for (size_t i = 0; i < count; i++)
        if (sorted[i]->birth_ns && !sorted[i]->predecessor_pid)
            find_image_before(sorted, i);
    free(sorted);
    return 0;
}
