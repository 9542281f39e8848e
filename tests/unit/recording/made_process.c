/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/recording/made_process.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct made_process made;
struct yarn_perf_count made_count;
uint64_t made_thread_cpu_ns, made_blocked_ns, made_switching_ns;

static struct yarn_perf_count count(const struct yarn_session *session, uint32_t number)
{
    (void)session, (void)number;
    return made_count;
}

static uint64_t thread_cpu_ns(const struct yarn_session *session, pid_t tid)
{
    (void)session, (void)tid;
    return made_thread_cpu_ns;
}

static uint64_t blocked_ns(const struct yarn_session *session)
{
    (void)session;
    return made_blocked_ns;
}

static uint64_t switching_ns(struct yarn_session *session, uint32_t number, uint64_t cpu_ns)
{
    (void)session, (void)number, (void)cpu_ns;
    return made_switching_ns;
}

static size_t ring_bytes(const struct yarn_session *session)
{
    (void)session;
    return 4096;
}

static void make_session(void)
{
    made.event = made.job.events.specs[0];
    made.event.period = MADE_PERIOD_NS;
    made.event.is_clock = true;
    made.target = yarn_target_of(MADE_PID);
    made.session_request = (struct yarn_session_request){
        .events = &made.event,
        .nr_events = 1,
        .frequency_hz = 1000,
        .stack = YARN_STACKS_COPY,
        .pid = MADE_PID,
        .target = &made.target,
    };
    made.opened[0] = (struct yarn_event_status){.spec = made.event};
    made.attachment = (struct yarn_attachment){
        .sampler = YARN_SAMPLER_TIMER,
        .strategy = YARN_STRATEGY_PER_THREAD,
        .count = count,
        .thread_cpu_ns = thread_cpu_ns,
        .blocked_ns = blocked_ns,
        .switching_ns = switching_ns,
        .ring_bytes = ring_bytes,
    };
    made.session = (struct yarn_session){
        .request = &made.session_request,
        .statuses = made.opened,
        .own_tid = MADE_READER,
        .nr_threads = 1,
        .timer = (struct yarn_timer_sampler *)(void *)&made, /* so that counts are known */
        .report.attachment = &made.attachment,
    };
}

static void make_dump(void)
{
    made.dump = (struct yarn_process_dump){
        .job = &made.job,
        .session = &made.session,
        .messages = &made.messages,
        .account = &made.account,
        .failure = &made.failure,
        .file.fd = -1,
    };
    made.messages.most_detailed = YARN_DUMP_MESSAGE_INFO;
    ck_assert_int_eq(yarn_dump_file_prepare(&made.dump.file, made.job.options.output,
                                            &made.job.facts, made.job.envp),
                     0);
}

void made_process_begin(void)
{
    static char output[96], program[] = "made";
    static char *argv[] = {program, NULL};
    static char *envp[] = {output, NULL};
    char bytes[256];
    struct yarn_text fault = yarn_text_of(bytes, sizeof bytes);
    memset(&made, 0, sizeof made);
    made_count = (struct yarn_perf_count){.count = 0};
    made_thread_cpu_ns = made_blocked_ns = made_switching_ns = 0;
    (void)snprintf(made.folder, sizeof made.folder, "/tmp/yarn-made.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(made.folder));
    (void)snprintf(output, sizeof output, "YARN_OUTPUT=%s/it.dump", made.folder);
    ck_assert_int_eq(yarn_job_init(&made.job, 1, argv, envp, &fault), 0);
    made.job.facts.pid = MADE_PID;
    make_session();
    yarn_account_init(&made.account, &made.session);
    make_dump();
    ck_assert_int_eq(yarn_pipeline_open(&made.pipeline, &made.dump, NULL), 0);
}

void made_process_end(void)
{
    yarn_pipeline_close(&made.pipeline);
    yarn_process_dump_close(&made.dump);
    yarn_job_fini(&made.job);
    record_log_free(&made.log);
    (void)unlink(made.dump.file.path);
    (void)rmdir(made.folder);
}

void made_process_feed(const struct yarn_typed_record *record)
{
    struct yarn_record_listener listener = yarn_pipeline_listener(&made.pipeline);
    listener.record(listener.self, record);
}

void made_process_read(void)
{
    yarn_pipeline_flush(&made.pipeline, false);
    if (made.dump.writer) {
        yarn_stacks_write_modules(&made.pipeline.stacks, made.dump.writer);
        yarn_process_dump_flush(&made.dump);
    }
    yarn_process_dump_end(&made.dump, YARN_DUMP_END_EXIT, 0);
    yarn_process_dump_close(&made.dump);
    ck_assert_int_eq(
        yarn_dump_read_file(made.dump.file.path, &record_log_visitor, &made.log, &made.summary), 0);
    ck_assert_uint_eq(made.summary.nr_damages, 0);
}

size_t made_process_lines(const char *begin)
{
    return record_log_count(&made.log, begin);
}

const char *made_process_line(const char *begin)
{
    const char *line = made.log.text;
    while (line && strncmp(line, begin, strlen(begin)) != 0) {
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    ck_assert_msg(line && *line, "no line begins with %s", begin);
    return line;
}

void made_process_birth(uint32_t tid, uint32_t parent_tid, uint64_t time_ns)
{
    const struct yarn_dump_thread thread = {
        .tid = tid, .parent_tid = parent_tid, .time_ns = time_ns};
    yarn_thread_snapshot_on_begin(&made.account.threads, NULL, &thread);
}
