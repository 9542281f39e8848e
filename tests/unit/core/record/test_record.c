/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <sys/sysmacros.h>

#include "tests/support/suite.h"
#include "tests/unit/core/record/handmade.h"

enum {
    MMAP_PROTECTION = 5,
    DEVICE_MAJOR = 0x12345,
    DEVICE_MINOR = 0xabcde,
    EVENT_ID = 41,
    EVENT = 3
};

static struct handmade_record made;
static struct yarn_record_decoder decoder;

static void begin(uint32_t type, uint16_t misc)
{
    memset(&decoder, 0xcc, sizeof decoder);
    handmade_know(&decoder, NULL, EVENT_ID, EVENT);
    handmade_begin(&made, type, misc);
}

static void end(void)
{
    handmade_trailer(&made, &handmade_someone);
    handmade_end(&made);
}

static int decode_at(size_t split_at, struct yarn_typed_record *ret_record)
{
    struct perf_event_header header = handmade_header(&made);
    struct handmade_split split = handmade_split_at(&made, split_at);
    int err = yarn_record_decoder_decode(&decoder, &header, &split.bytes, ret_record);
    handmade_split_free(&split);
    return err;
}

static void check_common(const struct yarn_typed_record *record, enum yarn_record_type type)
{
    struct perf_event_header header = handmade_header(&made);
    ck_assert_int_eq(record->type, type);
    ck_assert_uint_eq(record->perf.type, header.type);
    ck_assert_uint_eq(record->perf.misc, header.misc);
    ck_assert_uint_eq(record->perf.pid, handmade_someone.pid);
    ck_assert_uint_eq(record->perf.tid, handmade_someone.tid);
    ck_assert_uint_eq(record->perf.time, handmade_someone.time_ns);
    ck_assert_uint_eq(record->perf.cpu, handmade_someone.cpu);
    ck_assert_uint_eq(record->perf.id, handmade_someone.id);
    ck_assert((record->mmap != NULL) == (type == YARN_RECORD_MMAP));
}

static void decode_whole(enum yarn_record_type type, struct yarn_typed_record *ret_record)
{
    ck_assert_int_eq(decode_at(made.bytes.size, ret_record), 0);
    check_common(ret_record, type);
}

static void put_mmap_head(void)
{
    yarn_bytes_u32(&made.bytes, 11);
    yarn_bytes_u32(&made.bytes, 12);
    yarn_bytes_u64(&made.bytes, UINT64_C(0x7f0000001000));
    yarn_bytes_u64(&made.bytes, 0x2000);
    yarn_bytes_u64(&made.bytes, 0x3000);
}

static void put_mmap_tail(const char *path, size_t path_bytes)
{
    yarn_bytes_u32(&made.bytes, MMAP_PROTECTION);
    yarn_bytes_u32(&made.bytes, 2);
    yarn_bytes_put(&made.bytes, path, path_bytes);
}

static void put_file(uint32_t major, uint32_t minor, uint64_t inode)
{
    yarn_bytes_u32(&made.bytes, major);
    yarn_bytes_u32(&made.bytes, minor);
    yarn_bytes_u64(&made.bytes, inode);
    yarn_bytes_u64(&made.bytes, 77);
}

static void check_mmap_head(const struct yarn_record_mmap *map)
{
    ck_assert_uint_eq(map->pid, 11);
    ck_assert_uint_eq(map->tid, 12);
    ck_assert_uint_eq(map->start, UINT64_C(0x7f0000001000));
    ck_assert_uint_eq(map->size, 0x2000);
    ck_assert_uint_eq(map->file_offset, 0x3000);
    ck_assert_uint_eq(map->protection, MMAP_PROTECTION);
}

START_TEST(mmap_shows_device_and_inode_at_any_split)
{
    /* The mark of a build id may be another profiler's. */
    begin(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER | (_i ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0));
    put_mmap_head();
    put_file(DEVICE_MAJOR, DEVICE_MINOR, UINT64_C(0x1234567890));
    put_mmap_tail("/usr/lib/libm.so\0\0\0\0\0\0\0", 24);
    end();
    for (size_t at = 0; at <= made.bytes.size; at++) {
        struct yarn_typed_record record;
        ck_assert_int_eq(decode_at(at, &record), 0);
        check_common(&record, YARN_RECORD_MMAP);
        check_mmap_head(record.mmap);
        ck_assert_uint_eq(record.mmap->device, makedev(DEVICE_MAJOR, DEVICE_MINOR));
        ck_assert_uint_eq(record.mmap->inode, UINT64_C(0x1234567890));
        ck_assert_str_eq(record.mmap->path, "/usr/lib/libm.so");
    }
}
END_TEST

