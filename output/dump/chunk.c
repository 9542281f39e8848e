/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/chunk.h"

#include "core/base/bytes.h"
#include "core/base/crc32c.h"

enum {
    FILE_CRC_AT = 28,
    CHUNK_CRC_AT = 4,
    CHUNK_CRC_FROM = 8,
    PLACE_AT = 12, /* sequence, process, epoch */
    CHUNK_TIME_AT = 20,
    SIZE_MASK = 0xffffff,
    SIZE_BITS = 24,
};

void yarn_dump_file_header_encode(const struct yarn_dump_file_header *header,
                                  uint8_t ret_bytes[YARN_DUMP_FILE_HEADER_BYTES])
{
    struct yarn_byte_buffer bytes = yarn_bytes_of(ret_bytes, YARN_DUMP_FILE_HEADER_BYTES);
    yarn_bytes_put(&bytes, YARN_DUMP_MAGIC, strlen(YARN_DUMP_MAGIC));
    yarn_bytes_u16(&bytes, header->major);
    yarn_bytes_u16(&bytes, header->minor);
    yarn_bytes_u32(&bytes, header->header_bytes);
    yarn_bytes_u32(&bytes, header->features_needed);
    yarn_bytes_u32(&bytes, header->features_extra);
    yarn_bytes_u32(&bytes, 0);
    yarn_bytes_u32(&bytes, yarn_crc32c(0, yarn_bytes_span(&bytes)));
}

bool yarn_dump_file_header_decode(struct yarn_span bytes, struct yarn_dump_file_header *ret_header)
{
    struct yarn_cursor cursor = yarn_cursor_of(bytes);
    struct yarn_span magic = yarn_cursor_span(&cursor, strlen(YARN_DUMP_MAGIC));
    struct yarn_dump_file_header header = {
        .major = yarn_cursor_u16(&cursor),
        .minor = yarn_cursor_u16(&cursor),
        .header_bytes = yarn_cursor_u32(&cursor),
        .features_needed = yarn_cursor_u32(&cursor),
        .features_extra = yarn_cursor_u32(&cursor),
    };
    yarn_cursor_skip(&cursor, 4);
    uint32_t crc = yarn_cursor_u32(&cursor);
    if (cursor.failed || !yarn_span_equal(magic, yarn_span_of_text(YARN_DUMP_MAGIC)))
        return false;
    if (crc != yarn_crc32c(0, yarn_span_sub(bytes, 0, FILE_CRC_AT)))
        return false;
    *ret_header = header;
    return true;
}

void yarn_dump_chunk_encode(const struct yarn_dump_chunk *chunk,
                            uint8_t ret_bytes[YARN_DUMP_CHUNK_HEADER_BYTES])
{
    struct yarn_byte_buffer bytes = yarn_bytes_of(ret_bytes, YARN_DUMP_CHUNK_HEADER_BYTES);
    yarn_bytes_u32(&bytes, YARN_DUMP_CHUNK_MAGIC);
    yarn_bytes_u32(&bytes, 0);
    yarn_bytes_u32(&bytes, chunk->payload_crc);
    yarn_bytes_u32(&bytes, chunk->sequence);
    yarn_bytes_u16(&bytes, chunk->process);
    yarn_bytes_u16(&bytes, chunk->epoch);
    yarn_bytes_u64(&bytes, chunk->time_ns);
    yarn_bytes_u32(&bytes, chunk->raw_bytes | (uint32_t)chunk->codec << SIZE_BITS);
    yarn_bytes_u32(&bytes, chunk->stored_bytes | (uint32_t)chunk->header_bytes << SIZE_BITS);
    uint32_t crc = yarn_crc32c(0, yarn_span_from(yarn_bytes_span(&bytes), CHUNK_CRC_FROM));
    memcpy(ret_bytes + CHUNK_CRC_AT, &crc, sizeof crc);
}

void yarn_dump_chunk_move(uint8_t *header, const struct yarn_dump_chunk *chunk)
{
    struct yarn_byte_buffer place = yarn_bytes_of(header + PLACE_AT, CHUNK_TIME_AT - PLACE_AT);
    yarn_bytes_u32(&place, chunk->sequence);
    yarn_bytes_u16(&place, chunk->process);
    yarn_bytes_u16(&place, chunk->epoch);
    struct yarn_span covered =
        yarn_span_of(header + CHUNK_CRC_FROM, (size_t)chunk->header_bytes - CHUNK_CRC_FROM);
    uint32_t crc = yarn_crc32c(0, covered);
    memcpy(header + CHUNK_CRC_AT, &crc, sizeof crc);
}

/* A header may have grown in a later minor version: its checksum covers all of it. */
static bool is_whole(struct yarn_span bytes, uint32_t crc, size_t header_bytes)
{
    if (header_bytes < YARN_DUMP_CHUNK_HEADER_BYTES || header_bytes > bytes.size)
        return false;
    return crc == yarn_crc32c(0, yarn_span_sub(bytes, CHUNK_CRC_FROM,
                                               header_bytes - (size_t)CHUNK_CRC_FROM));
}

bool yarn_dump_chunk_decode(struct yarn_span bytes, struct yarn_dump_chunk *ret_chunk)
{
    struct yarn_cursor cursor = yarn_cursor_of(bytes);
    uint32_t magic = yarn_cursor_u32(&cursor);
    uint32_t crc = yarn_cursor_u32(&cursor);
    struct yarn_dump_chunk chunk = {
        .payload_crc = yarn_cursor_u32(&cursor),
        .sequence = yarn_cursor_u32(&cursor),
        .process = yarn_cursor_u16(&cursor),
        .epoch = yarn_cursor_u16(&cursor),
        .time_ns = yarn_cursor_u64(&cursor),
    };
    uint32_t raw = yarn_cursor_u32(&cursor);
    uint32_t stored = yarn_cursor_u32(&cursor);
    if (cursor.failed || magic != YARN_DUMP_CHUNK_MAGIC)
        return false;
    chunk.raw_bytes = raw & SIZE_MASK;
    chunk.codec = (uint8_t)(raw >> SIZE_BITS);
    chunk.stored_bytes = stored & SIZE_MASK;
    chunk.header_bytes = (uint8_t)(stored >> SIZE_BITS);
    if (!is_whole(bytes, crc, chunk.header_bytes))
        return false;
    *ret_chunk = chunk;
    return true;
}
