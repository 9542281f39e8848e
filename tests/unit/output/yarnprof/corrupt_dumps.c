/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * corrupt_dumps COUNT SEED DUMP…: corrupts the dumps in COUNT random ways and reads each result as
 * every verb does: it is loaded, added up, made a tree, merged. Fails where damage is not found,
 * has no sentence, or reading takes too long or too much memory. A crash is the caller's to see.
 *
 * corrupt_dumps --one SEED DUMP OUT: writes one of them, and says which way it was.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "core/sys/kernel_names.h"
#include "output/analysis/load/load.h"
#include "output/dump/merger.h"
#include "output/fold/rows.h"
#include "output/fold/tree.h"
#include "tests/unit/output/yarnprof/corruption.h"

enum { DUMPS_MAX = 64, SECONDS_MOST = 5, MEMORY_MOST_KIB = 500 * 1024 };

struct dump {
    uint8_t *bytes;
    size_t size;
};

static struct dump dumps[DUMPS_MAX];
static size_t nr_dumps, nr_bad;

static void complain(uint64_t number, const struct corruption *corruption, const char *what)
{
    nr_bad++;
    (void)fprintf(stderr, "corruption %zu (%s): %s\n", (size_t)number, corruption->name, what);
}

static void read_dump(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) || nr_dumps == DUMPS_MAX) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    struct dump *dump = &dumps[nr_dumps++];
    dump->size = (size_t)ftell(file);
    dump->bytes = malloc(dump->size + 1);
    rewind(file);
    if (!dump->bytes || fread(dump->bytes, 1, dump->size, file) != dump->size) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    (void)fclose(file);
}

/* A copy of the dump that came to harm; false where it did not. */
static bool corrupt(const struct dump *dump, uint64_t *state, struct corrupted *ret_corrupted,
                    struct corruption *ret_corruption)
{
    ret_corrupted->size = dump->size;
    ret_corrupted->bytes = malloc(2 * dump->size + CORRUPTED_ROOM);
    if (!ret_corrupted->bytes)
        abort();
    memcpy(ret_corrupted->bytes, dump->bytes, dump->size);
    return corruption_apply(ret_corrupted, state, ret_corruption);
}

/* Why: reading the machine's own list for each harmed frame of the kernel took nine tenths of all.
 */
bool __wrap_yarn_kernel_names_step(struct yarn_kernel_names *names, const char *path);

bool __wrap_yarn_kernel_names_step(struct yarn_kernel_names *names, const char *path)
{
    (void)names, (void)path;
    return true;
}

static int put(void *self, struct yarn_span bytes)
{
    *(size_t *)self += bytes.size;
    return 0;
}

static int use(struct yarn_profile *profile)
{
    struct yarn_filter filter = {0};
    struct yarn_rows rows = {0};
    struct yarn_tree tree = {0};
    struct yarn_choice choice;
    int err = yarn_choice_init(&choice, profile, &filter);
    if (!err)
        err = yarn_rows_build(&choice, YARN_BY_FUNCTION, &rows);
    if (!err)
        err = yarn_tree_build(&choice, 0.5, &tree);
    yarn_choice_fini(&choice);
    yarn_rows_fini(&rows);
    yarn_tree_fini(&tree);
    return err;
}

/* As the verbs read it: from a file. */
static int load(struct yarn_span bytes, struct yarn_dump_summary *ret_summary)
{
    char path[64];
    struct yarn_source_failure failure;
    struct yarn_sources sources = {0};
    struct yarn_profile profile;
    struct yarn_load_options options = {.time = YARN_TIME_RANGE_ALL};
    int fd = memfd_create("dump", MFD_CLOEXEC);
    if (fd < 0 || write(fd, bytes.data, bytes.size) != (ssize_t)bytes.size)
        abort();
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int err = yarn_sources_add(&sources, path, &failure);
    if (err && !failure.why[0])
        err = -EFAULT; /* a failure without a sentence */
    if (!err && yarn_profile_init(&profile) == 0) {
        err = yarn_profile_load(&profile, &sources, &options, &failure);
        if (!err)
            err = use(&profile);
        if (!err)
            *ret_summary = profile.dumps[0].summary;
        yarn_profile_fini(&profile);
    }
    yarn_sources_fini(&sources);
    (void)close(fd);
    return err;
}

