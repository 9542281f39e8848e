/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Marks what the host may see; exports.map lists the same names.
 */
#pragma once

#define YARN_EXPORTED __attribute__((visibility("default")))
