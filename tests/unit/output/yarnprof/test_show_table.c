/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <math.h>

#include "output/yarnprof/io/numbers.h"
#include "output/yarnprof/show/table.h"
#include "tests/support/suite.h"

struct thing {
    const char *name;
    uint64_t ns;
    uint32_t number;
    bool is_good;
    double share;
};

static const struct thing things[] = {
    {"first, of them", 1500, 7, true, 12.5},
    {"a name of more characters", 0, 1234567, false, NAN},
};

static char *text;
static size_t size;
static bool is_wide;

static void get_ns(struct yarn_show_cell *cell)
{
    const struct thing *thing = cell->row;
    yarn_show_u64_if(cell, thing->ns, thing->ns);
}

static void get_share(struct yarn_show_cell *cell)
{
    yarn_show_real(cell, ((const struct thing *)cell->row)->share);
}

/* Only of good things. */
static void get_note(struct yarn_show_cell *cell)
{
    const struct thing *thing = cell->row;
    if (!thing->is_good) {
        cell->kind = YARN_SHOW_MISSING;
        return;
    }
    yarn_show_add(cell, "%s", "(go");
    yarn_show_add(cell, "%s", "od)");
}

static bool is_wanted(const void *self)
{
    return *(const bool *)self;
}

#define MEMBER(name) YARN_SHOW_MEMBER(struct thing, name)

static const struct yarn_show_column numbers[] = {
    YARN_SHOW_COLUMN("ns", "TIME", .get = get_ns, .unit = YARN_SHOW_NS, .width = 8),
    YARN_SHOW_COLUMN("number", "NUMBER", MEMBER(number), .unit = YARN_SHOW_GROUPED, .gap = 1,
                     .width = 9, .is_wanted = is_wanted),
    YARN_SHOW_COLUMN("good", NULL, MEMBER(is_good), .flags = YARN_SHOW_NOT_CSV),
    YARN_SHOW_COLUMN("good", NULL, MEMBER(is_good), .unit = YARN_SHOW_WORD,
                     .flags = YARN_SHOW_NOT_JSON),
    YARN_SHOW_COLUMN("share", "SHARE", .get = get_share, .unit = YARN_SHOW_SHARE, .gap = 1,
                     .width = 8, .within = "parts.of", .csv = "part"),
    {0},
};

static const struct yarn_show_column names[] = {
    YARN_SHOW_COLUMN("name", "NAME", MEMBER(name), .align = YARN_SHOW_NAME, .gap = 2, .width = 14),
    YARN_SHOW_COLUMN("note", "", .get = get_note, .align = YARN_SHOW_TAIL, .gap = 1),
    {0},
};

/* What the things are in that form, up to a limit. */
static const char *shown(enum yarn_out_format format, int columns, bool has_color, size_t limit)
{
    struct yarn_out out = {.format = format, .columns = columns, .has_color = has_color};
    out.file = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(out.file);
    struct yarn_show_table table = {.out = &out, .self = &is_wide, .parts = {numbers, names}};
    table.has_paint = true;
    if (format == YARN_OUT_JSON)
        ck_assert_int_eq(yarn_out_begin_json(&out), 0);
    yarn_show_rows(&table, "things", things, YARN_COUNT_OF(things), sizeof things[0], limit);
    yarn_out_end_json(&out);
    (void)fclose(out.file);
    return text;
}

static void set_up(void)
{
    is_wide = true;
}

static void tear_down(void)
{
    free(text);
}

START_TEST(text_has_titles_and_an_unknown_is_a_dash)
{
    ck_assert_str_eq(shown(YARN_OUT_TEXT, 0, false, 0),
                     "    TIME    NUMBER    SHARE  NAME\n"
                     "  1.5 us         7  12.50 %  first, of them (good)\n"
                     "       - 1,234,567        -  a name of more characters\n");
}
END_TEST

START_TEST(text_on_a_terminal_cuts_names)
{
    ck_assert_str_eq(shown(YARN_OUT_TEXT, 80, false, 0),
                     "    TIME    NUMBER    SHARE  NAME\n"
                     "  1.5 us         7  12.50 %  first, of them (good)\n"
                     "       - 1,234,567        -  a name of mor…\n");
}
END_TEST

START_TEST(text_leaves_out_a_column_that_is_not_wanted)
{
    is_wide = false;
    ck_assert_str_eq(shown(YARN_OUT_TEXT, 0, false, 1),
                     "    TIME    SHARE  NAME\n  1.5 us  12.50 %  first, of them (good)\n");
}
END_TEST

START_TEST(text_is_painted_by_share)
{
    ck_assert_str_eq(shown(YARN_OUT_TEXT, 0, true, 1),
                     "\033[1m    TIME    NUMBER    SHARE  NAME\033[0m\n"
                     "  1.5 us         7 \033[31m 12.50 %\033[0m  first, of them (good)\n");
}
END_TEST

