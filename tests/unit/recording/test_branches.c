/* SPDX-License-Identifier: Apache-2.0 */
/* From the ring of a kernel that is made to the report: session, pipeline, dump and tool are real.
 */
#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/sys/clock.h"
#include "tests/support/fake_perf.h"
#include "tests/support/suite.h"
#include "tests/unit/recording/made_process.h"

#define CODE UINT64_C(0x400000)
enum { SAMPLES = 300, BRANCHES = 3, TEXT_BYTES = 1 << 20, KINDS = 2, BIG = 4, LITTLE = 10 };

static struct yarn_event_spec events[KINDS];
static size_t nr_events = 1;
static struct yarn_session_request request;
static pthread_t host;
static atomic_bool is_over;

/* The thread that is attached: the test itself is the reader. */
static void *wait(void *unused)
{
    while (!atomic_load(&is_over))
        usleep(1000);
    return unused;
}

static enum yarn_stacks stack = YARN_STACKS_NONE;

static void begin_with(const char *asked, uint64_t branches, unsigned precise)
{
    made_process_begin();
    fake_perf_reset();
    atomic_store(&is_over, false);
    ck_assert_int_eq(pthread_create(&host, NULL, wait, NULL), 0);
    events[0] = (struct yarn_event_spec){
        .asked = asked,
        .event = "cycles",
        .unit = "cycles",
        .kind = YARN_EVENT_HARDWARE,
        .type = PERF_TYPE_HARDWARE,
        .period = 1000,
        .scale = 1,
        .has_own_rate = true,
        .branches = branches,
        .precise = (uint8_t)precise,
        .exclude_kernel = true,
        .has_modifiers = true,
    };
    struct yarn_text name = yarn_text_of(events[0].name, sizeof events[0].name);
    yarn_text_add(&name, "cycles");
    for (size_t i = 0; i < KINDS && nr_events == KINDS; i++) { /* as the parser makes them */
        events[i] = events[0];
        events[i].config = (uint64_t)(i ? LITTLE : BIG) << PERF_PMU_TYPE_SHIFT;
        events[i].cpus = i ? "1-1023" : "0";
    }
    request = (struct yarn_session_request){
        .events = events,
        .nr_events = nr_events,
        .sampler = YARN_SAMPLER_PERF,
        .strategy = YARN_STRATEGY_PER_CORE,
        .ring_bytes = 1 << 20,
        .interval_ns = 100 * YARN_NS_PER_MS,
        .frequency_hz = 999,
        .stack = stack,
        .stack_bytes = 4096,
        .pid = getpid(),
        .target = &yarn_target_self,
    };
    ck_assert_int_eq(yarn_session_open(&made.session, &request), 0);
}

static void begin(void)
{
    begin_with("cycles/branch=any/", PERF_SAMPLE_BRANCH_ANY, 0);
}

static void begin_precise(void)
{
    begin_with("cycles:pp", 0, 2);
}

static void begin_calls(void)
{
    stack = YARN_STACKS_CALLS;
    begin_with("cycles:u", 0, 0);
}

static void begin_kinds_of_core(void)
{
    nr_events = KINDS;
    begin_with("cycles:u", 0, 0);
}

static void end(void)
{
    stack = YARN_STACKS_NONE;
    nr_events = 1;
    yarn_session_close(&made.session);
    atomic_store(&is_over, true);
    ck_assert_int_eq(pthread_join(host, NULL), 0);
    made_process_end();
    fake_perf_reset();
}

/* As the kernel lays it out for the attr that it was opened with. */
static void write_sample_by(const struct fake_perf_event *opened, uint32_t tid,
                            const struct perf_branch_entry *branches, uint64_t count)
{
    uint8_t data[4096];
    struct yarn_byte_buffer bytes = yarn_bytes_of(data, sizeof data);
    yarn_bytes_u64(&bytes, 0); /* header */
    yarn_bytes_u64(&bytes, opened->id);
    yarn_bytes_u64(&bytes, CODE);
    yarn_bytes_u32(&bytes, MADE_PID);
    yarn_bytes_u32(&bytes, tid);
    yarn_bytes_u64(&bytes, yarn_clock_ns(YARN_TIME_MONOTONIC));
    yarn_bytes_u64(&bytes, 0);    /* cpu */
    yarn_bytes_u64(&bytes, 1000); /* period */
    if (opened->attr.sample_type & PERF_SAMPLE_BRANCH_STACK) {
        yarn_bytes_u64(&bytes, count);
        yarn_bytes_put(&bytes, branches, count * sizeof *branches);
    }
    struct perf_event_header header = {
        .type = PERF_RECORD_SAMPLE, .misc = PERF_RECORD_MISC_USER, .size = (uint16_t)bytes.size};
    memcpy(data, &header, sizeof header);
    ck_assert(fake_perf_write(data, bytes.size));
}