static const struct {
    size_t letters;
    size_t nuls;
    size_t want;
} path_rows[] = {
    {0, 0, 0},       {0, 8, 0},       {1, 7, 1},       {8, 0, 8},
    {4095, 1, 4095}, {4096, 0, 4095}, {4096, 8, 4095}, {60000, 0, 4095},
};

START_TEST(mmap_path_is_terminated_and_cut_where_it_is_too_long)
{
    static char path[65536];
    struct yarn_typed_record record;
    memset(path, 'p', path_rows[_i].letters);
    memset(path + path_rows[_i].letters, 0, path_rows[_i].nuls);
    begin(PERF_RECORD_MMAP2, 0);
    put_mmap_head();
    put_file(8, 1, 5);
    put_mmap_tail(path, path_rows[_i].letters + path_rows[_i].nuls);
    end();
    decode_whole(YARN_RECORD_MMAP, &record);
    ck_assert_uint_eq(strlen(record.mmap->path), path_rows[_i].want);
    ck_assert_mem_eq(record.mmap->path, path, path_rows[_i].want);
}
END_TEST

START_TEST(mmap_device_is_as_stat_has_it)
{
    static const uint32_t numbers[] = {0, 1, 8, 255, 256, 4095, 4096, 0xfffff, 0xffffffff};
    for (size_t i = 0; i < YARN_COUNT_OF(numbers); i++)
        for (size_t j = 0; j < YARN_COUNT_OF(numbers); j++) {
            struct yarn_typed_record record;
            begin(PERF_RECORD_MMAP2, 0);
            put_mmap_head();
            put_file(numbers[i], numbers[j], 1);
            put_mmap_tail("/\0\0\0\0\0\0", 8);
            end();
            decode_whole(YARN_RECORD_MMAP, &record);
            ck_assert_uint_eq(record.mmap->device, makedev(numbers[i], numbers[j]));
        }
}
END_TEST

static const struct {
    const char *bytes;
    size_t size;
    const char *want;
} comm_rows[] = {
    {"demo\0\0\0\0", 8, "demo"},
    {"fifteen letters", 16, "fifteen letters"},
    {"a (b) c)\0\0\0\0\0\0\0\0", 16, "a (b) c)"},
    {"", 0, ""},
    {"\0\0\0\0\0\0\0\0", 8, ""},
    {"eight...", 8, "eight..."},
    {"sixteen letters.", 16, "sixteen letters"},
    {"far too many letters for a name.", 32, "far too many le"},
};

