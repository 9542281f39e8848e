/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/verbs/saved_view.h"

#include <stdarg.h>
#include <stdlib.h>
#include <yajl/yajl_tree.h>

#include "output/yarnprof/io/status.h"

enum { FILE_BYTES_MAX = 1 << 20, WHY_BYTES = 1200 };

static int refuse(char *why, size_t size, const char *format, ...) YARN_PRINTF(3, 4);
static int refuse(char *why, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(why, size, format, args);
    va_end(args);
    return -EINVAL;
}

static yajl_val member(yajl_val object, const char *key)
{
    return yajl_tree_get(object, (const char *[]){key, NULL}, yajl_t_any);
}

/* NULL: it is none. */
static const char *text_of(yajl_val value)
{
    return YAJL_IS_STRING(value) ? value->u.string : NULL;
}

static int parse_stream(yajl_val value, size_t number, struct yarn_saved_stream *stream, char *why,
                        size_t size)
{
    yajl_val path = member(value, "path"), pid = member(value, "pid");
    yajl_val start = member(value, "start_ns"), couplebreak = member(value, "couplebreak");
    if (!text_of(path) || !text_of(path)[0])
        return refuse(why, size, "streams[%zu].path is no text", number);
    if (!YAJL_IS_INTEGER(pid) || YAJL_GET_INTEGER(pid) < 0 || YAJL_GET_INTEGER(pid) > UINT32_MAX)
        return refuse(why, size, "streams[%zu].pid is no number of a process", number);
    if (!YAJL_IS_INTEGER(start) || YAJL_GET_INTEGER(start) < 0)
        return refuse(why, size, "streams[%zu].start_ns is no time", number);
    if (couplebreak && !YAJL_IS_TRUE(couplebreak) && !YAJL_IS_FALSE(couplebreak))
        return refuse(why, size, "streams[%zu].couplebreak is neither true nor false", number);
    *stream = (struct yarn_saved_stream){.path = text_of(path),
                                         .pid = (uint32_t)YAJL_GET_INTEGER(pid),
                                         .start_ns = (uint64_t)YAJL_GET_INTEGER(start),
                                         .has_couplebreak = YAJL_IS_TRUE(couplebreak)};
    return 0;
}

static int parse_streams(struct yarn_saved_view *view, yajl_val list, char *why, size_t size)
{
    if (!YAJL_IS_ARRAY(list) || !YAJL_GET_ARRAY(list)->len)
        return refuse(why, size, "streams is no list of at least one stream");
    view->streams = calloc(YAJL_GET_ARRAY(list)->len, sizeof *view->streams);
    if (!view->streams)
        return -ENOMEM;
    int err = 0;
    for (size_t i = 0; !err && i < YAJL_GET_ARRAY(list)->len; i++, view->count++)
        err = parse_stream(YAJL_GET_ARRAY(list)->values[i], i, &view->streams[i], why, size);
    return err;
}

static int parse_text(yajl_val value, const char *name, const char **ret_text, char *why,
                      size_t size)
{
    if (value && !YAJL_IS_STRING(value) && !YAJL_IS_NULL(value))
        return refuse(why, size, "%s is no text", name);
    *ret_text = text_of(value);
    return 0;
}

static int parse_filters(struct yarn_saved_view *view, yajl_val filters, char *why, size_t size)
{
    char name[32];
    int err = 0;
    if (filters && !YAJL_IS_OBJECT(filters))
        return refuse(why, size, "filters is no object");
    for (int i = 0; !err && filters && i < YARN_SAVED_FILTERS; i++) {
        (void)snprintf(name, sizeof name, "filters.%s", yarn_filter_names[i]);
        err = parse_text(member(filters, yarn_filter_names[i]), name, &view->filters[i], why, size);
    }
    return err;
}

int yarn_saved_view_parse(struct yarn_saved_view *view, const char *text, char *why,
                          size_t why_bytes)
{
    yajl_val type, version;
    why[0] = 0;
    view->tree = yajl_tree_parse(text, why, why_bytes);
    if (!view->tree)
        return refuse(why, why_bytes, "it is no JSON");
    type = member(view->tree, "type");
    version = member(view->tree, "version");
    if (!text_of(type) || strcmp(text_of(type), "yarn.session") != 0)
        return refuse(why, why_bytes, "it is no saved view: type is not yarn.session");
    if (!YAJL_IS_INTEGER(version) || YAJL_GET_INTEGER(version) != 1)
        return refuse(why, why_bytes, "version is not 1");
    int err = parse_streams(view, member(view->tree, "streams"), why, why_bytes);
    if (!err)
        err = parse_filters(view, member(view->tree, "filters"), why, why_bytes);
    return err ? err : parse_text(member(view->tree, "time"), "time", &view->time, why, why_bytes);
}

static int read_text(const char *path, char **ret_text)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return -errno;
    char *text = malloc(FILE_BYTES_MAX + 1);
    size_t size = text ? fread(text, 1, FILE_BYTES_MAX + 1, file) : 0;
    int err = !text ? -ENOMEM : ferror(file) ? -EIO : size > FILE_BYTES_MAX ? -EFBIG : 0;
    (void)fclose(file);
    if (err)
        free(text);
    else
        *ret_text = text, text[size] = 0;
    return err;
}

