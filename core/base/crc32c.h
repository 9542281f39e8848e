/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * CRC-32C (Castagnoli; reflected, polynomial 0x82f63b78), the checksum of dumps. It finds every
 * single burst of up to 32 bits. Threads, signals: a pure function; safe anywhere.
 */
#pragma once

#include "core/base/span.h"

/* Begin with 0; a result is where the next span goes on. */
uint32_t yarn_crc32c(uint32_t crc, struct yarn_span bytes);
