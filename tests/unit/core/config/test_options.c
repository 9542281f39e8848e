/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "core/config/options.h"
#include "tests/support/options_environment.h"
#include "tests/support/suite.h"

static struct yarn_arena arena;
static struct yarn_options options;
static struct yarn_option_fault fault;
static char line[512];

static void set_up(void)
{
    arena = YARN_ARENA_CLOSED;
    yarn_arena_open(&arena, YARN_OPTIONS_ARENA_BYTES);
}

static void tear_down(void)
{
    yarn_arena_close(&arena);
}

static int read_one(const char *entry)
{
    char copy[YARN_OPTION_TEXT_MAX + 200];
    strcpy(copy, entry);
    char *envp[] = {"HOME=/", copy, "PATH=/bin", NULL};
    int err = yarn_options_from_env(&options, &arena, envp, &fault);
    if (err) {
        struct yarn_text text = yarn_text_of(line, sizeof line);
        yarn_option_fault_describe(&fault, &text);
    }
    memset(copy, 'x', sizeof copy); /* the host changes its environment */
    return err;
}

START_TEST(nothing_set_gives_the_defaults)
{
    ck_assert_int_eq(read_one("YARNISH=1"), 0);
    ck_assert_str_eq(options.events, "auto");
    ck_assert_uint_eq(options.frequency_hz, 999);
    ck_assert_int_eq(options.callgraph.kind, YARN_CALLGRAPH_AUTO);
    ck_assert_uint_eq(options.callgraph.stack_bytes, 32768);
    ck_assert_int_eq(options.unwinder, YARN_UNWINDER_AUTO);
    ck_assert_str_eq(options.output, "yarn.%e.%p.dump");
    ck_assert_int_eq(options.sampler, YARN_SAMPLER_AUTO);
    ck_assert_int_eq(options.strategy, YARN_STRATEGY_AUTO);
    ck_assert_int_eq(options.reader, YARN_READER_AUTO);
    ck_assert_uint_eq(options.ring_bytes, 0);
    ck_assert_uint_eq(options.interval_ns, 100 * YARN_NS_PER_MS);
    ck_assert_int_eq(options.clock, YARN_CLOCK_MONOTONIC);
    ck_assert_int_eq(options.empty, YARN_EMPTY_DROP);
    ck_assert_int_eq(options.start, YARN_START_ON);
    ck_assert_uint_eq(options.delay_ns, 0);
    ck_assert_uint_eq(options.duration_ns, 0);
    ck_assert_str_eq(options.control, "");
    ck_assert_int_eq(options.log, YARN_LOG_WARNING);
    ck_assert_str_eq(options.log_file, "");
    ck_assert_uint_eq(options.nr_warnings, 0);
    ck_assert_int_eq(yarn_options_next_changed(&options, YARN_OPTION_EVENTS), YARN_OPTION_COUNT);
}
END_TEST

START_TEST(every_default_is_a_value_of_its_option)
{
    struct yarn_options given;
    yarn_options_default(&given);
    const struct yarn_option_row *row = yarn_option_row((enum yarn_option)_i);
    int err = yarn_options_set(&given, &arena, (enum yarn_option)_i, row->default_text, &fault);
    ck_assert_int_eq(err, 0);
    ck_assert_int_gt((int)strlen(row->help), 0);
    ck_assert_int_gt((int)strlen(row->right), 0);
}
END_TEST

