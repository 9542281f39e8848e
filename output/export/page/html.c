/* SPDX-License-Identifier: Apache-2.0 */
#include "output/export/page/html.h"

#include "output/text/legible.h"

static const char *entity_of(char character)
{
    switch (character) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    default:
        return "&#39;";
    }
}

void yarn_html_text(FILE *file, const char *text)
{
    struct yarn_legible legible;
    const char *at = yarn_legible(&legible, text);
    while (*at) {
        size_t size = strcspn(at, "<>&\"'");
        (void)fwrite(at, 1, size, file);
        at += size;
        if (*at)
            (void)fputs(entity_of(*at++), file);
    }
    yarn_legible_fini(&legible);
}
