/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/outside/unfollowed.h"

#include <stdio.h>
#include <string.h>

#include "output/yarnprof/io/status.h"

void yarn_unfollowed_add(struct yarn_unfollowed *unfollowed, const char *name)
{
    size_t i = 0;
    while (i < unfollowed->nr_names && strcmp(unfollowed->programs[i].name, name) != 0)
        i++;
    if (i == YARN_UNFOLLOWED_NAMES) {
        unfollowed->nr_others++;
        return;
    }
    if (i == unfollowed->nr_names)
        (void)snprintf(unfollowed->programs[unfollowed->nr_names++].name,
                       YARN_UNFOLLOWED_NAME_BYTES, "%s", name);
    unfollowed->programs[i].count++;
}

void yarn_unfollowed_report(const struct yarn_unfollowed *unfollowed)
{
    for (size_t i = 0; i < unfollowed->nr_names; i++)
        yarn_complain("record",
                      "%s was not recorded, nor what it made (%zux): it gains rights "
                      "as it is executed, or may not be read",
                      unfollowed->programs[i].name, unfollowed->programs[i].count);
    if (unfollowed->nr_others)
        yarn_complain("record", "%zu processes of other such programs were not recorded",
                      unfollowed->nr_others);
}
