/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/sys/file.h"
#include "output/dump/writer.h"
#include "preload/dump/predecessor.h"
#include "tests/support/suite.h"

enum { PID = 321 };

static const uint64_t second = YARN_NS_PER_SECOND;
static char folder[] = "/tmp/yarn-test.XXXXXX";
static struct yarn_dump_file file;
static struct yarn_facts facts;

static void make_dump(const char *name, uint64_t start_ns)
{
    char path[128];
    struct yarn_dump_writer *writer;
    struct yarn_dump_process process = {.pid = PID, .start_ns = start_ns};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = yarn_file_create(YARN_FILE_CWD, path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(yarn_dump_writer_new(&writer, NULL), 0);
    ck_assert_int_eq(yarn_dump_writer_open(writer, fd), 0);
    yarn_dump_write_process(writer, &process);
    yarn_dump_writer_flush(writer);
    yarn_dump_writer_free(writer);
}

static void prepare(const char *pattern)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, pattern);
    facts = (struct yarn_facts){.pid = PID, .start_ns = 100 * second, .exe = "/bin/new"};
    ck_assert_int_eq(yarn_dump_file_prepare(&file, path, &facts, NULL), 0);
}

static struct yarn_lineage find(uint64_t birth_ns)
{
    struct yarn_lineage lineage = {.predecessor = 0};
    yarn_predecessor_find(&file, &facts, birth_ns, &lineage);
    return lineage;
}

static void set_up(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void tear_down(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(latest_recording_since_the_birth_is_the_predecessor)
{
    prepare("yarn.%e.%p.dump");
    make_dump("yarn.old.321.dump", 50 * second); /* before the birth: another process */
    make_dump("yarn.old.321.dump.1", 90 * second);
    make_dump("yarn.new.321.dump", 95 * second);
    make_dump("yarn.new.322.dump", 96 * second);  /* of another process */
    make_dump("yarn.own.321.dump", 100 * second); /* not before our own start */
    struct yarn_lineage lineage = find(80 * second);
    ck_assert_int_eq(lineage.predecessor, PID);
    ck_assert_uint_eq(lineage.predecessor_start_ns, 95 * second);
}
END_TEST

START_TEST(young_process_has_no_predecessor)
{
    prepare("yarn.%e.%p.dump");
    make_dump("yarn.old.321.dump", 100 * second - 1);
    ck_assert_int_eq(find(100 * second - 1000).predecessor, 0);
    ck_assert_int_eq(find(0).predecessor, 0);
}
END_TEST

START_TEST(what_is_no_dump_is_passed_over)
{
    char path[128];
    prepare("yarn.%e.%p.dump");
    snprintf(path, sizeof path, "%s/yarn.x.321.dump", folder);
    FILE *other = fopen(path, "w");
    ck_assert_ptr_nonnull(other);
    for (int i = 0; i < 100; i++)
        fputc(i, other);
    fclose(other);
    ck_assert_int_eq(find(80 * second).predecessor, 0);
}
END_TEST

START_TEST(pattern_that_does_not_identify_the_process_cannot_be_searched)
{
    prepare("%e.dump");
    make_dump("old.dump", 90 * second);
    ck_assert_int_eq(find(80 * second).predecessor, 0);
    prepare("%p.%t");
    ck_assert_int_eq(find(80 * second).predecessor, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("predecessor");
    TCase *tcase = tcase_create("a folder of dumps");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, latest_recording_since_the_birth_is_the_predecessor);
    tcase_add_test(tcase, young_process_has_no_predecessor);
    tcase_add_test(tcase, what_is_no_dump_is_passed_over);
    tcase_add_test(tcase, pattern_that_does_not_identify_the_process_cannot_be_searched);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
