/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as /proc/self/task/TID/syscall: what is understood is a place where a thread can be.
 */
#include <string.h>

#include "core/sys/blocked.h"

enum { TEXT_MAX = 256 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_blocked(const char *text, size_t size)
{
    struct yarn_blocked blocked;
    if (yarn_blocked_parse(text, size, &blocked) && (!blocked.sp || !blocked.ip))
        __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[TEXT_MAX + 1] = {0};
    if (size > TEXT_MAX)
        return 0;
    if (size)
        memcpy(text, data, size);
    check_blocked(text, size);
    return 0;
}
