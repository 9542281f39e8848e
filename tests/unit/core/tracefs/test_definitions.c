/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/tracefs/definitions.h"
#include "tests/support/suite.h"

/* A tracefs of plain files: what is written is what is read. */
static char root[] = "/tmp/yarn-tracefs-XXXXXX";
static char listed[4096];

static const char *path_of(const char *name)
{
    static char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", root, name);
    return path;
}

static void write_text(const char *name, const char *text)
{
    FILE *file = fopen(path_of(name), "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

static const char *read_text(const char *name)
{
    FILE *file = fopen(path_of(name), "r");
    size_t size = file ? fread(listed, 1, sizeof listed - 1, file) : 0;
    listed[size] = 0;
    if (file)
        ck_assert_int_eq(fclose(file), 0);
    return listed;
}

static void set_up(void)
{
    (void)strcpy(root + sizeof root - 7, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
}

static void tear_down(void)
{
    (void)unlink(path_of("uprobe_events"));
    (void)unlink(path_of("kprobe_events"));
    ck_assert_int_eq(rmdir(root), 0);
}

static unsigned long pid_namespace(void)
{
    struct stat info;
    ck_assert_int_eq(stat("/proc/self/ns/pid", &info), 0);
    return (unsigned long)info.st_ino;
}

static pid_t dead_pid(void)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    return pid;
}

static const struct yarn_tracefs_site entry = {.path = "/bin/a", .offset = 0x1230};
static const struct yarn_tracefs_site leave = {
    .path = "/bin/a", .offset = 0x1230, .is_return = true};
static const struct yarn_tracefs_site of_kernel = {.symbol = "do_exit", .offset = 4};

START_TEST(a_line_says_where_and_what)
{
    struct yarn_tracefs_group group = {.root = root, .name = "g"};
    char bytes[512];
    struct yarn_text text = yarn_text_of(bytes, sizeof bytes);
    yarn_tracefs_describe(&group, &entry, "e", &text);
    ck_assert_str_eq(bytes, "p:g/e /bin/a:0x1230 arg1=%di:u64 arg2=%si:u64 arg3=%dx:u64 "
                            "arg4=%cx:u64 arg5=%r8:u64 arg6=%r9:u64");
    text = yarn_text_of(bytes, sizeof bytes);
    yarn_tracefs_describe(&group, &leave, "e", &text);
    ck_assert_str_eq(bytes, "r:g/e /bin/a:0x1230 ret=$retval:u64");
    text = yarn_text_of(bytes, sizeof bytes);
    yarn_tracefs_describe(&group, &of_kernel, "e", &text);
    ck_assert_str_eq(bytes, "p:g/e do_exit+0x4");
}
END_TEST

START_TEST(group_is_of_this_process_and_namespace)
{
    struct yarn_tracefs_group group;
    char wanted[64];
    (void)snprintf(wanted, sizeof wanted, "yarn_%d_%lu", getpid(), pid_namespace());
    yarn_tracefs_group_open(&group, root);
    ck_assert_str_eq(group.name, wanted);
}
END_TEST

START_TEST(a_path_with_a_blank_goes_by_a_descriptor)
{
    struct yarn_tracefs_site site = {.offset = 0x40};
    struct yarn_tracefs_group group;
    char name[YARN_TRACEFS_NAME_MAX], wanted[32];
    uint64_t number;
    int free_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    ck_assert_int_eq(close(free_fd), 0);
    write_text("uprobe_events", "");
    yarn_tracefs_group_open(&group, root);
    site.path = path_of("a b");
    ck_assert_int_eq(yarn_tracefs_define(&group, &site, name, &number), -ENOENT);
    ck_assert_str_eq(read_text("uprobe_events"), "");
    write_text("a b", "");
    site.path = path_of("a b");
    ck_assert_int_eq(yarn_tracefs_define(&group, &site, name, &number), -ENOENT); /* its number */
    (void)snprintf(wanted, sizeof wanted, " /proc/thread-self/fd/%d:0x40 ", free_fd);
    ck_assert_ptr_nonnull(strstr(read_text("uprobe_events"), wanted));
    ck_assert_int_eq(unlink(path_of("a b")), 0);
}
END_TEST

START_TEST(only_what_dead_processes_of_this_namespace_left_is_swept)
{
    char text[1024], wanted[256];
    /* The kernel's list changes with what is appended; here it is read before. */
    pid_t dead = dead_pid();
    unsigned long here = pid_namespace();
    (void)snprintf(text, sizeof text,
                   "p:yarn_%d_%lu/p0_1f /bin/a:0x1\n"             /* ours to remove */
                   "p:yarn_%d_%lu/p1_ffffffffffffff /bin/a:0x1\n" /* its process lives */
                   "p:yarn_%d_%lu/p7_1f /bin/a:0x1\n"  /* another one has its number since */
                   "p:yarn_%d_%lu/p2_1f /bin/a:0x1\n"  /* another namespace */
                   "p:probe_%d_%lu/p3_1f /bin/a:0x1\n" /* somebody else's */
                   "p:yarn_%d/p4 /bin/a:0x1\n"
                   "p:yarn_x_y/p5 /bin/a:0x1\n"
                   "yarn_%d_%lu/p6 /bin/a:0x1\n"
                   "p:yarn_%d_%lu",
                   dead, here, getppid(), here, getppid(), here, dead, here + 1, dead, here, dead,
                   dead, here, dead, here);
    write_text("uprobe_events", text);
    (void)snprintf(text, sizeof text, "r16:yarn_%d_%lu/k0_1f do_exit\n", dead, here);
    write_text("kprobe_events", text);
    ck_assert_uint_eq(yarn_tracefs_sweep(root), 3);
    (void)snprintf(wanted, sizeof wanted, "p:yarn_%d_%lu-:yarn_%d_%lu/p0_1f\n-:yarn_%d_%lu/p7_1f\n",
                   dead, here, dead, here, getppid(), here);
    ck_assert_str_eq(strstr(read_text("uprobe_events"), "p:yarn_") ? strstr(listed, wanted) : NULL,
                     wanted);
    (void)snprintf(wanted, sizeof wanted, "\n-:yarn_%d_%lu/k0_1f\n", dead, here);
    ck_assert_ptr_nonnull(strstr(read_text("kprobe_events"), wanted));
}
END_TEST

START_TEST(nothing_is_swept_without_tracefs)
{
    ck_assert_uint_eq(yarn_tracefs_sweep("/nowhere"), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tracefs_definitions");
    TCase *tcase = tcase_create("definitions");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_line_says_where_and_what);
    tcase_add_test(tcase, group_is_of_this_process_and_namespace);
    tcase_add_test(tcase, a_path_with_a_blank_goes_by_a_descriptor);
    tcase_add_test(tcase, only_what_dead_processes_of_this_namespace_left_is_swept);
    tcase_add_test(tcase, nothing_is_swept_without_tracefs);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