static void write_sample(uint32_t tid, const struct perf_branch_entry *branches, uint64_t count)
{
    const struct fake_perf_event *opened = fake_perf_next(NULL);
    ck_assert_uint_eq(opened->attr.sample_type,
                      YARN_SAMPLE_TYPE_COMMON | PERF_SAMPLE_PERIOD | PERF_SAMPLE_BRANCH_STACK);
    write_sample_by(opened, tid, branches, count);
}

static void drain(void)
{
    bool has_news;
    struct yarn_record_listener listener = yarn_pipeline_listener(&made.pipeline);
    (void)yarn_session_drain(&made.session, true, &listener, &has_news);
}

/* What the tool says of the dump. */
static void ask(const char *arguments, char *ret_text)
{
    char command[8192];
    const char *tool = getenv("YARN_TEST_YARNPROF");
    ck_assert_ptr_nonnull(tool);
    (void)snprintf(command, sizeof command, "%s %s %s", tool, arguments, made.dump.file.path);
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    ret_text[fread(ret_text, 1, TEXT_BYTES - 1, pipe)] = 0;
    ck_assert_int_eq(pclose(pipe), 0);
}

static void assert_has(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part), "no %s in: %s", part, text);
}

START_TEST(branches_go_from_the_ring_to_the_report)
{
    static char text[TEXT_BYTES];
    const struct perf_branch_entry branches[BRANCHES] = {
        {.from = CODE + 0x10, .to = CODE + 0x80, .predicted = 1, .cycles = 7},
        {.from = CODE + 0x90, .to = CODE + 0x14, .mispred = 1, .cycles = 5},
        {.from = CODE + 0x10, .to = CODE + 0x80, .mispred = 1, .cycles = 3},
    };
    for (uint32_t i = 0; i < SAMPLES; i++)
        write_sample(MADE_THREAD + i % 2, branches, BRANCHES);
    write_sample(MADE_THREAD, NULL, 0);
    drain();
    made_process_read();
    ck_assert_uint_eq(made_process_lines("sample "), SAMPLES + 1);
    ask("report --by=branch --format=csv", text);
    assert_has(text, ",600,300,3000"); /* count, mispredicted, cycles */
    assert_has(text, ",300,300,1500");
    ask("report --by=branch --format=json", text);
    assert_has(text, "\"mispredicted\":300");
    ask("report --by=branch", text);
    assert_has(text, "MISPREDICTED");
    assert_has(text, "3,000");
    ask("script", text);
    assert_has(text, "YARN_branch cycles: ");
    assert_has(text, "count 300 mispredicted 150 cycles 1500"); /* of one of the two threads */
}
END_TEST

/* More edges than are kept: they are stored on the way, and none is missing. */
START_TEST(more_edges_than_are_kept_are_all_stored)
{
    enum { EDGES = 3 * YARN_EDGES_MAX / 2, A_SAMPLE = 32 };
    for (uint64_t i = 0; i < EDGES; i += A_SAMPLE) {
        struct perf_branch_entry branches[A_SAMPLE] = {0};
        for (uint64_t k = 0; k < A_SAMPLE; k++)
            branches[k] = (struct perf_branch_entry){.from = CODE + 16 * (i + k), .to = CODE};
        write_sample(MADE_THREAD, branches, A_SAMPLE);
    }
    drain();
    made_process_read();
    size_t nr_rows = 0;
    static char all[TEXT_BYTES];
    ask("report --by=branch --format=csv --limit=0", all);
    for (const char *at = all; (at = strchr(at, '\n')); at++)
        nr_rows++;
    ck_assert_uint_eq(nr_rows, EDGES + 1); /* and the heads */
}
END_TEST