static const struct {
    const char *entry;
    enum yarn_option option;
    size_t offset;
    uint64_t value; /* of a number or a choice */
    size_t size;
} numbers[] = {
#define FIELD(name) offsetof(struct yarn_options, name)
#define CHOICE sizeof(enum yarn_sampler)
    {"YARN_FREQUENCY=1", YARN_OPTION_FREQUENCY, FIELD(frequency_hz), 1, 8},
    {"YARN_FREQUENCY=4k", YARN_OPTION_FREQUENCY, FIELD(frequency_hz), 4000, 8},
    {"YARN_FREQUENCY=100000", YARN_OPTION_FREQUENCY, FIELD(frequency_hz), 100000, 8},
    {"YARN_RING=4096", YARN_OPTION_RING, FIELD(ring_bytes), 4096, 8},
    {"YARN_RING=2M", YARN_OPTION_RING, FIELD(ring_bytes), 2 << 20, 8},
    {"YARN_RING=1GiB", YARN_OPTION_RING, FIELD(ring_bytes), 1 << 30, 8},
    {"YARN_INTERVAL=1ms", YARN_OPTION_INTERVAL, FIELD(interval_ns), 1000000, 8},
    {"YARN_INTERVAL=0.5s", YARN_OPTION_INTERVAL, FIELD(interval_ns), 500000000, 8},
    {"YARN_INTERVAL=2", YARN_OPTION_INTERVAL, FIELD(interval_ns), 2000000, 8},
    {"YARN_COUNTER_INTERVAL=500", YARN_OPTION_COUNTER_INTERVAL, FIELD(counter_interval_ns),
     500000000, 8},
    {"YARN_DELAY=250", YARN_OPTION_DELAY, FIELD(delay_ns), 250000000, 8},
    {"YARN_DURATION=1500", YARN_OPTION_DURATION, FIELD(duration_ns), 1500000000, 8},
    {"YARN_DURATION=3s", YARN_OPTION_DURATION, FIELD(duration_ns), 3000000000, 8},
    {"YARN_INTERVAL=1h", YARN_OPTION_INTERVAL, FIELD(interval_ns), 3600000000000, 8},
    {"YARN_UNWINDER=libunwind", YARN_OPTION_UNWINDER, FIELD(unwinder), YARN_UNWINDER_LIBUNWIND,
     CHOICE},
    {"YARN_SAMPLER=perf", YARN_OPTION_SAMPLER, FIELD(sampler), YARN_SAMPLER_PERF, CHOICE},
    {"YARN_SAMPLER=timer", YARN_OPTION_SAMPLER, FIELD(sampler), YARN_SAMPLER_TIMER, CHOICE},
    {"YARN_STRATEGY=per-core", YARN_OPTION_STRATEGY, FIELD(strategy), YARN_STRATEGY_PER_CORE,
     CHOICE},
    {"YARN_STRATEGY=cores", YARN_OPTION_STRATEGY, FIELD(strategy), YARN_STRATEGY_CORES, CHOICE},
    {"YARN_STRATEGY=per-thread", YARN_OPTION_STRATEGY, FIELD(strategy), YARN_STRATEGY_PER_THREAD,
     CHOICE},
    {"YARN_READER=poll", YARN_OPTION_READER, FIELD(reader), YARN_READER_POLL, CHOICE},
    {"YARN_READER=timed", YARN_OPTION_READER, FIELD(reader), YARN_READER_TIMED, CHOICE},
    {"YARN_CLOCK=monotonic_raw", YARN_OPTION_CLOCK, FIELD(clock), YARN_CLOCK_MONOTONIC_RAW, CHOICE},
    {"YARN_CLOCK=boottime", YARN_OPTION_CLOCK, FIELD(clock), YARN_CLOCK_BOOTTIME, CHOICE},
    {"YARN_EMPTY=keep", YARN_OPTION_EMPTY, FIELD(empty), YARN_EMPTY_KEEP, CHOICE},
    {"YARN_LOG=off", YARN_OPTION_LOG, FIELD(log), YARN_LOG_OFF, CHOICE},
    {"YARN_LOG=error", YARN_OPTION_LOG, FIELD(log), YARN_LOG_ERROR, CHOICE},
    {"YARN_LOG=debug", YARN_OPTION_LOG, FIELD(log), YARN_LOG_DEBUG, CHOICE},
    {"YARN=frequency=4999", YARN_OPTION_FREQUENCY, FIELD(frequency_hz), 4999, 8},
    {"YARN= empty =keep; ;", YARN_OPTION_EMPTY, FIELD(empty), YARN_EMPTY_KEEP, CHOICE},
    {"YARN=;;frequency=1;frequency=7;", YARN_OPTION_FREQUENCY, FIELD(frequency_hz), 7, 8},
};

