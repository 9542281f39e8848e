/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Work in many functions, in the host itself or in a plugin: `count` of them from the `first` on.
 */
#pragma once

#include <stdint.h>

uint64_t files_work(uint64_t seed, unsigned first, unsigned count);
