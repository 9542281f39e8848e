/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/event/parse.h"
#include "tests/support/suite.h"

enum { LINE_MAX_BYTES = 4096, ATTRIBUTES_MAX = 64 };

static char root[] = "/tmp/yarn-expectations-XXXXXX";
static struct yarn_arena arena;

/* Folders of `path` below the root. */
static void make_folders(char *path)
{
    for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')); at++) {
        *at = 0;
        (void)mkdir(path, 0700);
        *at = '/';
    }
}

static void grow(const char *tree)
{
    char path[2 * LINE_MAX_BYTES], line[LINE_MAX_BYTES];
    (void)snprintf(path, sizeof path, "%s/trees/%s.tree", YARN_EXPECTATIONS, tree);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file)) {
        char *colon = strstr(line, ": ");
        if (line[0] == '#' || !colon)
            continue;
        *colon = 0;
        (void)snprintf(path, sizeof path, "%s/%s/%s", root, tree, line);
        make_folders(path);
        FILE *out = fopen(path, "w");
        ck_assert_ptr_nonnull(out);
        (void)fputs(colon + 2, out);
        (void)fclose(out);
    }
    (void)fclose(file);
}

static bool has_tree(const char *tree)
{
    char path[2 * LINE_MAX_BYTES];
    (void)snprintf(path, sizeof path, "%s/%s", root, tree);
    return access(path, F_OK) == 0;
}

static void set_up(void)
{
    ck_assert_ptr_nonnull(mkdtemp(root));
    grow("tracing");
    arena = YARN_ARENA_CLOSED;
    yarn_arena_open(&arena, YARN_MIB(16));
}

static void tear_down(void)
{
    char command[128];
    (void)snprintf(command, sizeof command, "rm -rf %s", root);
    ck_assert_int_eq(system(command), 0);
    yarn_arena_close(&arena);
}

/* As record.py writes an attribute. */
static void describe(const struct yarn_event_spec *spec, char *ret_text, size_t size)
{
    (void)snprintf(
        ret_text, size, "%" PRIx32 ",%" PRIx64 ",%" PRIx64 ",%" PRIx64 ",%x,%s%s%s%s%s,%u",
        spec->type, spec->config, spec->config1, spec->config2, spec->breakpoint,
        spec->exclude_user ? "u" : "", spec->exclude_kernel ? "k" : "", spec->exclude_hv ? "h" : "",
        spec->exclude_idle ? "I" : "", spec->exclude_host ? "G" : "", spec->precise);
}

/* Each of perf's attributes is one of ours. perf ends at the first member of a group that the
 * kernel refuses, so there ours may be more. */
static bool agrees(const struct yarn_event_list *list, char *perf, bool may_be_more)
{
    char ours[128], *state;
    bool is_met[YARN_EVENT_LIST_MAX] = {false};
    for (char *word = strtok_r(perf, ";", &state); word; word = strtok_r(NULL, ";", &state)) {
        bool is_found = false;
        for (size_t i = 0; i < list->count; i++) {
            describe(&list->specs[i], ours, sizeof ours);
            is_met[i] |= strcmp(ours, word) == 0;
            is_found |= strcmp(ours, word) == 0;
        }
        if (!is_found)
            return false;
    }
    for (size_t i = 0; i < list->count; i++)
        if (!is_met[i] && !may_be_more)
            return false;
    return true;
}

static bool check(const char *tree, const char *string, char *answer)
{
    static struct yarn_event_list list;
    struct yarn_parse_error error;
    char pmus[2 * LINE_MAX_BYTES], tracing[256];
    (void)snprintf(pmus, sizeof pmus, "%s/%s", root, tree);
    (void)snprintf(tracing, sizeof tracing, "%s/tracing", root);
    struct yarn_event_machine machine = {.pmus = pmus, .tracing = tracing};
    yarn_arena_rewind(&arena, 0);
    if (!has_tree(tree))
        grow(tree);
    int err = yarn_event_list_parse_on(&machine, string, strlen(string), &arena, &list, &error);
    ck_assert(!err || err == -EINVAL);
    bool is_taken = strncmp(answer, "yes ", 4) == 0;
    if (err || !is_taken)
        return (err != 0) != is_taken;
    return agrees(&list, answer + 4, string[0] == '{');
}

/* Where yarn means to differ: TREE, STRING, REASON. */
static bool is_meant(const char *tree, const char *string)
{
    char line[LINE_MAX_BYTES], row[3 * LINE_MAX_BYTES];
    FILE *file = fopen(YARN_EXPECTATIONS "/differs.tsv", "r");
    bool is_found = false;
    ck_assert_ptr_nonnull(file);
    (void)snprintf(row, sizeof row, "%s\t%s\t", tree, string);
    while (fgets(line, sizeof line, file))
        is_found |= strncmp(line, row, strlen(row)) == 0;
    (void)fclose(file);
    return is_found;
}

START_TEST(strings_become_what_perf_makes_of_them)
{
    char line[LINE_MAX_BYTES];
    unsigned rows = 0, differences = 0, faults = 0;
    FILE *file = fopen(YARN_EXPECTATIONS "/perf.tsv", "r");
    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file)) {
        char *string = strchr(line, '\t');
        char *answer = string ? strchr(string + 1, '\t') : NULL;
        if (line[0] == '#' || !answer)
            continue;
        *string++ = *answer++ = 0;
        answer[strcspn(answer, "\n")] = 0;
        bool agrees_here = check(line, string, answer), meant = is_meant(line, string);
        rows++;
        differences += !agrees_here;
        if (agrees_here != meant)
            continue;
        faults++;
        (void)fprintf(stderr, "%s\t%s\t%s\n", line, string,
                      meant ? "agrees, though differs.tsv has it" : "differs");
    }
    (void)fclose(file);
    (void)printf("%u strings, %u differ\n", rows, differences);
    ck_assert_uint_gt(rows, 380);
    ck_assert_uint_eq(faults, 0);
    ck_assert_uint_le(differences * 50, rows);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("event strings beside perf");
    TCase *strings = tcase_create("as perf was asked");
    tcase_add_checked_fixture(strings, set_up, tear_down);
    tcase_set_timeout(strings, 60);
    tcase_add_test(strings, strings_become_what_perf_makes_of_them);
    suite_add_tcase(suite, strings);
    return run_suite(suite);
}
