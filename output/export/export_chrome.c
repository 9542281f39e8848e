/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "output/base/array.h"
#include "output/export/export.h"
#include "output/export/tracks.h"
#include "output/fold/paths.h"
#include "output/text/json.h"

/*
 * Trace events as Chromium writes them, with the samples of each thread as a CPU profile of V8
 * (Profile and ProfileChunk): a tree of nodes and, one after the other, the node that runs. A
 * sample of a clock says that its weight was spent before it; what is left between two is idle.
 * Times are µs. Exact weights are in `weights`, which no viewer looks at.
 */

/* Ids in a track, behind those of the tracks before: readers take ids of all tracks for one set.
 */
enum { NODE_ROOT = 1, NODE_IDLE = 2, NODE_FIRST = 3 };

/* The node that runs from a time on. */
struct step {
    uint64_t time_us;
    uint64_t weight;
    uint32_t node; /* id */
};

struct chrome {
    const struct yarn_export *export;
    struct yarn_json *json;
    struct yarn_tracks tracks;
    uint32_t first_id;       /* of the track */
    struct yarn_paths nodes; /* of the track, by function; the first has id NODE_FIRST */
    struct step *steps;      /* owned array */
    size_t nr_steps, steps_capacity;
    struct yarn_export_path path;
};

static uint32_t id_of(uint32_t node)
{
    return node == YARN_DUMP_NONE ? NODE_ROOT : node + NODE_FIRST;
}

static int node_of(struct chrome *chrome, const struct yarn_export_sample *sample, uint32_t *ret_id)
{
    uint32_t node = YARN_DUMP_NONE;
    int err = yarn_export_path(chrome->export->profile, sample->stack, &chrome->path);
    if (!err && sample->root != YARN_DUMP_NONE)
        err = yarn_paths_below(&chrome->nodes, node, sample->root, &node);
    for (size_t i = chrome->path.count; !err && i-- > 0;)
        err = yarn_paths_below(&chrome->nodes, node, chrome->path.functions[i], &node);
    *ret_id = id_of(node);
    return err;
}

static int add_step(struct chrome *chrome, uint64_t time_us, uint32_t node, uint64_t weight)
{
    return YARN_ARRAY_PUT(&chrome->steps, &chrome->nr_steps, &chrome->steps_capacity,
                          &(struct step){time_us, weight, node});
}

/* A sample's node begins as long before it as its weight says, or where the one before ended, if
 * that is near: clocks tick with some jitter, and some readers pass over what is shorter than half
 * a ms. */
static int add_sample(struct chrome *chrome, const struct yarn_export_sample *sample, bool is_clock,
                      uint64_t *end_us)
{
    uint64_t weight_ns = is_clock ? yarn_u64_min(sample->weight, sample->time_ns) : 0;
    uint64_t start_us = (sample->time_ns - weight_ns) / 1000;
    bool is_near = start_us <= *end_us + weight_ns / 2000;
    uint32_t node;
    if (is_near && chrome->nr_steps)
        start_us = *end_us;
    int err = node_of(chrome, sample, &node);
    if (!err && start_us > *end_us && chrome->nr_steps)
        err = add_step(chrome, *end_us, NODE_IDLE, 0);
    if (!err)
        err = add_step(chrome, start_us, node, sample->weight);
    *end_us = yarn_u64_max(sample->time_ns / 1000, start_us);
    return err;
}

static int make_steps(struct chrome *chrome, const struct yarn_track *track)
{
    const struct yarn_profile_event *event = &chrome->export->profile->events[track->event];
    uint64_t end_us = 0;
    int err = 0;
    chrome->nr_steps = 0;
    /* Why not cleared: one large track would make all others slow. */
    yarn_paths_fini(&chrome->nodes);
    struct yarn_track_walk walk = yarn_track_begin(track, chrome->export);
    struct yarn_export_sample sample;
    while (!err && yarn_track_next(&walk, &sample))
        err = add_sample(chrome, &sample, event->flags & YARN_DUMP_EVENT_IS_CLOCK, &end_us);
    return err ? err : add_step(chrome, end_us, NODE_IDLE, 0);
}

