/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A folder for dumps that a test makes, and the profile that they become.
 */
#pragma once

#include "dump_maker.h"
#include "output/analysis/load/load.h"
#include "output/fold/rows.h"

struct loaded {
    char folder[64];
    struct yarn_profile profile;
    struct yarn_timeline timeline; /* filled by loaded_read_timeline */
    struct yarn_choice choice;     /* of loaded_choose */
    bool is_read;
};

void loaded_open(struct loaded *loaded);
void loaded_close(struct loaded *loaded);

/* "FOLDER/name", in a static buffer. */
const char *loaded_path(const struct loaded *loaded, const char *name);

/* Reads all dumps of the folder; fails the test where that fails. */
void loaded_read(struct loaded *loaded);
void loaded_read_part(struct loaded *loaded, const char *time, bool by_cpu);
void loaded_read_timeline(struct loaded *loaded);

/* The profile's; NULL: all of it. */
const struct yarn_choice *loaded_choose(struct loaded *loaded, const struct yarn_filter *filter);

/* "name self total samples" of each row, self and total in ms, rows by ;. In a static buffer. */
const char *loaded_rows(struct loaded *loaded, const struct yarn_filter *filter, enum yarn_by by);
