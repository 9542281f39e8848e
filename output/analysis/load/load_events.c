/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "output/analysis/load/loader.h"

enum { NAME_MAX_SHOWN = 256, WORDS_MAX = 1024 };

static int intern(struct yarn_profile *profile, uint32_t *ret_text, const char *format, int size,
                  const char *first, const char *second)
{
    char text[WORDS_MAX];
    (void)snprintf(text, sizeof text, format, size, first, second);
    return yarn_strings_intern(&profile->strings, yarn_span_of_text(text), ret_text);
}

/* An event that is counted beside the samples is no event of the profile, though it may have its
 * name. */
static int name_event(struct yarn_profile *profile, const struct yarn_dump_event *record,
                      struct yarn_profile_event *event)
{
    const char *name = (const char *)record->name.data;
    int size = (int)yarn_size_min(record->name.size, NAME_MAX_SHOWN);
    int err = yarn_strings_intern(&profile->strings, record->unit, &event->unit);
    if (!err)
        err = intern(profile, &event->name, "%.*s%s", size, name,
                     record->flags & YARN_DUMP_EVENT_IS_COUNTED ? " (counted)" : "");
    event->words = event->name;
    if (!err && record->filter.size)
        err = intern(profile, &event->words, "%.*s/filter='%s'/", NAME_MAX_SHOWN,
                     yarn_profile_text(profile, event->name), (const char *)record->filter.data);
    return err;
}

int yarn_loader_find_event(struct yarn_loader *loader, const struct yarn_dump_event *record,
                           uint32_t *ret_event)
{
    struct yarn_profile_event event = {0};
    int err = name_event(loader->profile, record, &event);
    return err ? err : yarn_profile_event(loader->profile, &event, ret_event);
}

/* One unit is as good as a name. */
static int name_by_unit(struct yarn_profile *profile, struct yarn_profile_event *event)
{
    const char *name = yarn_profile_text(profile, event->name);
    return intern(profile, &event->words, "%.*s (%s)", NAME_MAX_SHOWN, name,
                  yarn_profile_text(profile, event->unit));
}

int yarn_loader_tell_events_apart(struct yarn_profile *profile)
{
    int err = 0;
    struct yarn_table first = YARN_TABLE_CLOSED;
    for (uint32_t i = 0; !err && i < profile->nr_events; i++) {
        struct yarn_profile_event *event = &profile->events[i];
        uint32_t found = yarn_table_find(&first, event->name);
        if (found == YARN_TABLE_NONE) {
            err = yarn_table_remember(&first, event->name, i);
            continue;
        }
        struct yarn_profile_event *other = &profile->events[found];
        if (event->words == other->words)
            err = name_by_unit(profile, event);
        other->name = other->words;
        event->name = event->words;
    }
    yarn_table_close(&first);
    return err;
}
