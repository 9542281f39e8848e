/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "output/export/export.h"
#include "output/export/numbering.h"
#include "output/export/tracks.h"
#include "output/text/json.h"

/*
 * One sampled profile for each thread and event, in time order; samples of one stack that follow
 * one another are one, with the sum of their weights. A frame is a function, its file the module:
 * speedscope would take each line of a function for another function. CPU time in the kernel that
 * has no samples is one more at the end, of a frame of its own.
 */

struct speedscope {
    const struct yarn_export *export;
    struct yarn_json *json;
    struct yarn_tracks tracks;
    struct yarn_numbering functions;
    struct yarn_export_path path;
    struct yarn_kernel_time *kernel; /* owned array */
    size_t nr_kernel;
    uint64_t *kernel_ns; /* owned; of each thread, while it is not written */
    uint32_t kernel_event;
};

static int find_kernel(struct speedscope *speedscope)
{
    const struct yarn_profile *profile = speedscope->export->profile;
    speedscope->kernel_event = yarn_kernel_time_event(profile);
    speedscope->kernel_ns = calloc(profile->nr_threads + 1, sizeof *speedscope->kernel_ns);
    int err = speedscope->kernel_ns ? yarn_export_kernel(speedscope->export, &speedscope->kernel,
                                                         &speedscope->nr_kernel)
                                    : -ENOMEM;
    for (size_t i = 0; !err && i < speedscope->nr_kernel; i++)
        if (speedscope->kernel[i].thread != YARN_DUMP_NONE)
            speedscope->kernel_ns[speedscope->kernel[i].thread] = speedscope->kernel[i].ns;
    return err;
}

static uint64_t kernel_ns_of(const struct speedscope *speedscope, const struct yarn_track *track)
{
    return track->event == speedscope->kernel_event ? speedscope->kernel_ns[track->thread] : 0;
}

static int number_frames(struct speedscope *speedscope)
{
    const struct yarn_profile *profile = speedscope->export->profile;
    struct yarn_export_samples samples = YARN_EXPORT_SAMPLES(speedscope->export);
    struct yarn_export_sample sample;
    uint8_t *seen = calloc(profile->nr_stacks + 1, 1);
    uint32_t number;
    int err = seen ? 0 : -ENOMEM;
    while (!err && yarn_export_next(&samples, &sample)) {
        if (sample.root != YARN_DUMP_NONE)
            err = yarn_numbering_of(&speedscope->functions, sample.root, &number);
        uint32_t stack = sample.stack;
        for (; !err && stack != YARN_DUMP_NONE && !seen[stack];
             stack = profile->stacks[stack].parent) {
            seen[stack] = 1;
            err =
                yarn_numbering_of(&speedscope->functions, profile->stacks[stack].function, &number);
        }
    }
    free(seen);
    return err;
}

static void put_frames(const struct speedscope *speedscope)
{
    const struct yarn_profile *profile = speedscope->export->profile;
    struct yarn_json *json = speedscope->json;
    yarn_json_begin_object(json, "shared");
    yarn_json_begin_array(json, "frames");
    for (size_t i = 0; i < speedscope->functions.count; i++) {
        const struct yarn_profile_function *function =
            &profile->functions[speedscope->functions.things[i]];
        yarn_json_begin_object(json, NULL);
        yarn_json_text(json, "name", yarn_profile_text(profile, function->name));
        if (function->module)
            yarn_json_text(json, "file",
                           yarn_profile_text(profile, profile->modules[function->module].path));
        yarn_json_end_object(json);
    }
    if (speedscope->nr_kernel) {
        yarn_json_begin_object(json, NULL);
        yarn_json_text(json, "name", "[kernel]");
        yarn_json_end_object(json);
    }
    yarn_json_end_array(json);
    yarn_json_end_object(json);
}

static void put_kernel_stack(const struct speedscope *speedscope)
{
    yarn_json_begin_array(speedscope->json, NULL);
    yarn_json_u64(speedscope->json, NULL, speedscope->functions.count);
    yarn_json_end_array(speedscope->json);
}

