/* SPDX-License-Identifier: Apache-2.0 */
#include "core/event/status.h"

static const struct {
    enum yarn_event_status_bit bit;
    const char *word;
} words[] = {
    {YARN_EVENT_REFUSED, "refused"},
    {YARN_EVENT_MERGED, "merged with another"},
    {YARN_EVENT_USER_ONLY, "user's part alone"},
    {YARN_EVENT_MULTIPLEXED, "multiplexed"},
    {YARN_EVENT_CHILDREN_MISSING, "children missing"},
};

const char *yarn_event_status_word(uint32_t status)
{
    for (size_t i = 0; i < YARN_COUNT_OF(words); i++)
        if (status & words[i].bit)
            return words[i].word;
    return "as asked";
}

void yarn_event_status_describe(uint32_t status, struct yarn_text *text)
{
    for (size_t i = 0; i < YARN_COUNT_OF(words); i++) {
        if (!(status & words[i].bit))
            continue;
        yarn_text_add(text, text->size ? ", " : "");
        yarn_text_add(text, words[i].word);
    }
    if (!text->size)
        yarn_text_add(text, yarn_event_status_word(0));
}

const char *yarn_event_status_user_only(void)
{
    return "the user's part alone: the kernel's is not permitted";
}
