/* SPDX-License-Identifier: Apache-2.0 */
#include "output/export/firefox_notes.h"

#include <stdlib.h>

#include "output/store/array.h"

static uint64_t key_of(uint32_t dump, uint32_t tid)
{
    return (uint64_t)dump << 32 | tid;
}

/* The first track of each thread, and of each dump as of thread 0. */
static int index_tracks(const struct yarn_profile *profile, const struct yarn_tracks *tracks,
                        struct yarn_table *index)
{
    int err = 0;
    for (size_t i = tracks->count; !err && i-- > 0;) {
        const struct yarn_profile_thread *thread = &profile->threads[tracks->list[i].thread];
        err = yarn_table_put(index, key_of(thread->dump, thread->tid), (uint32_t)i);
        if (!err)
            err = yarn_table_put(index, key_of(thread->dump, 0), (uint32_t)i);
    }
    return err;
}

static int add(struct yarn_firefox_notes *notes, const struct yarn_profile *profile,
               const struct yarn_table *index, uint32_t dump, uint32_t message)
{
    const struct yarn_dump_message *said = &profile->dumps[dump].messages[message];
    uint32_t track = yarn_table_find(index, key_of(dump, said->tid));
    if (track == YARN_TABLE_NONE)
        track = yarn_table_find(index, key_of(dump, 0));
    if (track == YARN_TABLE_NONE || said->kind == YARN_DUMP_MESSAGE_DEBUG)
        return 0;
    return YARN_ARRAY_PUT(&notes->list, &notes->count, &notes->capacity,
                          &(struct yarn_firefox_note){track, dump, said});
}

static int by_track(const void *a, const void *b)
{
    const struct yarn_firefox_note *one = a, *other = b;
    if (one->track != other->track)
        return one->track < other->track ? -1 : 1;
    return one->dump != other->dump        ? (one->dump < other->dump ? -1 : 1)
           : one->message < other->message ? -1
                                           : one->message > other->message;
}

int yarn_firefox_notes_init(struct yarn_firefox_notes *notes, const struct yarn_profile *profile,
                            const struct yarn_tracks *tracks)
{
    struct yarn_table index = YARN_TABLE_CLOSED;
    int err = yarn_table_open(&index, 1024, (size_t)1 << 31);
    if (!err)
        err = index_tracks(profile, tracks, &index);
    for (uint32_t dump = 0; !err && dump < profile->nr_dumps; dump++) {
        for (uint32_t i = 0; !err && i < profile->dumps[dump].nr_messages; i++)
            err = add(notes, profile, &index, dump, i);
    }
    if (notes->count)
        qsort(notes->list, notes->count, sizeof *notes->list, by_track);
    yarn_table_close(&index);
    return err;
}

struct yarn_firefox_note *yarn_firefox_notes_take(struct yarn_firefox_notes *notes, uint32_t track,
                                                  size_t *ret_count)
{
    size_t first = notes->nr_taken;
    while (notes->nr_taken < notes->count && notes->list[notes->nr_taken].track == track)
        notes->nr_taken++;
    *ret_count = notes->nr_taken - first;
    return *ret_count ? &notes->list[first] : NULL;
}

void yarn_firefox_notes_fini(struct yarn_firefox_notes *notes)
{
    free(notes->list);
    *notes = (struct yarn_firefox_notes){0};
}