START_TEST(what_a_precise_sample_tells_of_its_access_is_in_script)
{
    static char text[TEXT_BYTES];
    uint8_t data[256];
    const union perf_mem_data_src source = {
        .mem_op = PERF_MEM_OP_LOAD,
        .mem_lvl = PERF_MEM_LVL_L3 | PERF_MEM_LVL_HIT,
        .mem_snoop = PERF_MEM_SNOOP_HITM,
        .mem_dtlb = PERF_MEM_TLB_L2 | PERF_MEM_TLB_HIT,
    };
    struct yarn_byte_buffer bytes = yarn_bytes_of(data, sizeof data);
    const struct fake_perf_event *opened = fake_perf_next(NULL);
    ck_assert_uint_eq(opened->attr.precise_ip, 2);
    ck_assert_uint_eq(opened->attr.sample_type, YARN_SAMPLE_TYPE_COMMON | PERF_SAMPLE_PERIOD |
                                                    PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT |
                                                    PERF_SAMPLE_DATA_SRC);
    yarn_bytes_u64(&bytes, 0); /* header */
    yarn_bytes_u64(&bytes, opened->id);
    yarn_bytes_u64(&bytes, CODE);
    yarn_bytes_u32(&bytes, MADE_PID);
    yarn_bytes_u32(&bytes, MADE_THREAD);
    yarn_bytes_u64(&bytes, yarn_clock_ns(YARN_TIME_MONOTONIC));
    yarn_bytes_u64(&bytes, 0xabc0); /* address */
    yarn_bytes_u64(&bytes, 0);      /* cpu */
    yarn_bytes_u64(&bytes, 1000);   /* period */
    yarn_bytes_u64(&bytes, 231);    /* weight */
    yarn_bytes_u64(&bytes, source.val);
    struct perf_event_header header = {
        .type = PERF_RECORD_SAMPLE, .misc = PERF_RECORD_MISC_USER, .size = (uint16_t)bytes.size};
    memcpy(data, &header, sizeof header);
    ck_assert(fake_perf_write(data, bytes.size));
    drain();
    made_process_read();
    ask("script", text);
    assert_has(text, "abc0 weight 231 load, L3 hit, snoop hitm, TLB L2 hit");
    ask("report --by=address", text);
    assert_has(text, "0xabc0 load, L3 hit, snoop hitm, TLB L2 hit");
    ask("report --by=address --format=json", text);
    assert_has(text, "\"address\":\"0xabc0\"");
    assert_has(text, "\"data_src\":\"load, L3 hit, snoop hitm, TLB L2 hit\"");
    assert_has(text, "\"weight\":231");
    ask("report --by=address --format=csv", text);
    assert_has(text, "event,address,data_src,weight,self,");
    assert_has(text, ",0xabc0,\"load, L3 hit, snoop hitm, TLB L2 hit\",231.000000,");
}
END_TEST

START_TEST(the_processor_s_stack_of_calls_is_the_sample_s)
{
    static char text[TEXT_BYTES];
    const struct perf_branch_entry calls[] = {{.from = CODE + 0x200, .to = CODE},
                                              {.from = CODE + 0x300, .to = CODE + 0x180}};
    const struct fake_perf_event *opened = fake_perf_next(NULL);
    ck_assert_uint_eq(opened->attr.branch_sample_type,
                      PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_USER);
    write_sample(MADE_THREAD, calls, YARN_COUNT_OF(calls));
    drain();
    made_process_read();
    ck_assert_uint_eq(made_process_lines("stack "), 1 + YARN_COUNT_OF(calls));
    ask("script", text);
    const char *leaf = strstr(text, "400000"), *caller = strstr(text, "400200");
    ck_assert_ptr_nonnull(leaf);
    ck_assert_ptr_nonnull(caller);
    ck_assert(leaf < caller && caller < strstr(text, "400300"));
    ck_assert_ptr_null(strstr(text, "YARN_branch"));
}
END_TEST

START_TEST(what_two_kinds_of_core_sample_is_one_event_of_the_report)
{
    static char text[TEXT_BYTES];
    const struct fake_perf_event *big = NULL, *little = NULL;
    for (const struct fake_perf_event *one = NULL; (one = fake_perf_next(one));)
        if (one->attr.config >> PERF_PMU_TYPE_SHIFT == BIG)
            big = one;
        else
            little = one;
    ck_assert_ptr_nonnull(big);
    write_sample_by(big, MADE_THREAD, NULL, 0);
    if (little) /* else this machine has one core */
        write_sample_by(little, MADE_THREAD, NULL, 0);
    drain();
    made_process_read();
    ask("report --format=json", text);
    assert_has(text, little
                         ? "\"name\":\"cycles\",\"unit\":\"cycles\",\"total\":2000,\"samples\":2}]"
                         : "\"total\":1000,\"samples\":1}]");
    ask("report", text);
    assert_has(text, little ? "cycles: 2 samples" : "cycles: 1 sample");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("branches");
    TCase *tcase = tcase_create("from ring to report");
    tcase_add_checked_fixture(tcase, begin, end);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, branches_go_from_the_ring_to_the_report);
    tcase_add_test(tcase, more_edges_than_are_kept_are_all_stored);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("calls");
    tcase_add_checked_fixture(tcase, begin_calls, end);
    tcase_add_test(tcase, the_processor_s_stack_of_calls_is_the_sample_s);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("precise");
    tcase_add_checked_fixture(tcase, begin_precise, end);
    tcase_add_test(tcase, what_a_precise_sample_tells_of_its_access_is_in_script);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("two kinds of core");
    tcase_add_checked_fixture(tcase, begin_kinds_of_core, end);
    tcase_add_test(tcase, what_two_kinds_of_core_sample_is_one_event_of_the_report);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
