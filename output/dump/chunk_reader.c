/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/chunk_reader.h"

#include <stdlib.h>
#include <zstd.h>

#include "core/base/crc32c.h"
#include "output/base/array.h"

enum {
    CHUNK_HEADER_MAX = 256,
    FIRST_CHUNK_WITHIN = 1 << 20, /* of a file whose header is damaged */
    SCAN_STEP = 64 << 10,
    FILE_HEADER_MAX = 64 << 10,
};

/* Looking into damaged chunks for whole ones is given up after so much. */
static const uint64_t RESCAN_MAX = UINT64_C(256) << 20;

int yarn_dump_unpacker_open(struct yarn_dump_unpacker *unpacker)
{
    struct yarn_dump_unpacker opened = {.context = ZSTD_createDCtx()};
    if (!opened.context)
        return -ENOMEM;
    *unpacker = opened;
    return 0;
}

void yarn_dump_unpacker_close(struct yarn_dump_unpacker *unpacker)
{
    ZSTD_freeDCtx(unpacker->context);
    free(unpacker->raw);
    *unpacker = (struct yarn_dump_unpacker){.context = NULL};
}

int yarn_dump_unpacker_unpack(struct yarn_dump_unpacker *unpacker,
                              const struct yarn_dump_chunk *chunk, struct yarn_span stored,
                              struct yarn_span *ret_payload)
{
    *ret_payload = stored;
    if (chunk->codec == YARN_DUMP_CODEC_NONE)
        return chunk->raw_bytes == stored.size ? 0 : -EBADMSG;
    if (chunk->codec != YARN_DUMP_CODEC_ZSTD)
        return -EBADMSG;
    int err = YARN_ARRAY_RESERVE(&unpacker->raw, &unpacker->capacity, chunk->raw_bytes);
    if (err)
        return err;
    *ret_payload = yarn_span_of(unpacker->raw, chunk->raw_bytes);
    size_t size = ZSTD_decompressDCtx(unpacker->context, unpacker->raw, chunk->raw_bytes,
                                      stored.data, stored.size);
    return size == chunk->raw_bytes ? 0 : -EBADMSG;
}

static void add_damage(struct yarn_dump_chunk_reader *reader, uint64_t offset, uint64_t size,
                       const char *why)
{
    yarn_dump_summary_add_damage(reader->summary, offset, size, why);
    reader->is_after_damage = true;
}

/* The offset in the span of the first whole chunk header at or behind `from`, or its size. */
static size_t find_header(struct yarn_span span, size_t from)
{
    const uint32_t magic = YARN_DUMP_CHUNK_MAGIC;
    struct yarn_dump_chunk chunk;
    while (from < span.size) {
        struct yarn_span rest = yarn_span_from(span, from);
        const uint8_t *hit = memchr(rest.data, (int)(magic & 0xff), rest.size);
        if (!hit)
            return span.size;
        from += (size_t)(hit - rest.data);
        if (yarn_dump_chunk_decode(yarn_span_from(span, from), &chunk))
            return from;
        from++;
    }
    return span.size;
}

/* Passes over bytes up to the next whole chunk header; how many. False where there is none. */
static bool scan(struct yarn_dump_source *source, size_t first, uint64_t *ret_passed)
{
    yarn_dump_source_pass(source, first);
    *ret_passed = first;
    for (;;) {
        struct yarn_span ahead = yarn_dump_source_peek(source, SCAN_STEP);
        size_t at = find_header(ahead, 0);
        bool is_found = at < ahead.size;
        /* Why not all of it: a header may lie across the window's end. */
        if (!is_found && !source->at_end && at >= CHUNK_HEADER_MAX)
            at -= CHUNK_HEADER_MAX - 1;
        yarn_dump_source_pass(source, at);
        *ret_passed += at;
        if (is_found)
            return true;
        if (source->at_end && source->window.size == 0)
            return false;
    }
}

static bool begins_with_magic(struct yarn_span bytes)
{
    struct yarn_span magic = yarn_span_of_text(YARN_DUMP_MAGIC);
    size_t size = yarn_size_min(bytes.size, magic.size);
    return yarn_span_equal(yarn_span_sub(bytes, 0, size), yarn_span_sub(magic, 0, size));
}