static void begin_event(const struct chrome *chrome, const char *name, const char *phase,
                        uint64_t time_us, uint32_t thread)
{
    const struct yarn_profile *profile = chrome->export->profile;
    const struct yarn_profile_thread *in = &profile->threads[thread];
    yarn_json_begin_object(chrome->json, NULL);
    yarn_json_text(chrome->json, "name", name);
    yarn_json_text(chrome->json, "ph", phase);
    yarn_json_u64(chrome->json, "ts", time_us);
    yarn_json_u64(chrome->json, "pid", profile->dumps[in->dump].process.pid);
    yarn_json_u64(chrome->json, "tid", in->tid);
}

static void put_name(const struct chrome *chrome, const char *what, const char *name,
                     uint32_t thread)
{
    begin_event(chrome, what, "M", 0, thread);
    yarn_json_text(chrome->json, "cat", "__metadata");
    yarn_json_begin_object(chrome->json, "args");
    yarn_json_text(chrome->json, "name", name);
    yarn_json_end_object(chrome->json);
    yarn_json_end_object(chrome->json);
}

static void put_node(const struct chrome *chrome, uint32_t id, uint32_t parent, const char *name,
                     const char *url)
{
    struct yarn_json *json = chrome->json;
    yarn_json_begin_object(json, NULL);
    yarn_json_u64(json, "id", chrome->first_id + id);
    if (parent)
        yarn_json_u64(json, "parent", chrome->first_id + parent);
    yarn_json_begin_object(json, "callFrame");
    yarn_json_text(json, "functionName", name);
    yarn_json_text(json, "scriptId", "0");
    yarn_json_text(json, "url", url);
    yarn_json_i64(json, "lineNumber", -1);
    yarn_json_i64(json, "columnNumber", -1);
    yarn_json_end_object(json);
    yarn_json_end_object(json);
}

static void put_tree(const struct chrome *chrome)
{
    const struct yarn_profile *profile = chrome->export->profile;
    yarn_json_begin_object(chrome->json, "cpuProfile");
    yarn_json_begin_array(chrome->json, "nodes");
    put_node(chrome, NODE_ROOT, 0, "(root)", "");
    put_node(chrome, NODE_IDLE, NODE_ROOT, "(idle)", "");
    for (uint32_t i = 0; i < chrome->nodes.count; i++) {
        const struct yarn_path *node = &chrome->nodes.list[i];
        const struct yarn_profile_function *function = &profile->functions[node->key];
        put_node(chrome, id_of(i), id_of(node->parent), yarn_profile_text(profile, function->name),
                 function->module
                     ? yarn_profile_text(profile, profile->modules[function->module].path)
                     : "");
    }
    yarn_json_end_array(chrome->json);
    yarn_json_begin_array(chrome->json, "samples");
    for (size_t i = 0; i < chrome->nr_steps; i++)
        yarn_json_u64(chrome->json, NULL, chrome->first_id + chrome->steps[i].node);
    yarn_json_end_array(chrome->json);
    yarn_json_end_object(chrome->json);
}

static void put_chunk(const struct chrome *chrome, const struct yarn_track *track, const char *id)
{
    struct yarn_json *json = chrome->json;
    uint64_t start_us = chrome->steps[0].time_us;
    begin_event(chrome, "ProfileChunk", "P", start_us, track->thread);
    yarn_json_text(json, "cat", "disabled-by-default-v8.cpu_profiler");
    yarn_json_text(json, "id", id);
    yarn_json_begin_object(json, "args");
    yarn_json_begin_object(json, "data");
    put_tree(chrome);
    yarn_json_begin_array(json, "timeDeltas");
    for (size_t i = 0; i < chrome->nr_steps; i++)
        yarn_json_u64(json, NULL, i ? chrome->steps[i].time_us - chrome->steps[i - 1].time_us : 0);
    yarn_json_end_array(json);
    yarn_json_begin_array(json, "weights");
    for (size_t i = 0; i < chrome->nr_steps; i++)
        yarn_json_u64(json, NULL, chrome->steps[i].weight);
    yarn_json_end_array(json);
    yarn_json_end_object(json);
    yarn_json_end_object(json);
    yarn_json_end_object(json);
}

