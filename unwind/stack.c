/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/stack.h"

void yarn_stack_windows_clear(struct yarn_stack_windows *windows, const struct yarn_target *target)
{
    windows->target = target;
    memset(windows->page, 0, sizeof windows->page);
}

bool yarn_stack_windows_read(struct yarn_stack_windows *windows, uint64_t address,
                             uint64_t *ret_word)
{
    uint64_t at = address % YARN_STACK_WINDOW_BYTES, page = address - at;
    if (at > YARN_STACK_WINDOW_BYTES - sizeof *ret_word)
        return !yarn_target_read(windows->target, address, ret_word, sizeof *ret_word);
    size_t number = page / YARN_STACK_WINDOW_BYTES % YARN_STACK_WINDOWS;
    if (windows->page[number] != (page | 1)) {
        windows->page[number] = 0;
        if (yarn_target_read(windows->target, page, windows->bytes[number],
                             YARN_STACK_WINDOW_BYTES))
            return false;
        windows->page[number] = page | 1;
    }
    memcpy(ret_word, windows->bytes[number] + at, sizeof *ret_word);
    return true;
}
