/* SPDX-License-Identifier: Apache-2.0 */
#include "output/export/trace_pages.h"

#include <stdlib.h>

/* An event's head is 5 bits of a kind and 27 of a time. Kinds up to LENGTH_MAX are its length in
 * words; 0 says that the length, with that of its own word, stands behind the head. */
enum { WORD = 4, KIND_BITS = 5, TIME_BITS = 27, LENGTH_MAX = 28, KIND_EXTEND = 30 };

int yarn_trace_pages_init(struct yarn_trace_pages *pages, size_t nr_cores)
{
    *pages = (struct yarn_trace_pages){.nr_cores = nr_cores};
    pages->cores = calloc(nr_cores + 1, sizeof *pages->cores);
    return pages->cores ? 0 : -ENOMEM;
}

void yarn_trace_pages_fini(struct yarn_trace_pages *pages)
{
    for (size_t i = 0; pages->cores && i < pages->nr_cores; i++)
        free(pages->cores[i].page);
    free(pages->cores);
    *pages = (struct yarn_trace_pages){0};
}

static void put_word(struct yarn_trace_core *core, uint32_t word)
{
    memcpy(core->page + YARN_TRACE_PAGE - YARN_TRACE_PAGE_DATA + core->used, &word, sizeof word);
    core->used += sizeof word;
}

static void put_head(struct yarn_trace_core *core, uint32_t kind, uint64_t since_ns)
{
    put_word(core, kind | (uint32_t)(since_ns << KIND_BITS));
}

static int end_page(const struct yarn_trace_pages *pages, struct yarn_trace_core *core)
{
    if (!core->used)
        return 0;
    uint64_t commit = core->used, at = core->at + core->nr_pages++ * YARN_TRACE_PAGE;
    memcpy(core->page + 8, &commit, sizeof commit);
    core->used = 0;
    if (!pages->file)
        return 0;
    if (fseeko(pages->file, (off_t)at, SEEK_SET))
        return -errno;
    return fwrite(core->page, YARN_TRACE_PAGE, 1, pages->file) == 1 ? 0 : -EIO;
}

static int begin_page(struct yarn_trace_core *core, uint64_t time_ns)
{
    if (!core->page)
        core->page = malloc(YARN_TRACE_PAGE);
    if (!core->page)
        return -ENOMEM;
    memset(core->page, 0, YARN_TRACE_PAGE);
    memcpy(core->page, &time_ns, sizeof time_ns);
    core->last_ns = time_ns;
    return 0;
}

static size_t words_of(struct yarn_span event)
{
    return (event.size + WORD - 1) / WORD;
}

static void put_event(struct yarn_trace_core *core, uint64_t since_ns, struct yarn_span event)
{
    uint32_t words = (uint32_t)words_of(event);
    bool is_long = words > LENGTH_MAX || !words;
    if (since_ns >> TIME_BITS) {
        put_head(core, KIND_EXTEND, since_ns & ((UINT64_C(1) << TIME_BITS) - 1));
        put_word(core, (uint32_t)(since_ns >> TIME_BITS));
        since_ns = 0;
    }
    put_head(core, is_long ? 0 : words, since_ns);
    if (is_long)
        put_word(core, (words + 1) * WORD);
    if (event.size)
        memcpy(core->page + YARN_TRACE_PAGE - YARN_TRACE_PAGE_DATA + core->used, event.data,
               event.size);
    core->used += words * WORD;
}

static size_t bytes_of(uint64_t since_ns, struct yarn_span event)
{
    size_t words = words_of(event);
    size_t heads = words > LENGTH_MAX || !words ? 2 : 1;
    return (words + heads + (since_ns >> TIME_BITS ? 2 : 0)) * WORD;
}

int yarn_trace_pages_put(struct yarn_trace_pages *pages, uint32_t number, uint64_t time_ns,
                         struct yarn_span event)
{
    struct yarn_trace_core *core = &pages->cores[number];
    uint64_t since_ns = core->used && time_ns > core->last_ns ? time_ns - core->last_ns : 0;
    int err = 0;
    if (event.size > YARN_TRACE_EVENT_MAX)
        return -EFBIG;
    /* Why the page for a time that its two words cannot hold: they hold 59 bits. */
    if (core->used + bytes_of(since_ns, event) > YARN_TRACE_PAGE_DATA ||
        since_ns >> (TIME_BITS + 32))
        err = end_page(pages, core);
    if (!err && !core->used) {
        err = begin_page(core, time_ns);
        since_ns = 0;
    }
    if (err)
        return err;
    put_event(core, since_ns, event);
    core->last_ns += since_ns;
    return 0;
}

int yarn_trace_pages_end(struct yarn_trace_pages *pages)
{
    int err = 0;
    for (size_t i = 0; !err && i < pages->nr_cores; i++)
        err = end_page(pages, &pages->cores[i]);
    return err;
}

void yarn_trace_pages_restart(struct yarn_trace_pages *pages, FILE *file)
{
    pages->file = file;
    for (size_t i = 0; i < pages->nr_cores; i++)
        pages->cores[i].nr_pages = pages->cores[i].used = 0;
}
