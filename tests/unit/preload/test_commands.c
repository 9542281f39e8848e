/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the commands to the reader mean: for the state, the schedule, the coverage and the dump.
 * There is no reader thread: the test is the reader of its own process, by the timer sampler.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/sys/clock.h"
#include "preload/control/commands.h"
#include "tests/support/suite.h"
#include "tests/unit/output/dump/record_log.h"

static struct yarn_recorder *recorder;
static struct record_log records; /* of the dump, after end() */
static char folder[64];
static int client = -1;

static void open_recorder(const char *start, const char *duration)
{
    static char output[96], control[96], program[] = "commands", sampler[] = "YARN_SAMPLER=timer";
    static char events[] = "YARN_EVENTS=cpu-clock", on[64], length[64];
    static char *argv[] = {program, NULL};
    static char *envp[] = {output, control, sampler, events, on, length, NULL};
    char bytes[256] = "";
    struct yarn_text fault = yarn_text_of(bytes, sizeof bytes);
    (void)snprintf(output, sizeof output, "YARN_OUTPUT=%s/it.dump", folder);
    (void)snprintf(control, sizeof control, "YARN_CONTROL=%s/socket", folder);
    (void)snprintf(on, sizeof on, "YARN_START=%s", start);
    (void)snprintf(length, sizeof length, "YARN_DURATION=%s", duration);
    ck_assert_msg(yarn_job_init(&recorder->job, 1, argv, envp, &fault) == 0, "%s", bytes);
    recorder->messages.most_detailed = YARN_DUMP_MESSAGE_WARNING;
    recorder->starts_paused = yarn_schedule_begin(&recorder->schedule, &recorder->job.options,
                                                  yarn_clock_ns(YARN_TIME_MONOTONIC));
    ck_assert_int_eq(yarn_recording_open(&recorder->recording, &recorder->job, &recorder->messages),
                     0);
    yarn_state_become(&recorder->state, YARN_PHASE_STARTING, 0);
    yarn_commands_begin(recorder);
    yarn_commands_open_socket(recorder);
}

