/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/table/called.h"

#include <regex.h>
#include <stdlib.h>

/* Whole or without its parameters. */
static bool is_called(const char *name, const char *wanted)
{
    size_t size = strlen(wanted);
    return strncmp(name, wanted, size) == 0 && (!name[size] || name[size] == '(');
}

static const char *name_of(const struct yarn_profile *profile, size_t function)
{
    return yarn_profile_text(profile, profile->functions[function].name);
}

static void mark_matching(const struct yarn_profile *profile, const char *wanted,
                          const uint8_t *functions, uint8_t *called)
{
    regex_t regex;
    if (regcomp(&regex, wanted, REG_EXTENDED | REG_NOSUB))
        return;
    for (size_t i = 0; i < profile->nr_functions; i++)
        called[i] =
            (!functions || functions[i]) && regexec(&regex, name_of(profile, i), 0, NULL, 0) == 0;
    regfree(&regex);
}

uint8_t *yarn_functions_called(const struct yarn_profile *profile, const char *wanted,
                               const uint8_t *functions)
{
    uint8_t *called = calloc(profile->nr_functions + 1, 1);
    size_t count = 0;
    for (size_t i = 0; called && i < profile->nr_functions; i++) {
        called[i] = (!functions || functions[i]) && is_called(name_of(profile, i), wanted);
        count += called[i];
    }
    if (called && !count)
        mark_matching(profile, wanted, functions, called);
    return called;
}
