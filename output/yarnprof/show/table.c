/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/show/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>

#include "output/text/legible.h"
#include "output/yarnprof/io/columns.h"
#include "output/yarnprof/io/numbers.h"

/* Comma separated values after RFC 4180 (lines end with a plain newline). Texts become legible. */
struct csv {
    FILE *file;
    bool is_begun; /* a field of the line is out */
};

static void begin_field(struct csv *csv)
{
    if (csv->is_begun)
        (void)fputc(',', csv->file);
    csv->is_begun = true;
}

static void put_text(struct csv *csv, const char *text)
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

static void csv_text(struct csv *csv, const char *text)
{
    struct yarn_legible legible;
    begin_field(csv);
    put_text(csv, yarn_legible(&legible, text));
    yarn_legible_fini(&legible);
}

static void csv_u64(struct csv *csv, uint64_t value)
{
    begin_field(csv);
    (void)fprintf(csv->file, "%" PRIu64, value);
}

static void csv_i64(struct csv *csv, int64_t value)
{
    begin_field(csv);
    (void)fprintf(csv->file, "%" PRId64, value);
}

static void csv_real(struct csv *csv, double value, bool is_exact)
{
    begin_field(csv);
    (void)fprintf(csv->file, is_exact ? "%.17g" : "%.6f", value);
}

static void csv_end_line(struct csv *csv)
{
    (void)fputc('\n', csv->file);
    csv->is_begun = false;
}

#define HOT_PERCENT 5.0
#define WARM_PERCENT 0.5

enum { ROOM = 80 * 1024 }; /* holds the longest demangled name twice */

/* What yarn_show_add writes to: a cell is written before the next is made. */
static char room[ROOM];

enum yarn_paint yarn_show_paint_of(double percent)
{
    return percent >= HOT_PERCENT    ? YARN_PAINT_HOT
           : percent >= WARM_PERCENT ? YARN_PAINT_WARM
                                     : YARN_PAINT_FAINT;
}

/* ---- cells ---- */

void yarn_show_text(struct yarn_show_cell *cell, const char *text)
{
    cell->kind = text ? YARN_SHOW_TEXT : YARN_SHOW_NONE;
    cell->text = text;
}

void yarn_show_text_if(struct yarn_show_cell *cell, const char *text)
{
    if (text && text[0])
        yarn_show_text(cell, text);
}

void yarn_show_u64(struct yarn_show_cell *cell, uint64_t number)
{
    cell->kind = YARN_SHOW_U64;
    cell->number = number;
}

void yarn_show_i64(struct yarn_show_cell *cell, int64_t number)
{
    cell->kind = YARN_SHOW_I64;
    cell->number = (uint64_t)number;
}

void yarn_show_u64_if(struct yarn_show_cell *cell, bool is_known, uint64_t number)
{
    if (is_known)
        yarn_show_u64(cell, number);
}

void yarn_show_real(struct yarn_show_cell *cell, double real)
{
    if (!isfinite(real))
        return;
    cell->kind = YARN_SHOW_REAL;
    cell->real = real;
}

void yarn_show_bool(struct yarn_show_cell *cell, bool is_true)
{
    cell->kind = YARN_SHOW_BOOL;
    cell->number = is_true;
}

void yarn_show_add(struct yarn_show_cell *cell, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int size = vsnprintf(room + cell->used, ROOM - cell->used, format, args);
    va_end(args);
    cell->used = yarn_size_min(cell->used + (size > 0 ? (size_t)size : 0), ROOM - 1);
    cell->text = room;
    if (cell->kind == YARN_SHOW_NONE)
        cell->kind = YARN_SHOW_TEXT;
}

void yarn_show_span(struct yarn_show_cell *cell, struct yarn_span span)
{
    cell->kind = YARN_SHOW_SPAN;
    cell->span = span;
    cell->text = yarn_span_as_text(span);
}

void yarn_show_words(struct yarn_show_cell *cell, struct yarn_span words)
{
    cell->kind = YARN_SHOW_WORDS;
    cell->span = words;
    for (size_t at = 0; at < words.size; at += strlen((const char *)words.data + at) + 1)
        yarn_show_add(cell, "%s%s", at ? ", " : "", (const char *)words.data + at);
    if (!words.size)
        cell->text = "nothing";
}

