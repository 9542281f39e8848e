/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/io/written.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "output/analysis/load/load.h"
#include "output/analysis/profile/event_status.h"
#include "output/yarnprof/io/memory.h"

/* What lies before the first letter of the pattern, up to the last slash there. */
void yarn_written_folder(const char *pattern, struct yarn_written_folder *ret_folder)
{
    struct stat status;
    char *path = ret_folder->path;
    size_t size = 0, last = 0;
    const char *at = pattern;
    for (; *at && (*at != '%' || at[1] == '%') && size < sizeof ret_folder->path - 1; at++) {
        at += *at == '%';
        path[size++] = *at;
        last = *at == '/' ? size : last;
    }
    path[size] = 0;
    bool is_folder = !*at && stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    path[is_folder ? size : last] = 0;
    if (!path[0])
        (void)strcpy(path, ".");
    for (ret_folder->depth = 0; *at; at++)
        ret_folder->depth += *at == '/';
}

static bool is_since(const char *path, uint64_t since_ns)
{
    struct stat status;
    if (stat(path, &status) || !S_ISREG(status.st_mode))
        return false;
    uint64_t time_ns =
        (uint64_t)status.st_mtim.tv_sec * YARN_NS_PER_SECOND + (uint64_t)status.st_mtim.tv_nsec;
    /* Why so late: the kernel stamps files with the time of its last tick. */
    return time_ns + 20 * YARN_NS_PER_MS >= since_ns;
}

static void gather(const char *folder, unsigned depth, uint64_t since_ns,
                   struct yarn_sources *sources)
{
    struct dirent **entries = NULL;
    struct yarn_source_failure failure;
    char path[4096 + 256];
    bool is_here = strcmp(folder, ".") == 0;
    const char *slash = is_here || folder[strlen(folder) - 1] == '/' ? "" : "/";
    int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        (void)snprintf(path, sizeof path, "%s%s%s", is_here ? "" : folder, slash,
                       entries[i]->d_name);
        /* Other files are not reported. */
        if (is_since(path, since_ns) && yarn_sources_add(sources, path, &failure))
            (void)failure;
        if (depth && entries[i]->d_type == DT_DIR && entries[i]->d_name[0] != '.')
            gather(path, depth - 1, since_ns, sources);
        free(entries[i]);
    }
    free(entries);
}

/* Every dump of `record` bears the name of its run; one of another was written meanwhile. */
static bool is_of_run(const struct yarn_profile_dump *dump, const char *run)
{
    for (size_t i = 0; i < dump->nr_options; i++)
        if (yarn_span_equal(dump->options[i].name, yarn_span_of_text("run")))
            return yarn_span_equal(dump->options[i].value, yarn_span_of_text(run));
    return false;
}

/* Beside others it says nothing of why there is no sample. */
static bool is_of_variable(const struct yarn_dump_message *message)
{
    static const char end[] = " is not a variable that yarn knows";
    size_t size = sizeof end - 1;
    return message->text.size >= size &&
           memcmp(message->text.data + message->text.size - size, end, size) == 0;
}

/* The first message of a recording that failed, or that has no sample. */
static void note_fault(const struct yarn_profile_dump *dump, struct yarn_written *written)
{
    bool has_failed = dump->has_end && dump->end.reason == YARN_DUMP_END_FAILED;
    written->nr_failed += has_failed;
    for (size_t i = 0; !written->fault[0] && i < dump->nr_messages; i++) {
        const struct yarn_dump_message *message = &dump->messages[i];
        if (message->kind <= YARN_DUMP_MESSAGE_WARNING && !is_of_variable(message) &&
            (has_failed || !dump->trust.samples))
            (void)snprintf(written->fault, sizeof written->fault, "%.*s", (int)message->text.size,
                           (const char *)message->text.data);
    }
}

/* `is_of_same`: of several processes in one file, one after the first. */
static void add(const struct yarn_profile_dump *dump, bool is_of_same, struct yarn_written *written)
{
    note_fault(dump, written);
    written->samples += dump->trust.samples;
    written->lost += dump->trust.lost;
    written->cpu_ns += dump->trust.cpu_ns + dump->trust.off_cpu_ns + dump->trust.drain_cpu_ns;
    written->nr_processes += 1 + dump->trust.children;
    if (is_of_same)
        return;
    written->nr_dumps++;
    written->bytes += dump->summary.file_bytes;
    if (written->nr_dumps == 1)
        (void)snprintf(written->path, sizeof written->path, "%s", dump->path);
}

