/* SPDX-License-Identifier: Apache-2.0 */
#include "core/config/environment.h"

struct yarn_span yarn_environment_name(const char *entry)
{
    const char *equals = strchr(entry, '=');
    return yarn_span_of(entry, equals ? (size_t)(equals - entry) : strlen(entry));
}

const char *yarn_environment_find(char *const envp[], struct yarn_span name)
{
    for (size_t i = 0; envp && envp[i]; i++) {
        struct yarn_span entry = yarn_environment_name(envp[i]);
        if (yarn_span_equal(entry, name) && envp[i][entry.size] == '=')
            return envp[i] + entry.size + 1;
    }
    return NULL;
}
