/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The newest dump in the working folder, or the folder in it of one `record`, where a command line
 * names none. Threads: one.
 */
#pragma once

#include <limits.h>

#include "core/base/base.h"

/* Reports which, or that there is none: false. */
bool yarn_newest_find(const char *verb, char ret_path[PATH_MAX]);
