/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/merger.h"

#include <stdlib.h>
#include <zstd.h>

#include "core/base/bytes.h"
#include "core/base/crc32c.h"
#include "core/sys/file.h"
#include "output/base/array.h"
#include "output/dump/chunk_reader.h"
#include "output/dump/column.h"
#include "output/dump/source.h"

enum {
    LEVEL = 3,
    FROM_TEXT_MAX = 4096, /* of each of its texts */
    FROM_BYTES = 3 * FROM_TEXT_MAX,
    TEXTS_AT_ONCE = 128, /* and names in a chunk */
    FIELDS_BYTES = 256,
    TEXTS_BYTES = 64 << 10,
    NAMES_BYTES = 2 * TEXTS_BYTES,
};
_Static_assert(TEXTS_BYTES > FROM_BYTES, "and those of a FROM");

/* One dump that is being taken over. */
struct taken {
    struct yarn_dump_summary *summary;
    const char *path;
    uint64_t file_bytes;
    size_t nr_damages;      /* that belong to processes before */
    uint64_t damaged_bytes; /* as many */
    bool is_at_end;
};

/* Where the records of a process's last chunk begin and end. */
struct tail {
    size_t end_at; /* of the END record, which is the last; or the payload's size */
    bool has_from;
};

int yarn_dump_merger_open(struct yarn_dump_merger *merger, uint16_t minor, yarn_dump_put_fn *put,
                          void *self)
{
    uint8_t bytes[YARN_DUMP_FILE_HEADER_BYTES];
    const struct yarn_dump_file_header header = {
        .major = YARN_DUMP_MAJOR,
        .minor = minor > YARN_DUMP_MINOR ? minor : YARN_DUMP_MINOR,
        .header_bytes = sizeof bytes,
    };
    yarn_dump_file_header_encode(&header, bytes);
    *merger = (struct yarn_dump_merger){.put = put, .self = self};
    yarn_dump_allowance_init(&merger->allowance);
    return put(self, yarn_span_of(bytes, sizeof bytes));
}

void yarn_dump_merger_close(struct yarn_dump_merger *merger)
{
    free(merger->held.whole);
    free(merger->held.payload);
    free(merger->scratch);
    *merger = (struct yarn_dump_merger){.put = NULL};
}

static int copy(uint8_t **bytes, size_t *capacity, struct yarn_span from)
{
    int err = YARN_ARRAY_RESERVE(bytes, capacity, from.size);
    if (!err && from.size)
        memcpy(*bytes, from.data, from.size);
    return err;
}

static int hold(struct yarn_dump_held *held, const struct yarn_dump_chunk *chunk,
                struct yarn_span whole, struct yarn_span payload)
{
    int err = copy(&held->whole, &held->whole_capacity, whole);
    if (!err)
        err = copy(&held->payload, &held->payload_capacity, payload);
    if (err)
        return err;
    held->chunk = *chunk;
    held->whole_bytes = whole.size;
    held->payload_bytes = payload.size;
    held->is_there = true;
    return 0;
}

static void place(struct yarn_dump_merger *merger, struct yarn_dump_chunk *chunk)
{
    chunk->sequence = merger->sequence++;
    chunk->process = (uint16_t)(merger->nr_processes - 1);
}

static int put_held(struct yarn_dump_merger *merger)
{
    struct yarn_dump_held *held = &merger->held;
    if (!held->is_there)
        return 0;
    held->is_there = false;
    place(merger, &held->chunk);
    yarn_dump_chunk_move(held->whole, &held->chunk);
    return merger->put(merger->self, yarn_span_of(held->whole, held->whole_bytes));
}

