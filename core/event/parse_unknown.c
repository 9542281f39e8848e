/* SPDX-License-Identifier: Apache-2.0 */
#include "core/event/catalog.h"
#include "core/event/nearest.h"
#include "core/event/parse_form.h"

struct offers {
    struct yarn_event_reader *reader;
    struct yarn_nearest nearest;
    bool is_before_slash; /* a PMU may be meant */
};

static bool offer_event(void *self, const char *name)
{
    struct offers *offers = self;
    yarn_nearest_offer(&offers->nearest, name);
    return true;
}

static bool offer_pmu(void *self, const char *name)
{
    struct offers *offers = self;
    struct yarn_pmu pmu;
    if (offers->is_before_slash)
        yarn_nearest_offer(&offers->nearest, name);
    if (!yarn_pmu_find(offers->reader->machine, yarn_span_of_text(name), offers->reader->arena,
                       &pmu))
        yarn_pmu_list_events(&pmu, offer_event, offers);
    return true;
}

static void offer_catalog(struct yarn_nearest *nearest)
{
    const struct yarn_catalog_entry *entry;
    yarn_nearest_offer(nearest, "auto");
    for (size_t i = 0; (entry = yarn_catalog_at(i)); i++) {
        yarn_nearest_offer(nearest, entry->name);
        if (entry->alias)
            yarn_nearest_offer(nearest, entry->alias);
    }
    yarn_event_offer_caches(nearest);
}

int yarn_event_parse_unknown(struct yarn_event_reader *reader)
{
    struct yarn_span word = yarn_event_reader_word(reader);
    struct offers offers = {reader, yarn_nearest_of(word),
                            yarn_event_reader_peek(reader, word.size) == '/'};
    struct yarn_text why = yarn_event_reader_sentence(reader);
    if (word.size) {
        offer_catalog(&offers.nearest);
        yarn_pmu_list(reader->machine, offer_pmu, &offers);
    }
    yarn_text_add(&why, offers.is_before_slash ? "not a known event, and no PMU of this machine"
                                               : "not a known event");
    yarn_nearest_ask(&offers.nearest, &why);
    return yarn_event_reader_fail(
        reader, reader->at, word.size ? word.size : yarn_event_reader_until(reader, ",}").size,
        why.data);
}
