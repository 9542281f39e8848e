/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where a symbol is in this process, by its name: functions and data of every file that is mapped
 * with code, the first that has it. Knows symbol tables; does not know debug files, nor what is put
 * there.
 *
 * Threads: any. Signals: not safe. Memory through pages.h only.
 */
#pragma once

#include "core/base/base.h"

/* As yarn_session_request.find_symbol, as the process is mapped now. False where no table has it:
 * neither .symtab nor .dynsym. Opens the modules' files. */
bool yarn_symbol_place_find(const char *symbol, uint64_t *ret_address);
