/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * make_golden FOLDER: writes FOLDER/v1.yarndump, a dump with every kind of record, and
 * FOLDER/v1.txt, what a reader gives for it. What is committed is read by a test for ever; a new
 * version gets new names, the old files stay.
 */
#include <stdio.h>
#include <stdlib.h>

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

int main(int argc, char **argv)
{
    struct made_dump dump;
    struct record_log log = {NULL, 0, 0};
    struct yarn_dump_summary summary;
    if (argc != 2) {
        fprintf(stderr, "usage: make_golden FOLDER\n");
        return 2;
    }
    made_dump_everything(&dump, NULL);
    int result = yarn_dump_read_bytes(made_dump_span(&dump), &record_log_visitor, &log, &summary);
    if (!result)
        result = save(argv[1], "v1.yarndump", dump.bytes, dump.size);
    if (!result)
        result = save(argv[1], "v1.txt", log.text, log.size);
    record_log_free(&log);
    made_dump_free(&dump);
    return result ? EXIT_FAILURE : EXIT_SUCCESS;
}
