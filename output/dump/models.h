/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The models of all columns that a dump has, for one side of it: what was learned in this series of
 * chunks. Threads, signals: one owner at a time; safe anywhere.
 */
#pragma once

#include "output/dump/column_model.h"
#include "output/dump/format.h"

enum {
#define YARN_COLUMN(NAME, KIND, name, since, prose) YARN_DUMP_MODEL_##NAME##_##name,
#include "output/dump/format.def"
    YARN_DUMP_MODEL_COUNT,
};

struct yarn_dump_models {
    bool is_out_of_step; /* something was not read: what follows in the series cannot be */
    struct yarn_column_model model[YARN_DUMP_MODEL_COUNT];
};

/* A series begins. */
void yarn_dump_models_reset(struct yarn_dump_models *models);
