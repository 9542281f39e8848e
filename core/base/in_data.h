/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Small variables that every process reads or writes go into .data although they begin as zeros:
 * the loader has written to its only page already, while .bss scatters them between large tables,
 * a page each, whose first touch costs more than all that is done with them.
 */
#pragma once

#define YARN_IN_DATA __attribute__((section(".data")))
