/* SPDX-License-Identifier: Apache-2.0 */
#include "output/export/perf_file.h"

#include <stdlib.h>

enum { TEXT_ALIGN = 64 };

struct header {
    char magic[8];
    uint64_t size;
    uint64_t attr_size; /* with its section of ids */
    struct yarn_perf_section attrs, data, event_types;
    uint64_t features[4];
};

struct file_attr {
    struct perf_event_attr attr;
    struct yarn_perf_section ids;
};

void yarn_perf_put(struct yarn_perf_file *perf, const void *bytes, size_t size)
{
    if (!perf->err && perf->at + size > perf->most_bytes)
        perf->err = -EFBIG;
    if (!perf->err && size && fwrite(bytes, 1, size, perf->file) != size)
        perf->err = errno ? -errno : -EIO;
    perf->at += size;
}

void yarn_perf_put_u32(struct yarn_perf_file *perf, uint32_t value)
{
    yarn_perf_put(perf, &value, sizeof value);
}

static void put_zeros(struct yarn_perf_file *perf, size_t size)
{
    static const uint8_t zeros[512];
    while (size) {
        size_t part = yarn_size_min(size, sizeof zeros);
        yarn_perf_put(perf, zeros, part);
        size -= part;
    }
}

void yarn_perf_put_text(struct yarn_perf_file *perf, struct yarn_span text)
{
    size_t size = yarn_align_up(text.size + 1, TEXT_ALIGN);
    yarn_perf_put_u32(perf, (uint32_t)size);
    yarn_perf_put(perf, text.data, text.size);
    put_zeros(perf, size - text.size);
}

int yarn_perf_file_init(struct yarn_perf_file *perf, FILE *file, uint64_t most_bytes)
{
    *perf = (struct yarn_perf_file){
        .file = file,
        .most_bytes = most_bytes,
        .record = malloc(YARN_PERF_RECORD_SIZE),
    };
    if (!perf->record)
        return -ENOMEM;
    put_zeros(perf, sizeof(struct header));
    return 0;
}

void yarn_perf_file_fini(struct yarn_perf_file *perf)
{
    free(perf->record);
    *perf = (struct yarn_perf_file){0};
}

void yarn_perf_put_attrs(struct yarn_perf_file *perf, const struct perf_event_attr *attrs,
                         size_t count)
{
    uint64_t ids = perf->at;
    for (uint64_t id = 1; id <= count; id++)
        yarn_perf_put(perf, &id, sizeof id);
    perf->attrs.offset = perf->at;
    for (size_t i = 0; i < count; i++) {
        struct file_attr attr = {attrs[i], {ids + i * sizeof(uint64_t), sizeof(uint64_t)}};
        yarn_perf_put(perf, &attr, sizeof attr);
    }
    perf->attrs.size = perf->at - perf->attrs.offset;
    perf->data.offset = perf->at;
}

void yarn_perf_begin_record(struct yarn_perf_file *perf, uint32_t type, uint16_t misc)
{
    struct perf_event_header header = {.type = type, .misc = misc};
    perf->size = 0;
    yarn_perf_add(perf, &header, sizeof header);
}

void yarn_perf_add(struct yarn_perf_file *perf, const void *bytes, size_t size)
{
    size = yarn_size_min(size, YARN_PERF_RECORD_SIZE - perf->size);
    if (size)
        memcpy(perf->record + perf->size, bytes, size);
    perf->size += size;
}

void yarn_perf_add_u32(struct yarn_perf_file *perf, uint32_t value)
{
    yarn_perf_add(perf, &value, sizeof value);
}

void yarn_perf_add_u64(struct yarn_perf_file *perf, uint64_t value)
{
    yarn_perf_add(perf, &value, sizeof value);
}

void yarn_perf_add_text(struct yarn_perf_file *perf, struct yarn_span text, size_t align)
{
    static const uint8_t zeros[TEXT_ALIGN];
    size_t size = yarn_align_up(text.size + 1, align);
    yarn_perf_add(perf, text.data, text.size);
    yarn_perf_add(perf, zeros, size - text.size);
}

void yarn_perf_end_record(struct yarn_perf_file *perf)
{
    static const uint8_t zeros[8];
    struct perf_event_header header;
    yarn_perf_add(perf, zeros, yarn_align_up(perf->size, sizeof zeros) - perf->size);
    memcpy(&header, perf->record, sizeof header);
    header.size = (uint16_t)perf->size;
    memcpy(perf->record, &header, sizeof header);
    yarn_perf_put(perf, perf->record, perf->size);
}

void yarn_perf_end_data(struct yarn_perf_file *perf, const uint32_t *features, size_t count)
{
    perf->data.size = perf->at - perf->data.offset;
    for (size_t i = 0; i < count; i++)
        perf->features[features[i]].size = 1;
    put_zeros(perf, count * sizeof(struct yarn_perf_section));
}

void yarn_perf_begin_feature(struct yarn_perf_file *perf, uint32_t feature)
{
    perf->feature = feature;
    perf->features[feature].offset = perf->at;
}

void yarn_perf_end_feature(struct yarn_perf_file *perf)
{
    perf->features[perf->feature].size = perf->at - perf->features[perf->feature].offset;
}

int yarn_perf_file_finish(struct yarn_perf_file *perf)
{
    struct header header = {
        .magic = {'P', 'E', 'R', 'F', 'I', 'L', 'E', '2'},
        .size = sizeof header,
        .attr_size = sizeof(struct file_attr),
        .attrs = perf->attrs,
        .data = perf->data,
    };
    if (fseeko(perf->file, (off_t)(perf->data.offset + perf->data.size), SEEK_SET))
        return -errno;
    for (size_t i = 0; i < YARN_PERF_FEATURES_MAX; i++) {
        if (!perf->features[i].size)
            continue;
        header.features[0] |= UINT64_C(1) << i;
        yarn_perf_put(perf, &perf->features[i], sizeof perf->features[i]);
    }
    if (fseeko(perf->file, 0, SEEK_SET))
        return -errno;
    yarn_perf_put(perf, &header, sizeof header);
    return perf->err;
}