static int put_track(struct chrome *chrome, size_t number)
{
    const struct yarn_track *track = &chrome->tracks.list[number];
    struct yarn_json *json = chrome->json;
    char id[32];
    int err = make_steps(chrome, track);
    if (err)
        return err;
    (void)snprintf(id, sizeof id, "0x%zx", number + 1);
    begin_event(chrome, "Profile", "P", chrome->steps[0].time_us, track->thread);
    yarn_json_text(json, "cat", "disabled-by-default-v8.cpu_profiler");
    yarn_json_text(json, "id", id);
    yarn_json_begin_object(json, "args");
    yarn_json_begin_object(json, "data");
    yarn_json_u64(json, "startTime", chrome->steps[0].time_us);
    yarn_json_end_object(json);
    yarn_json_end_object(json);
    yarn_json_end_object(json);
    put_chunk(chrome, track, id);
    chrome->first_id += (uint32_t)chrome->nodes.count + NODE_FIRST - 1;
    return 0;
}

static void put_names(const struct chrome *chrome)
{
    const struct yarn_profile *profile = chrome->export->profile;
    for (size_t i = 0; i < chrome->tracks.count; i++) {
        const struct yarn_track *track = &chrome->tracks.list[i];
        const struct yarn_profile_dump *dump =
            &profile->dumps[profile->threads[track->thread].dump];
        put_name(chrome, "process_name", yarn_profile_text(profile, dump->program), track->thread);
        put_name(chrome, "thread_name", yarn_profile_text(profile, track->comm), track->thread);
    }
}

static void put_message(const struct chrome *chrome, const struct yarn_profile_dump *dump,
                        const struct yarn_dump_message *message)
{
    struct yarn_json *json = chrome->json;
    yarn_json_begin_object(json, NULL);
    yarn_json_span(json, "name", message->text);
    yarn_json_text(json, "cat", message->kind == YARN_DUMP_MESSAGE_MARK ? "mark" : "message");
    yarn_json_text(json, "ph", "i");
    yarn_json_text(json, "s", message->tid ? "t" : "p");
    yarn_json_u64(json, "ts", message->time_ns / 1000);
    yarn_json_u64(json, "pid", dump->process.pid);
    yarn_json_u64(json, "tid", message->tid ? message->tid : dump->process.pid);
    yarn_json_end_object(json);
}

static int put_all(struct chrome *chrome)
{
    const struct yarn_profile *profile = chrome->export->profile;
    int err = 0;
    yarn_json_begin_object(chrome->json, NULL);
    yarn_json_begin_array(chrome->json, "traceEvents");
    put_names(chrome);
    for (size_t i = 0; !err && i < chrome->tracks.count && !ferror(chrome->export->file); i++)
        err = put_track(chrome, i);
    for (size_t i = 0; i < profile->nr_dumps; i++) {
        for (size_t m = 0; m < profile->dumps[i].nr_messages; m++)
            put_message(chrome, &profile->dumps[i], &profile->dumps[i].messages[m]);
    }
    yarn_json_end_array(chrome->json);
    yarn_json_end_object(chrome->json);
    return err;
}

int yarn_export_chrome(struct yarn_export *export)
{
    struct chrome chrome = {.export = export, .nodes = YARN_PATHS_EMPTY};
    int err = yarn_tracks_init(&chrome.tracks, export);
    if (!err) {
        chrome.json = yarn_json_new(export->file);
        err = chrome.json ? 0 : -ENOMEM;
    }
    if (!err) {
        err = put_all(&chrome);
        yarn_json_free(chrome.json);
    }
    yarn_tracks_fini(&chrome.tracks);
    yarn_paths_fini(&chrome.nodes);
    free(chrome.steps);
    free(chrome.path.functions);
    return err;
}
