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

/* The last `tail` characters stay where it is cut. */
static size_t print(const struct yarn_out *out, const char *text, size_t width, size_t tail)
{
    struct yarn_legible legible;
    size_t printed;
    (void)yarn_legible(&legible, text);
    if (!width || legible.columns <= width) {
        (void)fputs(legible.text, out->file);
        printed = legible.columns;
    } else {
        const char *end = &legible.text[yarn_text_bytes(legible.text, legible.columns - tail)];
        (void)fprintf(out->file, "%.*s…%s", (int)yarn_text_bytes(legible.text, width - 1 - tail),
                      legible.text, end);
        printed = width;
    }
    yarn_legible_fini(&legible);
    return printed;
}

void yarn_print_cut(const struct yarn_out *out, const char *text, size_t width)
{
    (void)print(out, text, width, 0);
}

static void fill(const struct yarn_out *out, size_t printed, size_t width)
{
    if (printed < width)
        (void)fprintf(out->file, "%*s", (int)(width - printed), "");
}

void yarn_print_cell(const struct yarn_out *out, const char *text, size_t width)
{
    fill(out, print(out, text, width, 0), width);
}

void yarn_print_cell_with_end(const struct yarn_out *out, const char *text, size_t width)
{
    fill(out, print(out, text, width, width ? (width - 1) / 2 : 0), width);
}

size_t yarn_text_columns(const char *text)
{
    struct yarn_legible legible;
    (void)yarn_legible(&legible, text);
    size_t columns = legible.columns;
    yarn_legible_fini(&legible);
    return columns;
}
