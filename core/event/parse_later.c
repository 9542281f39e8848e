/* SPDX-License-Identifier: Apache-2.0 */
#include "core/event/parse_form.h"

/* Forms of perf's syntax that are known by their first bytes. */
static const struct {
    const char *prefix;
    const char *why;
} prefixes[] = {
    {"mem:", "breakpoints are not supported by this version"},
    {"uprobe:", "probes are not supported by this version"},
    {"uretprobe:", "probes are not supported by this version"},
    {"kprobe:", "probes are not supported by this version"},
    {"kretprobe:", "probes are not supported by this version"},
};

/* Whether what follows the word can only be the second half of SYSTEM:TRACEPOINT. */
static bool is_tracepoint(const struct yarn_event_reader *reader, struct yarn_span word)
{
    struct yarn_event_reader behind = *reader;
    behind.at += word.size + 1;
    struct yarn_span second = yarn_event_reader_word(&behind);
    if (!word.size || yarn_event_reader_peek(reader, word.size) != ':')
        return false;
    for (size_t i = 0; i < second.size; i++)
        if (!strchr("ukhp", second.data[i]))
            return true;
    return false;
}

int yarn_event_parse_later(struct yarn_event_reader *reader)
{
    struct yarn_span rest = yarn_span_from(reader->text, reader->at);
    struct yarn_span item = yarn_event_reader_until(reader, ",}");
    struct yarn_span word = yarn_event_reader_word(reader);
    for (size_t i = 0; i < YARN_COUNT_OF(prefixes); i++) {
        struct yarn_span front = yarn_span_sub(rest, 0, strlen(prefixes[i].prefix));
        if (front.size && yarn_span_equal(front, yarn_span_of_text(prefixes[i].prefix)))
            return yarn_event_reader_fail(reader, reader->at, item.size, prefixes[i].why);
    }
    if (is_tracepoint(reader, word))
        return yarn_event_reader_fail(reader, reader->at, item.size,
                                      "tracepoints are not supported by this version");
    if (word.size && yarn_event_reader_peek(reader, word.size) == '/')
        return yarn_event_reader_fail(
            reader, reader->at, word.size,
            "not a known event, and a PMU's own events are not supported by this version");
    return yarn_event_reader_fail(reader, reader->at, word.size ? word.size : item.size,
                                  "not a known event");
}