/* A chunk of these records, with the base time of `like`. */
static int put_records(struct yarn_dump_merger *merger, struct yarn_span records,
                       const struct yarn_dump_chunk *like, uint16_t epoch)
{
    struct yarn_dump_chunk chunk = {
        .epoch = epoch,
        .time_ns = like->time_ns,
        .raw_bytes = (uint32_t)records.size,
        .header_bytes = YARN_DUMP_CHUNK_HEADER_BYTES,
        .codec = YARN_DUMP_CODEC_ZSTD,
    };
    size_t room = ZSTD_compressBound(records.size);
    int err =
        YARN_ARRAY_RESERVE(&merger->scratch, &merger->scratch_capacity, chunk.header_bytes + room);
    if (err)
        return err;
    uint8_t *payload = merger->scratch + chunk.header_bytes;
    size_t size = ZSTD_compress(payload, room, records.data, records.size, LEVEL);
    chunk.stored_bytes = (uint32_t)size;
    if (ZSTD_isError(size) || size >= records.size || !yarn_dump_chunk_is_sane(&chunk)) {
        chunk.codec = YARN_DUMP_CODEC_NONE;
        size = records.size;
        memcpy(payload, records.data, size);
    }
    chunk.stored_bytes = (uint32_t)size;
    chunk.payload_crc = yarn_crc32c(0, yarn_span_of(payload, size));
    place(merger, &chunk);
    yarn_dump_chunk_encode(&chunk, merger->scratch);
    return merger->put(merger->self, yarn_span_of(merger->scratch, chunk.header_bytes + size));
}

static struct tail find_tail(struct yarn_span payload)
{
    struct tail tail = {.end_at = payload.size};
    struct yarn_cursor cursor = yarn_cursor_of(payload);
    while (yarn_cursor_left(&cursor)) {
        size_t at = cursor.at;
        uint64_t type = yarn_cursor_uleb(&cursor);
        yarn_cursor_skip(&cursor, yarn_cursor_uleb(&cursor));
        if (cursor.failed)
            break;
        tail.has_from = tail.has_from || type == YARN_DUMP_RECORD_FROM;
        tail.end_at = type == YARN_DUMP_RECORD_END ? at : payload.size;
    }
    return tail;
}

static void add_record(struct yarn_byte_buffer *bytes, enum yarn_dump_record record,
                       const struct yarn_byte_buffer *payload)
{
    yarn_bytes_uleb(bytes, record);
    yarn_bytes_sized(bytes, yarn_bytes_span(payload));
}

/* Texts that are the first of their epoch, up to TEXTS_AT_ONCE. */
static void add_texts(struct yarn_byte_buffer *bytes, const struct yarn_span *texts, size_t count,
                      uint64_t *ret_references)
{
    uint8_t data[TEXTS_BYTES];
    uint64_t nr_strings = 0, scratch[TEXTS_AT_ONCE];
    struct yarn_dump_string_row rows[TEXTS_AT_ONCE];
    struct yarn_byte_buffer payload = yarn_bytes_of(data, sizeof data);
    for (size_t i = 0; i < count; i++) {
        ret_references[i] = texts[i].size ? nr_strings + 1 : 0;
        if (texts[i].size)
            rows[nr_strings++].size = (uint32_t)texts[i].size;
    }
    if (!nr_strings)
        return;
    yarn_bytes_uleb(&payload, 0);
    yarn_bytes_uleb(&payload, nr_strings);
    yarn_dump_columns_encode(&payload, YARN_DUMP_RECORD_STRINGS, rows, nr_strings, 0, scratch);
    for (size_t i = 0; i < count; i++)
        yarn_bytes_put(&payload, texts[i].data, texts[i].size);
    add_record(bytes, YARN_DUMP_RECORD_STRINGS, &payload);
}

static struct yarn_span text_of(const char *text)
{
    struct yarn_span whole = yarn_span_of_text(text);
    return yarn_span_sub(whole, 0, yarn_size_min(whole.size, FROM_TEXT_MAX));
}

