/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where in the host's address space our mappings lie: far from where the kernel puts those of the
 * host, so that no address of ours was ever the host's. A host may go on using an address that it
 * has given back, as long as nobody else maps anything (it maps over it, protects it, gives it back
 * once more); were it ours meanwhile, it would do that to us.
 *
 * Knows addresses only; maps nothing, reserves nothing. Threads, signals: safe anywhere.
 */
#pragma once

#include "core/base/base.h"

/* The address to ask the kernel for, as a hint (without MAP_FIXED): where it is taken after all,
 * the kernel chooses as it always does. Each call gives other addresses, until they have all been
 * given once. */
uintptr_t yarn_address_next(size_t size);