START_TEST(a_value_arrives_in_its_field)
{
    uint64_t value = 0;
    ck_assert_int_eq(read_one(numbers[_i].entry), 0);
    memcpy(&value, (const char *)&options + numbers[_i].offset, numbers[_i].size);
    ck_assert_uint_eq(value, numbers[_i].value);
    enum yarn_option changed = yarn_options_next_changed(&options, YARN_OPTION_EVENTS);
    ck_assert_int_eq(changed, numbers[_i].option);
    ck_assert_int_eq(yarn_options_next_changed(&options, (enum yarn_option)(changed + 1)),
                     YARN_OPTION_COUNT);
}
END_TEST

START_TEST(texts_outlive_the_environment)
{
    ck_assert_int_eq(read_one("YARN_EVENTS=cpu-clock,faults"), 0);
    ck_assert_str_eq(options.events, "cpu-clock,faults");
    ck_assert_int_eq(read_one("YARN_OUTPUT=/tmp/%h/"), 0);
    ck_assert_str_eq(options.output, "/tmp/%h/");
    ck_assert_int_eq(read_one("YARN_LOG_FILE=stderr"), 0);
    ck_assert_str_eq(options.log_file, "stderr");
    ck_assert_int_eq(read_one("YARN=log_file=a=b;events=cs"), 0);
    ck_assert_str_eq(options.log_file, "a=b");
    ck_assert_str_eq(options.events, "cs");
    ck_assert_int_eq(read_one("YARN=log-file=c"), 0);
    ck_assert_str_eq(options.log_file, "c");
    ck_assert_int_eq(read_one("YARN_RUN=17.4"), 0);
    ck_assert_str_eq(options.run, "17.4");
}
END_TEST

START_TEST(a_single_variable_wins_over_the_compact_one)
{
    char *envp[] = {"YARN_FREQUENCY=10", "YARN=frequency=20;ring=8K;empty=nonsense",
                    "YARN_EMPTY=keep",   "YARN_RING=",
                    "YARN_FREQUENCY=30", NULL};
    ck_assert_int_eq(yarn_options_from_env(&options, &arena, envp, &fault), 0);
    ck_assert_uint_eq(options.frequency_hz, 10);
    ck_assert_uint_eq(options.ring_bytes, 8192);
    ck_assert_int_eq(options.empty, YARN_EMPTY_KEEP);
    ck_assert(options.in_compact[YARN_OPTION_RING]);
    ck_assert(!options.in_compact[YARN_OPTION_FREQUENCY]);
}
END_TEST

START_TEST(an_empty_variable_is_not_set)
{
    ck_assert_int_eq(read_one("YARN_FREQUENCY="), 0);
    ck_assert_uint_eq(options.frequency_hz, 999);
    ck_assert_int_eq(read_one("YARN="), 0);
    ck_assert_int_eq(read_one("YARN=frequency="), 0);
    ck_assert_uint_eq(options.frequency_hz, 999);
    ck_assert_int_eq(read_one("YARN_SCHED="), 0);
    ck_assert_uint_eq(options.nr_warnings, 0);
}
END_TEST

