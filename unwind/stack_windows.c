/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/stack_windows.h"

#include "core/sys/own_memory.h"

void yarn_stack_windows_clear(struct yarn_stack_windows *windows)
{
    memset(windows->page, 0, sizeof windows->page);
}

bool yarn_stack_windows_read(struct yarn_stack_windows *windows, uint64_t address,
                             uint64_t *ret_word)
{
    uint64_t at = address % YARN_STACK_WINDOW_BYTES, page = address - at;
    if (at > YARN_STACK_WINDOW_BYTES - sizeof *ret_word)
        return !yarn_own_memory_read(address, ret_word, sizeof *ret_word);
    size_t number = page / YARN_STACK_WINDOW_BYTES % YARN_STACK_WINDOWS;
    if (windows->page[number] != (page | 1)) {
        windows->page[number] = 0;
        if (yarn_own_memory_read(page, windows->bytes[number], YARN_STACK_WINDOW_BYTES))
            return false;
        windows->page[number] = page | 1;
    }
    memcpy(ret_word, windows->bytes[number] + at, sizeof *ret_word);
    return true;
}
