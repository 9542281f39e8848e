/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a program is called. Threads: safe anywhere.
 */
#pragma once

/* The name by which it was run: of the first argument, as far as that is a name that can have been
 * run (login shells put a hyphen before it, some programs write what they do), else the file's. The
 * result lies in one of both. */
const char *yarn_program_name(const char *first_argument, const char *file);