/* "cycles: refused: …; page-faults: user's part alone" */
static void note_events(const struct yarn_profile *profile, struct yarn_written *written)
{
    struct yarn_text text = yarn_text_of(written->events, sizeof written->events);
    for (uint32_t i = 0; i < profile->nr_events; i++) {
        struct yarn_profile_status status = yarn_profile_event_status(profile, i);
        if (!status.bits || !yarn_profile_event_was_asked(profile, i))
            continue;
        yarn_text_add(&text, text.size ? "; " : "");
        yarn_profile_status_describe(profile, i, &status, &text);
    }
}

static void read_all(const struct yarn_sources *sources, const char *run,
                     struct yarn_written *ret_written)
{
    struct yarn_profile profile;
    struct yarn_source_failure failure;
    struct yarn_load_options options = YARN_LOAD_SHORT;
    options.has_no_code = true;
    ret_written->is_unread = true;
    if (yarn_profile_init(&profile))
        return;
    if (!yarn_profile_load(&profile, sources, &options, &failure)) {
        ret_written->is_unread = false;
        for (size_t i = 0; i < profile.nr_dumps; i++)
            if (is_of_run(&profile.dumps[i], run))
                add(&profile.dumps[i],
                    ret_written->nr_dumps &&
                        !strcmp(profile.dumps[i - 1].path, profile.dumps[i].path),
                    ret_written);
        note_events(&profile, ret_written);
    }
    yarn_profile_fini(&profile);
}

void yarn_written_find(const struct yarn_written_folder *folder, uint64_t since_ns,
                       struct yarn_sources *ret_sources)
{
    *ret_sources = (struct yarn_sources){0};
    gather(folder->path, folder->depth, since_ns, ret_sources);
}

/* There they are found without their names: a FILE left out is the newest, with its run. */
static bool is_working_folder(const char *path)
{
    struct stat one, other;
    return stat(path, &one) == 0 && stat(".", &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* Beside what needs not be read, which `written` has already. */
static void add_read(struct yarn_sources *sources, const char *run, struct yarn_written *written)
{
    struct yarn_written read = {.nr_dumps = 0};
    yarn_memory_bound();
    yarn_sources_sort(sources);
    if (sources->count)
        read_all(sources, run, &read);
    if (read.is_unread)
        read.nr_dumps = sources->count;
    read.nr_dumps += written->nr_dumps;
    read.nr_processes += written->nr_processes;
    read.samples += written->samples;
    read.lost += written->lost;
    read.bytes += written->bytes;
    read.cpu_ns += written->cpu_ns;
    *written = read;
    yarn_sources_fini(sources);
}

static void name_place(const struct yarn_written_folder *folder, struct yarn_written *written)
{
    if (written->nr_dumps != 1 && !is_working_folder(folder->path))
        (void)snprintf(written->path, sizeof written->path, "%s", folder->path);
    else if (written->nr_dumps != 1)
        written->path[0] = 0;
}

struct yarn_written yarn_written_read(const struct yarn_written_folder *folder, uint64_t since_ns,
                                      const char *run)
{
    struct yarn_written written = {.nr_dumps = 0};
    struct yarn_sources sources;
    yarn_written_find(folder, since_ns, &sources);
    add_read(&sources, run, &written);
    name_place(folder, &written);
    return written;
}

static void read_again(const struct yarn_own_dump *dump, struct yarn_sources *sources)
{
    struct yarn_source_failure failure;
    if (yarn_sources_add(sources, dump->path, &failure))
        (void)failure; /* as of one that is not there */
}

struct yarn_written yarn_written_know(const struct yarn_own_dumps *own,
                                      const struct yarn_written_folder *folder, const char *run)
{
    struct yarn_written written = {.nr_dumps = 0};
    struct yarn_sources sources = {0};
    struct stat status;
    for (size_t i = own->count; i-- > 0;) {
        const struct yarn_own_dump *dump = &own->list[i];
        if (lstat(dump->path, &status) || !S_ISREG(status.st_mode))
            continue;
        if (dump->says_more || !sources.count) {
            read_again(dump, &sources);
            continue;
        }
        written.nr_dumps++;
        written.nr_processes++;
        written.samples += dump->samples;
        written.lost += dump->lost;
        written.cpu_ns += dump->cpu_ns;
        written.bytes += (uint64_t)status.st_size;
    }
    add_read(&sources, run, &written);
    name_place(folder, &written);
    return written;
}

void yarn_written_nameless(const struct yarn_own_dumps *own, struct yarn_sources *ret_sources)
{
    *ret_sources = (struct yarn_sources){0};
    for (size_t i = 0; i < own->count; i++)
        if (own->list[i].lacks_names)
            read_again(&own->list[i], ret_sources);
}

void yarn_own_dumps_fini(struct yarn_own_dumps *own)
{
    for (size_t i = 0; i < own->count; i++)
        free(own->list[i].path);
    free(own->list);
    *own = (struct yarn_own_dumps){.count = 0};
}
