/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "output/analysis/time/children.h"
#include "tests/support/suite.h"

enum { DUMPS_MAX = 4 };

/* Times in ms. */
struct made {
    uint32_t pid;
    uint64_t start, end;  /* end 0: it was killed */
    uint64_t birth;       /* 0: not known */
    uint64_t cpu, reaped; /* its own; of what it has waited for */
    uint32_t root;        /* 0: what the run is called */
    const char *run;
    uint64_t root_birth;
    uint32_t parent;
    uint64_t stopped; /* CPU time while it was not recorded */
};

static uint64_t unread_of(const struct made *made, size_t count)
{
    static struct yarn_profile_dump dumps[DUMPS_MAX];
    static struct yarn_dump_option options[DUMPS_MAX];
    for (size_t i = 0; i < count; i++) {
        options[i] = (struct yarn_dump_option){
            .name = yarn_span_of_text("run"),
            .value = yarn_span_of_text(made[i].run ? made[i].run : ""),
        };
        dumps[i] = (struct yarn_profile_dump){
            .process = {.pid = made[i].pid,
                        .ppid = made[i].parent,
                        .start_ns = made[i].start * YARN_NS_PER_MS,
                        .birth_ns = made[i].birth * YARN_NS_PER_MS,
                        .root_pid = made[i].root,
                        .root_birth_ns = made[i].root_birth * YARN_NS_PER_MS},
            .end = {.time_ns = made[i].end * YARN_NS_PER_MS},
            .has_end = made[i].end,
            .options = &options[i],
            .nr_options = made[i].run != NULL,
            .trust = {.off_cpu_ns = made[i].stopped * YARN_NS_PER_MS,
                      .cpu_ns = made[i].cpu * YARN_NS_PER_MS,
                      .reaped_ns = made[i].reaped * YARN_NS_PER_MS},
        };
    }
    const struct yarn_profile profile = {.dumps = dumps, .nr_dumps = count};
    return yarn_children_unread_ns(&profile) / YARN_NS_PER_MS;
}

static const struct {
    const char *what;
    struct made made[DUMPS_MAX];
    uint64_t want;
} rows[] = {
    {"a child that was read",
     {{1, 100, 200, 90, 5, 60, 1, NULL, 0, 0, 0}, {2, 110, 150, 105, 40, 0, 1, NULL, 0, 0, 0}},
     20},
    {"a child of another that was there before",
     {{1, 100, 200, 90, 5, 60, 1, NULL, 90, 0, 0}, {2, 110, 150, 105, 40, 0, 2, NULL, 60, 0, 0}},
     60},
    {"a child that could not look at its parent",
     {{1, 100, 200, 90, 5, 60, 1, NULL, 90, 0, 0}, {2, 110, 150, 105, 40, 0, 2, NULL, 100, 0, 0}},
     20},
    {"a daemon",
     {{7, 100, 200, 90, 5, 60, 7, NULL, 90, 0, 0}, {2, 110, 150, 105, 40, 0, 2, NULL, 100, 1, 0}},
     60},
    {"no run is known", {{1, 100, 200, 90, 5, 60, 0, NULL, 0, 0, 0}}, 0},
    {"a grandchild",
     {{1, 100, 200, 90, 5, 60, 1, NULL, 0, 0, 0},
      {2, 110, 150, 105, 10, 40, 1, NULL, 0, 0, 0},
      {3, 120, 140, 115, 30, 0, 1, NULL, 0, 0, 0}},
     20},
    {"a child that was stopped for a while",
     {{1, 100, 200, 90, 5, 60, 1, NULL, 0, 0, 0}, {2, 110, 150, 105, 10, 0, 1, NULL, 0, 0, 30}},
     20},
    {"two commands after each other under one name",
     {{1, 100, 200, 90, 5, 60, 0, "x", 0, 0, 0}, {2, 300, 400, 290, 70, 50, 0, "x", 0, 0, 0}},
     110},
    {"the second has nothing",
     {{1, 100, 200, 90, 5, 60, 0, "x", 0, 0, 0}, {2, 300, 400, 290, 70, 0, 0, "x", 0, 0, 0}},
     60},
    {"the first was killed: what began later may be its child",
     {{1, 100, 0, 90, 5, 60, 0, "x", 0, 0, 0}, {2, 300, 400, 290, 40, 0, 0, "x", 0, 0, 0}},
     20},
    {"two images of a process, the child of one waited for by the other",
     {{1, 100, 120, 90, 5, 20, 1, NULL, 0, 0, 0},
      {1, 120, 200, 90, 80, 60, 1, NULL, 0, 0, 0},
      {2, 110, 150, 105, 40, 0, 1, NULL, 0, 0, 0}},
     40},
    {"the same number in another namespace",
     {{1, 100, 200, 90, 5, 60, 1, NULL, 0, 0, 0}, {1, 110, 150, 105, 40, 0, 1, NULL, 0, 0, 0}},
     20},
    {"the same number again",
     {{1, 100, 200, 90, 5, 60, 0, "x", 0, 0, 0}, {1, 300, 400, 290, 40, 30, 0, "x", 0, 0, 0}},
     90},
};

START_TEST(what_is_in_no_dump)
{
    size_t count = 0;
    while (count < DUMPS_MAX && rows[_i].made[count].pid)
        count++;
    ck_assert_msg(unread_of(rows[_i].made, count) == rows[_i].want, "%s: %ju, not %ju",
                  rows[_i].what, (uintmax_t)unread_of(rows[_i].made, count),
                  (uintmax_t)rows[_i].want);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("children");
    TCase *runs = tcase_create("runs");
    tcase_add_loop_test(runs, what_is_in_no_dump, 0, YARN_COUNT_OF(rows));
    suite_add_tcase(suite, runs);
    return run_suite(suite);
}
