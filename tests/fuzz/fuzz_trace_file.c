/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as a trace.dat: each event lies in the pages of its core, and what is refused has a
 * place and a reason.
 */
#include "output/store/trace_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int take(void *self, const struct yarn_trace_file_core *core, uint64_t time_ns,
                struct yarn_span event)
{
    (void)self;
    (void)time_ns;
    if (event.size && (event.data < core->pages.data ||
                       event.data + event.size > core->pages.data + core->pages.size))
        __builtin_trap();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct yarn_trace_file file;
    int err = yarn_trace_file_open_bytes(&file, yarn_span_of(data, size));
    if (!err)
        err = yarn_trace_file_each(&file, take, NULL);
    if (err == -EBADMSG && !file.fault.why)
        __builtin_trap();
    yarn_trace_file_close(&file);
    return 0;
}
