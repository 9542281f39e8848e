/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where in the host's address space our mappings lie: far from where the kernel puts those of the
 * host, so that no address of ours was ever the host's. A host may go on using an address that it
 * has unmapped, as long as nothing else maps there (it maps over it, protects it, unmaps it again);
 * were it ours meanwhile, that would hit our memory.
 *
 * Knows addresses only; maps nothing, reserves nothing. Threads, signals: safe anywhere.
 */
#pragma once

#include "core/base/base.h"

/* An address for mmap, as a hint (without MAP_FIXED): if it is in use after all, the kernel chooses
 * another. Each call returns other addresses, until all have been used once. */
uintptr_t yarn_address_next(size_t size);