static struct yarn_dump_from describe(const struct taken *taken)
{
    const struct yarn_dump_summary *summary = taken->summary;
    struct yarn_dump_from from = {
        .path = text_of(taken->path),
        .file_bytes = taken->file_bytes,
        .nr_damages = summary->nr_damages - taken->nr_damages,
        .damaged_bytes = summary->damaged_bytes - taken->damaged_bytes,
        .is_cut = taken->is_at_end && summary->is_cut,
        .cut_at = taken->is_at_end && summary->is_cut ? summary->cut_at : 0,
    };
    if (from.nr_damages && taken->nr_damages < YARN_COUNT_OF(summary->damages)) {
        from.damage_at = summary->damages[taken->nr_damages].offset;
        from.damage = text_of(summary->damages[taken->nr_damages].why);
    }
    return from;
}

static int put_from(struct yarn_dump_merger *merger, const struct yarn_dump_from *from,
                    struct yarn_span end)
{
    uint8_t data[2 * FROM_BYTES], fields_data[FIELDS_BYTES];
    struct yarn_span texts[YARN_DUMP_TEXTS_MAX];
    uint64_t references[YARN_DUMP_TEXTS_MAX];
    struct yarn_byte_buffer records = yarn_bytes_of(data, sizeof data);
    struct yarn_byte_buffer fields = yarn_bytes_of(fields_data, sizeof fields_data);
    size_t nr_texts = yarn_dump_fields_texts(YARN_DUMP_RECORD_FROM, from, texts);
    add_texts(&records, texts, nr_texts, references);
    yarn_dump_fields_encode(&fields, YARN_DUMP_RECORD_FROM, from, references, 0);
    add_record(&records, YARN_DUMP_RECORD_FROM, &fields);
    if (yarn_bytes_room(&records) < end.size)
        return -E2BIG;
    yarn_bytes_put(&records, end.data, end.size);
    const struct yarn_dump_chunk *like = &merger->held.chunk;
    return put_records(merger, yarn_bytes_span(&records), like, (uint16_t)(like->epoch + 1));
}

/* The first of these names, in an epoch of their own; how many. */
static size_t add_names(struct yarn_byte_buffer *records, const struct yarn_dump_code_name *names,
                        size_t nr_names)
{
    struct yarn_span texts[TEXTS_AT_ONCE];
    uint64_t references[TEXTS_AT_ONCE];
    uint8_t data[FIELDS_BYTES];
    size_t count = 0, room = TEXTS_BYTES / 2;
    while (count < yarn_size_min(nr_names, TEXTS_AT_ONCE)) {
        texts[count] = yarn_span_sub(names[count].name, 0,
                                     yarn_size_min(names[count].name.size, FROM_TEXT_MAX));
        if (texts[count].size > room)
            break;
        room -= texts[count++].size;
    }
    add_texts(records, texts, count, references);
    for (size_t i = 0; i < count; i++) {
        struct yarn_byte_buffer fields = yarn_bytes_of(data, sizeof data);
        yarn_dump_fields_encode(&fields, YARN_DUMP_RECORD_CODE_NAME, &names[i], &references[i], 0);
        add_record(records, YARN_DUMP_RECORD_CODE_NAME, &fields);
    }
    return count;
}

/* Each chunk of names is an epoch. */
static int put_names(struct yarn_dump_merger *merger)
{
    uint8_t data[NAMES_BYTES];
    struct yarn_dump_held *held = &merger->held;
    struct yarn_span payload = yarn_span_of(held->payload, held->payload_bytes);
    struct tail tail = find_tail(payload);
    struct yarn_span end = yarn_span_from(payload, tail.end_at);
    struct yarn_dump_chunk like = held->chunk;
    if (!end.size || end.size > FROM_BYTES)
        return -EINVAL;
    int err = tail.end_at
                  ? put_records(merger, yarn_span_sub(payload, 0, tail.end_at), &like, like.epoch)
                  : 0;
    for (size_t at = 0; !err && at < merger->nr_names;) {
        struct yarn_byte_buffer records = yarn_bytes_of(data, sizeof data);
        at += add_names(&records, &merger->names[at], merger->nr_names - at);
        if (at == merger->nr_names)
            yarn_bytes_put(&records, end.data, end.size);
        err = put_records(merger, yarn_bytes_span(&records), &like, ++like.epoch);
    }
    held->is_there = false;
    return err;
}

