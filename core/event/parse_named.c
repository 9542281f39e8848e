/* SPDX-License-Identifier: Apache-2.0 */
#include "core/event/catalog.h"
#include "core/event/parse_form.h"

static bool is_literal(const struct yarn_catalog_entry *entry, struct yarn_span word)
{
    return yarn_span_equal(word, yarn_span_of_text(entry->name)) ||
           (entry->alias && yarn_span_equal(word, yarn_span_of_text(entry->alias)));
}

int yarn_event_parse_named(struct yarn_event_reader *reader)
{
    struct yarn_span word = yarn_event_reader_word(reader);
    bool is_auto = yarn_event_word_is(word, "auto");
    const struct yarn_catalog_entry *entry =
        yarn_catalog_find(is_auto ? yarn_span_of_text("cycles") : word);
    if (!entry)
        return -ENOENT;
    /* Why first: ARM's PMUs have an event of their own that is called cpu_cycles. */
    if (!is_auto && !is_literal(entry, word)) {
        int err = yarn_event_parse_literal_alias(reader);
        if (err != -ENOENT)
            return err;
    }
    struct yarn_event_spec spec = yarn_catalog_spec(entry);
    spec.is_auto = is_auto;
    int err = yarn_event_reader_add_generic(reader, &spec);
    if (!err)
        reader->at += word.size;
    return err;
}
