/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/unpacker.h"

#include <stdlib.h>
#include <zstd.h>

int yarn_dump_unpacker_open(struct yarn_dump_unpacker *unpacker)
{
    struct yarn_dump_unpacker opened = {.context = ZSTD_createDCtx()};
    if (!opened.context || ZSTD_isError(ZSTD_DCtx_setParameter(opened.context, ZSTD_d_windowLogMax,
                                                               YARN_DUMP_WINDOW_LOG))) {
        yarn_dump_unpacker_close(&opened);
        return -ENOMEM;
    }
    *unpacker = opened;
    return 0;
}

void yarn_dump_unpacker_close(struct yarn_dump_unpacker *unpacker)
{
    ZSTD_freeDCtx(unpacker->context);
    free(unpacker->raw);
    *unpacker = (struct yarn_dump_unpacker){.context = NULL};
}

void yarn_dump_unpacker_forget(struct yarn_dump_unpacker *unpacker)
{
    unpacker->is_in_series = false;
}

static int make_room(struct yarn_dump_unpacker *unpacker, size_t size)
{
    if (size <= unpacker->capacity)
        return 0;
    uint8_t *bigger = realloc(unpacker->raw, size);
    if (!bigger)
        return -ENOMEM;
    unpacker->raw = bigger;
    unpacker->capacity = size;
    return 0;
}

static int unpack_whole(struct yarn_dump_unpacker *unpacker, const struct yarn_dump_chunk *chunk,
                        struct yarn_span stored)
{
    size_t size = ZSTD_decompressDCtx(unpacker->context, unpacker->raw, chunk->raw_bytes,
                                      stored.data, stored.size);
    return size == chunk->raw_bytes ? 0 : -EBADMSG;
}

/* There is room for one byte more than there should be: what does not come out here would come out
 * in front of the next piece. */
static int unpack_piece(struct yarn_dump_unpacker *unpacker, struct yarn_span piece, size_t size)
{
    ZSTD_inBuffer in = {.src = piece.data, .size = piece.size};
    ZSTD_outBuffer out = {.dst = unpacker->raw, .size = size + 1};
    size_t before = SIZE_MAX;
    while (in.pos < in.size && in.pos + out.pos != before && out.pos <= size) {
        before = in.pos + out.pos;
        size_t hint = ZSTD_decompressStream(unpacker->context, &out, &in);
        if (ZSTD_isError(hint) || hint == 0)
            return -EBADMSG;
    }
    return in.pos == in.size && out.pos == size ? 0 : -EBADMSG;
}

static bool is_continued(const struct yarn_dump_unpacker *unpacker,
                         const struct yarn_dump_chunk *chunk)
{
    return unpacker->is_in_series && chunk->sequence == unpacker->sequence + 1 &&
           chunk->process == unpacker->process;
}

/* A piece of the frame, told its size, and behind it what is stored as it is. */
static int unpack_in_series(struct yarn_dump_unpacker *unpacker,
                            const struct yarn_dump_chunk *chunk, struct yarn_span stored)
{
    struct yarn_cursor cursor = yarn_cursor_of(stored);
    uint32_t size = yarn_cursor_u16(&cursor);
    size |= (uint32_t)yarn_cursor_u8(&cursor) << 16;
    struct yarn_span piece = yarn_cursor_span(&cursor, size);
    size_t rest = yarn_cursor_left(&cursor);
    if (cursor.failed || rest > chunk->raw_bytes)
        return -EBADMSG;
    if (chunk->codec == YARN_DUMP_CODEC_SERIES_BEGIN)
        (void)ZSTD_DCtx_reset(unpacker->context, ZSTD_reset_session_only);
    int err = unpack_piece(unpacker, piece, chunk->raw_bytes - rest);
    if (err)
        return err;
    yarn_cursor_read(&cursor, unpacker->raw + chunk->raw_bytes - rest, rest);
    unpacker->is_in_series = true;
    unpacker->sequence = chunk->sequence;
    unpacker->process = chunk->process;
    return 0;
}

int yarn_dump_unpacker_unpack(struct yarn_dump_unpacker *unpacker,
                              const struct yarn_dump_chunk *chunk, struct yarn_span stored,
                              struct yarn_span *ret_payload)
{
    int err = make_room(unpacker, (size_t)chunk->raw_bytes + 1);
    if (err)
        return err;
    *ret_payload = yarn_span_of(unpacker->raw, chunk->raw_bytes);
    bool continues = is_continued(unpacker, chunk);
    unpacker->is_in_series = false;
    if (yarn_dump_codec_continues(chunk->codec) && !continues)
        return -ESTALE;
    switch (chunk->codec) {
    case YARN_DUMP_CODEC_NONE:
    case YARN_DUMP_CODEC_SERIES_PLAIN:
        *ret_payload = stored;
        return chunk->raw_bytes == chunk->stored_bytes ? 0 : -EBADMSG;
    case YARN_DUMP_CODEC_ZSTD:
        return unpack_whole(unpacker, chunk, stored);
    case YARN_DUMP_CODEC_SERIES_BEGIN:
    case YARN_DUMP_CODEC_SERIES_NEXT:
        return unpack_in_series(unpacker, chunk, stored);
    default:
        return -EBADMSG;
    }
}
