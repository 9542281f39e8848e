/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Foreign text as text of an HTML document, in an element or in a quoted attribute: markup is
 * escaped; what steers (control characters, marks that turn the direction of writing) and bytes
 * that are no UTF-8 are shown as \x1b, \u202e, \xff. No text can end the element that it is in.
 * Threads: safe anywhere.
 */
#pragma once

#include <stdio.h>

#include "core/base/base.h"

void yarn_html_text(FILE *file, const char *text);
