/* SPDX-License-Identifier: Apache-2.0 */
#include <linux/perf_event.h>

#include "core/base/text.h"
#include "core/event/parse_form.h"

/* The words without :MODIFIERS behind them, which the tail reads. */
static struct yarn_span without_modifiers(struct yarn_span words)
{
    size_t colon = words.size;
    while (colon && words.data[colon - 1] != ':')
        colon--;
    bool has = colon > 1 && yarn_event_is_modifiers(yarn_span_from(words, colon));
    return has ? yarn_span_sub(words, 0, colon - 1) : words;
}

/* In words that the preload can read, too: it is handed on to it. */
static void write_event(const struct yarn_event_encoding *encoding, struct yarn_text *text)
{
    bool is_raw = !encoding->config1 && !encoding->config2;
    yarn_text_add(text, is_raw ? "r" : "cpu/config=0x");
    yarn_text_add_hex(text, encoding->config);
    if (is_raw)
        return;
    yarn_text_add(text, ",config1=0x");
    yarn_text_add_hex(text, encoding->config1);
    yarn_text_add(text, ",config2=0x");
    yarn_text_add_hex(text, encoding->config2);
    yarn_text_add(text, "/");
}

int yarn_event_parse_encoded(struct yarn_event_reader *reader)
{
    struct yarn_span whole = yarn_event_reader_until(reader, ",/} ");
    struct yarn_span words = without_modifiers(whole);
    struct yarn_event_encoding encoding = {0};
    if (!reader->machine->encode || !words.size)
        return -ENOENT;
    int err = reader->machine->encode(words, &encoding);
    if (err == -ENOENT && words.size < whole.size)
        err = reader->machine->encode(words = whole, &encoding);
    if (err)
        return err;
    char buffer[96];
    struct yarn_text text = yarn_text_of(buffer, sizeof buffer);
    write_event(&encoding, &text);
    struct yarn_event_spec spec = {
        .event = yarn_arena_text(reader->arena, text.data, text.size),
        .unit = "events",
        .scale = 1,
        .kind = buffer[0] == 'r' ? YARN_EVENT_RAW : YARN_EVENT_PMU,
        .type = PERF_TYPE_RAW,
        .config = encoding.config,
        .config1 = encoding.config1,
        .config2 = encoding.config2,
        .has_own_name = true,
        .is_encoded = true,
    };
    struct yarn_text name = yarn_text_of(spec.name, sizeof spec.name);
    yarn_text_add_sized(&name, (const char *)words.data, words.size);
    if (!spec.event)
        return -ENOMEM;
    err = yarn_event_reader_add(reader, &spec);
    if (!err)
        reader->at += words.size;
    return err;
}
