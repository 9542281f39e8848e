/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Runs a fuzz target over files and folders of files instead of over what a fuzzer invents: the
 * seed corpus as a test, or one crashing input under a debugger.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned nr_inputs;

static int run_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(size ? size : 1);
    int status = EXIT_FAILURE;
    if (file && data && fread(data, 1, size, file) == size) {
        (void)LLVMFuzzerTestOneInput(data, size);
        nr_inputs++;
        status = EXIT_SUCCESS;
    } else {
        perror(path);
    }
    if (file)
        (void)fclose(file);
    free(data);
    return status;
}

static int run_path(const char *path)
{
    struct stat info;
    if (stat(path, &info)) {
        perror(path);
        return EXIT_FAILURE;
    }
    if (!S_ISDIR(info.st_mode))
        return run_file(path, (size_t)info.st_size);
    DIR *folder = opendir(path);
    if (!folder) {
        perror(path);
        return EXIT_FAILURE;
    }
    int status = EXIT_SUCCESS;
    for (struct dirent *entry; (entry = readdir(folder));) {
        char inside[4096];
        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(inside, sizeof inside, "%s/%s", path, entry->d_name);
        if (run_path(inside))
            status = EXIT_FAILURE;
    }
    (void)closedir(folder);
    return status;
}

int main(int argc, char **argv)
{
    int status = EXIT_SUCCESS;
    for (int i = 1; i < argc; i++)
        if (run_path(argv[i]))
            status = EXIT_FAILURE;
    if (nr_inputs == 0) {
        (void)fprintf(stderr, "%s: no input: name files or folders\n", argv[0]);
        return EXIT_FAILURE;
    }
    return status;
}