void yarn_show_member(struct yarn_show_cell *cell)
{
    const void *at = (const char *)cell->row + cell->column->member;
    switch (cell->column->member_kind) {
    case YARN_SHOW_TEXT:
        yarn_show_text(cell, *(const char *const *)at);
        break;
    case YARN_SHOW_SPAN:
        yarn_show_span(cell, *(const struct yarn_span *)at);
        break;
    case YARN_SHOW_U8:
        yarn_show_u64(cell, *(const uint8_t *)at);
        break;
    case YARN_SHOW_U32:
        yarn_show_u64(cell, *(const uint32_t *)at);
        break;
    case YARN_SHOW_U64:
        yarn_show_u64(cell, *(const uint64_t *)at);
        break;
    case YARN_SHOW_I32:
        yarn_show_i64(cell, *(const int32_t *)at);
        break;
    case YARN_SHOW_REAL:
        yarn_show_real(cell, *(const double *)at);
        break;
    case YARN_SHOW_BOOL:
        yarn_show_bool(cell, *(const bool *)at);
        break;
    default:
        break;
    }
}

static struct yarn_show_cell make_cell(const struct yarn_show_table *table,
                                       const struct yarn_show_column *column, const void *row)
{
    struct yarn_show_cell cell = {
        .self = table->self, .row = row, .column = column, .paint = YARN_PAINT_COUNT};
    if (column->get)
        column->get(&cell);
    else
        yarn_show_member(&cell);
    if (column->word)
        yarn_show_text(&cell, column->word(cell.number));
    if (column->unit == YARN_SHOW_SHARE && cell.kind == YARN_SHOW_REAL)
        cell.paint = yarn_show_paint_of(cell.real);
    return cell;
}

/* ---- text ---- */

/* Of a value that has none of its own. */
static struct yarn_number number_of(const struct yarn_show_cell *cell)
{
    struct yarn_number number = {.text = ""};
    size_t size = sizeof number.text;
    bool is_right = cell->column->align == YARN_SHOW_RIGHT;
    if (cell->kind == YARN_SHOW_NONE)
        return is_right ? (struct yarn_number){"-"} : number;
    switch (cell->column->unit) {
    case YARN_SHOW_GROUPED:
        return yarn_number_grouped(cell->number);
    case YARN_SHOW_NS:
        return yarn_number_duration(cell->number);
    case YARN_SHOW_MOMENT:
        (void)snprintf(number.text, size, "%.3f s", (double)cell->number / 1e9);
        break;
    case YARN_SHOW_SHARE:
        (void)snprintf(number.text, size, "%6.2f %%", cell->real);
        break;
    case YARN_SHOW_HEX:
        (void)snprintf(number.text, size, "0x%" PRIx64, cell->number);
        break;
    case YARN_SHOW_FACTOR:
        (void)snprintf(number.text, size, "%.4g", cell->real);
        break;
    default:
        (void)snprintf(number.text, size, cell->kind == YARN_SHOW_I64 ? "%" PRId64 : "%" PRIu64,
                       cell->number);
        break;
    }
    return number;
}

static void print_cell(const struct yarn_out *out, const struct yarn_show_cell *cell)
{
    const struct yarn_show_column *column = cell->column;
    bool has_paint = cell->paint != YARN_PAINT_COUNT;
    struct yarn_number number;
    const char *text = cell->text;
    if (cell->kind == YARN_SHOW_MISSING)
        return;
    if (!text) {
        number = number_of(cell);
        text = number.text;
    }
    (void)fprintf(out->file, "%*s%s", (int)column->gap, "",
                  has_paint ? yarn_out_paint(out, cell->paint) : "");
    switch (column->align) {
    case YARN_SHOW_RIGHT:
        (void)fprintf(out->file, "%*s", (int)column->width, text);
        break;
    case YARN_SHOW_NAME:
        yarn_print_cell(out, text,
                        out->columns || yarn_text_columns(text) <= column->width ? column->width
                                                                                 : 0);
        break;
    case YARN_SHOW_MIDDLE:
        yarn_print_cell_with_end(out, text, column->width);
        break;
    case YARN_SHOW_LEFT:
        yarn_print_cell(out, text, column->width);
        break;
    default:
        yarn_print_cut(out, text, column->width);
        break;
    }
    (void)fputs(has_paint ? yarn_out_plain(out) : "", out->file);
}

