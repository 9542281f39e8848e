/* SPDX-License-Identifier: Apache-2.0 */
#include "output/export/tracks.h"

#include <stdlib.h>

#include "output/base/array.h"

static struct yarn_track *add(struct yarn_tracks *tracks, const struct yarn_export_sample *sample,
                              size_t first)
{
    if (YARN_ARRAY_RESERVE(&tracks->list, &tracks->capacity, tracks->count + 1))
        return NULL;
    tracks->list[tracks->count] =
        (struct yarn_track){.thread = sample->thread, .event = sample->event, .first = first};
    return &tracks->list[tracks->count++];
}

int yarn_tracks_init(struct yarn_tracks *tracks, const struct yarn_export *export)
{
    struct yarn_export_samples samples = YARN_EXPORT_SAMPLES(export);
    struct yarn_export_sample sample;
    struct yarn_track *track = NULL;
    *tracks = (struct yarn_tracks){0};
    while (yarn_export_next(&samples, &sample)) {
        if (!track || track->thread != sample.thread || track->event != sample.event)
            track = add(tracks, &sample, samples.at - 1);
        if (!track) {
            yarn_tracks_fini(tracks);
            return -ENOMEM;
        }
        track->count++;
        track->weight += sample.weight;
        track->comm = sample.comm;
    }
    return 0;
}

void yarn_tracks_fini(struct yarn_tracks *tracks)
{
    free(tracks->list);
    *tracks = (struct yarn_tracks){0};
}

void yarn_track_name(const struct yarn_track *track, const struct yarn_export *export,
                     char *ret_text, size_t size)
{
    const struct yarn_profile *profile = export->profile;
    const struct yarn_profile_thread *thread = &profile->threads[track->thread];
    const struct yarn_profile_dump *dump = &profile->dumps[thread->dump];
    char process[128] = "";
    bool is_only = profile->nr_events < 2;
    if (profile->nr_dumps > 1)
        (void)snprintf(process, sizeof process, " of %.64s %u",
                       yarn_profile_text(profile, dump->program), dump->process.pid);
    (void)snprintf(ret_text, size, "%.64s %u%s%s%.64s", yarn_profile_text(profile, track->comm),
                   thread->tid, process, is_only ? "" : " ",
                   is_only ? "" : yarn_profile_text(profile, profile->events[track->event].name));
}
