/* SPDX-License-Identifier: Apache-2.0 */
#include "loaded.h"

#include <check.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void loaded_open(struct loaded *loaded)
{
    memset(loaded, 0, sizeof *loaded);
    (void)snprintf(loaded->folder, sizeof loaded->folder, "/tmp/yarn_analysis.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(loaded->folder));
}

void loaded_close(struct loaded *loaded)
{
    struct dirent *entry;
    DIR *folder = opendir(loaded->folder);
    while (folder && (entry = readdir(folder))) {
        if (entry->d_name[0] != '.')
            (void)unlink(loaded_path(loaded, entry->d_name));
    }
    if (folder)
        (void)closedir(folder);
    (void)rmdir(loaded->folder);
    if (loaded->is_read)
        yarn_profile_fini(&loaded->profile);
    yarn_sorter_fini(&loaded->timeline.rows);
    yarn_choice_fini(&loaded->choice);
}

const char *loaded_path(const struct loaded *loaded, const char *name)
{
    static char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", loaded->folder, name);
    return path;
}

static void read_with(struct loaded *loaded, const struct yarn_load_options *options)
{
    struct yarn_sources sources = {0};
    struct yarn_source_failure failure;
    ck_assert_int_eq(yarn_sources_add(&sources, loaded->folder, &failure), 0);
    yarn_sources_sort(&sources);
    ck_assert_int_eq(yarn_profile_init(&loaded->profile), 0);
    ck_assert_int_eq(yarn_profile_load(&loaded->profile, &sources, options, &failure), 0);
    loaded->is_read = true;
    yarn_sources_fini(&sources);
}

void loaded_read_part(struct loaded *loaded, const char *time, bool by_cpu)
{
    struct yarn_load_options options = {.time = YARN_TIME_RANGE_ALL, .by_cpu = by_cpu};
    if (time)
        ck_assert_int_eq(yarn_time_range_parse(time, &options.time), 0);
    read_with(loaded, &options);
}

void loaded_read(struct loaded *loaded)
{
    loaded_read_part(loaded, NULL, false);
}

void loaded_read_timeline(struct loaded *loaded)
{
    struct yarn_load_options options = {
        .time = YARN_TIME_RANGE_ALL,
        .timeline = &loaded->timeline,
    };
    read_with(loaded, &options);
}

const struct yarn_choice *loaded_choose(struct loaded *loaded, const struct yarn_filter *filter)
{
    static const struct yarn_filter all;
    yarn_choice_fini(&loaded->choice);
    ck_assert_int_eq(yarn_choice_init(&loaded->choice, &loaded->profile, filter ? filter : &all),
                     0);
    return &loaded->choice;
}

const char *loaded_rows(struct loaded *loaded, const struct yarn_filter *filter, enum yarn_by by)
{
    static char text[4096];
    struct yarn_rows rows;
    size_t at = 0;
    text[0] = 0;
    ck_assert_int_eq(yarn_rows_build(loaded_choose(loaded, filter), by, &rows), 0);
    for (size_t i = 0; i < rows.count; i++) {
        const struct yarn_row *row = &rows.rows[i];
        char name[64];
        (void)snprintf(name, sizeof name, "cpu%u", row->key);
        at += (size_t)snprintf(
            text + at, sizeof text - at, "%s%s %" PRIu64 " %" PRIu64 " %" PRIu64, at ? "; " : "",
            by == YARN_BY_CPU ? name : yarn_by_name(&loaded->profile, by, row->key),
            row->self / MAKER_PERIOD_NS, row->total / MAKER_PERIOD_NS, row->samples);
    }
    yarn_rows_fini(&rows);
    return text;
}
