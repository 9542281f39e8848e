/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Two dumps are merged: as many bytes of the first as the first two bytes say, the rest is the
 * second. What comes out is a whole dump, whatever went in.
 */
#include <stdlib.h>

#include "output/dump/merger.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct merged {
    uint8_t *bytes;
    size_t size, capacity;
};

static int put(void *self, struct yarn_span bytes)
{
    struct merged *into = self;
    if (into->capacity - into->size < bytes.size) {
        into->capacity = 2 * (into->size + bytes.size);
        into->bytes = realloc(into->bytes, into->capacity);
        if (!into->bytes)
            abort();
    }
    memcpy(into->bytes + into->size, bytes.data, bytes.size);
    into->size += bytes.size;
    return 0;
}

static void add(struct yarn_dump_merger *merger, struct yarn_span bytes)
{
    struct yarn_dump_summary summary;
    int err = yarn_dump_merger_add_bytes(merger, "dump", bytes, &summary);
    if (err && err != -ENOEXEC)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct merged merged = {NULL, 0, 0};
    struct yarn_dump_merger merger;
    struct yarn_dump_summary summary;
    const struct yarn_dump_visitor visitor = {.process = NULL};
    if (size < 2)
        return 0;
    struct yarn_span rest = yarn_span_of(data + 2, size - 2);
    size_t first = yarn_size_min((size_t)(data[0] | data[1] << 8), rest.size);
    if (yarn_dump_merger_open(&merger, 0, put, &merged))
        abort();
    add(&merger, yarn_span_sub(rest, 0, first));
    add(&merger, yarn_span_from(rest, first));
    yarn_dump_merger_close(&merger);
    if (yarn_dump_read_bytes(yarn_span_of(merged.bytes, merged.size), &visitor, NULL, &summary))
        abort();
    if (summary.damaged_bytes || summary.is_cut || summary.file_bytes != merged.size)
        abort();
    free(merged.bytes);
    return 0;
}
