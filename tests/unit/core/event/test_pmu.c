/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "core/event/nearest.h"
#include "core/event/parse.h"
#include "core/event/pmu.h"
#include "tests/support/suite.h"

static char root[32];
static struct yarn_event_machine machine;
static struct yarn_arena arena;
static struct yarn_event_list list;
static struct yarn_parse_error error;

static void write_file(const char *name, const char *text)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')); *at++ = '/') {
        *at = 0;
        (void)mkdir(path, 0700);
    }
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    (void)fprintf(file, "%s\n", text);
    (void)fclose(file);
}

static void set_up(void)
{
    static const char *const files[][2] = {
        {"cpu_core/type", "4"},
        {"cpu_core/cpus", "0-3"},
        {"cpu_core/format/event", "config:0-7,32-35"},
        {"cpu_core/format/broken", "config:frob"},
        {"cpu_core/format/ldlat", "config1:0-15"},
        {"cpu_core/events/mem-loads", "event=0x1cd,ldlat=3"},
        {"cpu_core/events/odd", "event=0x1cd,frob=3"},
        {"cpu_atom/type", "10"},
        {"cpu_atom/cpus", "4-7"},
        {"uncore_x_0/type", "20"},
        {"uncore_x_0/cpumask", "0"},
        {"uncore_x_0/format/chip", "config:8-15"},
        {"uncore_x_0/events/reads", "chip=?"},
        {"uncore_x_0/events/reads.scale", "6.103515625e-5"},
        {"uncore_x_0/events/reads.unit", "MiB"},
    };
    strcpy(root, "/tmp/yarn-test-pmu-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
    for (size_t i = 0; i < YARN_COUNT_OF(files); i++)
        write_file(files[i][0], files[i][1]);
    machine = (struct yarn_event_machine){.pmus = root, .tracing = "/nowhere"};
    arena = YARN_ARENA_CLOSED;
    yarn_arena_open(&arena, YARN_KIB(256));
}

static void tear_down(void)
{
    char command[64];
    (void)snprintf(command, sizeof command, "rm -rf %s", root);
    ck_assert_int_eq(system(command), 0);
    yarn_arena_close(&arena);
}

static int parse(const char *text)
{
    return yarn_event_list_parse_on(&machine, text, strlen(text), &arena, &list, &error);
}

static const struct {
    const char *text;
    int config; /* -1: it is none */
    uint64_t bits, max;
} formats[] = {
    {"config:0-7", 0, 0xff, 255},
    {"config:0-7,32-35", 0, 0xf000000ff, 0xfff},
    {"config1:63", 1, UINT64_C(1) << 63, 1},
    {"config2:0-63", 2, UINT64_MAX, UINT64_MAX},
    {"config3:0", -1, 0, 0},
    {"config:", -1, 0, 0},
    {"config:7-0", -1, 0, 0},
    {"config:64", -1, 0, 0},
    {"config:0-7,", -1, 0, 0},
    {"config:0 ", -1, 0, 0},
    {"", -1, 0, 0},
};

START_TEST(a_format_says_which_bits_a_term_is)
{
    struct yarn_pmu_format format;
    int err = yarn_pmu_format_parse(yarn_span_of_text(formats[_i].text), &format);
    ck_assert_int_eq(err, formats[_i].config < 0 ? -EINVAL : 0);
    if (err)
        return;
    ck_assert_int_eq((int)format.config, formats[_i].config);
    ck_assert_uint_eq(format.bits, formats[_i].bits);
    ck_assert_uint_eq(yarn_pmu_format_max(&format), formats[_i].max);
}
END_TEST

START_TEST(a_value_is_spread_over_its_bits_and_replaces_what_was_there)
{
    struct yarn_pmu_format format = {.bits = 0xf000000ff};
    uint64_t config = 0xfff00;
    yarn_pmu_format_put(&format, 0x1d6, &config);
    ck_assert_uint_eq(config, 0x1000fffd6);
    yarn_pmu_format_put(&format, 0x3, &config);
    ck_assert_uint_eq(config, 0xfff03);
}
END_TEST

static const struct {
    const char *text;
    double scale; /* 0: none */
} scales[] = {
    {"1", 1},
    {"0.5", 0.5},
    {"6.103515625e-5", 1.0 / 16384},
    {"2.3283064365386962890625e-10", 0x1p-32},
    {"2e3", 2000},
    {"1e+2", 100},
    {"0", 0},
    {"", 0},
    {"-1", 0},
    {"1e999", 0},
    {"1.2.3", 0},
    {"1x", 0},
};

START_TEST(a_scale_is_a_number_above_0)
{
    double scale = 0;
    int err = yarn_pmu_scale_parse(yarn_span_of_text(scales[_i].text), &scale);
    ck_assert_int_eq(err, scales[_i].scale > 0 ? 0 : -EINVAL);
    ck_assert_double_eq_tol(scale, scales[_i].scale, scales[_i].scale * 1e-14 + 1e-300);
}
END_TEST

START_TEST(a_term_whose_format_is_broken_costs_only_itself)
{
    ck_assert_int_eq(parse("cpu_core/event=0x1d6/"), 0);
    ck_assert_uint_eq(list.specs[0].config, 0x1000000d6);
    ck_assert_int_eq(parse("cpu_core/broken=1/"), -EINVAL);
    ck_assert_ptr_nonnull(strstr(error.why, "format"));
    ck_assert_int_eq(parse("cpu_core/odd/"), -EINVAL);
    ck_assert_ptr_nonnull(strstr(error.why, "cannot be understood"));
}
END_TEST

START_TEST(what_is_typed_goes_before_what_the_events_name_stands_for)
{
    static const char *const texts[] = {"cpu_core/mem-loads,ldlat=30/",
                                        "cpu_core/ldlat=30,mem-loads/"};
    for (size_t i = 0; i < YARN_COUNT_OF(texts); i++) {
        ck_assert_int_eq(parse(texts[i]), 0);
        ck_assert_uint_eq(list.specs[0].config, 0x1000000cd);
        ck_assert_uint_eq(list.specs[0].config1, 30);
    }
    ck_assert_int_eq(parse("cpu_core/event=4096/"), -EINVAL);
    ck_assert_str_eq(error.why, "too large: at most 4095");
}
END_TEST

START_TEST(an_event_may_ask_for_a_value)
{
    ck_assert_int_eq(parse("x/reads/"), -EINVAL);
    ck_assert_ptr_nonnull(strstr(error.why, "chip= is missing"));
    ck_assert_int_eq(parse("x/reads,chip=7/"), 0);
    const struct yarn_event_spec *spec = &list.specs[0];
    ck_assert_uint_eq(spec->config, 0x700);
    ck_assert_double_eq_tol(spec->scale, 1.0 / 16384, 1e-18);
    ck_assert_str_eq(spec->unit, "MiB");
    ck_assert_str_eq(spec->name, "uncore_x_0/reads,chip=7/");
    ck_assert(spec->is_of_cpus);
}
END_TEST

START_TEST(a_group_becomes_one_for_each_kind_of_core)
{
    static const struct {
        const char *event, *pmu;
        uint64_t config;
        unsigned group, item;
    } want[] = {
        {"cycles", "cpu_core", 0x400000000, 1, 0},       {"page-faults", NULL, 2, 1, 1},
        {"instructions", "cpu_core", 0x400000001, 1, 2}, {"cycles", "cpu_atom", 0xa00000000, 2, 0},
        {"instructions", "cpu_atom", 0xa00000001, 2, 2}, {"page-faults", NULL, 2, 3, 3},
    };
    ck_assert_int_eq(parse("{cycles,faults,instructions}:SD,{faults}"), 0);
    ck_assert_uint_eq(list.count, YARN_COUNT_OF(want));
    for (size_t i = 0; i < list.count; i++) {
        const struct yarn_event_spec *spec = &list.specs[i];
        ck_assert_str_eq(spec->event, want[i].event);
        ck_assert_pstr_eq(spec->pmu, want[i].pmu);
        ck_assert_uint_eq(spec->config, want[i].config);
        ck_assert_uint_eq(spec->group, want[i].group);
        ck_assert_uint_eq(spec->item, want[i].item);
        ck_assert_int_eq(spec->is_pinned, i == 0 || i == 3);
    }
    ck_assert(yarn_event_spec_is_on(&list.specs[3], 5) &&
              !yarn_event_spec_is_on(&list.specs[3], 3));
}
END_TEST

static const struct {
    const char *word, *nearest;
} words[] = {
    {"page-fault", "page-faults"},
    {"cyclse", "cycles"},
    {"CPU_CLOCK", "cpu-clock"},
    {"frobnicate", ""},
    {"x", ""},
};

START_TEST(the_nearest_name_is_a_few_slips_away)
{
    static const char *const names[] = {"cycles", "cpu-clock", "page-faults", "major-faults"};
    struct yarn_nearest nearest = yarn_nearest_of(yarn_span_of_text(words[_i].word));
    for (size_t i = 0; i < YARN_COUNT_OF(names); i++)
        yarn_nearest_offer(&nearest, names[i]);
    ck_assert_str_eq(nearest.name, words[_i].nearest);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("PMUs");
    TCase *texts = tcase_create("texts of the kernel");
    tcase_add_loop_test(texts, a_format_says_which_bits_a_term_is, 0, YARN_COUNT_OF(formats));
    tcase_add_test(texts, a_value_is_spread_over_its_bits_and_replaces_what_was_there);
    tcase_add_loop_test(texts, a_scale_is_a_number_above_0, 0, YARN_COUNT_OF(scales));
    tcase_add_loop_test(texts, the_nearest_name_is_a_few_slips_away, 0, YARN_COUNT_OF(words));
    suite_add_tcase(suite, texts);
    TCase *made = tcase_create("a made machine with two kinds of core");
    tcase_add_checked_fixture(made, set_up, tear_down);
    tcase_add_test(made, a_term_whose_format_is_broken_costs_only_itself);
    tcase_add_test(made, what_is_typed_goes_before_what_the_events_name_stands_for);
    tcase_add_test(made, an_event_may_ask_for_a_value);
    tcase_add_test(made, a_group_becomes_one_for_each_kind_of_core);
    suite_add_tcase(suite, made);
    return run_suite(suite);
}
