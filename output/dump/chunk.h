/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The two headers of a dump as bytes: the file's and a chunk's. Knows their layout and checksums;
 * does not know payloads. Threads, signals: pure functions; safe anywhere.
 */
#pragma once

#include "core/base/span.h"
#include "output/dump/format.h"

struct yarn_dump_file_header {
    uint16_t major, minor;
    uint32_t header_bytes;
    uint32_t features_needed; /* bits that a reader must know; none in 1.0 */
    uint32_t features_extra;  /* bits that a reader may ignore; none in 1.0 */
};

struct yarn_dump_chunk {
    uint32_t payload_crc; /* of the payload as stored */
    uint32_t sequence;    /* of the chunk in the file, from 0 */
    uint16_t process;     /* of a merged dump, from 0 */
    uint16_t epoch;       /* of the process, from 0, modulo 2^16 */
    uint64_t time_ns;     /* what TIME values are relative to */
    uint32_t raw_bytes;
    uint32_t stored_bytes;
    uint8_t codec; /* enum yarn_dump_codec */
    uint8_t header_bytes;
};

void yarn_dump_file_header_encode(const struct yarn_dump_file_header *header,
                                  uint8_t ret_bytes[YARN_DUMP_FILE_HEADER_BYTES]);

/* False where the bytes are not a complete file header. */
bool yarn_dump_file_header_decode(struct yarn_span bytes, struct yarn_dump_file_header *ret_header);

/* Changes sequence, process and epoch in a header; keeps what a later version has in it. */
void yarn_dump_chunk_move(uint8_t *header, const struct yarn_dump_chunk *chunk);

/* False where the stated size before compression is far above what a recorder produces: payloads
 * compress to a tenth, long repetitions to a hundredth. */
static inline bool yarn_dump_chunk_is_sane(const struct yarn_dump_chunk *chunk)
{
    return chunk->raw_bytes <= YARN_DUMP_PAYLOAD_FREE ||
           chunk->raw_bytes / YARN_DUMP_RATIO_MAX <= chunk->stored_bytes;
}

void yarn_dump_chunk_encode(const struct yarn_dump_chunk *chunk,
                            uint8_t ret_bytes[YARN_DUMP_CHUNK_HEADER_BYTES]);

/* False where the bytes do not begin with a complete and valid chunk header. */
bool yarn_dump_chunk_decode(struct yarn_span bytes, struct yarn_dump_chunk *ret_chunk);
