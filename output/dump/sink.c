/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/sink.h"

#include <sys/resource.h>

#include "core/base/crc32c.h"
#include "core/sys/file.h"
#include "core/sys/process.h"

enum { RESERVE_BYTES = 4096 }; /* of a limited file, for the reason of its end */

static int write_file_header(int fd)
{
    uint8_t bytes[YARN_DUMP_FILE_HEADER_BYTES];
    const struct yarn_dump_file_header header = {
        .major = YARN_DUMP_MAJOR,
        .minor = YARN_DUMP_MINOR,
        .header_bytes = sizeof bytes,
    };
    yarn_dump_file_header_encode(&header, bytes);
    return yarn_file_write_all(fd, yarn_span_of(bytes, sizeof bytes));
}

int yarn_dump_sink_init(struct yarn_dump_sink *sink)
{
    sink->fd = -1;
    sink->chunk.header_bytes = YARN_DUMP_CHUNK_HEADER_BYTES;
    sink->raw = yarn_bytes_of(sink->raw_data, sizeof sink->raw_data);
    return yarn_dump_packer_open(&sink->packer);
}

int yarn_dump_sink_open(struct yarn_dump_sink *sink, int fd)
{
    int err = write_file_header(fd);
    if (err)
        return err;
    sink->fd = fd;
    sink->bytes_written = YARN_DUMP_FILE_HEADER_BYTES;
    return 0;
}

void yarn_dump_sink_close(struct yarn_dump_sink *sink)
{
    yarn_file_close(sink->fd);
    yarn_dump_packer_close(&sink->packer);
    sink->fd = -1;
}

uint64_t yarn_dump_sink_time(struct yarn_dump_sink *sink, uint64_t time_ns)
{
    if (!sink->has_time) {
        sink->chunk.time_ns = time_ns;
        sink->has_time = true;
    }
    return sink->chunk.time_ns;
}

void yarn_dump_sink_reset_time(struct yarn_dump_sink *sink)
{
    sink->has_time = false;
    sink->chunk.time_ns = 0;
}

void yarn_dump_sink_count_samples(struct yarn_dump_sink *sink,
                                  const uint64_t counts[YARN_DUMP_STACK_END_COUNT])
{
    for (size_t i = 0; i < YARN_DUMP_STACK_END_COUNT; i++)
        sink->waiting[i] += counts[i];
}

bool yarn_dump_sink_recover(struct yarn_dump_sink *sink)
{
    bool is_full = sink->error == -ENOSPC || sink->error == -EFBIG || sink->error == -EDQUOT;
    if (!is_full || sink->is_recovered || yarn_file_cut(sink->fd, sink->bytes_written))
        return false;
    sink->is_recovered = true;
    sink->error = 0;
    memset(sink->waiting, 0, sizeof sink->waiting);
    yarn_bytes_reset(&sink->raw);
    yarn_dump_sink_reset_time(sink);
    return true;
}

static int write_chunk(struct yarn_dump_sink *sink, size_t size)
{
    uint64_t end = sink->bytes_written + size + (sink->is_recovered ? 0 : RESERVE_BYTES);
    if (end > yarn_process_limit(RLIMIT_FSIZE))
        return -EFBIG;
    return yarn_file_write_all(sink->fd, yarn_span_of(sink->stored, size));
}

void yarn_dump_sink_flush(struct yarn_dump_sink *sink)
{
    if (!sink->raw.size || sink->error)
        return;
    enum yarn_dump_codec codec;
    uint8_t *payload = sink->stored + YARN_DUMP_CHUNK_HEADER_BYTES;
    size_t size =
        yarn_dump_packer_pack(&sink->packer, yarn_bytes_span(&sink->raw), payload, &codec);
    sink->chunk.codec = (uint8_t)codec;
    sink->chunk.raw_bytes = (uint32_t)sink->raw.size;
    sink->chunk.stored_bytes = (uint32_t)size;
    sink->chunk.payload_crc = yarn_crc32c(0, yarn_span_of(payload, size));
    yarn_dump_chunk_encode(&sink->chunk, sink->stored);

    size += YARN_DUMP_CHUNK_HEADER_BYTES;
    sink->error = write_chunk(sink, size);
    if (sink->error)
        return;
    sink->bytes_written += size;
    for (size_t i = 0; i < YARN_DUMP_STACK_END_COUNT; i++) {
        sink->written[i] += sink->waiting[i];
        sink->waiting[i] = 0;
    }
    sink->chunk.sequence++;
    yarn_bytes_reset(&sink->raw);
}

bool yarn_dump_sink_take_back(struct yarn_dump_sink *sink, size_t mark)
{
    if (!sink->raw.full)
        return false;
    sink->raw.full = false;
    sink->raw.size = mark;
    yarn_dump_sink_flush(sink);
    return !sink->error;
}

void yarn_dump_sink_append(struct yarn_dump_sink *sink, struct yarn_span records)
{
    if (yarn_bytes_room(&sink->raw) < records.size)
        yarn_dump_sink_flush(sink);
    yarn_bytes_put(&sink->raw, records.data, records.size);
}