int yarn_saved_view_load(struct yarn_saved_view *view, const char *verb, const char *path)
{
    char why[WHY_BYTES] = "", *text = NULL;
    *view = (struct yarn_saved_view){0};
    int err = read_text(path, &text);
    if (!err) {
        err = yarn_saved_view_parse(view, text, why, sizeof why);
        free(text);
    }
    if (!err)
        return -1;
    yarn_complain(verb, "%s: %s", path, why[0] ? why : strerror(-err));
    yarn_saved_view_fini(view);
    return YARN_STATUS_FAILED;
}

static struct yarn_stream *find(const struct yarn_stream_list *streams,
                                const struct yarn_saved_stream *saved)
{
    for (size_t i = 0; i < streams->count; i++) {
        struct yarn_stream *stream = streams->list[i];
        if (strcmp(streams->list[i]->path, saved->path) == 0 &&
            yarn_stream_pid(stream) == saved->pid && stream->start_ns == saved->start_ns)
            return stream;
    }
    return NULL;
}

int yarn_saved_view_apply(const struct yarn_saved_view *view, const char *verb, const char *path,
                          struct yarn_stream_list *streams)
{
    for (size_t i = 0; i < view->count; i++) {
        const struct yarn_saved_stream *saved = &view->streams[i];
        struct yarn_stream *stream = find(streams, saved);
        if (!stream) {
            yarn_complain(verb, "%s: streams[%zu]: %s holds another process than pid %u of then",
                          path, i, saved->path, saved->pid);
            return YARN_STATUS_FAILED;
        }
        int err = saved->has_couplebreak ? yarn_stream_couplebreak(stream, true) : 0;
        if (err) {
            yarn_complain(verb, "%s: %s", saved->path, strerror(-err));
            return YARN_STATUS_FAILED;
        }
    }
    return -1;
}

static void put(const struct yarn_stream_list *streams,
                const char *const filters[YARN_SAVED_FILTERS], const char *time,
                struct yarn_json *json)
{
    yarn_json_text(json, "type", "yarn.session");
    yarn_json_u64(json, "version", 1);
    yarn_json_begin_array(json, "streams");
    for (size_t i = 0; i < streams->count; i++) {
        const struct yarn_stream *stream = streams->list[i];
        yarn_json_begin_object(json, NULL);
        yarn_json_text(json, "path", streams->list[i]->path);
        yarn_json_u64(json, "pid", yarn_stream_pid(stream));
        yarn_json_u64(json, "start_ns", stream->start_ns);
        yarn_json_bool(json, "couplebreak", yarn_stream_couplebreak_is_on(stream));
        yarn_json_end_object(json);
    }
    yarn_json_end_array(json);
    yarn_json_begin_object(json, "filters");
    for (int i = 0; i < YARN_SAVED_FILTERS; i++)
        if (filters[i])
            yarn_json_text(json, yarn_filter_names[i], filters[i]);
    yarn_json_end_object(json);
    yarn_json_text_or_null(json, "time", time ? time : "");
}

int yarn_saved_view_save(const char *verb, const char *path, const struct yarn_stream_list *streams,
                         const char *const filters[YARN_SAVED_FILTERS], const char *time)
{
    struct yarn_out out = {.path = path, .format = YARN_OUT_JSON};
    int status = yarn_out_open(&out, verb);
    if (status >= 0)
        return status;
    put(streams, filters, time, out.json);
    status = yarn_out_finish(&out, verb, 0);
    return status == YARN_STATUS_OK ? -1 : status;
}

static int select_saved(const struct yarn_saved_view *view, const char *verb, const char *path,
                        bool has_time, struct yarn_select *select)
{
    const char *right;
    for (int i = 0; i < YARN_SAVED_FILTERS; i++)
        if (!select->filter.lists[i])
            select->filter.lists[i] = view->filters[i];
    if (!view->time || has_time ||
        !yarn_select_take(select, YARN_ARGUMENT_TIME, view->time, &right))
        return -1;
    yarn_complain(verb, "%s: time is none", path);
    return YARN_STATUS_FAILED;
}

int yarn_saved_view_open(struct yarn_saved_view *view, const char *verb, const char *path,
                         char *const *operands, bool has_time, struct yarn_select *select,
                         char ***ret_paths)
{
    if (*operands) {
        yarn_complain(verb, "--load names the files itself: %s is one too many", *operands);
        return YARN_STATUS_USAGE;
    }
    int status = yarn_saved_view_load(view, verb, path);
    if (status >= 0)
        return status;
    size_t count = 0;
    char **paths = calloc(view->count + 1, sizeof *paths);
    for (size_t i = 0; paths && i < view->count; i++) {
        bool is_there = false;
        for (size_t k = 0; k < count; k++)
            is_there |= strcmp(paths[k], view->streams[i].path) == 0;
        if (!is_there)
            paths[count++] = (char *)(uintptr_t)view->streams[i].path;
    }
    *ret_paths = paths;
    return paths ? select_saved(view, verb, path, has_time, select) : YARN_STATUS_FAILED;
}

void yarn_saved_view_fini(struct yarn_saved_view *view)
{
    if (view->tree)
        yajl_tree_free(view->tree);
    free(view->streams);
    *view = (struct yarn_saved_view){0};
}