/* Blanks are kept back until something follows them: the line ends with its last word. */
static void print_title(const struct yarn_out *out, const struct yarn_show_column *column,
                        size_t *blanks)
{
    size_t size = strlen(column->title);
    size_t rest = column->width > size ? column->width - size : 0;
    bool is_right = column->align == YARN_SHOW_RIGHT;
    *blanks += column->gap + (is_right ? rest : 0);
    if (size) {
        (void)fprintf(out->file, "%*s%s", (int)*blanks, "", column->title);
        *blanks = 0;
    }
    *blanks += is_right || column->align == YARN_SHOW_TAIL ? 0 : rest;
}

const char *yarn_show_text_of(const struct yarn_show_table *table,
                              const struct yarn_show_column *column, const void *row)
{
    static struct yarn_number number;
    struct yarn_show_cell cell = make_cell(table, column, row);
    if (cell.text || cell.kind == YARN_SHOW_MISSING)
        return cell.text ? cell.text : "";
    number = number_of(&cell);
    return number.text;
}

/* ---- data ---- */

static void put_csv(struct csv *csv, const struct yarn_show_cell *cell)
{
    switch (cell->kind) {
    case YARN_SHOW_TEXT:
    case YARN_SHOW_SPAN:
    case YARN_SHOW_WORDS:
        csv_text(csv, cell->text);
        break;
    case YARN_SHOW_REAL:
        csv_real(csv, cell->real, cell->column->unit == YARN_SHOW_EXACT);
        break;
    case YARN_SHOW_U64:
        csv_u64(csv, cell->number);
        break;
    case YARN_SHOW_I64:
        csv_i64(csv, (int64_t)cell->number);
        break;
    case YARN_SHOW_BOOL:
        if (cell->column->unit == YARN_SHOW_WORD)
            csv_text(csv, cell->number ? "true" : "false");
        else
            csv_u64(csv, cell->number);
        break;
    default:
        csv_text(csv, "");
        break;
    }
}

static void put_json(struct yarn_json *json, const struct yarn_show_cell *cell)
{
    const char *key = cell->column->key;
    switch (cell->kind) {
    case YARN_SHOW_TEXT:
        yarn_json_text(json, key, cell->text);
        break;
    case YARN_SHOW_SPAN:
        yarn_json_span(json, key, cell->span);
        break;
    case YARN_SHOW_WORDS:
        yarn_json_words(json, key, cell->span);
        break;
    case YARN_SHOW_REAL:
        if (cell->column->unit == YARN_SHOW_EXACT)
            yarn_json_factor(json, key, cell->real);
        else
            yarn_json_real(json, key, cell->real);
        break;
    case YARN_SHOW_U64:
        yarn_json_u64(json, key, cell->number);
        break;
    case YARN_SHOW_I64:
        yarn_json_i64(json, key, (int64_t)cell->number);
        break;
    case YARN_SHOW_BOOL:
        yarn_json_bool(json, key, cell->number);
        break;
    default:
        yarn_json_null(json, key);
        break;
    }
}

/* Of two lists of words with dots between, how many bytes of the words at the begin are the same.
 */
static size_t same_words(const char *one, const char *other)
{
    size_t size = 0;
    for (size_t i = 0; one[i] == other[i] || !one[i] || !other[i]; i++) {
        bool is_end = (!one[i] || one[i] == '.') && (!other[i] || other[i] == '.');
        size = is_end ? i : size;
        if (!one[i] || !other[i])
            break;
    }
    return size;
}

/* Ends the objects that were open ("": none) and are not around what follows, and begins those
 * that are. */
static const char *enter(struct yarn_json *json, const char *open, const char *within)
{
    size_t same = same_words(open, within);
    char key[64];
    for (const char *at = open + same; *at; at += 1 + strcspn(at + 1, "."))
        yarn_json_end_object(json);
    for (const char *at = within + same; *at; at += strcspn(at, ".")) {
        at += *at == '.';
        (void)snprintf(key, sizeof key, "%.*s", (int)strcspn(at, "."), at);
        yarn_json_begin_object(json, key);
    }
    return within;
}

