/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/rule.h"

const struct yarn_machine *yarn_machine_native(void)
{
    return &yarn_machine_x86_64;
}
