/* SPDX-License-Identifier: Apache-2.0 */
#include "output/text/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <yajl/yajl_gen.h>

#include "output/text/legible.h"

struct yarn_json {
    yajl_gen gen;
    FILE *file;
};

static void print(void *self, const char *text, size_t size)
{
    (void)fwrite(text, 1, size, self);
}

struct yarn_json *yarn_json_new(FILE *file)
{
    struct yarn_json *json = calloc(1, sizeof *json);
    if (!json)
        return NULL;
    json->file = file;
    json->gen = yajl_gen_alloc(NULL);
    if (!json->gen) {
        free(json);
        return NULL;
    }
    yajl_gen_config(json->gen, yajl_gen_print_callback, print, file);
    return json;
}

void yarn_json_free(struct yarn_json *json)
{
    yajl_gen_free(json->gen);
    (void)fputc('\n', json->file);
    free(json);
}

/* Whatever is written is legible: JSON has escapes for all of it, but yajl leaves most as it is,
 * and somebody will look at it on a terminal. */
static void put_text(struct yarn_json *json, const char *text)
{
    struct yarn_legible legible;
    (void)yarn_legible(&legible, text);
    (void)yajl_gen_string(json->gen, (const unsigned char *)legible.text, strlen(legible.text));
    yarn_legible_fini(&legible);
}

static void put_key(struct yarn_json *json, const char *key)
{
    if (key)
        put_text(json, key);
}

void yarn_json_begin_object(struct yarn_json *json, const char *key)
{
    put_key(json, key);
    (void)yajl_gen_map_open(json->gen);
}

void yarn_json_end_object(struct yarn_json *json)
{
    (void)yajl_gen_map_close(json->gen);
}

void yarn_json_begin_array(struct yarn_json *json, const char *key)
{
    put_key(json, key);
    (void)yajl_gen_array_open(json->gen);
}

void yarn_json_end_array(struct yarn_json *json)
{
    (void)yajl_gen_array_close(json->gen);
}

void yarn_json_text(struct yarn_json *json, const char *key, const char *text)
{
    put_key(json, key);
    put_text(json, text);
}

void yarn_json_span(struct yarn_json *json, const char *key, struct yarn_span text)
{
    char *owned;
    put_key(json, key);
    text = yarn_legible_span(text, &owned);
    (void)yajl_gen_string(json->gen, text.size ? text.data : (const unsigned char *)"", text.size);
    free(owned);
}

void yarn_json_words(struct yarn_json *json, const char *key, struct yarn_span words)
{
    const char *word = (const char *)words.data;
    yarn_json_begin_array(json, key);
    for (size_t at = 0; at < words.size; at += strlen(word + at) + 1)
        yarn_json_text(json, NULL, word + at);
    yarn_json_end_array(json);
}

void yarn_json_text_or_null(struct yarn_json *json, const char *key, const char *text)
{
    if (text && text[0])
        yarn_json_text(json, key, text);
    else
        yarn_json_null(json, key);
}

static void put_number(struct yarn_json *json, const char *key, const char *digits)
{
    put_key(json, key);
    (void)yajl_gen_number(json->gen, digits, strlen(digits));
}

void yarn_json_u64(struct yarn_json *json, const char *key, uint64_t value)
{
    char digits[24];
    (void)snprintf(digits, sizeof digits, "%" PRIu64, value);
    put_number(json, key, digits);
}

void yarn_json_u64_if(struct yarn_json *json, const char *key, bool is_known, uint64_t value)
{
    if (is_known)
        yarn_json_u64(json, key, value);
    else
        yarn_json_null(json, key);
}

void yarn_json_i64(struct yarn_json *json, const char *key, int64_t value)
{
    char digits[24];
    (void)snprintf(digits, sizeof digits, "%" PRId64, value);
    put_number(json, key, digits);
}

void yarn_json_real(struct yarn_json *json, const char *key, double value)
{
    char digits[352];
    (void)snprintf(digits, sizeof digits, "%.6f", value);
    put_number(json, key, digits);
}

void yarn_json_factor(struct yarn_json *json, const char *key, double value)
{
    char digits[64];
    (void)snprintf(digits, sizeof digits, "%.17g", value);
    put_number(json, key, digits);
}

void yarn_json_bool(struct yarn_json *json, const char *key, bool value)
{
    put_key(json, key);
    (void)yajl_gen_bool(json->gen, value);
}

void yarn_json_null(struct yarn_json *json, const char *key)
{
    put_key(json, key);
    (void)yajl_gen_null(json->gen);
}