/* A version or a size that no writer would state, whatever the checksum says. */
static bool is_wild(const struct yarn_dump_file_header *header)
{
    return !header->major || header->major > YARN_DUMP_MAJOR_MAX ||
           header->header_bytes < YARN_DUMP_FILE_HEADER_BYTES ||
           header->header_bytes > FILE_HEADER_MAX ||
           (!header->minor && header->header_bytes != YARN_DUMP_FILE_HEADER_BYTES);
}

/* Of a file that does not begin with a whole header: still a dump where a chunk follows soon. */
static int judge_headless(struct yarn_dump_chunk_reader *reader, struct yarn_span head)
{
    if (head.size < YARN_DUMP_FILE_HEADER_BYTES) {
        if (!begins_with_magic(head))
            return -ENOEXEC;
        reader->summary->is_cut = true;
        yarn_dump_source_pass(reader->source, head.size);
        return 0;
    }
    bool has_magic = begins_with_magic(head);
    struct yarn_span begin = yarn_dump_source_peek(reader->source, FIRST_CHUNK_WITHIN);
    size_t at = find_header(begin, 0);
    if (at == begin.size && !has_magic)
        return -ENOEXEC;
    reader->summary->version_major = YARN_DUMP_MAJOR;
    add_damage(reader, 0, at, "the file's header is damaged");
    yarn_dump_source_pass(reader->source, at);
    return 0;
}

static int read_file_header(struct yarn_dump_chunk_reader *reader)
{
    struct yarn_dump_file_header header;
    struct yarn_span head = yarn_dump_source_peek(reader->source, YARN_DUMP_FILE_HEADER_BYTES);
    if (!yarn_dump_file_header_decode(head, &header) || is_wild(&header))
        return judge_headless(reader, head);
    reader->summary->version_major = header.major;
    reader->summary->version_minor = header.minor;
    if (header.major != YARN_DUMP_MAJOR)
        return -ENOEXEC;
    if (header.features_needed) {
        yarn_dump_summary_add_damage(reader->summary, 0, 0,
                                     "a dump that needs a feature of later versions");
        return -ENOEXEC;
    }
    if (yarn_dump_source_peek(reader->source, header.header_bytes).size < header.header_bytes)
        return judge_headless(reader,
                              yarn_dump_source_peek(reader->source, YARN_DUMP_FILE_HEADER_BYTES));
    yarn_dump_source_pass(reader->source, header.header_bytes);
    return 0;
}

int yarn_dump_chunk_reader_open(struct yarn_dump_chunk_reader *reader,
                                struct yarn_dump_source *source, struct yarn_dump_summary *summary,
                                struct yarn_dump_allowance *allowance)
{
    struct yarn_dump_chunk_reader opened = {
        .source = source,
        .summary = summary,
        .allowance = allowance,
    };
    int err = read_file_header(&opened);
    if (source->error)
        err = source->error;
    if (err)
        return err;
    err = yarn_dump_unpacker_open(&opened.unpacker);
    if (!err)
        *reader = opened;
    return err;
}

void yarn_dump_chunk_reader_close(struct yarn_dump_chunk_reader *reader)
{
    yarn_dump_unpacker_close(&reader->unpacker);
}

/* No chunk begins where one should. */
static void pass_over_garbage(struct yarn_dump_chunk_reader *reader)
{
    const uint32_t magic = YARN_DUMP_CHUNK_MAGIC;
    uint64_t passed;
    uint64_t offset = reader->source->offset;
    struct yarn_span ahead = yarn_dump_source_peek(reader->source, CHUNK_HEADER_MAX);
    size_t size = yarn_size_min(ahead.size, sizeof magic);
    bool looks_cut =
        ahead.size < YARN_DUMP_CHUNK_HEADER_BYTES && memcmp(ahead.data, &magic, size) == 0;
    bool is_found = scan(reader->source, 1, &passed);
    if (!is_found && looks_cut) {
        reader->summary->is_cut = true;
        reader->summary->cut_at = offset;
    } else {
        add_damage(reader, offset, passed, "no chunk begins here");
    }
}

/* The file ends inside of the chunk, or its size is wrong and others follow. */
static void pass_over_incomplete(struct yarn_dump_chunk_reader *reader)
{
    uint64_t passed;
    uint64_t offset = reader->source->offset;
    if (scan(reader->source, 1, &passed)) {
        add_damage(reader, offset, passed, "a chunk is broken off");
        return;
    }
    reader->summary->is_cut = true;
    reader->summary->cut_at = offset;
}

/* Where no chunk stands behind it, bytes are missing or too many in it: then the next one may begin
 * inside. */
