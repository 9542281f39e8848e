/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The assets of a page, which never change, built in by embed.cmake. Threads: constants only.
 */
#pragma once

#include "core/base/base.h"

struct yarn_page_asset {
    const unsigned char *bytes;
    size_t size;
};

extern const struct yarn_page_asset
    yarn_page_template; /* with @slots@, each on a line of its own */
extern const struct yarn_page_asset yarn_page_style;
extern const struct yarn_page_asset yarn_page_script;
