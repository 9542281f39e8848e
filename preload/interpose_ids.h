/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Looks up the C library's functions that interpose_ids.c stands in front of. In the constructor.
 */
#pragma once

void yarn_interpose_ids_begin(void);
