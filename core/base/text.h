/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Text without stdio: building into a buffer of the caller's (cut at its end, always terminated,
 * the cut remembered), and reading numbers with units. Threads, signals: safe anywhere.
 */
#pragma once

#include <stdarg.h>

#include "core/base/base.h"

struct yarn_text {
    char *data; /* borrowed */
    size_t capacity;
    size_t size; /* without the NUL */
    bool cut;
};

/* `capacity` counts the NUL and is at least 1. */
struct yarn_text yarn_text_of(char *data, size_t capacity);
void yarn_text_add(struct yarn_text *text, const char *more);
void yarn_text_add_sized(struct yarn_text *text, const char *more, size_t size);
void yarn_text_add_u64(struct yarn_text *text, uint64_t value);
void yarn_text_add_i64(struct yarn_text *text, int64_t value);
/* As printf has it, of %s, %d and %lu alone; the second moves *arguments. */
YARN_PRINTF(2, 3) void yarn_text_add_format(struct yarn_text *text, const char *format, ...);
void yarn_text_add_arguments(struct yarn_text *text, const char *format, va_list *arguments);
void yarn_text_add_hex(struct yarn_text *text, uint64_t value); /* without 0x */

/* A parse says where it stopped and why, in a static sentence. */
struct yarn_parse_error {
    size_t at; /* offset of the fault in the text */
    const char *why;
    size_t size; /* of the word at fault; 0 where something is missing at `at` */
};

/* Each takes the whole of text[0..size) or fails with -EINVAL (-ERANGE where it does not fit). */
YARN_MUST_CHECK int yarn_parse_u64(const char *text, size_t size, uint64_t *ret_value);
/* Decimal, or hexadecimal after 0x. */
YARN_MUST_CHECK int yarn_parse_number(const char *text, size_t size, uint64_t *ret_value);
/* Only the hexadecimal digits at the front, whatever follows: how many there are; 0 where there is
 * none or the value does not fit. */
size_t yarn_parse_hex_front(const char *text, size_t size, uint64_t *ret_value);
/* What follows the last slash; the whole where that is nothing. */
const char *yarn_path_base(const char *path);
/* A number of bytes; suffixes K, M, G (powers of 1024), with or without B or iB. A fraction is
 * allowed. */
YARN_MUST_CHECK int yarn_parse_bytes(const char *text, size_t size, uint64_t *ret_bytes);
/* A duration; suffixes ns, us, ms, s, m, min, h (seconds where there is none). A fraction is
 * allowed. */
YARN_MUST_CHECK int yarn_parse_duration(const char *text, size_t size, uint64_t *ret_ns);
/* The same, milliseconds where there is none: as perf has what it calls by the same names. */
YARN_MUST_CHECK int yarn_parse_duration_ms(const char *text, size_t size, uint64_t *ret_ns);
/* A count; suffixes k, M, G (powers of 1000). */
YARN_MUST_CHECK int yarn_parse_count(const char *text, size_t size, uint64_t *ret_count);
