/* SPDX-License-Identifier: Apache-2.0 */
#include "output/export/page/page.h"

#include "output/export/page/about.h"
#include "output/export/page/assets.h"
#include "output/export/page/graph_build.h"
#include "output/export/page/html.h"
#include "output/export/page/numbers.h"
#include "output/export/page/packed.h"
#include "output/export/page/places.h"
#include "output/export/page/states.h"

struct writing {
    const struct yarn_page *page;
    struct yarn_page_graph graph;
    struct yarn_page_order order;
    struct yarn_page_entries entries; /* where the graph has `sched` */
    FILE *file;
    int err;
};

static void put_asset(const struct writing *writing, const struct yarn_page_asset *asset)
{
    (void)fwrite(asset->bytes, 1, asset->size, writing->file);
}

static void put_style(struct writing *writing)
{
    put_asset(writing, &yarn_page_style);
}

static void put_script(struct writing *writing)
{
    put_asset(writing, &yarn_page_script);
}

static void put_title(struct writing *writing)
{
    if (writing->page->title)
        yarn_html_text(writing->file, writing->page->title);
    else
        yarn_page_about_command(writing->graph.sides[1].profile, writing->file);
}

static void put_recording(struct writing *writing)
{
    yarn_page_about_recording(&writing->graph, writing->file);
}

static void put_missing(struct writing *writing)
{
    yarn_page_about_missing(&writing->graph, writing->file);
}

static void put_events(struct writing *writing)
{
    yarn_page_about_events(&writing->graph, writing->file);
}

static void put_threads(struct writing *writing)
{
    yarn_page_about_threads(&writing->graph, writing->file);
}

static void put_images(struct writing *writing)
{
    yarn_page_about_images(&writing->graph, writing->file);
}

static void put_modules(struct writing *writing)
{
    yarn_page_about_modules(&writing->order, writing->file);
}

static void put_functions(struct writing *writing)
{
    yarn_page_about_functions(&writing->graph, &writing->order, writing->file);
}

static void put_numbers(struct writing *writing)
{
    yarn_page_numbers_write(&writing->graph, &writing->order, writing->file);
}

static void put_list(struct writing *writing, const char *id,
                     void (*put)(const struct yarn_page_entries *entries, FILE *file))
{
    (void)fprintf(writing->file, "<ul id=%s hidden>\n", id);
    put(&writing->entries, writing->file);
    (void)fputs("</ul>\n", writing->file);
}

/* Nothing where no lines are known. */
static void put_places(struct writing *writing)
{
    struct yarn_packed packed = {.file = writing->file};
    struct yarn_page_places places;
    writing->err = yarn_page_places_build(&writing->graph, &writing->order, &places);
    if (writing->err || !places.count)
        return;
    (void)fputs("<ul id=files hidden>\n", writing->file);
    yarn_page_places_put_files(&places, writing->file);
    (void)fputs("</ul>\n<script type=\"text/plain\" id=\"lines\">\n", writing->file);
    yarn_page_places_write(&places, &packed);
    yarn_packed_end(&packed);
    (void)fputs("\n</script>\n", writing->file);
    yarn_page_places_fini(&places);
}

/* What threads did when, and single events: nothing where that is not known. */
static void put_sched(struct writing *writing)
{
    struct yarn_packed packed = {.file = writing->file};
    if (!writing->graph.sched)
        return;
    put_list(writing, "streams", yarn_page_entries_put_streams);
    put_list(writing, "kinds", yarn_page_entries_put_kinds);
    put_list(writing, "infos", yarn_page_entries_put_infos);
    (void)fputs("<script type=\"text/plain\" id=\"sched\">\n", writing->file);
    writing->err = yarn_page_states_write(&writing->graph, &packed);
    if (!writing->err)
        writing->err = yarn_page_entries_write(&writing->entries, &packed);
    yarn_packed_end(&packed);
    (void)fputs("\n</script>\n", writing->file);
}

/* No text of JSON can end the element. */
static void put_tables(struct writing *writing)
{
    const char *at = writing->page->tables;
    if (!at)
        return;
    (void)fputs("<script type=\"application/json\" id=\"tables-data\">\n", writing->file);
    for (; *at; at++) {
        if (*at == '<')
            (void)fputs("\\u003c", writing->file);
        else
            (void)fputc(*at, writing->file);
    }
    (void)fputs("</script>\n", writing->file);
}

static const struct slot {
    const char *name;
    void (*put)(struct writing *writing);
} slots[] = {
    {"@style@", put_style},     {"@title@", put_title},     {"@recording@", put_recording},
    {"@missing@", put_missing}, {"@events@", put_events},   {"@threads@", put_threads},
    {"@images@", put_images},   {"@modules@", put_modules}, {"@functions@", put_functions},
    {"@numbers@", put_numbers}, {"@sched@", put_sched},     {"@tables@", put_tables},
    {"@lines@", put_places},    {"@script@", put_script},
};

static const struct slot *slot_of(const unsigned char *line, size_t size)
{
    for (size_t i = 0; i < YARN_COUNT_OF(slots); i++) {
        if (strlen(slots[i].name) == size && memcmp(slots[i].name, line, size) == 0)
            return &slots[i];
    }
    return NULL;
}

static void fill_template(struct writing *writing)
{
    const struct yarn_page_asset *asset = &yarn_page_template;
    for (size_t at = 0; at < asset->size;) {
        const unsigned char *line = asset->bytes + at;
        const unsigned char *end = memchr(line, '\n', asset->size - at);
        size_t size = end ? (size_t)(end - line) : asset->size - at;
        const struct slot *slot = slot_of(line, size);
        if (slot)
            slot->put(writing);
        else
            (void)fwrite(line, 1, size, writing->file);
        (void)fputc('\n', writing->file);
        at += size + 1;
    }
}

int yarn_page_write(const struct yarn_page *page, FILE *file)
{
    struct writing writing = {.page = page, .file = file};
    int err = yarn_page_graph_build(page->sides, &writing.graph);
    if (err)
        return err;
    err = yarn_page_order_build(&writing.graph, &writing.order);
    if (!err) {
        if (writing.graph.sched)
            writing.err = yarn_page_entries_build(&writing.graph, page->streams, page->nr_streams,
                                                  page->nr_unread, &writing.entries);
        if (!writing.err)
            fill_template(&writing);
        if (writing.graph.sched)
            yarn_page_entries_fini(&writing.entries);
        yarn_page_order_fini(&writing.order);
    }
    yarn_page_graph_fini(&writing.graph);
    return err ? err : writing.err;
}
