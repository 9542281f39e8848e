/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Any text as a saved view of sched: what is taken has streams with paths, what is refused a
 * reason.
 */
#include <stdlib.h>

#include "output/yarnprof/verbs/saved_view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct yarn_saved_view view = {0};
    char why[256], *text = malloc(size + 1);
    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = 0;
    int err = yarn_saved_view_parse(&view, text, why, sizeof why);
    if (err ? err == -EINVAL && !why[0] : !view.count || !view.streams[0].path[0])
        __builtin_trap();
    yarn_saved_view_fini(&view);
    free(text);
    return 0;
}
