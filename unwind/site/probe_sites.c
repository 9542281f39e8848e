/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/site/probe_sites.h"

#include "core/base/text.h"
#include "unwind/site/site_work.h"

enum { SENTENCE_BYTES = 1024 };

void yarn_site_refuse(struct yarn_site_work *work, struct yarn_event_spec *spec, int error,
                      const char *sentence, const char *detail)
{
    char buffer[SENTENCE_BYTES];
    struct yarn_text text = yarn_text_of(buffer, sizeof buffer);
    yarn_text_add(&text, sentence);
    if (detail) {
        yarn_text_add(&text, ": ");
        yarn_text_add(&text, detail);
    }
    spec->refusal = yarn_arena_text(work->arena, buffer, text.size);
    if (!spec->refusal)
        spec->refusal = "there is no room for the reason";
    spec->refusal_error = error;
}

static bool is_mapped_name(const struct yarn_event_spec *spec)
{
    return spec->site.path && !strchr(spec->site.path, '/');
}

void yarn_probe_sites_open(struct yarn_probe_sites *sites, struct yarn_event_list *list,
                           struct yarn_arena *arena, const char *root, bool is_of_this)
{
    struct yarn_site_work work = {
        .probe_sites = sites, .list = list, .arena = arena, .is_of_this = is_of_this};
    *sites = (struct yarn_probe_sites){.group.root = root};
    for (size_t i = 0; i < list->count;) {
        struct yarn_event_spec *spec = &list->specs[i];
        size_t nr_here = 1;
        if (spec->kind == YARN_EVENT_PROBE && !spec->config && !spec->refusal &&
            (is_of_this || !is_mapped_name(spec)))
            nr_here = yarn_site_put_probe(&work, i);
        i += nr_here;
    }
    yarn_event_specs_tell_apart(list->specs, list->count);
}

void yarn_probe_sites_close(struct yarn_probe_sites *sites)
{
    if (!sites->is_open)
        return;
    yarn_tracefs_group_close(&sites->group);
    (void)yarn_tracefs_sweep(sites->group.root);
    sites->is_open = false;
}
