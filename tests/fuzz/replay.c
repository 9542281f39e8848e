/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Runs a fuzz target over kept inputs where there is no libFuzzer: the main of the fuzz programs of
 * ordinary builds. Arguments are files, or folders whose files are taken. Fails where there were
 * none, so that a lost corpus is seen.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path)
{
    struct stat info;
    FILE *file = fopen(path, "rb");
    if (!file || fstat(fileno(file), &info)) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    size_t size = (size_t)info.st_size;
    /* Of exactly its size, so that a sanitizer sees a read beyond its end. */
    uint8_t *data = malloc(size ? size : 1);
    if (!data || fread(data, 1, size, file) != size) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(EXIT_FAILURE);
    }
    fclose(file);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 1;
}

static int replay_folder(const char *path, DIR *folder)
{
    int count = 0;
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        char name[4096];
        struct stat info;
        int size = snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (size < 0 || (size_t)size >= sizeof name || stat(name, &info) || !S_ISREG(info.st_mode))
            continue;
        count += replay_file(name);
    }
    return count;
}

int main(int argc, char **argv)
{
    int count = 0;
    for (int i = 1; i < argc; i++) {
        DIR *folder = opendir(argv[i]);
        count += folder ? replay_folder(argv[i], folder) : replay_file(argv[i]);
        if (folder)
            closedir(folder);
    }
    printf("%d inputs replayed\n", count);
    return count ? EXIT_SUCCESS : EXIT_FAILURE;
}