static int merge(struct yarn_span bytes)
{
    struct yarn_dump_merger merger;
    struct yarn_dump_summary summary;
    size_t size = 0;
    int err = yarn_dump_merger_open(&merger, 0, put, &size);
    if (!err)
        err = yarn_dump_merger_add_bytes(&merger, "dump", bytes, &summary);
    yarn_dump_merger_close(&merger);
    return err;
}

/* Of CPU time: others may use the machine. */
static double now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void check(uint64_t number, const struct corrupted *dump,
                  const struct corruption *corruption)
{
    struct yarn_dump_summary summary = {0};
    struct yarn_span bytes = yarn_span_of(dump->bytes, dump->size);
    double begun = now();
    int err = load(bytes, &summary);
    int merge_err = merge(bytes);
    if (now() - begun > SECONDS_MOST)
        complain(number, corruption, "took too long");
    if (err == -ENODATA) /* refused before it is read: it ends within its header */
        return;
    if (err && err != -ENOEXEC)
        complain(number, corruption, strerror(-err));
    if (err != merge_err)
        complain(number, corruption, "is merged otherwise than it is read");
    if (err)
        return;
    if (corruption->is_found && !summary.nr_damages && !summary.is_cut)
        complain(number, corruption, "was not found");
    for (size_t i = 0; i < yarn_size_min(summary.nr_damages, YARN_COUNT_OF(summary.damages)); i++) {
        if (!summary.damages[i].why || !summary.damages[i].why[0])
            complain(number, corruption, "has no sentence");
    }
}

static int check_many(uint64_t count, uint64_t seed)
{
    struct corruption corruption;
    struct rusage usage;
    uint64_t nr_done = 0;
    for (uint64_t i = 0; nr_done < count && nr_bad < 20; i++) {
        struct corrupted corrupted;
        uint64_t state = seed + i * UINT64_C(0x100000001b3);
        const struct dump *dump = &dumps[corruption_random(&state, nr_dumps)];
        if (corrupt(dump, &state, &corrupted, &corruption)) {
            nr_done++;
            check(i, &corrupted, &corruption);
        }
        free(corrupted.bytes);
    }
    (void)getrusage(RUSAGE_SELF, &usage);
    (void)printf("%zu corruptions, %zu bad, %ld KiB of memory at most\n", (size_t)nr_done, nr_bad,
                 usage.ru_maxrss);
    return nr_bad == 0 && usage.ru_maxrss <= MEMORY_MOST_KIB;
}

static int write_one(uint64_t seed, const char *path)
{
    struct corrupted corrupted;
    struct corruption corruption;
    uint64_t state = seed;
    while (!corrupt(&dumps[0], &state, &corrupted, &corruption))
        free(corrupted.bytes);
    FILE *file = fopen(path, "wb");
    bool is_good =
        file && fwrite(corrupted.bytes, 1, corrupted.size, file) == corrupted.size && !fclose(file);
    free(corrupted.bytes);
    (void)printf("%s%s\n", corruption.is_found ? "found: " : "", corruption.name);
    return is_good;
}

int main(int argc, char **argv)
{
    bool is_good = false;
    if (argc < 4)
        return 2;
    if (strcmp(argv[1], "--one") == 0 && argc == 5) {
        read_dump(argv[3]);
        is_good = write_one(strtoull(argv[2], NULL, 10), argv[4]);
    } else {
        for (int i = 3; i < argc; i++)
            read_dump(argv[i]);
        is_good = check_many(strtoull(argv[1], NULL, 10), strtoull(argv[2], NULL, 10));
    }
    for (size_t i = 0; i < nr_dumps; i++)
        free(dumps[i].bytes);
    return is_good ? EXIT_SUCCESS : EXIT_FAILURE;
}
