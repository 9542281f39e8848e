/* SPDX-License-Identifier: Apache-2.0 */
#include "core/event/encoded.h"

void yarn_event_list_encode(const struct yarn_event_list *list, const char *text,
                            struct yarn_text *ret_text)
{
    size_t copied = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct yarn_event_spec *spec = &list->specs[i];
        if (!spec->is_encoded)
            continue;
        /* A pattern's events share their words. */
        if (spec->asked_at < copied)
            yarn_text_add(ret_text, ",");
        else
            yarn_text_add_sized(ret_text, text + copied, spec->asked_at - copied);
        yarn_event_spec_encode(spec, ret_text);
        copied = spec->asked_end;
    }
    yarn_text_add(ret_text, text + copied);
}

static bool is_encoding(const struct yarn_event_spec *spec)
{
    return strlen(spec->asked) != spec->asked_end - spec->asked_at;
}

/* Two of the events that a pattern became. */
static bool continues(const struct yarn_event_spec *spec, const struct yarn_event_spec *before)
{
    return is_encoding(spec) && is_encoding(before) && spec->asked_at == before->asked_end + 1 &&
           strcmp(spec->asked, before->asked) == 0;
}

void yarn_event_list_decode(const struct yarn_event_list *list, const char *text,
                            struct yarn_text *ret_text)
{
    size_t copied = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct yarn_event_spec *spec = &list->specs[i];
        if (spec->asked_at >= copied && !(i && continues(spec, spec - 1))) {
            yarn_text_add_sized(ret_text, text + copied, spec->asked_at - copied);
            yarn_text_add(ret_text, spec->asked);
        }
        copied = spec->asked_end;
    }
    yarn_text_add(ret_text, text + copied);
}