/* Why an END goes behind FROM: what follows it would take it back. */
static int end_process(struct yarn_dump_merger *merger, struct taken *taken)
{
    struct yarn_dump_held *held = &merger->held;
    struct yarn_span payload = yarn_span_of(held->payload, held->payload_bytes);
    struct tail tail = find_tail(payload);
    struct yarn_span end = yarn_span_from(payload, tail.end_at);
    struct yarn_dump_from from = describe(taken);
    int err = 0;
    if (merger->nr_names)
        return put_names(merger);
    taken->nr_damages = taken->summary->nr_damages;
    taken->damaged_bytes = taken->summary->damaged_bytes;
    if (tail.has_from && !from.nr_damages && !from.is_cut)
        return put_held(merger);
    if (end.size > FROM_BYTES || !end.size) {
        err = put_held(merger);
        end = YARN_SPAN_EMPTY;
    } else if (tail.end_at) {
        err = put_records(merger, yarn_span_sub(payload, 0, tail.end_at), &held->chunk,
                          held->chunk.epoch);
    }
    held->is_there = false;
    return err ? err : put_from(merger, &from, end);
}

static int begin_process(struct yarn_dump_merger *merger)
{
    if (merger->nr_processes == YARN_DUMP_PROCESSES_MAX)
        return -EOVERFLOW;
    merger->nr_processes++;
    merger->held.chunk = (struct yarn_dump_chunk){.header_bytes = YARN_DUMP_CHUNK_HEADER_BYTES};
    merger->held.payload_bytes = 0;
    merger->held.is_there = false;
    return 0;
}

static int take_chunks(struct yarn_dump_merger *merger, struct yarn_dump_chunk_reader *chunks,
                       struct taken *taken)
{
    struct yarn_dump_chunk chunk;
    struct yarn_span payload;
    uint16_t process = 0;
    int err = begin_process(merger);
    while (!err) {
        int result = yarn_dump_chunk_reader_next(chunks, &chunk, &payload);
        if (result < 0)
            return result;
        if (!result)
            break;
        bool is_another = merger->held.is_there && chunk.process != process;
        process = chunk.process;
        err = is_another ? end_process(merger, taken) : put_held(merger);
        if (!err && is_another)
            err = begin_process(merger);
        if (!err)
            err = hold(&merger->held, &chunk, chunks->whole, payload);
    }
    taken->is_at_end = true;
    return err ? err : end_process(merger, taken);
}

static int add(struct yarn_dump_merger *merger, const char *path, uint64_t file_bytes,
               struct yarn_dump_source *source, struct yarn_dump_summary *summary)
{
    struct taken taken = {.summary = summary, .path = path, .file_bytes = file_bytes};
    struct yarn_dump_chunk_reader chunks = {.source = source};
    int err = yarn_dump_chunk_reader_open(&chunks, source, summary, &merger->allowance);
    if (!err)
        err = take_chunks(merger, &chunks, &taken);
    yarn_dump_chunk_reader_close(&chunks);
    summary->file_bytes = source->offset + source->window.size;
    return err;
}

int yarn_dump_merger_add_file(struct yarn_dump_merger *merger, const char *path,
                              struct yarn_dump_summary *ret_summary)
{
    struct yarn_dump_source source;
    *ret_summary = (struct yarn_dump_summary){0};
    int err = yarn_dump_source_open(&source, path);
    if (err)
        return err;
    struct yarn_file_info info;
    err = yarn_file_stat(source.fd, &info);
    if (!err)
        err = add(merger, path, info.size_bytes, &source, ret_summary);
    yarn_dump_source_close(&source);
    return err;
}

int yarn_dump_merger_add_bytes(struct yarn_dump_merger *merger, const char *path,
                               struct yarn_span bytes, struct yarn_dump_summary *ret_summary)
{
    struct yarn_dump_source source = yarn_dump_source_of(bytes);
    *ret_summary = (struct yarn_dump_summary){0};
    return add(merger, path, bytes.size, &source, ret_summary);
}
