/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * make_golden FOLDER: writes FOLDER/process.yarndump, a dump with every kind of record that a
 * recorder writes, FOLDER/merged.yarndump, that dump merged with itself, and as .txt what a reader
 * gives for each.
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/base/bytes.h"
#include "output/dump/merger.h"
#include "tests/unit/output/dump/made_dump.h"

static int save(const char *folder, const char *name, const void *data, size_t size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file)) {
        perror(path);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

static int save_dump(const char *folder, const char *name, struct yarn_span bytes)
{
    char file[64];
    struct record_log log = {NULL, 0, 0};
    struct yarn_dump_summary summary;
    int result = yarn_dump_read_bytes(bytes, &record_log_visitor, &log, &summary);
    (void)snprintf(file, sizeof file, "%s.yarndump", name);
    if (!result)
        result = save(folder, file, bytes.data, bytes.size);
    (void)snprintf(file, sizeof file, "%s.txt", name);
    if (!result)
        result = save(folder, file, log.text, log.size);
    record_log_free(&log);
    return result;
}

static int put(void *self, struct yarn_span bytes)
{
    struct yarn_byte_buffer *into = self;
    yarn_bytes_put(into, bytes.data, bytes.size);
    return into->full ? -ENOSPC : 0;
}

static int merge(struct yarn_byte_buffer *into, struct yarn_span dump)
{
    struct yarn_dump_merger merger;
    struct yarn_dump_summary summary;
    int err = yarn_dump_merger_open(&merger, 0, put, into);
    if (!err)
        err = yarn_dump_merger_add_bytes(&merger, "process.yarndump", dump, &summary);
    if (!err)
        err = yarn_dump_merger_add_bytes(&merger, "process.yarndump", dump, &summary);
    yarn_dump_merger_close(&merger);
    return err;
}

int main(int argc, char **argv)
{
    static uint8_t data[1 << 16];
    struct yarn_byte_buffer merged = yarn_bytes_of(data, sizeof data);
    struct made_dump dump;
    if (argc != 2) {
        fprintf(stderr, "usage: make_golden FOLDER\n");
        return 2;
    }
    made_dump_everything(&dump, NULL);
    int result = merge(&merged, made_dump_span(&dump));
    if (!result)
        result = save_dump(argv[1], "process", made_dump_span(&dump));
    if (!result)
        result = save_dump(argv[1], "merged", yarn_bytes_span(&merged));
    made_dump_free(&dump);
    return result ? EXIT_FAILURE : EXIT_SUCCESS;
}
