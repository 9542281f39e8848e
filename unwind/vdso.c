/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/vdso.h"

#include "core/sys/file.h"
#include "core/sys/proc_maps.h"

struct sought {
    size_t size;
    uint64_t start; /* 0: not found */
};

static int compare(void *context, const struct yarn_proc_map *line)
{
    struct sought *sought = context;
    if (yarn_span_equal(line->path, yarn_span_of_text("[vdso]")) &&
        line->end - line->start == sought->size)
        sought->start = line->start;
    return sought->start != 0;
}

int yarn_vdso_read(const struct yarn_target *target, uint64_t start, void *ret_bytes, size_t size)
{
    struct sought own = {.size = size};
    if (target->kind == YARN_TARGET_OWN)
        return yarn_target_read(target, start, ret_bytes, size);
    int err = yarn_proc_maps_read(YARN_FILE_CWD, "/proc/self/maps", compare, &own);
    if (err < 0)
        return err;
    return own.start ? yarn_target_read(&yarn_target_self, own.start, ret_bytes, size) : -ESRCH;
}
