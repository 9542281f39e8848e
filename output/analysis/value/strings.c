/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/value/strings.h"

#include <stdlib.h>

#include "output/base/array.h"
#include "output/text/legible.h"

int yarn_strings_init(struct yarn_strings *strings)
{
    *strings = (struct yarn_strings){
        .index = YARN_TABLE_CLOSED,
    };
    int err = yarn_table_open(&strings->index, 1024, (size_t)1 << 31);
    if (err)
        return err;
    uint32_t empty;
    err = yarn_strings_intern(strings, yarn_span_of_text(""), &empty);
    if (err)
        yarn_strings_fini(strings);
    return err;
}

void yarn_strings_fini(struct yarn_strings *strings)
{
    yarn_texts_close(&strings->kept);
    free(strings->texts);
    yarn_table_close(&strings->index);
    *strings = (struct yarn_strings){.index = YARN_TABLE_CLOSED};
}

char *yarn_strings_keep(struct yarn_strings *strings, struct yarn_span bytes)
{
    return yarn_texts_keep(&strings->kept, bytes);
}

static bool is_text(const char *have, struct yarn_span want)
{
    return strlen(have) == want.size && (!want.size || memcmp(have, want.data, want.size) == 0);
}

static int intern_legible(struct yarn_strings *strings, struct yarn_span text, uint32_t *ret_number)
{
    uint64_t key = yarn_span_hash(text, 0);
    uint32_t found;
    /* Why a loop: two texts may have one hash; the next key is as good as any. */
    while ((found = yarn_table_find(&strings->index, key)) != YARN_TABLE_NONE) {
        if (is_text(strings->texts[found], text)) {
            *ret_number = found;
            return 0;
        }
        key++;
    }

    if (YARN_ARRAY_RESERVE(&strings->texts, &strings->capacity, strings->count + 1))
        return -ENOMEM;
    char *kept = yarn_strings_keep(strings, text);
    if (!kept)
        return -ENOMEM;
    int err = yarn_table_put(&strings->index, key, (uint32_t)strings->count);
    if (err)
        return err;
    strings->texts[strings->count] = kept;
    *ret_number = (uint32_t)strings->count++;
    return 0;
}

int yarn_strings_intern(struct yarn_strings *strings, struct yarn_span text, uint32_t *ret_number)
{
    char *owned;
    const uint8_t *nul = text.size ? memchr(text.data, 0, text.size) : NULL;
    if (nul)
        text.size = (size_t)(nul - text.data);
    struct yarn_span legible = yarn_legible_span(text, &owned);
    int err = text.size && !legible.size ? -ENOMEM : 0;
    if (!err)
        err = intern_legible(strings, legible, ret_number);
    free(owned);
    return err;
}

int yarn_strings_legible(struct yarn_strings *strings, struct yarn_span text,
                         struct yarn_span *ret_text)
{
    uint32_t number;
    int err = yarn_strings_intern(strings, text, &number);
    if (!err)
        *ret_text = yarn_span_of_text(strings->texts[number]);
    return err;
}
