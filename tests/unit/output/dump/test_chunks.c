/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/bytes.h"
#include "output/dump/merger.h"
#include "tests/support/suite.h"
#include "tests/unit/output/dump/made_dump.h"

enum { NR_CHUNKS = 14, MESSAGES_A_CHUNK = 3 };

/* Fourteen chunks of three messages each, and one with the end. */
static struct made_dump dump;
static size_t chunk_at[NR_CHUNKS + 2]; /* and the end */

static uint8_t *copy;
static size_t copy_size;

static void write_messages(struct yarn_dump_writer *writer, uint32_t chunk)
{
    for (uint32_t i = 0; i < MESSAGES_A_CHUNK; i++) {
        char text[64];
        (void)snprintf(text, sizeof text, "message %u of chunk number %u", i, chunk);
        yarn_dump_write_message(
            writer, &(struct yarn_dump_message){.time_ns = chunk, .text = yarn_span_of_text(text)});
    }
    yarn_dump_writer_flush(writer);
}

static size_t find_chunks(struct yarn_span bytes)
{
    struct yarn_dump_chunk chunk;
    size_t count = 0, at = YARN_DUMP_FILE_HEADER_BYTES;
    while (yarn_dump_chunk_decode(yarn_span_from(bytes, at), &chunk)) {
        ck_assert_uint_le(count, NR_CHUNKS);
        chunk_at[count++] = at;
        at += (size_t)chunk.header_bytes + chunk.stored_bytes;
    }
    ck_assert_uint_eq(at, bytes.size);
    chunk_at[count] = at;
    return count;
}

static void set_up(void)
{
    made_dump_begin(&dump, NULL);
    for (uint32_t i = 0; i < NR_CHUNKS; i++)
        write_messages(dump.writer, i);
    yarn_dump_write_end(dump.writer, &(struct yarn_dump_end){.status = 0});
    made_dump_finish(&dump);
    ck_assert_uint_eq(find_chunks(made_dump_span(&dump)), NR_CHUNKS + 1);
    copy = malloc(2 * dump.size);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, dump.bytes, dump.size);
    copy_size = dump.size;
}

static void tear_down(void)
{
    made_dump_free(&dump);
    free(copy);
}

static struct yarn_dump_summary read_copy(struct record_log *ret_log)
{
    struct yarn_dump_summary summary;
    *ret_log = (struct record_log){NULL, 0, 0};
    ck_assert_int_eq(
        yarn_dump_read_bytes(yarn_span_of(copy, copy_size), &record_log_visitor, ret_log, &summary),
        0);
    return summary;
}

static void check_messages(const struct record_log *log, size_t chunk, bool are_there)
{
    char text[64];
    for (uint32_t i = 0; i < MESSAGES_A_CHUNK; i++) {
        (void)snprintf(text, sizeof text, "'message %u of chunk number %zu'\n", i, chunk);
        ck_assert_msg((log->text && strstr(log->text, text)) == are_there, "chunk %zu", chunk);
    }
}

/* Chunk `lost` is gone, and no other. */
static void check_lost(size_t lost, const struct yarn_dump_summary *summary,
                       const struct record_log *log)
{
    for (size_t i = 0; i < NR_CHUNKS; i++)
        check_messages(log, i, i != lost);
    ck_assert_uint_eq(summary->chunks, NR_CHUNKS);
    ck_assert_uint_eq(summary->nr_damages, 1);
    ck_assert(summary->has_end == (lost < NR_CHUNKS));
}

START_TEST(damaged_chunk_costs_itself_only)
{
    for (size_t lost = 0; lost <= NR_CHUNKS; lost++) {
        struct record_log log;
        size_t at = chunk_at[lost + 1] - 1;
        copy[at] ^= 0x40;
        struct yarn_dump_summary summary = read_copy(&log);
        copy[at] ^= 0x40;
        check_lost(lost, &summary, &log);
        ck_assert_uint_eq(summary.damages[0].offset, chunk_at[lost]);
        ck_assert_uint_eq(summary.damages[0].size, chunk_at[lost + 1] - chunk_at[lost]);
        record_log_free(&log);
    }
}
END_TEST

START_TEST(missing_chunk_costs_itself_only)
{
    for (size_t lost = 0; lost < NR_CHUNKS; lost++) {
        struct record_log log;
        memcpy(copy, dump.bytes, chunk_at[lost]);
        memcpy(copy + chunk_at[lost], dump.bytes + chunk_at[lost + 1],
               dump.size - chunk_at[lost + 1]);
        copy_size = dump.size - (chunk_at[lost + 1] - chunk_at[lost]);
        struct yarn_dump_summary summary = read_copy(&log);
        check_lost(lost, &summary, &log);
        ck_assert_str_eq(summary.damages[0].why, "chunks are missing before this one");
        record_log_free(&log);
    }
}
END_TEST

