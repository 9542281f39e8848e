/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/io/columns.h"

#include "output/text/legible.h"

size_t yarn_text_bytes(const char *text, size_t columns)
{
    struct yarn_span rest = yarn_span_of_text(text);
    for (; columns && rest.size; columns--) {
        uint32_t character;
        unsigned size = yarn_utf8_size(rest, &character);
        rest = yarn_span_from(rest, size ? size : 1);
    }
    return strlen(text) - rest.size;
}

static size_t print(const struct yarn_out *out, const char *text, size_t width)
{
    struct yarn_legible legible;
    size_t printed;
    (void)yarn_legible(&legible, text);
    if (!width || legible.columns <= width) {
        (void)fputs(legible.text, out->file);
        printed = legible.columns;
    } else {
        size_t kept = width - 1;
        (void)fprintf(out->file, "%.*s…", (int)yarn_text_bytes(legible.text, kept), legible.text);
        printed = width;
    }
    yarn_legible_fini(&legible);
    return printed;
}

void yarn_print_cut(const struct yarn_out *out, const char *text, size_t width)
{
    (void)print(out, text, width);
}

void yarn_print_cell(const struct yarn_out *out, const char *text, size_t width)
{
    size_t printed = print(out, text, width);
    if (printed < width)
        (void)fprintf(out->file, "%*s", (int)(width - printed), "");
}

size_t yarn_text_columns(const char *text)
{
    struct yarn_legible legible;
    (void)yarn_legible(&legible, text);
    size_t columns = legible.columns;
    yarn_legible_fini(&legible);
    return columns;
}
