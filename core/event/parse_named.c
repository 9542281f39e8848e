/* SPDX-License-Identifier: Apache-2.0 */
#include "core/event/catalog.h"
#include "core/event/parse.h"
#include "core/event/parse_form.h"

static bool is_literal(const struct yarn_catalog_entry *entry, struct yarn_span word)
{
    return yarn_span_equal(word, yarn_span_of_text(entry->name)) ||
           (entry->alias && yarn_span_equal(word, yarn_span_of_text(entry->alias)));
}

/* It is no counter, and a thread has one wait at a time. */
static int check_off_cpu(struct yarn_event_reader *reader, struct yarn_span word)
{
    if (reader->is_in_group)
        return yarn_event_reader_fail(reader, reader->at, word.size,
                                      "off-cpu is no counter, so it stands outside of groups");
    for (size_t i = 0; i < reader->list->count; i++)
        if (reader->list->specs[i].kind == YARN_EVENT_OFF_CPU)
            return yarn_event_reader_fail(reader, reader->at, word.size, "off-cpu, once more");
    return 0;
}

int yarn_event_parse_named(struct yarn_event_reader *reader)
{
    struct yarn_span word = yarn_event_reader_word(reader);
    bool is_auto = yarn_event_word_is(word, "auto");
    const struct yarn_catalog_entry *entry =
        yarn_catalog_find(is_auto ? yarn_span_of_text("cycles") : word);
    if (!entry)
        return -ENOENT;
    if (entry->kind == YARN_EVENT_OFF_CPU) {
        int err = check_off_cpu(reader, word);
        if (err)
            return err;
    }
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