/* Damage between them leaves the chunks whole, and one that comes again is not in their way. */
START_TEST(reading_goes_on_behind_what_is_no_chunk)
{
    for (size_t i = 1; i <= NR_CHUNKS; i++) {
        struct record_log log;
        size_t size = _i ? chunk_at[i] - chunk_at[i - 1] : 77;
        memcpy(copy, dump.bytes, chunk_at[i]);
        memset(copy + chunk_at[i], 0xea, size);
        if (_i)
            memcpy(copy + chunk_at[i], dump.bytes + chunk_at[i - 1], size);
        memcpy(copy + chunk_at[i] + size, dump.bytes + chunk_at[i], dump.size - chunk_at[i]);
        copy_size = dump.size + size;
        struct yarn_dump_summary summary = read_copy(&log);
        ck_assert_uint_eq(summary.nr_damages, 1);
        ck_assert_uint_eq(summary.damaged_bytes, size);
        ck_assert_uint_eq(summary.chunks, NR_CHUNKS + 1);
        ck_assert_uint_eq(record_log_count(&log, "message "), NR_CHUNKS * MESSAGES_A_CHUNK);
        record_log_free(&log);
    }
}
END_TEST

START_TEST(cut_anywhere_leaves_every_chunk_before_it)
{
    for (size_t size = YARN_DUMP_FILE_HEADER_BYTES; size < dump.size; size++) {
        struct record_log log;
        size_t nr_whole = 0;
        copy_size = size;
        struct yarn_dump_summary summary = read_copy(&log);
        while (chunk_at[nr_whole + 1] <= size)
            nr_whole++;
        ck_assert_uint_eq(summary.nr_damages, 0);
        ck_assert_uint_eq(summary.chunks, nr_whole);
        ck_assert(summary.is_cut == (size != chunk_at[nr_whole]));
        ck_assert_uint_eq(record_log_count(&log, "message "), nr_whole * MESSAGES_A_CHUNK);
        record_log_free(&log);
    }
}
END_TEST

/* A header that fits its checksum, but says another size than what comes out. */
START_TEST(lying_size_is_found_and_nothing_of_it_comes_out_later)
{
    for (size_t liar = 0; liar < NR_CHUNKS; liar++) {
        struct yarn_dump_chunk chunk;
        struct record_log log;
        memcpy(copy, dump.bytes, dump.size);
        uint8_t *header = copy + chunk_at[liar];
        ck_assert(yarn_dump_chunk_decode(yarn_span_of(header, 36), &chunk));
        chunk.raw_bytes = (uint32_t)((int)chunk.raw_bytes + _i);
        yarn_dump_chunk_encode(&chunk, header);
        struct yarn_dump_summary summary = read_copy(&log);
        check_lost(liar, &summary, &log);
        ck_assert_str_eq(summary.damages[0].why, "a chunk cannot be unpacked");
        record_log_free(&log);
    }
}
END_TEST

static int put(void *self, struct yarn_span bytes)
{
    struct yarn_byte_buffer *into = self;
    yarn_bytes_put(into, bytes.data, bytes.size);
    ck_assert(!into->full);
    return 0;
}

/* What is merged is whole, whichever chunk was lost before, and merges again to the same. */
START_TEST(merged_chunks_are_whole)
{
    static uint8_t data[2][1 << 16];
    const struct record_log none = {NULL, 0, 0};
    for (size_t lost = 0; lost <= NR_CHUNKS; lost++) {
        struct record_log before, logs[2] = {none, none};
        struct yarn_span from = yarn_span_of(copy, copy_size);
        copy[chunk_at[lost] + 40] ^= 1;
        (void)read_copy(&before);
        for (size_t i = 0; i < 2; i++) {
            struct yarn_byte_buffer merged = yarn_bytes_of(data[i], sizeof data[i]);
            struct yarn_dump_merger merger;
            struct yarn_dump_summary summary;
            ck_assert_int_eq(yarn_dump_merger_open(&merger, 0, put, &merged), 0);
            for (size_t k = i; k < 2; k++)
                ck_assert_int_eq(yarn_dump_merger_add_bytes(&merger, "a.dump", from, &summary), 0);
            yarn_dump_merger_close(&merger);
            from = yarn_bytes_span(&merged);
            ck_assert_int_eq(yarn_dump_read_bytes(from, &record_log_visitor, &logs[i], &summary),
                             0);
            ck_assert_uint_eq(summary.nr_damages, 0);
            ck_assert_uint_eq(record_log_count(&logs[i], "message "),
                              2 * record_log_count(&before, "message "));
        }
        ck_assert_str_eq(logs[0].text, logs[1].text);
        copy[chunk_at[lost] + 40] ^= 1;
        record_log_free(&before);
        record_log_free(&logs[0]);
        record_log_free(&logs[1]);
    }
}
END_TEST

