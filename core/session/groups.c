/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/groups.h"

uint32_t yarn_group_first(const struct yarn_session *session, uint32_t number)
{
    uint8_t group = session->specs[number].spec.group;
    while (group && number && session->specs[number - 1].spec.group == group)
        number--;
    return number;
}

uint32_t yarn_group_end(const struct yarn_session *session, uint32_t first)
{
    uint32_t end = first + 1;
    uint8_t group = session->specs[first].spec.group;
    while (group && end < session->spec->nr_events && session->specs[end].spec.group == group)
        end++;
    return end;
}