static void pass_over_damaged(struct yarn_dump_chunk_reader *reader, size_t whole)
{
    struct yarn_dump_chunk next;
    uint64_t passed = whole;
    uint64_t offset = reader->source->offset;
    struct yarn_span ahead =
        yarn_span_from(yarn_dump_source_peek(reader->source, whole + CHUNK_HEADER_MAX), whole);
    bool is_followed = !ahead.size || yarn_dump_chunk_decode(ahead, &next);
    if (is_followed || reader->rescanned > RESCAN_MAX) {
        yarn_dump_source_pass(reader->source, whole);
    } else {
        reader->rescanned += whole;
        (void)scan(reader->source, 1, &passed);
    }
    add_damage(reader, offset, passed, "a chunk's checksum does not fit its content");
}

/* 1: it was; 0: it cannot be, which is damage; or a negative errno. */
static int unpack(struct yarn_dump_chunk_reader *reader, const struct yarn_dump_chunk *chunk,
                  struct yarn_span stored, struct yarn_span *ret_payload)
{
    uint64_t offset = reader->source->offset;
    size_t whole = (size_t)chunk->header_bytes + chunk->stored_bytes;
    yarn_dump_allowance_earn(reader->allowance, whole);
    if (!yarn_dump_allowance_spend(reader->allowance, YARN_DUMP_BUDGET_UNPACKED, chunk->raw_bytes))
        return reader->allowance->error;
    if (!yarn_dump_chunk_is_sane(chunk)) {
        add_damage(reader, offset, whole, "a chunk would unpack to far more than it is");
        return 0;
    }
    int err = yarn_dump_unpacker_unpack(&reader->unpacker, chunk, stored, ret_payload);
    if (err != -EBADMSG)
        return err ? err : 1;
    add_damage(reader, offset, whole, "a chunk cannot be unpacked");
    return 0;
}

/* False where the chunk is not to be read: it came before, or too late. */
static bool is_in_order(struct yarn_dump_chunk_reader *reader, const struct yarn_dump_chunk *chunk,
                        size_t whole)
{
    uint64_t offset = reader->source->offset;
    if (chunk->sequence < reader->next_sequence) {
        add_damage(reader, offset, whole, "a chunk stands out of its order");
        return false;
    }
    if (chunk->sequence > reader->next_sequence && !reader->is_after_damage)
        add_damage(reader, offset, 0, "chunks are missing before this one");
    reader->next_sequence = chunk->sequence + 1;
    reader->is_after_damage = false;
    return true;
}

/* What lies ahead: 1 a chunk, 0 nothing that can be used (it was skipped), or an errno. */
static int try_next(struct yarn_dump_chunk_reader *reader, struct yarn_dump_chunk *ret_chunk,
                    struct yarn_span *ret_payload)
{
    struct yarn_dump_chunk chunk;
    struct yarn_dump_source *source = reader->source;
    if (!yarn_dump_chunk_decode(yarn_dump_source_peek(source, CHUNK_HEADER_MAX), &chunk)) {
        pass_over_garbage(reader);
        return 0;
    }
    size_t whole = (size_t)chunk.header_bytes + chunk.stored_bytes;
    struct yarn_span stored = yarn_dump_source_peek(source, whole);
    if (stored.size < whole) {
        pass_over_incomplete(reader);
        return 0;
    }
    reader->whole = yarn_span_sub(stored, 0, whole);
    stored = yarn_span_sub(stored, chunk.header_bytes, chunk.stored_bytes);
    if (yarn_crc32c(0, stored) != chunk.payload_crc) {
        pass_over_damaged(reader, whole);
        return 0;
    }
    int result =
        is_in_order(reader, &chunk, whole) ? unpack(reader, &chunk, stored, ret_payload) : 0;
    reader->offset = source->offset;
    yarn_dump_source_pass(source, whole);
    *ret_chunk = chunk;
    return result;
}

int yarn_dump_chunk_reader_next(struct yarn_dump_chunk_reader *reader,
                                struct yarn_dump_chunk *ret_chunk, struct yarn_span *ret_payload)
{
    int result = 0;
    while (!result && yarn_dump_source_peek(reader->source, 1).size)
        result = try_next(reader, ret_chunk, ret_payload);
    if (reader->source->error)
        return reader->source->error;
    if (result > 0)
        reader->summary->chunks++;
    return result;
}
