/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "output/yarnprof/command/spawn.h"
#include "output/yarnprof/verbs/doctor.h"
#include "output/yarnprof/verbs/launch.h"

enum { LEAST_MS = 100, PATH_BYTES = 4096 };

static volatile uint64_t work_done;

void yarn_doctor_trial_work(void)
{
    struct timespec now;
    do {
        for (uint64_t i = 0; i < 100000; i++)
            work_done = work_done * 3 + i;
        (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    } while (now.tv_sec == 0 && (uint64_t)now.tv_nsec < LEAST_MS * YARN_NS_PER_MS);
}

struct place {
    const char *preload;
    char folder[PATH_BYTES];
    int messages;       /* owned; standard error of the trial */
    const char *events; /* NULL: as they are asked for */
};

/* In the child. What would keep it from recording at once is left out. */
static int prepare(const void *self)
{
    static const char *const fixed[][2] = {
        {"YARN_FOLLOW", "none"}, {"YARN_EMPTY", "keep"}, {"YARN_COMM", "*"},
        {"YARN_START", "on"},    {"YARN_DELAY", "none"}, {"YARN_DURATION", "none"},
        {"YARN_LOG", "warning"}, {"YARN_LOG_FILE", ""},  {"YARN_CONTROL", ""},
    };
    const struct place *place = self;
    int err = yarn_launch_set("LD_PRELOAD", place->preload);
    for (size_t i = 0; !err && i < YARN_COUNT_OF(fixed); i++)
        err = yarn_launch_set(fixed[i][0], fixed[i][1]);
    if (!err)
        err = yarn_launch_set("YARN_OUTPUT", place->folder);
    if (!err && place->events)
        err = yarn_launch_set("YARN_EVENTS", place->events);
    return err || dup2(place->messages, STDERR_FILENO) >= 0 ? err : -errno;
}

static int run(const struct place *place)
{
    char program[PATH_BYTES];
    struct yarn_spawn spawn;
    int status;
    ssize_t size = readlink("/proc/self/exe", program, sizeof program - 1);
    if (size < 0)
        return -errno;
    program[size] = 0;
    char *const argv[] = {program, "doctor", "--", YARN_DOCTOR_TRIAL_WORD, NULL};
    int err = yarn_spawn_start(&spawn, argv, prepare, place);
    if (err)
        return err;
    yarn_spawn_release(&spawn);
    return yarn_spawn_finish(&spawn, &status);
}

static void read_back(struct yarn_doctor_trial *trial, const struct place *place)
{
    struct yarn_sources sources = {0};
    struct yarn_source_failure failure;
    struct yarn_load_options options = YARN_LOAD_SHORT;
    if (!yarn_sources_add(&sources, place->folder, &failure) &&
        !yarn_profile_load(&trial->profile, &sources, &options, &failure) &&
        trial->profile.nr_dumps)
        trial->dump = &trial->profile.dumps[0];
    yarn_sources_fini(&sources);
    ssize_t size = pread(place->messages, trial->line, sizeof trial->line - 1, 0);
    trial->line[size > 0 ? size : 0] = 0;
    trial->line[strcspn(trial->line, "\n")] = 0;
}

static void clean_up(const struct place *place)
{
    char path[PATH_BYTES + 256];
    struct dirent *entry;
    DIR *folder = opendir(place->folder);
    while (folder && (entry = readdir(folder))) {
        (void)snprintf(path, sizeof path, "%s%s", place->folder, entry->d_name);
        if (entry->d_name[0] != '.')
            (void)unlink(path);
    }
    if (folder)
        (void)closedir(folder);
    (void)rmdir(place->folder);
}

/* Not where the command's dumps would go: that folder is looked at by itself. */
static int make_folder(struct place *place)
{
    const char *wanted[] = {getenv("TMPDIR"), "/tmp", "/dev/shm", "/var/tmp"};
    for (size_t i = 0; i < YARN_COUNT_OF(wanted); i++) {
        if (!wanted[i] || wanted[i][0] != '/' ||
            snprintf(place->folder, sizeof place->folder, "%s/yarn-doctor.XXXXXX", wanted[i]) >=
                (int)sizeof place->folder - 1)
            continue;
        if (mkdtemp(place->folder)) {
            (void)strcat(place->folder, "/");
            return 0;
        }
    }
    return -errno;
}

/* The list without what is of the command; NULL: nothing is, or the list is at fault. */
static const char *other_events(const char *asked, struct yarn_text *text, bool *ret_is_empty)
{
    static struct yarn_event_list list;
    struct yarn_arena arena;
    struct yarn_parse_error error;
    size_t nr_left_out = 0;
    yarn_arena_open(&arena, YARN_MIB(1));
    int err = yarn_event_list_parse(asked, strlen(asked), &arena, &list, &error);
    for (size_t i = 0; !err && i < list.count; i++) {
        if (yarn_doctor_is_of_command(&list.specs[i]))
            nr_left_out++;
        else
            yarn_text_add_format(text, "%s%s", text->size ? "," : "", list.specs[i].asked);
    }
    yarn_arena_close(&arena);
    *ret_is_empty = nr_left_out && nr_left_out == list.count;
    if (*ret_is_empty)
        yarn_text_add(text, "cpu-clock");
    return nr_left_out && !text->cut ? text->data : NULL;
}

int yarn_doctor_trial_run(struct yarn_doctor_trial *trial, const char *preload,
                          const struct yarn_options *options)
{
    struct place place = {.preload = preload};
    char events[PATH_BYTES];
    struct yarn_text text = yarn_text_of(events, sizeof events);
    *trial = (struct yarn_doctor_trial){.dump = NULL};
    int err = yarn_profile_init(&trial->profile);
    if (err)
        return err;
    place.events = other_events(options->events, &text, &trial->has_no_events);
    place.messages = memfd_create("yarn-doctor", MFD_CLOEXEC);
    err = place.messages < 0 ? -errno : make_folder(&place);
    if (!err) {
        err = run(&place);
        trial->is_unrun = err;
        read_back(trial, &place);
        clean_up(&place);
    }
    if (place.messages >= 0)
        (void)close(place.messages);
    return err;
}

void yarn_doctor_trial_fini(struct yarn_doctor_trial *trial)
{
    yarn_profile_fini(&trial->profile);
}
