/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/options/misspelt.h"

#include "core/config/options.h"
#include "core/event/nearest.h"
#include "output/yarnprof/io/status.h"

enum { REPORTED_MAX = 8, NAME_MAX = 80 };

static const char prefix[] = "YARN_", rest[] = " is not a variable that yarn knows";

bool yarn_misspelt_is(struct yarn_span sentence)
{
    size_t size = sizeof rest - 1;
    return sentence.size > size && memcmp(sentence.data + sentence.size - size, rest, size) == 0;
}

void yarn_misspelt_describe(struct yarn_span sentence, struct yarn_text *text)
{
    char bytes[NAME_MAX];
    size_t before = sizeof prefix - 1, size = sentence.size - (sizeof rest - 1);
    size_t after = yarn_size_min(before, size);
    struct yarn_nearest nearest =
        yarn_nearest_of(yarn_span_sub(sentence, after, size - after)); /* what differs */
    for (size_t i = 0; i < YARN_OPTION_COUNT; i++) {
        struct yarn_text name = yarn_text_of(bytes, sizeof bytes);
        yarn_option_variable((enum yarn_option)i, &name);
        yarn_nearest_offer(&nearest, bytes + before);
    }
    yarn_text_add_sized(text, (const char *)sentence.data, sentence.size);
    if (nearest.name[0])
        yarn_text_add_format(text, "; %s%s?", prefix, nearest.name);
}

void yarn_misspelt_tell(const char *verb, struct yarn_span sentence)
{
    char line[4 * NAME_MAX];
    struct yarn_text text = yarn_text_of(line, sizeof line);
    yarn_misspelt_describe(sentence, &text);
    yarn_complain(verb, "%s", line);
}

static bool is_known(const struct yarn_span reported[], size_t count, struct yarn_span sentence)
{
    for (size_t i = 0; i < count; i++)
        if (yarn_span_equal(reported[i], sentence))
            return true;
    return false;
}

void yarn_misspelt_report(const char *verb, const struct yarn_profile *profile)
{
    struct yarn_span reported[REPORTED_MAX];
    size_t count = 0;
    for (size_t i = 0; i < profile->nr_dumps; i++) {
        const struct yarn_profile_dump *dump = &profile->dumps[i];
        for (size_t k = 0; k < dump->nr_messages && count < REPORTED_MAX; k++) {
            struct yarn_span sentence = dump->messages[k].text;
            if (!yarn_misspelt_is(sentence) || is_known(reported, count, sentence))
                continue;
            yarn_misspelt_tell(verb, sentence);
            reported[count++] = sentence;
        }
    }
}
