/* SPDX-License-Identifier: Apache-2.0 */
#include "core/event/catalog.h"
#include "core/event/parse_form.h"

int yarn_event_parse_named(struct yarn_event_reader *reader)
{
    struct yarn_span word = yarn_event_reader_word(reader);
    bool is_auto = yarn_catalog_is_same(word, "auto");
    const struct yarn_catalog_entry *entry =
        yarn_catalog_find(is_auto ? yarn_span_of_text("cycles") : word);
    if (!entry)
        return -ENOENT;
    struct yarn_event_spec spec = yarn_catalog_spec(entry);
    spec.is_auto = is_auto;
    int err = yarn_event_reader_add_generic(reader, &spec);
    if (!err)
        reader->at += word.size;
    return err;
}
