/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/push/http.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <stdio.h>

#undef curl_easy_setopt
#undef curl_easy_getinfo

#define CONNECT_SECONDS 10L
#define ALL_SECONDS 120L

/* The functions, of libcurl's own types. */
static struct {
    __typeof__(&curl_easy_init) init;
    __typeof__(&curl_easy_setopt) setopt;
    __typeof__(&curl_easy_perform) perform;
    __typeof__(&curl_easy_getinfo) getinfo;
    __typeof__(&curl_easy_cleanup) cleanup;
    __typeof__(&curl_easy_strerror) strerror;
    __typeof__(&curl_slist_append) slist_append;
    __typeof__(&curl_slist_free_all) slist_free_all;
} curl;

static bool load(void *library)
{
    const struct {
        void *function;
        const char *name;
    } functions[] = {
        {&curl.init, "curl_easy_init"},
        {&curl.setopt, "curl_easy_setopt"},
        {&curl.perform, "curl_easy_perform"},
        {&curl.getinfo, "curl_easy_getinfo"},
        {&curl.cleanup, "curl_easy_cleanup"},
        {&curl.strerror, "curl_easy_strerror"},
        {&curl.slist_append, "curl_slist_append"},
        {&curl.slist_free_all, "curl_slist_free_all"},
    };
    for (size_t i = 0; i < YARN_COUNT_OF(functions); i++) {
        void *found = dlsym(library, functions[i].name);
        if (!found)
            return false;
        memcpy(functions[i].function, &found, sizeof found);
    }
    return true;
}

const char *yarn_http_open(struct yarn_http *http)
{
    http->loaded = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!http->loaded)
        http->loaded = dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!http->loaded)
        return "there is no libcurl: install Debian's package libcurl4";
    if (!load(http->loaded))
        return "this libcurl lacks what is needed of it";
    http->session = curl.init();
    return http->session ? NULL : "libcurl cannot begin";
}

void yarn_http_fini(struct yarn_http *http)
{
    if (http->session)
        curl.cleanup(http->session);
    if (http->loaded)
        (void)dlclose(http->loaded);
    *http = YARN_HTTP_CLOSED;
}

static size_t keep_answer(char *bytes, size_t one, size_t count, void *self)
{
    struct yarn_http_answer *answer = self;
    size_t kept = yarn_size_min(one * count, sizeof answer->text - 1 - answer->size);
    memcpy(answer->text + answer->size, bytes, kept);
    answer->size += kept;
    answer->text[answer->size] = 0;
    return one * count;
}

static struct curl_slist *headers_of(const struct yarn_http *http, const char *type)
{
    char line[128];
    (void)snprintf(line, sizeof line, "Content-Type: %s", type);
    struct curl_slist *headers = curl.slist_append(NULL, line);
    for (size_t i = 0; headers && i < http->nr_headers; i++) {
        struct curl_slist *more = curl.slist_append(headers, http->headers[i]);
        if (!more)
            curl.slist_free_all(headers);
        headers = more;
    }
    return headers;
}

static CURLcode prepare(const struct yarn_http *http, const char *url, struct yarn_span body,
                        const struct curl_slist *headers, struct yarn_http_answer *answer)
{
    CURL *session = http->session;
    CURLcode code = curl.setopt(session, CURLOPT_URL, url);
    if (!code)
        code = curl.setopt(session, CURLOPT_PROTOCOLS_STR, "http,https");
    if (!code)
        code = curl.setopt(session, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.size);
    if (!code)
        code = curl.setopt(session, CURLOPT_POSTFIELDS, (const char *)body.data);
    if (!code)
        code = curl.setopt(session, CURLOPT_HTTPHEADER, headers);
    if (!code)
        code = curl.setopt(session, CURLOPT_WRITEFUNCTION, keep_answer);
    if (!code)
        code = curl.setopt(session, CURLOPT_WRITEDATA, answer);
    if (!code)
        code = curl.setopt(session, CURLOPT_NOSIGNAL, 1L);
    if (!code)
        code = curl.setopt(session, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS);
    return code ? code : curl.setopt(session, CURLOPT_TIMEOUT, ALL_SECONDS);
}

bool yarn_http_post(struct yarn_http *http, const char *url, const char *type,
                    struct yarn_span body, struct yarn_http_answer *ret_answer)
{
    struct curl_slist *headers = headers_of(http, type);
    *ret_answer = (struct yarn_http_answer){.status = 0};
    CURLcode code = headers ? prepare(http, url, body, headers, ret_answer) : CURLE_OUT_OF_MEMORY;
    if (!code)
        code = curl.perform(http->session);
    if (!code)
        code = curl.getinfo(http->session, CURLINFO_RESPONSE_CODE, &ret_answer->status);
    const char *place = NULL;
    if (!code && !curl.getinfo(http->session, CURLINFO_REDIRECT_URL, &place) && place)
        (void)snprintf(ret_answer->place, sizeof ret_answer->place, "%s", place);
    if (code)
        (void)snprintf(ret_answer->text, sizeof ret_answer->text, "%s", curl.strerror(code));
    curl.slist_free_all(headers);
    return !code && ret_answer->status >= 200 && ret_answer->status < 300;
}
