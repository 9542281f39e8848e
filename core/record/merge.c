/* SPDX-License-Identifier: Apache-2.0 */
#include "core/record/merge.h"

static void peek(struct yarn_merge_source *source, const struct yarn_record_listener *listener)
{
    uint64_t before = source->ring->tail;
    switch (yarn_ring_peek(source->ring, &source->header, &source->bytes)) {
    case YARN_RING_RECORD:
        source->is_ready = true;
        source->time_ns = yarn_record_time(&source->header, &source->bytes);
        return;
    case YARN_RING_BROKEN:
        listener->malformed(listener->self, 0, (size_t)(source->ring->tail - before));
        yarn_ring_commit(source->ring);
        break;
    case YARN_RING_EMPTY:
        break;
    }
    source->is_ready = false;
}

static void take(struct yarn_merge *merge, struct yarn_merge_source *source,
                 const struct yarn_record_listener *listener)
{
    struct yarn_typed_record record;
    int err = yarn_record_decoder_decode(&merge->decoder, &source->header, &source->bytes, &record);
    if (err)
        listener->malformed(listener->self, source->header.type, source->header.size);
    else
        listener->record(listener->self, &record);
    yarn_ring_take(source->ring, &source->header);
    yarn_ring_commit(source->ring);
}

static struct yarn_merge_source *oldest(const struct yarn_merge *merge)
{
    struct yarn_merge_source *best = NULL;
    for (size_t i = 0; i < merge->count; i++) {
        struct yarn_merge_source *source = &merge->sources[i];
        if (source->is_ready && (!best || source->time_ns < best->time_ns))
            best = source;
    }
    return best;
}

static bool has_news(const struct yarn_merge *merge)
{
    for (size_t i = 0; i < merge->count; i++) {
        struct yarn_ring rest = *merge->sources[i].ring;
        struct perf_event_header header;
        struct yarn_wrapped bytes;
        while (yarn_ring_peek(&rest, &header, &bytes) == YARN_RING_RECORD) {
            if (header.type != PERF_RECORD_SAMPLE)
                return true;
            yarn_ring_take(&rest, &header);
        }
    }
    return false;
}

size_t yarn_merge_pass(struct yarn_merge *merge, uint64_t until_ns,
                       const struct yarn_record_listener *listener, bool *ret_has_news)
{
    size_t count = 0;
    for (size_t i = 0; i < merge->count; i++) {
        yarn_ring_begin(merge->sources[i].ring);
        merge->was_full |= yarn_ring_is_full(merge->sources[i].ring);
        peek(&merge->sources[i], listener);
    }
    struct yarn_merge_source *source;
    while ((source = oldest(merge)) && source->time_ns <= until_ns) {
        take(merge, source, listener);
        peek(source, listener);
        count++;
    }
    *ret_has_news = source && has_news(merge);
    return count;
}