static const struct {
    const char *entry;
    const char *line;
} bad[] = {
    {"YARN_FREQUENCY=fast", "yarn: YARN_FREQUENCY: \"fast\": not a number; a number of samples a "
                            "second from 1 to 100000"},
    {"YARN_FREQUENCY=0", "yarn: YARN_FREQUENCY: \"0\": too small; "},
    {"YARN_FREQUENCY=-1", "yarn: YARN_FREQUENCY: \"-1\": not a number; "},
    {"YARN_FREQUENCY=99.5", "yarn: YARN_FREQUENCY: \"99.5\": not a number; "},
    {"YARN_FREQUENCY=100001", "yarn: YARN_FREQUENCY: \"100001\": too large; "},
    {"YARN_FREQUENCY=99999999999999999999",
     "yarn: YARN_FREQUENCY: \"99999999999999999999\": too large; "},
    {"YARN_CALLGRAPH=magic",
     "yarn: YARN_CALLGRAPH: \"magic\": not a way to record stacks; auto, fp, "},
    {"YARN_CALLGRAPH=dwarf:64K", "yarn: YARN_CALLGRAPH: \"64K\": more than the 65528 bytes "},
    {"YARN_UNWINDER=gdb", "yarn: YARN_UNWINDER: \"gdb\": not one of its values; auto or libunwind"},
    {"YARN_OUTPUT=/tmp/%q.dump",
     "yarn: YARN_OUTPUT: \"%q\": not a letter that stands for anything; a path "},
    {"YARN_SAMPLER=Perf",
     "yarn: YARN_SAMPLER: \"Perf\": not one of its values; auto, perf or timer"},
    {"YARN_STRATEGY=x", "yarn: YARN_STRATEGY: \"x\": "},
    {"YARN_READER=x", "yarn: YARN_READER: \"x\": "},
    {"YARN_RING=3M", "yarn: YARN_RING: \"3M\": not a power of two; auto or a power of two "
                     "from 4K to 1G"},
    {"YARN_SCHED=switches",
     "yarn: YARN_SCHED: \"switches\": not one of its values; off, switch, switch:RATE, "
     "tracepoints, tracepoints:all or auto would be right"},
    {"YARN_RING=2048", "yarn: YARN_RING: \"2048\": too small; "},
    {"YARN_RING=2G", "yarn: YARN_RING: \"2G\": too large; "},
    {"YARN_RING=much", "yarn: YARN_RING: \"much\": not a number of bytes; "},
    {"YARN_INTERVAL=999us", "yarn: YARN_INTERVAL: \"999us\": too small; a time from 1ms to 1h"},
    {"YARN_INTERVAL=3601s", "yarn: YARN_INTERVAL: \"3601s\": too large; "},
    {"YARN_INTERVAL=soon", "yarn: YARN_INTERVAL: \"soon\": not a time; "},
    {"YARN_CLOCK=tai", "yarn: YARN_CLOCK: \"tai\": not one of its values; monotonic, "
                       "monotonic_raw or boottime"},
    {"YARN_EMPTY=x", "yarn: YARN_EMPTY: \"x\": "},
    {"YARN_FOLLOW=fork,spawn",
     "yarn: YARN_FOLLOW: \"spawn\": not one of its words; none, fork, exec "},
    {"YARN_FOLLOW=fork,", "yarn: YARN_FOLLOW: "},
    {"YARN_FOLLOW=none,fork", "yarn: YARN_FOLLOW: \"none\": "},
    {"YARN_LOG=loud", "yarn: YARN_LOG: \"loud\": "},
    {"YARN_EMPTY=a\033[1m\n", "yarn: YARN_EMPTY: \"a?[1m?\": "},
    {"YARN=frequency=fast", "yarn: YARN: frequency: \"fast\": not a number; a number "},
    {"YARN=events=cs;frequncy=1", "yarn: YARN: \"frequncy\": not an option; a list such as "},
    {"YARN=on", "yarn: YARN: \"on\": not an option; "},
    {"YARN=empty", "yarn: YARN: \"empty\": has no =VALUE; "},
    {"YARN==1", "yarn: YARN: \"=1\": not an option; "},
};

START_TEST(a_bad_value_is_one_line_with_variable_word_and_remedy)
{
    ck_assert_int_eq(read_one(bad[_i].entry), -EINVAL);
    ck_assert_msg(strncmp(line, bad[_i].line, strlen(bad[_i].line)) == 0, "%s", line);
    ck_assert_ptr_null(strchr(line, '\n'));
    ck_assert_ptr_nonnull(strstr(line, "; "));
}
END_TEST

START_TEST(a_value_that_is_too_long_is_refused)
{
    char entry[YARN_OPTION_TEXT_MAX + 100] = "YARN_EVENTS=";
    memset(entry + strlen(entry), 'a', YARN_OPTION_TEXT_MAX + 1);
    ck_assert_int_eq(read_one(entry), -EINVAL);
    ck_assert_ptr_nonnull(strstr(line, "too long"));
}
END_TEST

START_TEST(a_higher_layer_reports_the_same_kind_of_fault)
{
    struct yarn_parse_error error = {.at = 3, .why = "not a known event", .size = 3};
    struct yarn_text text = yarn_text_of(line, sizeof line);
    ck_assert_int_eq(read_one("YARN=events=cs,foo,faults"), 0);
    fault = yarn_option_fault_in(&options, YARN_OPTION_EVENTS, &error);
    yarn_option_fault_describe(&fault, &text);
    ck_assert_str_eq(line, "yarn: YARN: events: \"foo\": not a known event; a comma-separated "
                           "list of events such as cpu-clock,page-faults would be right");
}
END_TEST