/* So many chunks of symbols, frames, stacks and samples. */
static void make_samples(void)
{
    tear_down();
    made_dump_begin(&dump, NULL);
    yarn_dump_write_event(dump.writer, &(struct yarn_dump_event){.number = 0});
    for (uint32_t i = 0; i < NR_CHUNKS * 50; i++) {
        uint32_t stack = YARN_DUMP_NONE;
        for (uint32_t depth = 0; depth < 3; depth++) {
            const struct yarn_dump_symbol symbol = {
                .module = YARN_DUMP_NONE, .start = i * i % 97 * 64, .end = i * i % 97 * 64 + 60};
            struct yarn_dump_frame frame = {.address = symbol.start + i % 50};
            frame.symbol = yarn_dump_intern_symbol(dump.writer, &symbol);
            uint32_t number = yarn_dump_add_frame(dump.writer, &frame);
            stack = yarn_dump_intern_stack(dump.writer, stack, number - i % 3);
        }
        const struct yarn_sample sample = {
            .time_ns = 1000 * (i + 1), .weight = 1, .tid = 1 + i % 2, .stack = stack};
        yarn_dump_write_sample(dump.writer, &sample);
        if (i % 50 == 49)
            yarn_dump_writer_flush(dump.writer);
    }
    yarn_dump_write_end(dump.writer, &(struct yarn_dump_end){.status = 0});
    made_dump_finish(&dump);
    ck_assert_uint_eq(find_chunks(made_dump_span(&dump)), NR_CHUNKS + 1);
    copy = malloc(dump.size);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, dump.bytes, dump.size);
    copy_size = dump.size;
}

/* Nothing is made up: each line of what is left was in the whole, save for samples and events that
 * lost what they name. */
static void check_lines(char *lines, const char *whole)
{
    for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n")) {
        bool may_differ = strncmp(line, "sample ", 7) == 0 || strncmp(line, "event ", 6) == 0;
        ck_assert_msg(may_differ || strstr(whole, line), "%s", line);
    }
}

static size_t count_nameless(const struct record_log *log)
{
    size_t count = 0;
    for (const char *at = log->text; (at = strstr(at, "stack=4294967295 ")); at++)
        count++;
    return count;
}

START_TEST(samples_that_name_what_was_lost_are_counted)
{
    struct record_log whole, log;
    size_t nr_nameless = 0;
    make_samples();
    struct yarn_dump_summary summary = read_copy(&whole);
    ck_assert_uint_eq(summary.nr_damages + summary.records_bad, 0);
    ck_assert_uint_eq(record_log_count(&whole, "sample "), NR_CHUNKS * 50);
    ck_assert_uint_eq(count_nameless(&whole), 0);
    for (size_t lost = 0; lost < NR_CHUNKS; lost++) {
        copy[chunk_at[lost + 1] - 1] ^= 0x10;
        summary = read_copy(&log);
        copy[chunk_at[lost + 1] - 1] ^= 0x10;
        ck_assert_uint_eq(summary.nr_damages, 1);
        ck_assert_uint_eq(record_log_count(&log, "sample "), (NR_CHUNKS - 1) * 50);
        ck_assert_uint_eq(summary.samples_nameless, count_nameless(&log));
        nr_nameless += summary.samples_nameless;
        check_lines(log.text, whole.text);
        record_log_free(&log);
    }
    ck_assert_uint_gt(nr_nameless, 0);
    record_log_free(&whole);
}
END_TEST

/* What cannot be compressed is no larger than a few bytes more. */
START_TEST(noise_is_read_back)
{
    struct record_log log;
    static uint8_t noise[60000];
    uint64_t state = 1;
    tear_down();
    made_dump_begin(&dump, NULL);
    for (uint32_t i = 0; i < 40; i++) {
        for (size_t k = 0; k < sizeof noise; k++)
            noise[k] = (uint8_t)((state = yarn_hash_u64(state + 1)) >> 13);
        yarn_dump_write_message(
            dump.writer,
            &(struct yarn_dump_message){.time_ns = i, .text = yarn_span_of(noise, sizeof noise)});
    }
    yarn_dump_write_end(dump.writer, &(struct yarn_dump_end){.status = 0});
    made_dump_finish(&dump);
    copy = malloc(dump.size);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, dump.bytes, dump.size);
    copy_size = dump.size;
    ck_assert_uint_lt(dump.size, 40 * sizeof noise + 40 * 100);
    struct yarn_dump_summary summary = read_copy(&log);
    ck_assert_uint_eq(summary.nr_damages, 0);
    ck_assert_uint_eq(summary.records_bad, 0);
    ck_assert(summary.has_end);
    ck_assert_uint_gt(summary.chunks, 5);
    ck_assert_uint_eq(record_log_count(&log, "message time_ns="), 40);
    record_log_free(&log);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dump chunks");
    TCase *tcase = tcase_create("each for itself");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, damaged_chunk_costs_itself_only);
    tcase_add_test(tcase, missing_chunk_costs_itself_only);
    tcase_add_loop_test(tcase, reading_goes_on_behind_what_is_no_chunk, 0, 2);
    tcase_add_test(tcase, cut_anywhere_leaves_every_chunk_before_it);
    tcase_add_loop_test(tcase, lying_size_is_found_and_nothing_of_it_comes_out_later, -1, 0);
    tcase_add_loop_test(tcase, lying_size_is_found_and_nothing_of_it_comes_out_later, 1, 2);
    tcase_add_test(tcase, merged_chunks_are_whole);
    tcase_add_test(tcase, samples_that_name_what_was_lost_are_counted);
    tcase_add_test(tcase, noise_is_read_back);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
