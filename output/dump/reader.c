/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/reader.h"

#include "output/dump/chunk_reader.h"
#include "output/dump/record_reader.h"

/* Where a chunk stands: a change begins something new. */
struct place {
    uint16_t process;
    uint16_t epoch;
};

static int enter(struct yarn_dump_record_reader *records, struct place *place,
                 const struct yarn_dump_chunk *chunk)
{
    struct place before = *place;
    *place = (struct place){chunk->process, chunk->epoch};
    if (before.process != chunk->process)
        return yarn_dump_record_reader_begin_process(records);
    if (before.epoch != chunk->epoch)
        return yarn_dump_record_reader_begin_epoch(records);
    return 0;
}

static int read_chunks(struct yarn_dump_chunk_reader *chunks,
                       struct yarn_dump_record_reader *records)
{
    struct yarn_dump_chunk chunk;
    struct yarn_span payload;
    struct place place = {0, 0};
    for (;;) {
        int result = yarn_dump_chunk_reader_next(chunks, &chunk, &payload);
        if (result <= 0)
            return result;
        if (records->visitor->chunk)
            result = records->visitor->chunk(records->self, chunks->offset);
        else
            result = 0;
        if (!result)
            result = enter(records, &place, &chunk);
        if (result)
            return result;
        result = yarn_dump_record_reader_read(records, chunk.time_ns, payload, chunks->offset);
        if (result)
            return result;
    }
}

static int read_source(struct yarn_dump_source *source, const struct yarn_dump_visitor *visitor,
                       void *self, struct yarn_dump_allowance *allowance,
                       struct yarn_dump_summary *summary)
{
    struct yarn_dump_chunk_reader chunks = {.source = source};
    struct yarn_dump_record_reader records;
    *summary = (struct yarn_dump_summary){0};
    int result = yarn_dump_chunk_reader_open(&chunks, source, summary, allowance);
    if (result)
        goto done;
    yarn_dump_record_reader_open(&records, visitor, self, summary, allowance);
    result = read_chunks(&chunks, &records);
    yarn_dump_record_reader_close(&records);

done:
    summary->file_bytes = source->offset + source->window.size;
    yarn_dump_chunk_reader_close(&chunks);
    return result;
}

int yarn_dump_read_bytes(struct yarn_span bytes, const struct yarn_dump_visitor *visitor,
                         void *self, struct yarn_dump_summary *ret_summary)
{
    struct yarn_dump_source source = yarn_dump_source_of(bytes);
    struct yarn_dump_allowance allowance;
    yarn_dump_allowance_init(&allowance);
    yarn_dump_allowance_begin(&allowance, 1);
    return read_source(&source, visitor, self, &allowance, ret_summary);
}

int yarn_dump_read_file(const char *path, const struct yarn_dump_visitor *visitor, void *self,
                        struct yarn_dump_summary *ret_summary)
{
    struct yarn_dump_allowance allowance;
    yarn_dump_allowance_init(&allowance);
    yarn_dump_allowance_begin(&allowance, 1);
    return yarn_dump_read_file_within(path, &allowance, visitor, self, ret_summary);
}

int yarn_dump_read_file_within(const char *path, struct yarn_dump_allowance *allowance,
                               const struct yarn_dump_visitor *visitor, void *self,
                               struct yarn_dump_summary *ret_summary)
{
    struct yarn_dump_source source;
    *ret_summary = (struct yarn_dump_summary){0};
    int result = yarn_dump_source_open(&source, path);
    if (result)
        return result;
    result = read_source(&source, visitor, self, allowance, ret_summary);
    yarn_dump_source_close(&source);
    return result;
}
