/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/io/status.h"

#include <stdarg.h>
#include <stdio.h>

#include "output/text/ascii.h"
#include "output/text/legible.h"

void yarn_complain(const char *verb, const char *format, ...)
{
    char line[8192];
    struct yarn_legible legible;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(line, sizeof line, format, args);
    va_end(args);
    FILE *ascii = yarn_ascii_is_wanted() ? yarn_ascii_open(stderr) : NULL;
    (void)fprintf(ascii ? ascii : stderr, "yarnprof%s%s: %s\n", verb ? " " : "", verb ? verb : "",
                  yarn_legible(&legible, line));
    if (ascii)
        (void)fclose(ascii);
    yarn_legible_fini(&legible);
}
