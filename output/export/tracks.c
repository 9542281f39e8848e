/* SPDX-License-Identifier: Apache-2.0 */
#include "output/export/tracks.h"

#include <stdlib.h>

#include "output/analysis/array.h"

static int find_or_add(struct yarn_tracks *tracks, struct yarn_table *index,
                       const struct yarn_export_sample *sample, uint32_t *ret_track)
{
    uint64_t key = (uint64_t)sample->thread << 16 | sample->event;
    uint32_t found = yarn_table_find(index, key);
    if (found == YARN_TABLE_NONE) {
        struct yarn_track *list =
            yarn_array_grow(tracks->list, &tracks->capacity, tracks->count + 1, sizeof *list);
        if (!list)
            return -ENOMEM;
        tracks->list = list;
        found = (uint32_t)tracks->count++;
        list[found] = (struct yarn_track){.thread = sample->thread, .event = sample->event};
        int err = yarn_table_put(index, key, found);
        if (err)
            return err;
    }
    *ret_track = found;
    return 0;
}

static int compare(const void *a, const void *b)
{
    const struct yarn_track *one = a, *other = b;
    if (one->thread != other->thread)
        return one->thread < other->thread ? -1 : 1;
    return one->event < other->event ? -1 : one->event > other->event;
}

static int count_samples(struct yarn_tracks *tracks, struct yarn_table *index,
                         const struct yarn_export *export)
{
    struct yarn_export_samples samples = YARN_EXPORT_SAMPLES(export);
    struct yarn_export_sample sample;
    while (yarn_export_next(&samples, &sample)) {
        uint32_t track;
        int err = find_or_add(tracks, index, &sample, &track);
        if (err)
            return err;
        tracks->list[track].count++;
        tracks->list[track].weight += sample.weight;
        tracks->list[track].comm = sample.comm;
    }
    return 0;
}

/* After sorting, the index leads to where a track is now and how far it is filled. */
static int fill_order(struct yarn_tracks *tracks, struct yarn_table *index,
                      const struct yarn_export *export)
{
    struct yarn_export_samples samples = YARN_EXPORT_SAMPLES(export);
    struct yarn_export_sample sample;
    size_t *filled = calloc(tracks->count + 1, sizeof *filled);
    size_t first = 0;
    int err = filled ? 0 : -ENOMEM;
    yarn_table_clear(index);
    for (size_t i = 0; !err && i < tracks->count; i++) {
        struct yarn_track *track = &tracks->list[i];
        track->first = first;
        first += track->count;
        err = yarn_table_put(index, (uint64_t)track->thread << 16 | track->event, (uint32_t)i);
    }
    tracks->order = calloc(first + 1, sizeof *tracks->order);
    if (!err && !tracks->order)
        err = -ENOMEM;
    while (!err && yarn_export_next(&samples, &sample)) {
        uint32_t track;
        err = find_or_add(tracks, index, &sample, &track);
        if (!err)
            tracks->order[tracks->list[track].first + filled[track]++] = (uint32_t)samples.at - 1;
    }
    free(filled);
    return err;
}

int yarn_tracks_init(struct yarn_tracks *tracks, const struct yarn_export *export)
{
    struct yarn_table index = YARN_TABLE_CLOSED;
    *tracks = (struct yarn_tracks){0};
    int err = yarn_table_open(&index, 64, (size_t)1 << 31);
    if (!err)
        err = count_samples(tracks, &index, export);
    if (!err) {
        if (tracks->count)
            qsort(tracks->list, tracks->count, sizeof *tracks->list, compare);
        err = fill_order(tracks, &index, export);
    }
    yarn_table_close(&index);
    if (err)
        yarn_tracks_fini(tracks);
    return err;
}

void yarn_tracks_fini(struct yarn_tracks *tracks)
{
    free(tracks->list);
    free(tracks->order);
    *tracks = (struct yarn_tracks){0};
}

struct yarn_export_sample yarn_track_sample(const struct yarn_tracks *tracks,
                                            const struct yarn_track *track,
                                            const struct yarn_export *export, size_t n)
{
    struct yarn_export_samples samples = {export, tracks->order[track->first + n]};
    struct yarn_export_sample sample = {0};
    /* It passed before, so it does now. */
    (void)yarn_export_next(&samples, &sample);
    return sample;
}

void yarn_track_name(const struct yarn_track *track, const struct yarn_export *export,
                     char *ret_text, size_t size)
{
    const struct yarn_profile *profile = export->profile;
    const struct yarn_profile_thread *thread = &profile->threads[track->thread];
    bool is_only = profile->nr_events < 2;
    (void)snprintf(ret_text, size, "%.64s %u/%u%s%.64s", yarn_profile_text(profile, track->comm),
                   profile->dumps[thread->dump].process.pid, thread->tid, is_only ? "" : " ",
                   is_only ? "" : yarn_profile_text(profile, profile->events[track->event].name));
}