START_TEST(unknown_names_are_warnings)
{
    char *envp[] = {"YARN_SCHED=off", "YARN_FRECUENCY=1", "YARN_events=cs", NULL};
    ck_assert_int_eq(yarn_options_from_env(&options, &arena, envp, &fault), 0);
    ck_assert_uint_eq(options.nr_warnings, 2);
    ck_assert_str_eq(options.warnings[0], "YARN_FRECUENCY is not a variable that yarn knows");
    ck_assert_str_eq(options.warnings[1], "YARN_events is not a variable that yarn knows");
}
END_TEST

START_TEST(warnings_are_bounded_and_counted)
{
    char *envp[21] = {0};
    for (size_t i = 0; i < 20; i++)
        envp[i] = "YARN_FOO=1";
    ck_assert_int_eq(yarn_options_from_env(&options, &arena, envp, &fault), 0);
    ck_assert_uint_eq(options.nr_warnings, YARN_OPTION_WARNINGS_MAX);
    ck_assert_uint_eq(options.nr_warnings_dropped, 20 - YARN_OPTION_WARNINGS_MAX);
}
END_TEST

START_TEST(options_survive_the_way_through_an_environment)
{
    char *envp[] = {"YARN_EVENTS=cpu-clock:u,cs", "YARN_RING=1M", "YARN_LOG_FILE=x",
                    "YARN=clock=boottime;interval=5ms", NULL};
    char *again[YARN_OPTION_COUNT + 1];
    struct yarn_options second;
    ck_assert_int_eq(yarn_options_from_env(&options, &arena, envp, &fault), 0);
    options_environment(again, &options, &arena);
    ck_assert_str_eq(again[0], "YARN_EVENTS=cpu-clock:u,cs");
    ck_assert_ptr_null(again[5]);
    ck_assert_int_eq(yarn_options_from_env(&second, &arena, again, &fault), 0);
    for (size_t i = 0; i < YARN_OPTION_COUNT; i++)
        ck_assert_str_eq(options.texts[i], second.texts[i]);
    ck_assert_uint_eq(second.ring_bytes, 1 << 20);
    ck_assert_uint_eq(second.interval_ns, 5 * YARN_NS_PER_MS);
    ck_assert_int_eq(second.clock, YARN_CLOCK_BOOTTIME);
}
END_TEST

START_TEST(a_value_set_by_hand_is_checked_as_a_variable_is)
{
    yarn_options_default(&options);
    size_t used = arena.used;
    ck_assert_int_eq(yarn_options_set(&options, &arena, YARN_OPTION_RING, "3", &fault), -EINVAL);
    ck_assert_uint_eq(arena.used, used);
    ck_assert_str_eq(options.texts[YARN_OPTION_RING], "auto");
    ck_assert_int_eq(yarn_options_set(&options, &arena, YARN_OPTION_RING, "64K", &fault), 0);
    ck_assert_uint_eq(options.ring_bytes, 65536);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("options");
    TCase *tcase = tcase_create("an environment as a host gives it");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, nothing_set_gives_the_defaults);
    tcase_add_loop_test(tcase, every_default_is_a_value_of_its_option, 0, YARN_OPTION_COUNT);
    tcase_add_loop_test(tcase, a_value_arrives_in_its_field, 0, YARN_COUNT_OF(numbers));
    tcase_add_test(tcase, texts_outlive_the_environment);
    tcase_add_test(tcase, a_single_variable_wins_over_the_compact_one);
    tcase_add_test(tcase, an_empty_variable_is_not_set);
    tcase_add_loop_test(tcase, a_bad_value_is_one_line_with_variable_word_and_remedy, 0,
                        YARN_COUNT_OF(bad));
    tcase_add_test(tcase, a_value_that_is_too_long_is_refused);
    tcase_add_test(tcase, a_higher_layer_reports_the_same_kind_of_fault);
    tcase_add_test(tcase, unknown_names_are_warnings);
    tcase_add_test(tcase, warnings_are_bounded_and_counted);
    tcase_add_test(tcase, options_survive_the_way_through_an_environment);
    tcase_add_test(tcase, a_value_set_by_hand_is_checked_as_a_variable_is);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
