/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/io/csv.h"

#include <inttypes.h>

#include "output/text/legible.h"

static void begin_field(struct yarn_csv *csv)
{
    if (csv->is_begun)
        (void)fputc(',', csv->file);
    csv->is_begun = true;
}

static void put_text(struct yarn_csv *csv, const char *text)
{
    if (!text[strcspn(text, ",\"\r\n")]) {
        (void)fputs(text, csv->file);
        return;
    }
    (void)fputc('"', csv->file);
    for (; *text; text++) {
        if (*text == '"')
            (void)fputc('"', csv->file);
        (void)fputc(*text, csv->file);
    }
    (void)fputc('"', csv->file);
}

void yarn_csv_text(struct yarn_csv *csv, const char *text)
{
    struct yarn_legible legible;
    begin_field(csv);
    put_text(csv, yarn_legible(&legible, text));
    yarn_legible_fini(&legible);
}

void yarn_csv_u64(struct yarn_csv *csv, uint64_t value)
{
    begin_field(csv);
    (void)fprintf(csv->file, "%" PRIu64, value);
}

void yarn_csv_i64(struct yarn_csv *csv, int64_t value)
{
    begin_field(csv);
    (void)fprintf(csv->file, "%" PRId64, value);
}

void yarn_csv_real(struct yarn_csv *csv, double value)
{
    begin_field(csv);
    (void)fprintf(csv->file, "%.6f", value);
}

void yarn_csv_end_line(struct yarn_csv *csv)
{
    (void)fputc('\n', csv->file);
    csv->is_begun = false;
}
