/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/reader.h"

/* Resets what a chunk begins anew. */
static int enter(struct yarn_dump_reader *reader, const struct yarn_dump_chunk *chunk)
{
    struct yarn_dump_record_reader *records = &reader->records;
    bool is_other_process = reader->process != chunk->process;
    bool is_other_epoch = reader->epoch != chunk->epoch;
    reader->process = chunk->process;
    reader->epoch = chunk->epoch;
    if (is_other_process)
        return yarn_dump_record_reader_begin_process(records);
    return is_other_epoch ? yarn_dump_record_reader_begin_epoch(records) : 0;
}

static int begin_chunk(struct yarn_dump_reader *reader, bool *ret_is_end)
{
    struct yarn_dump_chunk chunk;
    struct yarn_span payload;
    const struct yarn_dump_visitor *visitor = reader->records.visitor;
    int result = yarn_dump_chunk_reader_next(&reader->chunks, &chunk, &payload);
    *ret_is_end = result == 0;
    if (result <= 0)
        return result;
    yarn_dump_record_reader_begin(&reader->records, chunk.time_ns, payload, reader->chunks.offset);
    result = visitor->chunk ? visitor->chunk(reader->records.self, reader->chunks.offset) : 0;
    return result ? result : enter(reader, &chunk);
}

int yarn_dump_reader_next(struct yarn_dump_reader *reader, bool *ret_is_end)
{
    *ret_is_end = false;
    if (yarn_dump_record_reader_has_more(&reader->records))
        return yarn_dump_record_reader_next(&reader->records);
    return begin_chunk(reader, ret_is_end);
}

/* Takes the source, also where it fails. */
static int open_source(struct yarn_dump_reader *reader, struct yarn_dump_source source,
                       const struct yarn_dump_visitor *visitor, void *self,
                       struct yarn_dump_summary *summary)
{
    *reader = (struct yarn_dump_reader){.source = source};
    yarn_dump_allowance_init(&reader->allowance);
    int result =
        yarn_dump_chunk_reader_open(&reader->chunks, &reader->source, summary, &reader->allowance);
    yarn_dump_record_reader_open(&reader->records, visitor, self, summary, &reader->allowance);
    if (result)
        yarn_dump_reader_close(reader);
    return result;
}

int yarn_dump_reader_open(struct yarn_dump_reader *reader, const char *path,
                          const struct yarn_dump_visitor *visitor, void *self,
                          struct yarn_dump_summary *summary)
{
    struct yarn_dump_source source;
    *summary = (struct yarn_dump_summary){0};
    int result = yarn_dump_source_open(&source, path);
    return result ? result : open_source(reader, source, visitor, self, summary);
}

void yarn_dump_reader_close(struct yarn_dump_reader *reader)
{
    if (reader->records.summary)
        reader->records.summary->file_bytes = reader->source.offset + reader->source.window.size;
    yarn_dump_record_reader_close(&reader->records);
    yarn_dump_chunk_reader_close(&reader->chunks);
    yarn_dump_source_close(&reader->source);
}

static int read_all(struct yarn_dump_reader *reader)
{
    bool is_end = false;
    int result = 0;
    while (!result && !is_end)
        result = yarn_dump_reader_next(reader, &is_end);
    yarn_dump_reader_close(reader);
    return result;
}

int yarn_dump_read_bytes(struct yarn_span bytes, const struct yarn_dump_visitor *visitor,
                         void *self, struct yarn_dump_summary *ret_summary)
{
    struct yarn_dump_reader reader;
    *ret_summary = (struct yarn_dump_summary){0};
    int result = open_source(&reader, yarn_dump_source_of(bytes), visitor, self, ret_summary);
    return result ? result : read_all(&reader);
}

int yarn_dump_read_file(const char *path, const struct yarn_dump_visitor *visitor, void *self,
                        struct yarn_dump_summary *ret_summary)
{
    struct yarn_dump_reader reader;
    int result = yarn_dump_reader_open(&reader, path, visitor, self, ret_summary);
    return result ? result : read_all(&reader);
}
