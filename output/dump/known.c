/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/known.h"

#include <stdlib.h>

struct yarn_dump_texts {
    struct yarn_dump_texts *before;
    uint8_t bytes[];
};

static const size_t TEXT_BYTES_MAX = (size_t)256 << 20;

static void close_set(struct yarn_dump_set *set)
{
    free(set->words);
    *set = (struct yarn_dump_set){NULL, 0};
}

static void clear_set(struct yarn_dump_set *set)
{
    if (set->words)
        memset(set->words, 0, set->nr_words * sizeof *set->words);
}

static void free_pieces(struct yarn_dump_known *known)
{
    while (known->pieces) {
        struct yarn_dump_texts *before = known->pieces->before;
        free(known->pieces);
        known->pieces = before;
    }
    known->text_bytes = 0;
}

void yarn_dump_known_forget_epoch(struct yarn_dump_known *known)
{
    clear_set(&known->strings);
    clear_set(&known->symbols);
    clear_set(&known->frames);
    clear_set(&known->stacks);
    free_pieces(known);
}

void yarn_dump_known_forget_process(struct yarn_dump_known *known)
{
    clear_set(&known->modules);
    clear_set(&known->events);
    yarn_dump_known_forget_epoch(known);
}

void yarn_dump_known_close(struct yarn_dump_known *known)
{
    close_set(&known->modules);
    close_set(&known->events);
    close_set(&known->strings);
    close_set(&known->symbols);
    close_set(&known->frames);
    close_set(&known->stacks);
    free_pieces(known);
    free(known->texts);
    free(known->symbol_starts);
    *known = (struct yarn_dump_known){0};
}

/* A larger array, or NULL (and the old one as it was). The new part is zeroed. */
static void *grow(void *array, size_t size, size_t *count, size_t needed)
{
    size_t larger = yarn_size_max(needed, yarn_size_max(*count * 2, 256));
    uint8_t *grown = realloc(array, larger * size);
    if (!grown)
        return NULL;
    memset(grown + *count * size, 0, (larger - *count) * size);
    *count = larger;
    return grown;
}

bool yarn_dump_set_add(struct yarn_dump_set *set, uint32_t number)
{
    size_t word = number / 64;
    if (word >= set->nr_words) {
        uint64_t *grown = grow(set->words, sizeof *grown, &set->nr_words, word + 1);
        if (!grown)
            return false;
        set->words = grown;
    }
    set->words[word] |= UINT64_C(1) << (number % 64);
    return true;
}

uint8_t *yarn_dump_known_keep(struct yarn_dump_known *known, size_t size)
{
    if (size > TEXT_BYTES_MAX - known->text_bytes)
        return NULL;
    struct yarn_dump_texts *piece = malloc(sizeof *piece + size);
    if (!piece)
        return NULL;
    piece->before = known->pieces;
    known->pieces = piece;
    known->text_bytes += size;
    return piece->bytes;
}

bool yarn_dump_known_add_text(struct yarn_dump_known *known, uint32_t number, struct yarn_span text)
{
    if (yarn_dump_set_has(&known->strings, number))
        return false;
    if (number >= known->max_texts) {
        struct yarn_span *grown =
            grow(known->texts, sizeof *grown, &known->max_texts, (size_t)number + 1);
        if (!grown)
            return false;
        known->texts = grown;
    }
    known->texts[number] = text;
    return yarn_dump_set_add(&known->strings, number);
}

bool yarn_dump_known_add_symbol(struct yarn_dump_known *known, uint32_t number, uint64_t start)
{
    if (yarn_dump_set_has(&known->symbols, number))
        return false;
    if (number >= known->max_symbols) {
        uint64_t *grown =
            grow(known->symbol_starts, sizeof *grown, &known->max_symbols, (size_t)number + 1);
        if (!grown)
            return false;
        known->symbol_starts = grown;
    }
    known->symbol_starts[number] = start;
    return yarn_dump_set_add(&known->symbols, number);
}

bool yarn_dump_known_text(const struct yarn_dump_known *known, uint64_t reference,
                          struct yarn_span *ret_text)
{
    *ret_text = YARN_SPAN_EMPTY;
    if (!reference)
        return true;
    if (!yarn_dump_set_has(&known->strings, reference - 1))
        return false;
    *ret_text = known->texts[reference - 1];
    return true;
}
