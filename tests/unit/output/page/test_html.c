/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "output/export/page/html.h"
#include "output/export/page/packed.h"
#include "tests/support/suite.h"

static char written[256];

static FILE *begin(void)
{
    memset(written, 0, sizeof written);
    FILE *file = fmemopen(written, sizeof written, "w");
    ck_assert_ptr_nonnull(file);
    return file;
}

static const struct {
    const char *text, *want;
} texts[] = {
    {"plain", "plain"},
    {"std::vector<int> const&", "std::vector&lt;int&gt; const&amp;"},
    {"\"quoted\" 'too'", "&quot;quoted&quot; &#39;too&#39;"},
    {"</script>", "&lt;/script&gt;"},
    {"\033[31m\n\x7f", "\\x1b[31m\\n\\x7f"},
    {"na\xc3\xafve \xe2\x82\xac \xf0\x9f\x94\xa5", "na\xc3\xafve \xe2\x82\xac \xf0\x9f\x94\xa5"},
    {"\xe2\x80\xae\xef\xbb\xbf\xc2\x85", "\\u202e\\ufeff\\u0085"},
    {"\xff\xc0\xaf\xed\xa0\x80\xf5\x80\x80\x80",
     "\\xff\\xc0\\xaf\\xed\\xa0\\x80\\xf5\\x80\\x80\\x80"},
    {"cut \xe2\x82", "cut \\xe2\\x82"},
    {"", ""},
};

START_TEST(foreign_text_stays_text)
{
    FILE *file = begin();
    yarn_html_text(file, texts[_i].text);
    (void)fclose(file);
    ck_assert_str_eq(written, texts[_i].want);
}
END_TEST

static const struct {
    uint64_t values[3];
    size_t count;
    const char *want; /* base64 */
} packs[] = {
    {{0}, 0, ""},           {{1}, 1, "AQ=="},        {{1, 2}, 2, "AQI="},
    {{1, 2, 3}, 3, "AQID"}, {{127, 128}, 2, "f4AB"}, {{UINT64_MAX}, 1, "////////////AQ=="},
};

START_TEST(numbers_are_varints_in_base64)
{
    FILE *file = begin();
    struct yarn_packed packed = {.file = file};
    for (size_t i = 0; i < packs[_i].count; i++)
        yarn_packed_number(&packed, packs[_i].values[i]);
    yarn_packed_end(&packed);
    (void)fclose(file);
    ck_assert_str_eq(written, packs[_i].want);
}
END_TEST

START_TEST(signed_numbers_are_zigzag)
{
    FILE *file = begin();
    struct yarn_packed packed = {.file = file};
    yarn_packed_signed(&packed, 0);
    yarn_packed_signed(&packed, -1);
    yarn_packed_signed(&packed, 1);
    (void)fclose(file);
    ck_assert_str_eq(written, "AAEC");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("parts of a page");
    TCase *tcase = tcase_create("text and numbers");
    tcase_add_loop_test(tcase, foreign_text_stays_text, 0, YARN_COUNT_OF(texts));
    tcase_add_loop_test(tcase, numbers_are_varints_in_base64, 0, YARN_COUNT_OF(packs));
    tcase_add_test(tcase, signed_numbers_are_zigzag);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
