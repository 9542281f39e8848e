/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/unpacker.h"

#include <stdlib.h>
#include <zstd.h>

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

int yarn_dump_unpacker_unpack(struct yarn_dump_unpacker *unpacker,
                              const struct yarn_dump_chunk *chunk, struct yarn_span stored,
                              struct yarn_span *ret_payload)
{
    *ret_payload = stored;
    if (chunk->codec == YARN_DUMP_CODEC_NONE)
        return chunk->raw_bytes == stored.size ? 0 : -EBADMSG;
    if (chunk->codec != YARN_DUMP_CODEC_ZSTD)
        return -EBADMSG;
    int err = make_room(unpacker, chunk->raw_bytes);
    if (err)
        return err;
    *ret_payload = yarn_span_of(unpacker->raw, chunk->raw_bytes);
    size_t size = ZSTD_decompressDCtx(unpacker->context, unpacker->raw, chunk->raw_bytes,
                                      stored.data, stored.size);
    return size == chunk->raw_bytes ? 0 : -EBADMSG;
}