/* Outermost first. */
static int put_stack(struct speedscope *speedscope, const struct yarn_export_sample *sample)
{
    const struct yarn_export_path *path = &speedscope->path;
    const uint32_t *numbers = speedscope->functions.numbers;
    int err = yarn_export_path(speedscope->export->profile, sample->stack, &speedscope->path);
    if (err)
        return err;
    yarn_json_begin_array(speedscope->json, NULL);
    if (sample->root != YARN_DUMP_NONE)
        yarn_json_u64(speedscope->json, NULL, numbers[sample->root] - 1);
    for (size_t i = path->count; i-- > 0;)
        yarn_json_u64(speedscope->json, NULL, numbers[path->functions[i]] - 1);
    yarn_json_end_array(speedscope->json);
    return 0;
}

static bool is_same(const struct yarn_export_sample *one, const struct yarn_export_sample *other)
{
    return one->stack == other->stack && one->root == other->root;
}

static int put_stacks(struct speedscope *speedscope, const struct yarn_track *track)
{
    struct yarn_export_sample last = {0};
    int err = 0;
    yarn_json_begin_array(speedscope->json, "samples");
    struct yarn_track_walk walk = yarn_track_begin(track, speedscope->export);
    struct yarn_export_sample sample;
    for (size_t i = 0; !err && !ferror(speedscope->export->file) && yarn_track_next(&walk, &sample);
         i++) {
        if (i == 0 || !is_same(&sample, &last))
            err = put_stack(speedscope, &sample);
        last = sample;
    }
    if (kernel_ns_of(speedscope, track))
        put_kernel_stack(speedscope);
    yarn_json_end_array(speedscope->json);
    return err;
}

static void put_weights(const struct speedscope *speedscope, const struct yarn_track *track)
{
    struct yarn_export_sample last = {0};
    uint64_t weight = 0;
    yarn_json_begin_array(speedscope->json, "weights");
    struct yarn_track_walk walk = yarn_track_begin(track, speedscope->export);
    struct yarn_export_sample sample;
    for (size_t i = 0; yarn_track_next(&walk, &sample); i++) {
        if (i && !is_same(&sample, &last)) {
            yarn_json_u64(speedscope->json, NULL, weight);
            weight = 0;
        }
        weight += sample.weight;
        last = sample;
    }
    if (track->count)
        yarn_json_u64(speedscope->json, NULL, weight);
    if (kernel_ns_of(speedscope, track))
        yarn_json_u64(speedscope->json, NULL, kernel_ns_of(speedscope, track));
    yarn_json_end_array(speedscope->json);
}

static void begin_profile(const struct speedscope *speedscope, const char *name, uint32_t event,
                          uint64_t weight)
{
    const struct yarn_profile *profile = speedscope->export->profile;
    const char *unit = yarn_profile_text(profile, profile->events[event].unit);
    yarn_json_begin_object(speedscope->json, NULL);
    yarn_json_text(speedscope->json, "type", "sampled");
    yarn_json_text(speedscope->json, "name", name);
    yarn_json_text(speedscope->json, "unit", strcmp(unit, "ns") == 0 ? "nanoseconds" : "none");
    yarn_json_u64(speedscope->json, "startValue", 0);
    yarn_json_u64(speedscope->json, "endValue", weight);
}

static int put_track(struct speedscope *speedscope, const struct yarn_track *track)
{
    uint64_t kernel_ns = kernel_ns_of(speedscope, track);
    char name[256];
    yarn_track_name(track, speedscope->export, name, sizeof name);
    begin_profile(speedscope, name, track->event, track->weight + kernel_ns);
    int err = put_stacks(speedscope, track);
    put_weights(speedscope, track);
    yarn_json_end_object(speedscope->json);
    if (kernel_ns)
        speedscope->kernel_ns[track->thread] = 0;
    return err;
}

