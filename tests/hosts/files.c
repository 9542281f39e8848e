/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program whose files change under it:
 *
 *   files shrink FILE            works, cuts FILE (its debug file) to nothing, works elsewhere
 *   files overwrite PLUGIN FOLDER TIMES
 *                                loads a copy of PLUGIN, works in it, unloads it and overwrites the
 *                                copy with a shorter file, again and again
 *   files unload PLUGIN FOLDER TIMES
 *                                loads copies that are deleted at once, and says how many mappings
 *                                of them are left and whether others have come; where FOLDER is a
 *                                file system of its own also how many blocks of it are still taken,
 *                                and whether it can be unmounted
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "tests/hosts/files_plugin.h"

enum { PATH_BYTES = 4096, FUNCTIONS = 256, WARM_UP = 40, ROUNDS = 80, SPARE_MAPPINGS = 40 };

static uint64_t result;

static void die(const char *what)
{
    perror(what);
    exit(EXIT_FAILURE);
}

static void shrink(const char *file)
{
    for (int i = 0; i < ROUNDS; i++)
        result = files_work(1, 0, FUNCTIONS / 4);
    if (truncate(file, 0))
        die(file);
    result = files_work(result, FUNCTIONS / 4, FUNCTIONS);
}

static void copy(const char *from, const char *to)
{
    static char bytes[1 << 16];
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
    ssize_t got = 0;
    if (in < 0 || out < 0)
        die(to);
    while ((got = read(in, bytes, sizeof bytes)) > 0)
        if (write(out, bytes, (size_t)got) != got)
            die(to);
    close(in);
    close(out);
}

static void *load(const char *path, uint64_t (**ret_work)(uint64_t, unsigned, unsigned))
{
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!plugin)
        die(dlerror());
    *(void **)ret_work = dlsym(plugin, "files_work");
    return plugin;
}

static void overwrite(const char *from, const char *folder, int times)
{
    char path[PATH_BYTES];
    static const char shorter[] = "no library any more";
    for (int i = 0; i < times; i++) {
        uint64_t (*work)(uint64_t, unsigned, unsigned);
        (void)snprintf(path, sizeof path, "%s/%d.so", folder, i);
        copy(from, path);
        void *plugin = load(path, &work);
        result = work(result, 0, FUNCTIONS / 2);
        result = work(result, FUNCTIONS / 2, FUNCTIONS / 2);
        dlclose(plugin);
        int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
        if (write(fd, shorter, sizeof shorter) != sizeof shorter)
            die(path);
        close(fd);
    }
}

struct left {
    int mappings, of_plugins;
    unsigned long blocks;
};

static struct left look(const char *folder)
{
    struct left left = {.mappings = 0};
    struct statvfs disk;
    char line[2 * PATH_BYTES];
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && fgets(line, sizeof line, maps)) {
        left.mappings++;
        left.of_plugins += strstr(line, folder) != NULL;
    }
    if (!maps || fclose(maps) || statvfs(folder, &disk))
        die(folder);
    left.blocks = disk.f_blocks - disk.f_bfree;
    return left;
}

static bool is_mount(const char *folder)
{
    struct stat own, parent;
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/..", folder);
    return stat(folder, &own) == 0 && stat(path, &parent) == 0 && own.st_dev != parent.st_dev;
}

static void load_and_unload(const char *from, const char *folder, int times)
{
    for (int i = 0; i < times; i++) {
        char path[PATH_BYTES];
        uint64_t (*work)(uint64_t, unsigned, unsigned);
        (void)snprintf(path, sizeof path, "%s/%d.so", folder, i);
        copy(from, path);
        void *plugin = load(path, &work);
        unlink(path);
        result = work(result, 0, FUNCTIONS / 8);
        dlclose(plugin);
    }
}

static void unload(const char *from, const char *folder, int times)
{
    struct timespec moment = {.tv_nsec = 500000000};
    unsigned long before = look(folder).blocks;
    load_and_unload(from, folder, WARM_UP);
    struct left first = look(folder);
    load_and_unload(from, folder, times);
    (void)nanosleep(&moment, NULL); /* a profiler may still be reading what the last one was */
    struct left last = look(folder);
    printf("of plugins %d, more mappings %d\n", last.of_plugins,
           last.mappings > first.mappings + SPARE_MAPPINGS ? last.mappings - first.mappings : 0);
    if (is_mount(folder))
        printf("more blocks %lu, unmounted %d\n", last.blocks - before, umount2(folder, 0) == 0);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "shrink") == 0)
        shrink(argv[2]);
    else if (argc == 5 && strcmp(argv[1], "overwrite") == 0)
        overwrite(argv[2], argv[3], atoi(argv[4]));
    else if (argc == 5 && strcmp(argv[1], "unload") == 0)
        unload(argv[2], argv[3], atoi(argv[4]));
    else
        return 2;
    puts("files: done");
    return 0;
}
