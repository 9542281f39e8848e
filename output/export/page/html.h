/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Foreign text as text of an HTML document, in an element or in a quoted attribute: made legible
 * (output/text), and markup is escaped. No text can end the element that it is in.
 * Threads: safe anywhere.
 */
#pragma once

#include <stdio.h>

#include "core/base/base.h"

void yarn_html_text(FILE *file, const char *text);
