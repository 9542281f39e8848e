/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The work on one list of specs, which the files of this folder share. Private to the folder.
 */
#pragma once

#include "core/base/arena.h"
#include "core/event/parse.h"
#include "unwind/image.h"

struct yarn_probe_sites;

struct yarn_site_work {
    struct yarn_probe_sites *probe_sites;
    struct yarn_event_list *list;
    struct yarn_arena *arena;
    bool is_of_this;
};

/* The sentence is copied; where the arena is full, it is a shorter one. */
void yarn_site_refuse(struct yarn_site_work *work, struct yarn_event_spec *spec, int error,
                      const char *sentence, const char *detail);

/* Puts the spec's probe, or all of its pattern, in the place of spec `at`; the number of specs that
 * stand there then. */
size_t yarn_site_put_probe(struct yarn_site_work *work, size_t at);

enum { YARN_SITE_PATH_MAX = 4096 };

/* Of the first mapped file of that name, without its folder; false where none is. */
bool yarn_site_module_path(const char *name, char ret_path[YARN_SITE_PATH_MAX]);

/* Whether an instruction begins `offset` bytes behind `start`, which is where one begins. False
 * also where that cannot be said. */
bool yarn_site_is_instruction(const struct yarn_image *image, uint64_t start, uint64_t offset);
