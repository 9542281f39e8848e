/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Unpacks what zlib packed (RFC 1950 and 1951). Why no library: Debian's static one cannot be part
 * of a shared libyarn. Trusts nothing. Threads: pure.
 */
#pragma once

#include "core/base/span.h"

/* False: it is damaged, or not of exactly `size` bytes. */
YARN_MUST_CHECK bool yarn_inflate(struct yarn_span packed, uint8_t *bytes, size_t size);
