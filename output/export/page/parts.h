/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The parts of a page that never change, built in by embed.cmake. Threads: constants only.
 */
#pragma once

#include "core/base/base.h"

struct yarn_page_part {
    const unsigned char *bytes;
    size_t size;
};

extern const struct yarn_page_part yarn_page_template; /* with @slots@, each on a line of its own */
extern const struct yarn_page_part yarn_page_style;
extern const struct yarn_page_part yarn_page_script;
