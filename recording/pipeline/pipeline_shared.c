/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/pipeline/pipeline_shared.h"

#include "output/dump/writer.h"
#include "recording/pipeline/switch_runs.h"

enum { NAMES_MAX = 256 << 10, FIRST_KEYS = 1024 };
#define TEXTS_BYTES YARN_MIB(32)

struct yarn_known_name {
    uint64_t image;
    struct yarn_symbol_question question; /* and its answer */
};

int yarn_known_names_open(struct yarn_known_names *names)
{
    yarn_arena_open(&names->names, NAMES_MAX * sizeof(struct yarn_known_name));
    yarn_arena_open(&names->texts, TEXTS_BYTES);
    return yarn_table_open(&names->by_place, FIRST_KEYS, 2 * NAMES_MAX);
}

void yarn_known_names_close(struct yarn_known_names *names)
{
    yarn_table_close(&names->by_place);
    yarn_arena_close(&names->names);
    yarn_arena_close(&names->texts);
}

/* All of a function's addresses are one place where its code has bounds. */
static uint64_t key_of(const struct yarn_image *image, const struct yarn_symbol_question *question)
{
    uint64_t place = question->end > question->start ? question->start : question->vaddr;
    return yarn_hash_u64(place ^ yarn_hash_u64(image->id));
}

static const struct yarn_known_name *find(const struct yarn_known_names *names, uint64_t key)
{
    uint32_t place = yarn_table_find(&names->by_place, key);
    const struct yarn_known_name *all = (const void *)names->names.base;
    return place == YARN_TABLE_NONE ? NULL : &all[place];
}

static bool is_same_code(const struct yarn_symbol_question *a, const struct yarn_symbol_question *b)
{
    bool has_bounds = a->end > a->start;
    return has_bounds ? a->start == b->start && a->end == b->end : a->vaddr == b->vaddr;
}

void yarn_known_names_answer(const struct yarn_known_names *names, const struct yarn_image *image,
                             struct yarn_symbol_question *question)
{
    const struct yarn_known_name *known = find(names, key_of(image, question));
    if (!known || known->image != image->id || !is_same_code(question, &known->question))
        return;
    const struct yarn_symbol *answer = &known->question.answer;
    if (question->vaddr != known->question.vaddr &&
        (question->vaddr < answer->from || question->vaddr >= answer->to))
        return;
    question->answer = *answer;
    question->is_answered = true;
}

static void clear(struct yarn_known_names *names)
{
    yarn_arena_rewind(&names->names, 0);
    yarn_arena_rewind(&names->texts, 0);
    yarn_table_clear(&names->by_place);
}

void yarn_known_names_keep(struct yarn_known_names *names, const struct yarn_image *image,
                           const struct yarn_symbol_question *question)
{
    uint64_t key = key_of(image, question);
    const struct yarn_span *name = &question->answer.name;
    if (!question->is_answered || find(names, key))
        return;
    size_t place = names->names.used / sizeof(struct yarn_known_name);
    const char *text = yarn_arena_text(&names->texts, (const char *)name->data, name->size);
    struct yarn_known_name *known = YARN_ARENA_NEW(&names->names, struct yarn_known_name, 1);
    if (!text || !known || yarn_table_put(&names->by_place, key, (uint32_t)place)) {
        clear(names);
        return;
    }
    *known = (struct yarn_known_name){.image = image->id, .question = *question};
    known->question.answer.name = yarn_span_of(text, name->size);
}

int yarn_pipeline_shared_open(struct yarn_pipeline_shared *shared)
{
    int err = yarn_symbols_new(&shared->symbols);
    if (!err)
        yarn_symbols_keep_tables(shared->symbols);
    if (!err)
        err = yarn_known_names_open(&shared->names);
    if (!err)
        err = yarn_image_cache_open(&shared->images);
    yarn_machine_facts_take(&shared->machine);
    if (err)
        yarn_pipeline_shared_close(shared);
    return err;
}

void yarn_pipeline_shared_close(struct yarn_pipeline_shared *shared)
{
    void *spare;
    yarn_symbols_free(shared->symbols);
    shared->symbols = NULL;
    yarn_known_names_close(&shared->names);
    yarn_image_cache_close(&shared->images);
    while ((spare = yarn_spares_take(&shared->writers)))
        yarn_dump_writer_free(spare);
    while ((spare = yarn_spares_take(&shared->runs)))
        yarn_switch_runs_free(spare);
}
