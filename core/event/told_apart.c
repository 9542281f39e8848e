/* SPDX-License-Identifier: Apache-2.0 */
#include "core/event/told_apart.h"

/* As it is called where no PMU has cycles. */
static const char *later_name(const struct yarn_event_spec *spec, struct yarn_event_spec *room)
{
    if (!spec->is_auto)
        return spec->name;
    *room = *spec;
    yarn_event_spec_fall_back(room);
    return room->name;
}

static bool are_called_alike(const struct yarn_event_spec *a, const struct yarn_event_spec *b)
{
    struct yarn_event_spec rooms[2];
    return strcmp(a->name, b->name) == 0 ||
           strcmp(later_name(a, &rooms[0]), later_name(b, &rooms[1])) == 0;
}

/* The clock of counted events has a rate and is shown nowhere. */
static bool is_shown(const struct yarn_event_spec *spec)
{
    return !(spec->is_counted && spec->has_own_rate) && !spec->is_scheduling;
}

static bool are_two(const struct yarn_event_spec *a, const struct yarn_event_spec *b)
{
    return a->item != b->item && a->is_counted == b->is_counted && is_shown(a) && is_shown(b);
}

static bool has_double(const struct yarn_event_spec *specs, size_t count,
                       const struct yarn_event_spec *spec)
{
    for (size_t i = 0; i < count; i++)
        if (are_two(spec, &specs[i]) && are_called_alike(spec, &specs[i]))
            return true;
    return false;
}

/* One of the events that a pattern became, to which its words are no name. */
static bool is_one_of_several(const struct yarn_event_spec *specs, size_t count,
                              const struct yarn_event_spec *spec)
{
    for (size_t i = 0; i < count; i++)
        if (specs[i].item == spec->item && strcmp(specs[i].event, spec->event) != 0)
            return true;
    return false;
}

static void number(const struct yarn_event_spec *specs, struct yarn_event_spec *spec)
{
    char digits[16], base[YARN_EVENT_NAME_MAX];
    memcpy(base, spec->name, sizeof base);
    for (unsigned nr = 2; has_double(specs, (size_t)(spec - specs), spec); nr++) {
        struct yarn_text tail = yarn_text_of(digits, sizeof digits);
        yarn_text_add(&tail, " #");
        yarn_text_add_u64(&tail, nr);
        struct yarn_text name = yarn_text_of(spec->name, sizeof spec->name);
        size_t room = sizeof spec->name - 1 - tail.size;
        yarn_text_add_sized(&name, base, yarn_size_min(strlen(base), room));
        yarn_text_add(&name, digits);
        spec->is_told_apart = true;
    }
}

void yarn_event_specs_tell_apart(struct yarn_event_spec *specs, size_t count)
{
    enum { MOST = 64 };
    uint64_t are_doubles = 0;
    for (size_t i = 0; i < count && i < MOST; i++)
        are_doubles |= (uint64_t)has_double(specs, count, &specs[i]) << i;
    for (size_t i = 0; i < count && i < MOST; i++) {
        if (!(are_doubles >> i & 1))
            continue;
        if (!is_one_of_several(specs, count, &specs[i]))
            yarn_event_spec_call(&specs[i], specs[i].asked);
        specs[i].is_told_apart = true;
    }
    for (size_t i = 0; i < count; i++)
        number(specs, &specs[i]);
}
