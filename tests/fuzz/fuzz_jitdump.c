/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as a jitdump that the process with the pid 1 wrote: no record leads out of them.
 */
#include "unwind/symbol/jitdump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct yarn_code_names names;
    struct yarn_span bytes = yarn_span_of(data, size);
    uint64_t at = yarn_jitdump_header(bytes, 1);
    if (!at)
        return 0;
    yarn_code_names_open(&names);
    while (at < size) {
        uint64_t step = yarn_jitdump_take(yarn_span_from(bytes, at), 1, at, &names);
        if (!step)
            break;
        if (step < YARN_JITDUMP_RECORD_BYTES)
            __builtin_trap();
        at += step;
    }
    yarn_code_names_close(&names);
    return 0;
}
