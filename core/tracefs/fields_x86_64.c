/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tracefs/definitions.h"

const char *yarn_tracefs_argument_fields(void)
{
    return " arg1=%di:u64 arg2=%si:u64 arg3=%dx:u64 arg4=%cx:u64 arg5=%r8:u64 arg6=%r9:u64";
}

const char *yarn_tracefs_return_field(void)
{
    return " ret=$retval:u64";
}