START_TEST(comm_shows_the_name_at_any_split)
{
    begin(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
    yarn_bytes_u32(&made.bytes, 21);
    yarn_bytes_u32(&made.bytes, 22);
    yarn_bytes_put(&made.bytes, comm_rows[_i].bytes, comm_rows[_i].size);
    end();
    for (size_t at = 0; at <= made.bytes.size; at++) {
        struct yarn_typed_record record;
        ck_assert_int_eq(decode_at(at, &record), 0);
        check_common(&record, YARN_RECORD_COMM);
        ck_assert_uint_eq(record.comm.pid, 21);
        ck_assert_uint_eq(record.comm.tid, 22);
        ck_assert_str_eq(record.comm.name, comm_rows[_i].want);
    }
}
END_TEST

START_TEST(fork_and_exit_name_child_and_parent)
{
    static const uint32_t kernel_types[] = {PERF_RECORD_FORK, PERF_RECORD_EXIT};
    static const enum yarn_record_type types[] = {YARN_RECORD_FORK, YARN_RECORD_EXIT};
    begin(kernel_types[_i], 0);
    yarn_bytes_u32(&made.bytes, 31);
    yarn_bytes_u32(&made.bytes, 32);
    yarn_bytes_u32(&made.bytes, 33);
    yarn_bytes_u32(&made.bytes, 34);
    yarn_bytes_u64(&made.bytes, 35);
    end();
    for (size_t at = 0; at <= made.bytes.size; at++) {
        struct yarn_typed_record record;
        ck_assert_int_eq(decode_at(at, &record), 0);
        check_common(&record, types[_i]);
        ck_assert_uint_eq(record.task.pid, 31);
        ck_assert_uint_eq(record.task.parent_pid, 32);
        ck_assert_uint_eq(record.task.tid, 33);
        ck_assert_uint_eq(record.task.parent_tid, 34);
    }
}
END_TEST

START_TEST(lost_shows_the_event_and_how_many)
{
    struct yarn_typed_record record;
    begin(PERF_RECORD_LOST, 0);
    yarn_bytes_u64(&made.bytes, 41);
    yarn_bytes_u64(&made.bytes, UINT64_C(1) << 50);
    end();
    decode_whole(YARN_RECORD_LOST, &record);
    ck_assert_uint_eq(record.event, EVENT);
    ck_assert_uint_eq(record.lost.count, UINT64_C(1) << 50);
}
END_TEST

START_TEST(lost_samples_name_no_event)
{
    struct yarn_typed_record record;
    begin(PERF_RECORD_LOST_SAMPLES, 0);
    yarn_bytes_u64(&made.bytes, 42);
    end();
    decode_whole(YARN_RECORD_LOST, &record);
    ck_assert_uint_eq(record.event, YARN_RECORD_NO_EVENT);
    ck_assert_uint_eq(record.lost.count, 42);
}
END_TEST

START_TEST(throttle_and_unthrottle_name_the_event)
{
    struct yarn_typed_record record;
    begin(_i ? PERF_RECORD_THROTTLE : PERF_RECORD_UNTHROTTLE, 0);
    yarn_bytes_u64(&made.bytes, 51);
    yarn_bytes_u64(&made.bytes, EVENT_ID);
    yarn_bytes_u64(&made.bytes, 53);
    end();
    decode_whole(YARN_RECORD_THROTTLE, &record);
    ck_assert_uint_eq(record.event, EVENT);
    ck_assert(record.throttle.is_on == (_i == 1));
}
END_TEST

START_TEST(switch_shows_the_direction_and_whether_by_force)
{
    static const struct {
        uint16_t misc;
        bool is_out, is_preempted;
    } rows[] = {
        {0, false, false},
        {PERF_RECORD_MISC_SWITCH_OUT, true, false},
        {PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, true, true},
    };
    for (size_t i = 0; i < YARN_COUNT_OF(rows); i++) {
        struct yarn_typed_record record;
        begin(PERF_RECORD_SWITCH, rows[i].misc);
        end();
        decode_whole(YARN_RECORD_SWITCH, &record);
        ck_assert(record.switched.is_out == rows[i].is_out);
        ck_assert(record.switched.is_preempted == rows[i].is_preempted);
    }
}
END_TEST

START_TEST(switch_of_a_whole_core_shows_the_other_thread)
{
    struct yarn_typed_record record;
    begin(PERF_RECORD_SWITCH_CPU_WIDE, PERF_RECORD_MISC_SWITCH_OUT);
    yarn_bytes_u32(&made.bytes, 61);
    yarn_bytes_u32(&made.bytes, 62);
    end();
    decode_whole(YARN_RECORD_SWITCH, &record);
    ck_assert(record.switched.is_out);
    ck_assert_uint_eq(record.switched.other_pid, 61);
    ck_assert_uint_eq(record.switched.other_tid, 62);
}
END_TEST

static const struct {
    uint32_t type;
    uint16_t body_bytes;
} other_rows[] = {
    {PERF_RECORD_MMAP, 40},
    {PERF_RECORD_READ, 16},
    {PERF_RECORD_AUX, 24},
    {PERF_RECORD_ITRACE_START, 8},
    {PERF_RECORD_NAMESPACES, 128},
    {PERF_RECORD_KSYMBOL, 24},
    {PERF_RECORD_BPF_EVENT, 16},
    {PERF_RECORD_CGROUP, 16},
    {PERF_RECORD_TEXT_POKE, 24},
    {21, 8},
    {22, 24},
};

START_TEST(record_of_a_kind_that_is_not_stored_is_known_and_has_its_body)
{
    struct handmade_split split;
    struct yarn_typed_record record;
    begin(other_rows[_i].type, 0);
    handmade_pattern(&made, other_rows[_i].body_bytes, 1);
    end();
    struct perf_event_header header = handmade_header(&made);
    split = handmade_split_at(&made, 12);
    ck_assert_int_eq(yarn_record_decoder_decode(&decoder, &header, &split.bytes, &record), 0);
    check_common(&record, YARN_RECORD_OTHER);
    ck_assert_uint_eq(record.perf.body.size, other_rows[_i].body_bytes);
    for (uint8_t i = 0; i < other_rows[_i].body_bytes; i++)
        ck_assert_uint_eq(record.perf.body.data[i], 1u + i);
    handmade_split_free(&split);
}
END_TEST

START_TEST(record_of_a_kind_of_a_later_kernel_is_reported_as_unknown)
{
    static const uint32_t types[] = {0, 23, 64, 0x7fffffff, UINT32_MAX};
    for (size_t i = 0; i < YARN_COUNT_OF(types); i++) {
        struct yarn_typed_record record;
        begin(types[i], 9);
        handmade_pattern(&made, i * 8, 1);
        end();
        decode_whole(YARN_RECORD_UNKNOWN, &record);
    }
}
END_TEST

static const struct {
    uint32_t type;
    uint16_t misc;
    uint16_t least_bytes;
} short_rows[] = {
    {PERF_RECORD_MMAP2, 0, 104},
    {PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID, 104},
    {PERF_RECORD_COMM, 0, 48},
    {PERF_RECORD_FORK, 0, 64},
    {PERF_RECORD_EXIT, 0, 64},
    {PERF_RECORD_LOST, 0, 56},
    {PERF_RECORD_LOST_SAMPLES, 0, 48},
    {PERF_RECORD_THROTTLE, 0, 64},
    {PERF_RECORD_UNTHROTTLE, 0, 64},
    {PERF_RECORD_SWITCH, 0, 40},
    {PERF_RECORD_SWITCH_CPU_WIDE, 0, 48},
    {PERF_RECORD_AUX, 0, 64},
    {PERF_RECORD_KSYMBOL, 0, 56},
    {PERF_RECORD_TEXT_POKE, 0, 52},
    {77, 0, 40},
};

START_TEST(record_shorter_than_its_type_is_refused_and_the_result_left_alone)
{
    begin(short_rows[_i].type, short_rows[_i].misc);
    handmade_pattern(&made, 256, 0x11);
    for (uint16_t size = 8; size < short_rows[_i].least_bytes + 24; size++) {
        struct yarn_typed_record record, before;
        memset(&record, 0x5c, sizeof record);
        before = record;
        made.bytes.size = size;
        handmade_end(&made);
        int err = decode_at(size / 3, &record);
        ck_assert_msg(err == (size < short_rows[_i].least_bytes ? -EBADMSG : 0), "at %u bytes",
                      size);
        if (err)
            ck_assert_mem_eq(&record, &before, sizeof record);
    }
}
END_TEST

START_TEST(record_shows_its_time_without_being_decoded)
{
    begin(short_rows[_i].type, short_rows[_i].misc);
    handmade_pattern(&made, short_rows[_i].least_bytes - 40u, 0x11);
    end();
    struct perf_event_header header = handmade_header(&made);
    for (size_t at = 0; at <= made.bytes.size; at++) {
        struct handmade_split split = handmade_split_at(&made, at);
        ck_assert_uint_eq(yarn_record_time(&header, &split.bytes), handmade_someone.time_ns);
        handmade_split_free(&split);
    }
    for (made.bytes.size = 8; made.bytes.size < 40; made.bytes.size++) {
        struct handmade_split split = handmade_split_at(&made, 8);
        ck_assert_uint_eq(yarn_record_time(&header, &split.bytes), 0);
        handmade_split_free(&split);
    }
}
END_TEST

static void add_typed_cases(TCase *tcase)
{
    tcase_add_loop_test(tcase, mmap_shows_device_and_inode_at_any_split, 0, 2);
    tcase_add_loop_test(tcase, mmap_path_is_terminated_and_cut_where_it_is_too_long, 0,
                        YARN_COUNT_OF(path_rows));
    tcase_add_test(tcase, mmap_device_is_as_stat_has_it);
    tcase_add_loop_test(tcase, comm_shows_the_name_at_any_split, 0, YARN_COUNT_OF(comm_rows));
    tcase_add_loop_test(tcase, fork_and_exit_name_child_and_parent, 0, 2);
    tcase_add_test(tcase, lost_shows_the_event_and_how_many);
    tcase_add_test(tcase, lost_samples_name_no_event);
    tcase_add_loop_test(tcase, throttle_and_unthrottle_name_the_event, 0, 2);
    tcase_add_test(tcase, switch_shows_the_direction_and_whether_by_force);
    tcase_add_test(tcase, switch_of_a_whole_core_shows_the_other_thread);
    tcase_add_loop_test(tcase, record_of_a_kind_that_is_not_stored_is_known_and_has_its_body, 0,
                        YARN_COUNT_OF(other_rows));
    tcase_add_test(tcase, record_of_a_kind_of_a_later_kernel_is_reported_as_unknown);
    tcase_add_loop_test(tcase, record_shows_its_time_without_being_decoded, 0,
                        YARN_COUNT_OF(short_rows));
}

int main(void)
{
    Suite *suite = suite_create("record: side-band");

    TCase *typed = tcase_create("records as kernels write them");
    add_typed_cases(typed);
    suite_add_tcase(suite, typed);

    TCase *lying = tcase_create("records that lie");
    tcase_add_loop_test(lying, record_shorter_than_its_type_is_refused_and_the_result_left_alone, 0,
                        YARN_COUNT_OF(short_rows));
    suite_add_tcase(suite, lying);
    return run_suite(suite);
}
