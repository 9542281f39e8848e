/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/push/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "output/text/json.h"

/* NUL behind it; NULL: no memory. */
static char *base64_of(struct yarn_span bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *text = malloc(4 * ((bytes.size + 2) / 3) + 1), *to = text;
    for (size_t at = 0; text && at < bytes.size; at += 3) {
        size_t count = yarn_size_min(3, bytes.size - at);
        uint32_t word = (uint32_t)bytes.data[at] << 16;
        word |= count > 1 ? (uint32_t)bytes.data[at + 1] << 8 : 0;
        word |= count > 2 ? bytes.data[at + 2] : 0;
        *to++ = digits[word >> 18];
        *to++ = digits[word >> 12 & 63];
        *to++ = count > 1 ? digits[word >> 6 & 63] : '=';
        *to++ = count > 2 ? digits[word & 63] : '=';
    }
    if (text)
        *to = 0;
    return text;
}

static void put_labels(struct yarn_json *json, const struct yarn_push_label *labels,
                       size_t nr_labels)
{
    yarn_json_begin_array(json, "labels");
    for (size_t i = 0; i < nr_labels; i++) {
        yarn_json_begin_object(json, NULL);
        yarn_json_text(json, "name", labels[i].name);
        yarn_json_text(json, "value", labels[i].value);
        yarn_json_end_object(json);
    }
    yarn_json_end_array(json);
}

/* A random one, as RFC 4122 has it. */
static void put_id(struct yarn_json *json)
{
    uint8_t bytes[16] = {0};
    char text[37], *to = text;
    (void)!getrandom(bytes, sizeof bytes, GRND_NONBLOCK);
    bytes[6] = (uint8_t)((bytes[6] & 0x0f) | 0x40);
    bytes[8] = (uint8_t)((bytes[8] & 0x3f) | 0x80);
    for (size_t i = 0; i < sizeof bytes; i++)
        to += snprintf(to, 4, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", bytes[i]);
    yarn_json_text(json, "ID", text);
}

static void put_body(struct yarn_json *json, bool is_parca, const char *profile,
                     const struct yarn_push_label *labels, size_t nr_labels)
{
    yarn_json_begin_object(json, NULL);
    yarn_json_begin_array(json, "series");
    yarn_json_begin_object(json, NULL);
    if (is_parca)
        yarn_json_begin_object(json, "labels");
    put_labels(json, labels, nr_labels);
    if (is_parca)
        yarn_json_end_object(json);
    yarn_json_begin_array(json, "samples");
    yarn_json_begin_object(json, NULL);
    if (!is_parca)
        put_id(json);
    yarn_json_text(json, "rawProfile", profile);
    yarn_json_end_object(json);
    yarn_json_end_array(json);
    yarn_json_end_object(json);
    yarn_json_end_array(json);
    yarn_json_end_object(json);
}

static int body_of(bool is_parca, struct yarn_span profile, const struct yarn_push_label *labels,
                   size_t nr_labels, char **ret_body, size_t *ret_size)
{
    char *text = base64_of(profile);
    FILE *file = text ? open_memstream(ret_body, ret_size) : NULL;
    struct yarn_json *json = file ? yarn_json_new(file) : NULL;
    if (json) {
        put_body(json, is_parca, text, labels, nr_labels);
        yarn_json_free(json);
    }
    free(text);
    return file && fclose(file) == 0 && json ? 0 : -ENOMEM;
}

static int body_of_pyroscope(struct yarn_span profile, const struct yarn_push_label *labels,
                             size_t nr_labels, char **ret_body, size_t *ret_size)
{
    return body_of(false, profile, labels, nr_labels, ret_body, ret_size);
}

static int body_of_parca(struct yarn_span profile, const struct yarn_push_label *labels,
                         size_t nr_labels, char **ret_body, size_t *ret_size)
{
    return body_of(true, profile, labels, nr_labels, ret_body, ret_size);
}

/* The next field of a message: its number, 0 behind the last; a number or a text. */
static uint64_t next_field(struct yarn_cursor *message, uint64_t *ret_number,
                           struct yarn_span *ret_text)
{
    enum { NUMBER = 0, TEXT = 2 };
    uint64_t key = yarn_cursor_left(message) ? yarn_cursor_uleb(message) : 0;
    *ret_text = YARN_SPAN_EMPTY;
    if ((key & 7) == NUMBER)
        *ret_number = key ? yarn_cursor_uleb(message) : 0;
    else if ((key & 7) == TEXT)
        *ret_text = yarn_cursor_span(message, yarn_cursor_uleb(message));
    else
        message->failed = true;
    return message->failed ? 0 : key >> 3;
}

/* An ExportProfilesServiceResponse with a partial_success. */
static bool rejects_otlp(struct yarn_span answer, struct yarn_text *ret_why)
{
    enum { PARTIAL_SUCCESS = 1, REJECTED_PROFILES = 1, ERROR_MESSAGE = 2 };
    struct yarn_cursor response = yarn_cursor_of(answer);
    uint64_t field, number = 0, rejected = 0;
    struct yarn_span text, why = YARN_SPAN_EMPTY;
    if (next_field(&response, &number, &text) != PARTIAL_SUCCESS)
        return false;
    struct yarn_cursor partial = yarn_cursor_of(text);
    while ((field = next_field(&partial, &number, &text))) {
        rejected = field == REJECTED_PROFILES ? number : rejected;
        why = field == ERROR_MESSAGE ? text : why;
    }
    if (rejected || why.size)
        yarn_text_add_format(ret_why, "%lu profiles were not taken: ", rejected);
    yarn_text_add_sized(ret_why, (const char *)why.data, why.size);
    return rejected || why.size;
}

static const struct yarn_server servers[] = {
    {"pyroscope", "/push.v1.PusherService/Push", ":4040", "application/json", "pprof", true,
     body_of_pyroscope, NULL},
    {"parca", "/api/profiles/writeraw", ":7070", "application/json", "pprof", true, body_of_parca,
     NULL},
    {"otlp", "/v1development/profiles", ":4318", "application/x-protobuf", "otlp", false, NULL,
     rejects_otlp},
};

const struct yarn_server *yarn_server_named(const char *name)
{
    for (size_t i = 0; i < YARN_COUNT_OF(servers); i++) {
        if (strcmp(servers[i].name, name) == 0)
            return &servers[i];
    }
    return NULL;
}

static bool ends_in(const char *text, const char *end)
{
    size_t size = strlen(text), of_end = strlen(end);
    return size >= of_end && strcmp(text + size - of_end, end) == 0;
}

const struct yarn_server *yarn_server_of(const char *url)
{
    for (size_t i = 0; i < YARN_COUNT_OF(servers); i++) {
        if (ends_in(url, servers[i].path))
            return &servers[i];
    }
    const char *host = strstr(url, "://");
    const char *slash = host ? strchr(host + 3, '/') : NULL;
    for (size_t i = 0; host && i < YARN_COUNT_OF(servers); i++) {
        const char *port = strstr(host + 3, servers[i].port);
        const char *end = port ? port + strlen(servers[i].port) : NULL;
        if (port && (!slash || port < slash) && (!*end || *end == '/'))
            return &servers[i];
    }
    return NULL;
}

char *yarn_server_url(const struct yarn_server *server, const char *url)
{
    size_t size = strlen(url);
    if (ends_in(url, server->path))
        return strdup(url);
    while (size && url[size - 1] == '/')
        size--;
    char *whole = malloc(size + strlen(server->path) + 1);
    if (whole) {
        memcpy(whole, url, size);
        (void)strcpy(whole + size, server->path);
    }
    return whole;
}