/* ---- all of a table ---- */

static bool is_in(const struct yarn_show_table *table, const struct yarn_show_column *column)
{
    switch (table->out->format) {
    case YARN_OUT_CSV:
        return column->key && !(column->flags & YARN_SHOW_NOT_CSV);
    case YARN_OUT_JSON:
        return column->key && !(column->flags & YARN_SHOW_NOT_JSON);
    default:
        return column->title && (!column->is_wanted || column->is_wanted(table->self));
    }
}

/* Of the form, the one behind `column` (NULL: the first); NULL behind the last. */
static const struct yarn_show_column *next_column(const struct yarn_show_table *table, size_t *part,
                                                  const struct yarn_show_column *column)
{
    const struct yarn_show_column *next = column ? column + 1 : table->parts[*part];
    while (next) {
        if (!next->key && !next->title)
            next = ++*part < YARN_SHOW_PARTS ? table->parts[*part] : NULL;
        else if (is_in(table, next))
            return next;
        else
            next++;
    }
    return NULL;
}

void yarn_show_titles(const struct yarn_show_table *table)
{
    const struct yarn_show_column *column = NULL;
    size_t part = 0, blanks = 0;
    while ((column = next_column(table, &part, column)))
        print_title(table->out, column, &blanks);
}

static void put_keys(const struct yarn_show_table *table)
{
    const struct yarn_show_column *column = NULL;
    struct csv csv = {.file = table->out->file};
    size_t part = 0;
    while ((column = next_column(table, &part, column)))
        csv_text(&csv, column->csv ? column->csv : column->key);
    csv_end_line(&csv);
}

void yarn_show_head(const struct yarn_show_table *table)
{
    const struct yarn_out *out = table->out;
    if (out->format == YARN_OUT_CSV)
        put_keys(table);
    if (out->format != YARN_OUT_TEXT || table->is_bare)
        return;
    (void)fputs(table->has_paint ? yarn_out_paint(out, YARN_PAINT_HEAD) : "", out->file);
    yarn_show_titles(table);
    (void)fprintf(out->file, "%s\n", table->has_paint ? yarn_out_plain(out) : "");
}

void yarn_show_row(const struct yarn_show_table *table, const void *row)
{
    yarn_show_object(table, NULL, row);
}

void yarn_show_object(const struct yarn_show_table *table, const char *key, const void *row)
{
    const struct yarn_out *out = table->out;
    const struct yarn_show_column *column = NULL;
    struct csv csv = {.file = out->file};
    const char *open = "";
    size_t part = 0;
    if (out->format == YARN_OUT_JSON)
        yarn_json_begin_object(table->out->json, key);
    while ((column = next_column(table, &part, column))) {
        struct yarn_show_cell cell = make_cell(table, column, row);
        if (out->format == YARN_OUT_CSV) {
            put_csv(&csv, &cell);
        } else if (out->format == YARN_OUT_JSON) {
            if (cell.kind == YARN_SHOW_MISSING)
                continue;
            open = enter(table->out->json, open, column->within ? column->within : "");
            put_json(table->out->json, &cell);
        } else {
            print_cell(out, &cell);
        }
    }
    if (out->format != YARN_OUT_JSON) {
        (void)fputc('\n', out->file);
        return;
    }
    (void)enter(table->out->json, open, "");
    yarn_json_end_object(table->out->json);
}

void yarn_show_begin(const struct yarn_show_table *table, const char *key)
{
    if (table->out->format == YARN_OUT_JSON)
        yarn_json_begin_array(table->out->json, key);
    yarn_show_head(table);
}

void yarn_show_end(const struct yarn_show_table *table)
{
    if (table->out->format == YARN_OUT_JSON)
        yarn_json_end_array(table->out->json);
}

void yarn_show_rows(const struct yarn_show_table *table, const char *key, const void *rows,
                    size_t count, size_t size, size_t limit)
{
    yarn_show_begin(table, key);
    for (size_t i = 0; i < count && (!limit || i < limit); i++)
        yarn_show_row(table, (const char *)rows + i * size);
    yarn_show_end(table);
}
