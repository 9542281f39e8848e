/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "core/base/crc32c.h"
#include "tests/support/suite.h"

static const struct {
    const char *bytes;
    size_t size;
    uint32_t crc;
} known[] = {
    {"", 0, 0},
    {"123456789", 9, 0xe3069283},
    /* RFC 3720, B.4: 32 zeros. */
    {"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 32, 0x8a9136aa},
};

START_TEST(known_bytes_have_their_published_checksum)
{
    struct yarn_span span = yarn_span_of(known[_i].bytes, known[_i].size);
    ck_assert_uint_eq(yarn_crc32c(0, span), known[_i].crc);
}
END_TEST

START_TEST(a_checksum_goes_on_where_it_was_left)
{
    struct yarn_span whole = yarn_span_of_text("a text of some more than twenty bytes");
    for (size_t cut = 0; cut <= whole.size; cut++) {
        uint32_t crc = yarn_crc32c(0, yarn_span_sub(whole, 0, cut));
        ck_assert_uint_eq(yarn_crc32c(crc, yarn_span_from(whole, cut)), yarn_crc32c(0, whole));
    }
}
END_TEST

/* As the polynomial says it, bit by bit. */
static uint32_t by_definition(const uint8_t *bytes, size_t size)
{
    uint32_t crc = ~UINT32_C(0);
    for (size_t i = 0; i < 8 * size; i++) {
        uint32_t bit = (crc ^ (uint32_t)(bytes[i / 8] >> i % 8)) & 1;
        crc = crc >> 1 ^ (bit ? UINT32_C(0x82f63b78) : 0);
    }
    return ~crc;
}

START_TEST(every_byte_counts_as_the_polynomial_says_at_every_place)
{
    uint8_t bytes[19] = {0};
    for (size_t at = 0; at < sizeof bytes; at++) {
        for (unsigned value = 0; value < 256; value++) {
            bytes[at] = (uint8_t)value;
            ck_assert_uint_eq(yarn_crc32c(0, yarn_span_of(bytes, sizeof bytes)),
                              by_definition(bytes, sizeof bytes));
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("crc32c");
    TCase *tcase = tcase_create("checksums");
    tcase_add_loop_test(tcase, known_bytes_have_their_published_checksum, 0, YARN_COUNT_OF(known));
    tcase_add_test(tcase, a_checksum_goes_on_where_it_was_left);
    tcase_add_test(tcase, every_byte_counts_as_the_polynomial_says_at_every_place);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
