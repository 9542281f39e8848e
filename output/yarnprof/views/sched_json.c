/* SPDX-License-Identifier: Apache-2.0 */
#include "output/text/json.h"
#include "output/yarnprof/views/sched.h"

static void put_notes(const struct yarn_sched_view *view, struct yarn_json *json)
{
    struct yarn_sched_missing missing = yarn_sched_view_missing(view);
    yarn_json_begin_object(json, "notes");
    yarn_json_u64(json, "cut_ns", missing.cut_ns);
    yarn_json_u64(json, "switches_lost", missing.lost);
    yarn_json_u64(json, "refused", missing.refused);
    yarn_json_u64(json, "processes_without_switches", missing.nr_unrecorded);
    yarn_json_end_object(json);
}

int yarn_sched_json(const struct yarn_sched_view *view, const struct yarn_out *out)
{
    struct yarn_json *json = yarn_json_new(out->file);
    int err = 0;
    if (!json)
        return -ENOMEM;
    yarn_json_begin_object(json, NULL);
    yarn_sched_threads(view, out, json);
    if (view->has_wakers)
        err = yarn_sched_wakers(view, out, json);
    if (!err && view->has_wakers)
        err = yarn_sched_locks(view, out, json);
    if (!err && view->cores)
        err = yarn_sched_wait_for_core(view, out, json);
    if (!err && view->streams)
        yarn_stream_list_json(view->streams, view->shown, out, json);
    put_notes(view, json);
    yarn_json_end_object(json);
    yarn_json_free(json);
    return err;
}
