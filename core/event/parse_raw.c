/* SPDX-License-Identifier: Apache-2.0 */
#include <linux/perf_event.h>

#include "core/event/parse_form.h"

static const size_t digits_max = 16; /* of a 64-bit configuration */

static bool is_hex(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static uint64_t digit_of(uint8_t c)
{
    return (uint64_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
}

int yarn_event_raw_config(struct yarn_span word, uint64_t *ret_config)
{
    uint64_t config = 0;
    if (word.size < 2 || word.data[0] != 'r')
        return -ENOENT;
    for (size_t i = 1; i < word.size; i++) {
        if (!is_hex(word.data[i]))
            return -ENOENT;
        config = config << 4 | digit_of(word.data[i]);
    }
    if (word.size > 1 + digits_max)
        return -ERANGE;
    *ret_config = config;
    return 0;
}

int yarn_event_parse_raw(struct yarn_event_reader *reader)
{
    struct yarn_span word = yarn_event_reader_word(reader);
    struct yarn_event_spec spec = {
        .unit = "events", .scale = 1, .kind = YARN_EVENT_RAW, .type = PERF_TYPE_RAW};
    int err = yarn_event_raw_config(word, &spec.config);
    if (err == -ERANGE)
        return yarn_event_reader_fail(reader, reader->at, word.size,
                                      "a raw event of more than 16 digits");
    if (err)
        return err;
    spec.event = yarn_arena_text(reader->arena, (const char *)word.data, word.size);
    if (!spec.event)
        return -ENOMEM;
    err = yarn_event_reader_add_generic(reader, &spec);
    if (!err)
        reader->at += word.size;
    return err;
}
