/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What `yarnprof info` prints of each dump, as text and as JSON. Threads: one.
 */
#pragma once

#include "output/analysis/profile/profile.h"
#include "output/yarnprof/show/table.h"

/* The dump that is shown. */
struct yarn_info {
    const struct yarn_profile *profile;
    const struct yarn_profile_dump *dump;
    size_t number;                             /* of the dump */
    const struct yarn_profile_thread *threads; /* its own, which lie together */
    size_t nr_threads;
    const struct yarn_out *out;
};

/* The lists of a dump; text has threads, modules and messages. */
extern const struct yarn_show_column yarn_info_events[];
extern const struct yarn_show_column yarn_info_threads[];
extern const struct yarn_show_column yarn_info_modules[];
extern const struct yarn_show_column yarn_info_messages[];
extern const struct yarn_show_column yarn_info_tree_processes[];
extern const struct yarn_show_column yarn_info_tree_programs[];
extern const struct yarn_show_column yarn_info_damages[];

/* A list; `key`: of the array in JSON. */
void yarn_info_show(const struct yarn_info *info, const struct yarn_show_column *columns,
                    const char *key, const void *rows, size_t count, size_t size);
#define YARN_INFO_SHOW(info, list, key, rows, count)                                               \
    yarn_info_show(info, yarn_info_##list, key, rows, count, sizeof *(rows))

/* Those at the end. */
void yarn_info_show_lists(const struct yarn_info *info);
/* A headline of text. */
void yarn_info_section(const struct yarn_out *out, const char *title);

/* The host's CPU time: the recorder's own sum or, where a cut dump has none, a clock's count. */
uint64_t yarn_info_cpu_ns(const struct yarn_profile_dump *dump);

void yarn_info_print(const struct yarn_profile *profile, const struct yarn_out *out);
/* The object of a dump in JSON. */
void yarn_info_json(const struct yarn_info *info);
