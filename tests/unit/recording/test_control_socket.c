/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "recording/control/control_socket.h"
#include "tests/support/suite.h"

static char folder[] = "/tmp/yarn-test.XXXXXX";
static struct yarn_control_socket control;
static const struct yarn_facts facts = {.pid = 321, .exe = "/usr/bin/host"};
static int nr_commands;

static const char *in_folder(const char *name)
{
    static char text[256];
    snprintf(text, sizeof text, "%s/%s", folder, name);
    return text;
}

static int open_at(const char *name)
{
    return yarn_control_socket_open(&control, in_folder(name), &facts, NULL);
}

static void set_up(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    nr_commands = 0;
}

static void tear_down(void)
{
    char command[128];
    yarn_control_socket_close(&control);
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static int connect_client(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    ck_assert_uint_lt(strlen(control.path), sizeof address.sun_path);
    memcpy(address.sun_path, control.path, strlen(control.path));
    ck_assert_int_eq(connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

/* A mark is answered by its text, anything else is refused. */
static int answer(void *self, const struct yarn_control_command *command, struct yarn_text *reply)
{
    ck_assert_ptr_eq(self, &nr_commands);
    nr_commands++;
    if (command->verb != YARN_CONTROL_MARK) {
        yarn_text_add(reply, "not now");
        return -EIO;
    }
    yarn_text_add_sized(reply, (const char *)command->text.data, command->text.size);
    return 0;
}

static void serve(void)
{
    yarn_control_socket_serve(&control, answer, &nr_commands);
}

static void expect(int fd, const char *want)
{
    char got[512] = "";
    ssize_t size = recv(fd, got, sizeof got - 1, MSG_DONTWAIT);
    ck_assert_int_ge(size, 0);
    ck_assert_str_eq(got, want);
}

static void say(int fd, const char *text)
{
    ck_assert_int_eq(send(fd, text, strlen(text), 0), (ssize_t)strlen(text));
    serve();
}

START_TEST(each_line_gets_its_reply)
{
    ck_assert_int_eq(open_at("socket"), 0);
    int fd = connect_client();
    say(fd, "mark one\nmark two\n");
    expect(fd, "ok one\nok two\n");
    say(fd, "status\n");
    expect(fd, "error not now\n");
    ck_assert_int_eq(nr_commands, 3);
    close(fd);
}
END_TEST

START_TEST(line_may_come_in_pieces)
{
    ck_assert_int_eq(open_at("socket"), 0);
    int fd = connect_client();
    say(fd, "mark a");
    ck_assert_int_eq(nr_commands, 0);
    say(fd, "b\n");
    expect(fd, "ok ab\n");
    close(fd);
}
END_TEST

START_TEST(what_is_no_command_is_refused_and_the_client_stays)
{
    ck_assert_int_eq(open_at("socket"), 0);
    char got[256] = "";
    int fd = connect_client();
    say(fd, "dance\n");
    ck_assert_int_gt(recv(fd, got, sizeof got - 1, MSG_DONTWAIT), 0);
    ck_assert_int_eq(strncmp(got, "error ", 6), 0);
    ck_assert_int_eq(nr_commands, 0);
    say(fd, "mark on\n");
    expect(fd, "ok on\n");
    close(fd);
}
END_TEST

START_TEST(new_client_takes_the_place_of_the_one_that_was_there_longest)
{
    int fds[YARN_CONTROL_CLIENTS_MAX + 1];
    struct pollfd watched[YARN_CONTROL_FDS_MAX];
    ck_assert_int_eq(open_at("socket"), 0);
    for (size_t i = 0; i < YARN_COUNT_OF(fds); i++) {
        fds[i] = connect_client();
        serve();
    }
    ck_assert_uint_eq(yarn_control_socket_watch(&control, watched), YARN_CONTROL_FDS_MAX);
    expect(fds[0], ""); /* its end */
    say(fds[1], "mark still\n");
    expect(fds[1], "ok still\n");
    for (size_t i = 0; i < YARN_COUNT_OF(fds); i++)
        close(fds[i]);
    serve();
    ck_assert_uint_eq(yarn_control_socket_watch(&control, watched), 1);
}
END_TEST

START_TEST(file_is_the_user_s_alone_and_goes_with_the_socket)
{
    struct stat found;
    ck_assert_int_eq(open_at("a/b/socket"), 0);
    ck_assert_int_eq(stat(control.path, &found), 0);
    ck_assert(S_ISSOCK(found.st_mode));
    ck_assert_uint_eq(found.st_mode & 0777, 0600);
    yarn_control_socket_close(&control);
    ck_assert_int_ne(stat(control.path, &found), 0);
}
END_TEST

START_TEST(file_of_another_in_its_place_stays)
{
    ck_assert_int_eq(open_at("socket"), 0);
    ck_assert_int_eq(unlink(control.path), 0);
    ck_assert_int_eq(symlink("/dev/null", control.path), 0);
    yarn_control_socket_close(&control);
    ck_assert_int_eq(access(control.path, F_OK), 0);
}
END_TEST

START_TEST(taken_name_is_left_alone_and_one_left_behind_is_taken)
{
    ck_assert_int_eq(open_at("socket"), 0);
    struct yarn_control_socket first = control;
    ck_assert_int_eq(open_at("socket"), -EADDRINUSE);
    ck_assert(!control.is_open);
    close(first.fd); /* its process has gone without a word */
    ck_assert_int_eq(open_at("socket"), 0);
}
END_TEST

START_TEST(path_of_a_socket_has_a_bound)
{
    char name[128];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    ck_assert_int_eq(open_at(name), -ENAMETOOLONG);
    ck_assert_str_eq(control.path, in_folder(name));
}
END_TEST

START_TEST(child_has_nothing_of_it)
{
    struct pollfd watched[YARN_CONTROL_FDS_MAX];
    ck_assert_int_eq(open_at("socket"), 0);
    struct yarn_control_socket parents = control;
    control.is_open = false;
    ck_assert_uint_eq(yarn_control_socket_watch(&control, watched), 0);
    yarn_control_socket_close(&control);
    ck_assert_int_eq(access(control.path, F_OK), 0);
    control = parents;
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("control_socket");
    TCase *tcase = tcase_create("one process, clients of its own");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, each_line_gets_its_reply);
    tcase_add_test(tcase, line_may_come_in_pieces);
    tcase_add_test(tcase, what_is_no_command_is_refused_and_the_client_stays);
    tcase_add_test(tcase, new_client_takes_the_place_of_the_one_that_was_there_longest);
    tcase_add_test(tcase, file_is_the_user_s_alone_and_goes_with_the_socket);
    tcase_add_test(tcase, file_of_another_in_its_place_stays);
    tcase_add_test(tcase, taken_name_is_left_alone_and_one_left_behind_is_taken);
    tcase_add_test(tcase, path_of_a_socket_has_a_bound);
    tcase_add_test(tcase, child_has_nothing_of_it);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