START_TEST(csv_leaves_empty_what_is_unknown)
{
    is_wide = false;
    ck_assert_str_eq(shown(YARN_OUT_CSV, 0, true, 0),
                     "ns,number,good,part,name,note\n"
                     "1500,7,true,12.500000,\"first, of them\",(good)\n"
                     ",1234567,false,,a name of more characters,\n");
}
END_TEST

START_TEST(json_has_null_where_unknown_and_no_key_where_missing)
{
    ck_assert_str_eq(
        shown(YARN_OUT_JSON, 0, true, 0),
        "{\"things\":[{\"ns\":1500,\"number\":7,\"good\":true,"
        "\"parts\":{\"of\":{\"share\":12.500000}},\"name\":\"first, of them\",\"note\":\"(good)\"},"
        "{\"ns\":null,\"number\":1234567,\"good\":false,\"parts\":{\"of\":{\"share\":null}},"
        "\"name\":\"a name of more characters\"}]}\n");
}
END_TEST

/* Numbers by other units, words for numbers, and a list of words. */
static const char *word_of(uint64_t value)
{
    return value == 7 ? "seven" : "other";
}

static void get_words(struct yarn_show_cell *cell)
{
    const struct thing *thing = cell->row;
    static const unsigned char words[] = "one\0two";
    yarn_show_words(cell, (struct yarn_span){words, thing->is_good ? sizeof words : 0});
}

/* As of an event that counts energy: 2^-32 J. */
static void get_scale(struct yarn_show_cell *cell)
{
    yarn_show_member(cell);
    cell->real /= UINT64_C(1) << 32;
}

static const struct yarn_show_column others[] = {
    YARN_SHOW_COLUMN("number", "", MEMBER(number), .unit = YARN_SHOW_HEX),
    YARN_SHOW_COLUMN("word", "", MEMBER(number), .word = word_of, .gap = 1),
    YARN_SHOW_COLUMN("share", NULL, MEMBER(share), .get = get_scale, .unit = YARN_SHOW_EXACT),
    YARN_SHOW_COLUMN("words", "", .get = get_words, .gap = 1),
    {0},
};

START_TEST(words_are_an_array_in_json_and_a_text_elsewhere)
{
    static const char *const want[] = {
        [YARN_OUT_TEXT] = "0x7 seven one, two\n0x12d687 other nothing\n",
        [YARN_OUT_CSV] = ("number,word,share,words\n7,seven,2.9103830456733704e-09,\"one, two\"\n"
                          "1234567,other,,nothing\n"),
        [YARN_OUT_JSON] =
            ("{\"things\":[{\"number\":7,\"word\":\"seven\",\"share\":2.9103830456733704e-09,"
             "\"words\":[\"one\",\"two\"]},"
             "{\"number\":1234567,\"word\":\"other\",\"share\":null,"
             "\"words\":[]}]}\n"),
    };
    struct yarn_out out = {.format = (enum yarn_out_format)_i};
    out.file = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(out.file);
    struct yarn_show_table table = {.out = &out, .parts = {others}, .is_bare = true};
    if (out.format == YARN_OUT_JSON)
        ck_assert_int_eq(yarn_out_begin_json(&out), 0);
    yarn_show_rows(&table, "things", things, YARN_COUNT_OF(things), sizeof things[0], 0);
    yarn_out_end_json(&out);
    (void)fclose(out.file);
    ck_assert_str_eq(text, want[_i]);
}
END_TEST

START_TEST(each_form_obeys_the_limit)
{
    ck_assert_ptr_null(strstr(shown((enum yarn_out_format)_i, 0, false, 1), "more characters"));
}
END_TEST

START_TEST(things_are_named_in_full)
{
    ck_assert_str_eq(yarn_number_of_things(1, "switch record").text, "1 switch record");
    ck_assert_str_eq(yarn_number_of_things(UINT64_MAX, "more program").text,
                     "18,446,744,073,709,551,615 more programs");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("show_table");
    TCase *forms = tcase_create("one definition in three forms");
    tcase_add_checked_fixture(forms, set_up, tear_down);
    tcase_add_test(forms, text_has_titles_and_an_unknown_is_a_dash);
    tcase_add_test(forms, text_on_a_terminal_cuts_names);
    tcase_add_test(forms, text_leaves_out_a_column_that_is_not_wanted);
    tcase_add_test(forms, text_is_painted_by_share);
    tcase_add_test(forms, csv_leaves_empty_what_is_unknown);
    tcase_add_test(forms, json_has_null_where_unknown_and_no_key_where_missing);
    tcase_add_loop_test(forms, words_are_an_array_in_json_and_a_text_elsewhere, YARN_OUT_TEXT,
                        YARN_OUT_CSV + 1);
    tcase_add_loop_test(forms, each_form_obeys_the_limit, YARN_OUT_TEXT, YARN_OUT_CSV + 1);
    suite_add_tcase(suite, forms);
    TCase *counts = tcase_create("numbers");
    tcase_add_test(counts, things_are_named_in_full);
    suite_add_tcase(suite, counts);
    return run_suite(suite);
}
