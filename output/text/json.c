/* SPDX-License-Identifier: Apache-2.0 */
#include "output/text/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <yajl/yajl_gen.h>

#include "output/text/legible.h"

struct yarn_json {
    yajl_gen gen;
    FILE *file;
    char *clean; /* owned: room for a text with its bad bytes replaced */
    size_t clean_size;
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
    free(json->clean);
    free(json);
}

static bool is_utf8(const char *text, size_t size)
{
    for (size_t at = 0; at < size;) {
        uint32_t character;
        unsigned step = (unsigned char)text[at] < 0x80 ? 1 : yarn_utf8_size(text + at, &character);
        if (!step)
            return false;
        at += step;
    }
    return true;
}

/* `text` ends with a NUL, so that a cut character cannot lead behind it. */
static size_t clean(struct yarn_json *json, const char *text, size_t size)
{
    static const char replacement[] = "\xef\xbf\xbd";
    if (json->clean_size < 3 * size) {
        char *bigger = realloc(json->clean, 3 * size);
        if (!bigger)
            return 0;
        json->clean = bigger;
        json->clean_size = 3 * size;
    }
    char *to = json->clean;
    for (size_t at = 0; at < size;) {
        uint32_t character;
        unsigned step = yarn_utf8_size(text + at, &character);
        memcpy(to, step ? text + at : replacement, step ? step : 3);
        to += step ? step : 3;
        at += step ? step : 1;
    }
    return (size_t)(to - json->clean);
}

static void put_text(struct yarn_json *json, const char *text)
{
    size_t size = strlen(text);
    if (!is_utf8(text, size)) {
        size = clean(json, text, size);
        text = size ? json->clean : "";
    }
    (void)yajl_gen_string(json->gen, (const unsigned char *)text, size);
}

static void put_key(struct yarn_json *json, const char *key)
{
    if (key)
        (void)yajl_gen_string(json->gen, (const unsigned char *)key, strlen(key));
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
    char *copy = strndup(text.size ? (const char *)text.data : "", text.size);
    yarn_json_text(json, key, copy ? copy : "");
    free(copy);
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