static void set_up(void)
{
    (void)snprintf(folder, sizeof folder, "/tmp/yarn-commands.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    recorder = calloc(1, sizeof *recorder);
    ck_assert_ptr_nonnull(recorder);
}

static void tear_down(void)
{
    char command[128];
    yarn_control_socket_close(&recorder->control);
    yarn_recording_close(&recorder->recording);
    yarn_job_fini(&recorder->job);
    free(recorder);
    record_log_free(&records);
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

/* The recording ends, and what is in its dump becomes known. */
static void end(void)
{
    struct yarn_dump_summary summary;
    yarn_recording_end(&recorder->recording, YARN_DUMP_END_EXIT, 0);
    ck_assert_int_eq(yarn_dump_read_file(recorder->recording.dump.file.path, &record_log_visitor,
                                         &records, &summary),
                     0);
    ck_assert_uint_eq(summary.nr_damages, 0);
}

static bool run(enum yarn_recorder_command command)
{
    struct yarn_request request = yarn_requests_put(&recorder->requests, 1U << command, 0);
    bool goes_on = yarn_commands_run(recorder);
    ck_assert_int_eq(yarn_requests_has_done(&recorder->requests, &request), goes_on);
    return goes_on;
}

static void assert_phase(enum yarn_phase phase)
{
    ck_assert_int_eq(yarn_state_phase(&recorder->state), phase);
    ck_assert_int_eq(recorder->recording.account.coverage.is_off, phase == YARN_PHASE_PAUSED);
}

static void say(const char *line, const char *want)
{
    char reply[512] = "";
    ck_assert_int_eq(send(client, line, strlen(line), 0), (ssize_t)strlen(line));
    yarn_commands_serve(recorder);
    ck_assert_int_gt(recv(client, reply, sizeof reply - 1, MSG_DONTWAIT), 0);
    ck_assert_msg(strncmp(reply, want, strlen(want)) == 0, "%s is answered %s", line, reply);
}

static void connect_client(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", folder);
    client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(connect(client, (const struct sockaddr *)&address, sizeof address), 0);
}

START_TEST(program_stops_and_starts_it)
{
    open_recorder("on", "0");
    assert_phase(YARN_PHASE_RUNNING);
    ck_assert(run(YARN_RECORDER_PAUSE));
    assert_phase(YARN_PHASE_PAUSED);
    ck_assert_uint_eq(yarn_state_cause(&recorder->state), YARN_DUMP_COVERAGE_PROGRAM);
    ck_assert(run(YARN_RECORDER_RESUME));
    assert_phase(YARN_PHASE_RUNNING);
}
END_TEST

START_TEST(what_is_stopped_by_option_waits_for_a_command)
{
    open_recorder("off", "0");
    assert_phase(YARN_PHASE_PAUSED);
    ck_assert_uint_eq(yarn_state_cause(&recorder->state), YARN_DUMP_COVERAGE_OPTION);
    yarn_commands_keep_schedule(recorder, UINT64_MAX);
    assert_phase(YARN_PHASE_PAUSED);
    ck_assert(run(YARN_RECORDER_RESUME));
    assert_phase(YARN_PHASE_RUNNING);
}
END_TEST

START_TEST(each_start_records_for_the_duration)
{
    open_recorder("on", "10s");
    for (int i = 0; i < 2; i++) {
        uint64_t stop_at_ns = recorder->schedule.stop_at_ns;
        yarn_commands_keep_schedule(recorder, stop_at_ns - 1);
        assert_phase(YARN_PHASE_RUNNING);
        yarn_commands_keep_schedule(recorder, stop_at_ns);
        assert_phase(YARN_PHASE_PAUSED);
        ck_assert_uint_eq(yarn_state_cause(&recorder->state), YARN_DUMP_COVERAGE_DURATION);
        ck_assert(run(YARN_RECORDER_RESUME));
        ck_assert_uint_gt(recorder->schedule.stop_at_ns, stop_at_ns);
    }
}
END_TEST

START_TEST(clients_stop_start_mark_and_ask)
{
    open_recorder("on", "0");
    connect_client();
    say("stop\n", "ok stopped\n");
    assert_phase(YARN_PHASE_PAUSED);
    ck_assert_uint_eq(yarn_state_cause(&recorder->state), YARN_DUMP_COVERAGE_SOCKET);
    say("status\n", "ok state=stopped pid=");
    say("start\n", "ok recording\n");
    say("status\n", "ok state=recording pid=");
    say("mark here\n", "ok marked\n");
    ck_assert(recorder->has_unsaved);
    say("flush\n", "ok flushed\n");
    end();
    ck_assert_ptr_nonnull(strstr(records.text, "here"));
    ck_assert_uint_eq(record_log_count(&records, "message "), 1);
    close(client);
}
END_TEST

START_TEST(clients_of_a_recording_that_failed_are_told_why)
{
    open_recorder("on", "0");
    connect_client();
    recorder->recording.failure.what = "there is no more room";
    recorder->recording.failure.error = -ENOSPC;
    say("flush\n", "error there is no more room (errno 28)\n");
    close(client);
}
END_TEST

START_TEST(end_is_left_to_the_reader_with_all_that_was_asked)
{
    open_recorder("on", "0");
    (void)yarn_requests_put(&recorder->requests, 1U << YARN_RECORDER_PAUSE, 0);
    ck_assert(!run(YARN_RECORDER_END));
    ck_assert_uint_eq(atomic_load(&recorder->requests.wanted),
                      1U << YARN_RECORDER_PAUSE | 1U << YARN_RECORDER_END);
    assert_phase(YARN_PHASE_RUNNING);
}
END_TEST

START_TEST(only_rights_are_urgent)
{
    open_recorder("on", "0");
    (void)yarn_requests_put(&recorder->requests, 1U << YARN_RECORDER_PAUSE, 0);
    yarn_commands_run_urgent(recorder);
    assert_phase(YARN_PHASE_RUNNING);
    ck_assert(yarn_commands_run(recorder));
    assert_phase(YARN_PHASE_PAUSED);
    (void)yarn_requests_put(&recorder->requests, 1U << YARN_RECORDER_FOLLOW_IDS, 0);
    yarn_commands_run_urgent(recorder);
    ck_assert_uint_eq(atomic_load(&recorder->requests.wanted), 0);
}
END_TEST

START_TEST(exec_seals_the_dump_unless_it_has_failed_already)
{
    open_recorder("on", "0");
    yarn_messages_add(&recorder->messages, YARN_DUMP_MESSAGE_WARNING, false, "worth a dump");
    ck_assert(run(YARN_RECORDER_EXEC));
    ck_assert(!recorder->recording.is_sealed);
    yarn_state_enter_exec(&recorder->state);
    ck_assert(run(YARN_RECORDER_EXEC));
    ck_assert(recorder->recording.is_sealed);
    ck_assert(!recorder->control.is_open);
    yarn_recording_unseal(&recorder->recording);
    ck_assert(!recorder->recording.is_sealed);
}
END_TEST

START_TEST(before_a_filter_everything_is_written)
{
    open_recorder("on", "0");
    yarn_messages_add(&recorder->messages, YARN_DUMP_MESSAGE_WARNING, false, "beware");
    ck_assert(run(YARN_RECORDER_EXPECT_FILTER));
    ck_assert(recorder->expects_filter);
    ck_assert_uint_eq(recorder->recording.dump.nr_messages_kept, 1);
}
END_TEST

START_TEST(name_of_a_socket_that_is_taken_is_a_warning)
{
    open_recorder("on", "0");
    struct yarn_control_socket first = recorder->control;
    yarn_commands_open_socket(recorder);
    ck_assert(!recorder->control.is_open);
    ck_assert_uint_eq(atomic_load(&recorder->messages.count), 1);
    ck_assert_ptr_nonnull(strstr(recorder->messages.message[0].line, "the name is taken"));
    recorder->control = first;
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("commands");
    TCase *tcase = tcase_create("the reader of its own process");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, program_stops_and_starts_it);
    tcase_add_test(tcase, what_is_stopped_by_option_waits_for_a_command);
    tcase_add_test(tcase, each_start_records_for_the_duration);
    tcase_add_test(tcase, clients_stop_start_mark_and_ask);
    tcase_add_test(tcase, clients_of_a_recording_that_failed_are_told_why);
    tcase_add_test(tcase, end_is_left_to_the_reader_with_all_that_was_asked);
    tcase_add_test(tcase, only_rights_are_urgent);
    tcase_add_test(tcase, exec_seals_the_dump_unless_it_has_failed_already);
    tcase_add_test(tcase, before_a_filter_everything_is_written);
    tcase_add_test(tcase, name_of_a_socket_that_is_taken_is_a_warning);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