static bool is_written(const struct speedscope *speedscope, const struct yarn_kernel_time *kernel)
{
    return kernel->thread != YARN_DUMP_NONE && !speedscope->kernel_ns[kernel->thread];
}

/* The kernel's time of a thread without samples, or of threads that are not known. */
static void put_kernel(const struct speedscope *speedscope, const struct yarn_kernel_time *kernel)
{
    const struct yarn_profile *profile = speedscope->export->profile;
    uint32_t pid = profile->dumps[kernel->dump].process.pid;
    const char *comm = yarn_profile_text(profile, yarn_export_kernel_sample(profile, kernel).comm);
    char name[256];
    if (kernel->thread == YARN_DUMP_NONE)
        (void)snprintf(name, sizeof name, "%.64s %u", comm, pid);
    else
        (void)snprintf(name, sizeof name, "%.64s %u/%u", comm, pid,
                       profile->threads[kernel->thread].tid);
    begin_profile(speedscope, name, speedscope->kernel_event, kernel->ns);
    yarn_json_begin_array(speedscope->json, "samples");
    put_kernel_stack(speedscope);
    yarn_json_end_array(speedscope->json);
    yarn_json_begin_array(speedscope->json, "weights");
    yarn_json_u64(speedscope->json, NULL, kernel->ns);
    yarn_json_end_array(speedscope->json);
    yarn_json_end_object(speedscope->json);
}

static size_t heaviest(const struct yarn_tracks *tracks)
{
    size_t heaviest = 0;
    for (size_t i = 1; i < tracks->count; i++) {
        if (tracks->list[i].count > tracks->list[heaviest].count)
            heaviest = i;
    }
    return heaviest;
}

static int put_all(struct speedscope *speedscope)
{
    const struct yarn_profile *profile = speedscope->export->profile;
    struct yarn_json *json = speedscope->json;
    char exporter[64];
    (void)snprintf(exporter, sizeof exporter, "yarn %s", speedscope->export->version);
    yarn_json_begin_object(json, NULL);
    yarn_json_text(json, "$schema", "https://www.speedscope.app/file-format-schema.json");
    yarn_json_text(json, "exporter", exporter);
    uint32_t dump = yarn_export_main_dump(profile);
    if (dump != YARN_DUMP_NONE)
        yarn_json_text(json, "name", yarn_profile_text(profile, profile->dumps[dump].program));
    yarn_json_u64(json, "activeProfileIndex", heaviest(&speedscope->tracks));
    put_frames(speedscope);
    yarn_json_begin_array(json, "profiles");
    int err = 0;
    for (size_t i = 0; !err && i < speedscope->tracks.count; i++)
        err = put_track(speedscope, &speedscope->tracks.list[i]);
    for (size_t i = 0; !err && i < speedscope->nr_kernel; i++)
        if (!is_written(speedscope, &speedscope->kernel[i]))
            put_kernel(speedscope, &speedscope->kernel[i]);
    yarn_json_end_array(json);
    yarn_json_end_object(json);
    return err;
}

int yarn_export_speedscope(struct yarn_export *export)
{
    struct speedscope speedscope = {.export = export};
    int err = yarn_tracks_init(&speedscope.tracks, export);
    if (!err)
        err = find_kernel(&speedscope);
    if (!err)
        err = yarn_numbering_init(&speedscope.functions, export->profile->nr_functions);
    if (!err)
        err = number_frames(&speedscope);
    if (!err) {
        speedscope.json = yarn_json_new(export->file);
        err = speedscope.json ? 0 : -ENOMEM;
    }
    if (!err) {
        err = put_all(&speedscope);
        yarn_json_free(speedscope.json);
    }
    free(speedscope.path.functions);
    free(speedscope.kernel);
    free(speedscope.kernel_ns);
    yarn_numbering_fini(&speedscope.functions);
    yarn_tracks_fini(&speedscope.tracks);
    return err;
}
