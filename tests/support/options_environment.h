/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Options as the environment that asks for them: YARN_NAME=words of every changed one, NULL behind
 * the last. The texts lie in the arena.
 */
#pragma once

#include "core/config/options.h"

static inline void options_environment(char *ret_envp[YARN_OPTION_COUNT + 1],
                                       const struct yarn_options *options, struct yarn_arena *arena)
{
    char buffer[64 + YARN_OPTION_TEXT_MAX];
    size_t count = 0;
    for (enum yarn_option i = yarn_options_next_changed(options, 0); i < YARN_OPTION_COUNT;
         i = yarn_options_next_changed(options, i + 1)) {
        struct yarn_text text = yarn_text_of(buffer, sizeof buffer);
        yarn_option_variable(i, &text);
        yarn_text_add_format(&text, "=%s", options->texts[i]);
        ret_envp[count++] = yarn_arena_text(arena, text.data, text.size);
    }
    ret_envp[count] = NULL;
}
