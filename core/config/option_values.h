/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * From the words of one variable to its value: one function a type of value, named by the rows of
 * options.def. Knows words and bounds; does not know the environment.
 *
 * Each writes the field at *ret_field, of the type that its rows give, and keeps `text` where the
 * field is a text. -EINVAL with *ret_error filled. Threads, signals: pure; safe anywhere.
 */
#pragma once

#include "core/base/text.h"

typedef int yarn_option_parse_fn(const char *text, void *ret_field,
                                 struct yarn_parse_error *ret_error);

yarn_option_parse_fn yarn_option_parse_text;
yarn_option_parse_fn yarn_option_parse_path;
yarn_option_parse_fn yarn_option_parse_pattern;
/* As a pattern; nothing is allowed. */
yarn_option_parse_fn yarn_option_parse_optional_pattern;
yarn_option_parse_fn yarn_option_parse_frequency;
yarn_option_parse_fn yarn_option_parse_callgraph;
yarn_option_parse_fn yarn_option_parse_sched;
yarn_option_parse_fn yarn_option_parse_ring;
yarn_option_parse_fn yarn_option_parse_interval;
/* A length of time; 0 where there is none. */
yarn_option_parse_fn yarn_option_parse_while;
yarn_option_parse_fn yarn_option_parse_unwinder;
yarn_option_parse_fn yarn_option_parse_sampler;
yarn_option_parse_fn yarn_option_parse_strategy;
yarn_option_parse_fn yarn_option_parse_reader;
yarn_option_parse_fn yarn_option_parse_clock;
yarn_option_parse_fn yarn_option_parse_empty;
yarn_option_parse_fn yarn_option_parse_follow;
yarn_option_parse_fn yarn_option_parse_start;
yarn_option_parse_fn yarn_option_parse_log;
