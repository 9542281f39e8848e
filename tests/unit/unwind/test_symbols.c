/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/pages.h"
#include "core/sys/file.h"
#include "tests/support/ask.h"
#include "tests/support/made_elf.h"
#include "tests/support/suite.h"
#include "unwind/symbol/symbol_table.h"

static struct yarn_symbols *symbols;
static const char *image_path;
static struct yarn_image image;
static size_t pages_before;

static void set_up(void)
{
    pages_before = yarn_pages_total();
    image = YARN_IMAGE_CLOSED;
    ck_assert_int_eq(yarn_symbols_new(&symbols), 0);
}

static void tear_down(void)
{
    yarn_symbols_free(symbols);
    yarn_image_close(&image);
    ck_assert_uint_eq(yarn_pages_total(), pages_before);
}

static void use_image(const char *path)
{
    image_path = path;
}

static void open_path(const char *path)
{
    ck_assert_int_eq(yarn_image_open(&image, YARN_FILE_CWD, path), 0);
    use_image(path);
}

static bool is_named(struct yarn_span name, const char *want)
{
    return yarn_span_equal(name, yarn_span_of_text(want));
}

static struct yarn_symbol find(uint64_t vaddr)
{
    return ask_symbol(symbols, &image, image_path, vaddr);
}

enum { TEXT = 1, DATA = 2 };

static const struct made_function functions[] = {
    {0x1000, 0x1100}, {0x1100, 0x1200}, {0x1200, 0x1300}, {0x1300, 0x1400},
    {0x1400, 0x1500}, {0x1700, 0x1800}, {0x1800, 0x1900}, {0x1900, 0x1a00},
};

#define FUNCTION(name, value, size)                                                                \
    {                                                                                              \
        name, value, size, STT_FUNC, STB_GLOBAL, TEXT                                              \
    }

static const struct made_symbol made_symbols[] = {
    FUNCTION("first", 0x1000, 0x100),
    /* 0x1100: stripped */
    FUNCTION("labelled", 0x1200, 0x100),
    {"loop", 0x1240, 0, STT_NOTYPE, STB_LOCAL, TEXT},
    {"$x", 0x1250, 0, STT_NOTYPE, STB_LOCAL, TEXT},
    {"$d.3", 0x1258, 0, STT_NOTYPE, STB_LOCAL, TEXT},
    {".Lkept", 0x1260, 0, STT_NOTYPE, STB_LOCAL, TEXT},
    {"section", 0x1268, 0, STT_SECTION, STB_LOCAL, TEXT},
    {"file.c", 0x1270, 0, STT_FILE, STB_LOCAL, SHN_ABS},
    {"absolute", 0x1278, 0x80, STT_FUNC, STB_GLOBAL, SHN_ABS},
    {"undefined", 0x1280, 0x80, STT_FUNC, STB_GLOBAL, SHN_UNDEF},
    {"object", 0x1288, 0x80, STT_OBJECT, STB_GLOBAL, TEXT},
    {"datum", 0x1290, 0x80, STT_NOTYPE, STB_GLOBAL, DATA},
    FUNCTION("assembly_one", 0x1300, 0x40),
    FUNCTION("assembly_two", 0x1340, 0x40),
    FUNCTION("assembly_unsized", 0x1380, 0),
    FUNCTION("overlapping", 0x13f0, 0x200),
    FUNCTION("bare", 0x1500, 0x20),
    FUNCTION("bare_unsized", 0x1540, 0),
    FUNCTION("outer", 0x1600, 0x100),
    FUNCTION("inner", 0x1640, 0x10),
    {"__write", 0x1700, 0x40, STT_FUNC, STB_GLOBAL, TEXT},
    {"write", 0x1700, 0x40, STT_FUNC, STB_WEAK, TEXT},
    {"__GI_write", 0x1700, 0x40, STT_FUNC, STB_LOCAL, TEXT},
    {"wr", 0x1700, 0x40, STT_FUNC, STB_LOCAL, TEXT},
    {"w", 0x1700, 0, STT_NOTYPE, STB_GLOBAL, TEXT},
    {"memcpy@@GLIBC_2.14", 0x1800, 0x20, STT_GNU_IFUNC, STB_GLOBAL, TEXT},
    {"label_only", 0x1900, 0, STT_NOTYPE, STB_GLOBAL, TEXT},
    {"frame_dummy", 0x1a20, 0, STT_FUNC, STB_LOCAL, TEXT},
    {"not_its", 0x1a40, 0, STT_NOTYPE, STB_LOCAL, TEXT},
    FUNCTION("visible", 0x1a60, 0),
    {"its_loop", 0x1a70, 0, STT_NOTYPE, STB_LOCAL, TEXT},
    FUNCTION("endless", 0x1b00, UINT64_MAX), /* as if its size were unknown */
    FUNCTION("far", UINT64_C(0x200000000), 0x10),
    FUNCTION("farther", UINT64_C(0x3000000000), 0x10),
    FUNCTION("farthest", UINT64_C(0x9000000000), 0x10),
};

/* `is_reversed`: the same symbols in the other order. */
static void make_image(struct made_elf *elf, bool is_reversed)
{
    struct made_symbol ordered[YARN_COUNT_OF(made_symbols)];
    for (size_t i = 0; i < YARN_COUNT_OF(ordered); i++)
        ordered[is_reversed ? YARN_COUNT_OF(ordered) - 1 - i : i] = made_symbols[i];
    made_elf_begin(elf, EM_X86_64);
    made_elf_section(elf, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000, 0, 0x1000);
    made_elf_section(elf, ".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0x1000, 0, 0x1000);
    made_elf_eh_frame(elf, 0, functions, YARN_COUNT_OF(functions));
    made_elf_symbols(elf, SHT_SYMTAB, ordered, YARN_COUNT_OF(ordered));
    made_elf_load_all(elf, 0, elf->size);
    ck_assert_int_eq(yarn_image_open_bytes(&image, made_elf_end(elf)), 0);
    yarn_cfi_index_tables(&image);
    use_image("/made");
}

static const struct {
    uint64_t vaddr;
    const char *name;
    uint64_t start, end;
} rows[] = {
    {0x1000, "first", 0x1000, 0x1100},
    {0x10ff, "first", 0x1000, 0x1100},
    {0x1100, "", 0x1100, 0x1200}, /* not its neighbour's name */
    {0x11ff, "", 0x1100, 0x1200},
    {0x1239, "labelled", 0x1200, 0x1300},
    {0x1241, "labelled", 0x1200, 0x1300},
    {0x12ff, "labelled", 0x1200, 0x1300},
    {0x133f, "assembly_one", 0x1300, 0x1340},
    {0x1340, "assembly_two", 0x1340, 0x1380},
    {0x1390, "assembly_unsized", 0x1380, 0x1400},
    {0x13f8, "overlapping", 0x13f0, 0x15f0},
    {0x1410, "", 0x1400, 0x1500},
    {0x1510, "bare", 0x1500, 0x1520},
    {0x1560, "overlapping", 0x13f0, 0x15f0},  /* no FDE: only sizes count */
    {0x15f0, "bare_unsized", 0x1540, 0x1600}, /* up to the next symbol */
    {0x1648, "inner", 0x1640, 0x1650},
    {0x1660, "outer", 0x1600, 0x1700},
    {0x1720, "write", 0x1700, 0x1740},
    {0x1760, "write", 0x1700, 0x1800}, /* the FDE goes on behind the symbol's size */
    {0x1810, "memcpy", 0x1800, 0x1820},
    {0x1980, "label_only", 0x1900, 0x1a00},
    {0x1a30, "frame_dummy", 0x1a20, 0x1a40},
    {0x1a50, "", 0, 0}, /* nobody says that the label is a function, nor whose */
    {0x1a80, "visible", 0x1a60, 0x1b00},
    {0x0fff, "", 0, 0},
    {0, "", 0, 0},
    {UINT64_C(0x200000008), "far", UINT64_C(0x200000000), UINT64_C(0x200000010)},
    {UINT64_C(0x3000000008), "farther", UINT64_C(0x3000000000), UINT64_C(0x3000000010)},
    {UINT64_C(0x9000000008), "farthest", UINT64_C(0x9000000000), UINT64_C(0x9000000010)},
};

static void check_row(int row)
{
    struct yarn_symbol symbol = find(rows[row].vaddr);
    ck_assert_msg(is_named(symbol.name, rows[row].name), "%lx is %.*s", (long)rows[row].vaddr,
                  (int)symbol.name.size, (const char *)symbol.name.data);
    ck_assert_uint_eq(symbol.start, rows[row].start);
    ck_assert_uint_eq(symbol.end, rows[row].end);
}

START_TEST(name_is_taken_only_inside_its_function)
{
    static struct made_elf elf;
    make_image(&elf, false);
    check_row(_i);
}
END_TEST

START_TEST(order_of_the_table_does_not_matter)
{
    static struct made_elf elf;
    make_image(&elf, true);
    check_row(_i);
}
END_TEST

START_TEST(size_that_wraps_around_does_no_harm)
{
    static struct made_elf elf;
    make_image(&elf, false);
    ck_assert_uint_eq(find(0x1b10).start, 0x1b00);
    find(UINT64_MAX);
    find(INT64_MAX);
}
END_TEST

static bool symbol_at(const struct yarn_symbol_table *table, uint32_t number,
                      struct yarn_elf_symbol *ret_symbol)
{
    static Elf64_Sym entries[YARN_SYMBOLS_AT_ONCE];
    return yarn_symbol_table_read(table, number, entries) &&
           yarn_symbol_table_take(table, entries, ret_symbol);
}

/* The truth: the symbol table before stripping. A name is right if the truth has it there. */
static bool is_true_name(const struct yarn_symbol_table *truth, uint64_t start,
                         struct yarn_span name)
{
    struct yarn_elf_symbol symbol;
    for (uint32_t i = 0; i < truth->count; i++)
        if (symbol_at(truth, i, &symbol) && symbol.start == start &&
            yarn_span_equal(yarn_symbol_table_name(truth, i), name))
            return true;
    return false;
}

static unsigned check_against(const struct yarn_symbol_table *truth, unsigned *ret_unnamed)
{
    struct yarn_elf_symbol want;
    unsigned named = 0;
    *ret_unnamed = 0;
    for (uint32_t i = 0; i < truth->count; i++) {
        if (!symbol_at(truth, i, &want) || !want.is_function || !want.size)
            continue;
        const uint64_t places[] = {want.start, want.start + want.size / 2,
                                   want.start + want.size - 1};
        for (size_t at = 0; at < YARN_COUNT_OF(places); at++) {
            struct yarn_symbol symbol = find(places[at]);
            if (symbol.name.size) {
                named++;
                ck_assert_uint_eq(symbol.start, want.start);
                ck_assert_msg(is_true_name(truth, symbol.start, symbol.name), "%lx is no %.*s",
                              (long)places[at], (int)symbol.name.size,
                              (const char *)symbol.name.data);
            } else {
                (*ret_unnamed)++;
                ck_assert(symbol.start == want.start || symbol.start == 0);
            }
        }
    }
    return named;
}

static struct yarn_image whole;

static struct yarn_symbol_table open_truth(void)
{
    ck_assert_int_eq(yarn_image_open(&whole, YARN_FILE_CWD, YARN_TEST_FUNCTIONS), 0);
    struct yarn_symbol_table truth = yarn_symbol_table_of(&whole, SHT_SYMTAB);
    ck_assert_uint_gt(truth.count, 8);
    return truth;
}

START_TEST(library_with_symbols_has_all_its_names)
{
    struct yarn_symbol_table truth = open_truth();
    unsigned unnamed;
    open_path(YARN_TEST_FUNCTIONS);
    ck_assert_uint_ge(check_against(&truth, &unnamed), 8 * 3);
    ck_assert_uint_eq(unnamed, 0);
    yarn_image_close(&whole);
}
END_TEST

START_TEST(stripped_library_lends_no_neighbours_names)
{
    struct yarn_symbol_table truth = open_truth();
    unsigned unnamed;
    open_path(YARN_TEST_FUNCTIONS ".stripped");
    /* Three exported functions and an alias. */
    ck_assert_uint_eq(check_against(&truth, &unnamed), 4 * 3);
    ck_assert_uint_ge(unnamed, 4 * 3);
    yarn_image_close(&whole);
}
END_TEST

START_TEST(debug_file_beside_a_stripped_library_names_it_all)
{
    struct yarn_symbol_table truth = open_truth();
    unsigned unnamed;
    open_path(YARN_TEST_FUNCTIONS ".linked");
    ck_assert_uint_ge(check_against(&truth, &unnamed), 8 * 3);
    ck_assert_uint_eq(unnamed, 0);
    yarn_image_close(&whole);
}
END_TEST

START_TEST(symbols_packed_inside_a_stripped_library_name_it_all)
{
    struct yarn_symbol_table truth = open_truth();
    unsigned unnamed;
    open_path(YARN_TEST_FUNCTIONS ".packed");
    ck_assert_uint_ge(check_against(&truth, &unnamed), 8 * 3);
    ck_assert_uint_eq(unnamed, 0);
    yarn_image_close(&whole);
}
END_TEST

/* One byte after the other is damaged: xz's own checks find it, and no memory stays behind. */
START_TEST(damaged_packing_leaves_the_exported_names)
{
    static uint8_t copy[1 << 20];
    struct yarn_sections sections;
    struct yarn_elf_section packed;
    int fd = open(YARN_TEST_FUNCTIONS ".packed", O_RDONLY);
    ssize_t size = read(fd, copy, sizeof copy);
    ck_assert(size > 0 && (size_t)size < sizeof copy);
    close(fd);
    ck_assert_int_eq(yarn_image_open_bytes(&image, yarn_span_of(copy, (size_t)size)), 0);
    sections = yarn_sections_of(&image);
    ck_assert(yarn_sections_find(&sections, ".gnu_debugdata", &packed));
    size_t begin = (size_t)(packed.content.bytes.data - copy);
    yarn_image_close(&image);
    for (size_t at = 0; at < packed.content.bytes.size; at += 5) {
        struct yarn_symbols *own;
        copy[begin + at] ^= 0x55;
        ck_assert_int_eq(yarn_image_open_bytes(&image, yarn_span_of(copy, (size_t)size)), 0);
        use_image("/damaged");
        ck_assert_int_eq(yarn_symbols_new(&own), 0);
        ask_symbol(own, &image, image_path, image.segments[0].vaddr);
        yarn_symbols_free(own);
        yarn_image_close(&image);
        copy[begin + at] ^= 0x55;
    }
}
END_TEST

START_TEST(debug_file_of_another_build_is_left_alone)
{
    struct yarn_symbol_table truth = open_truth();
    unsigned unnamed;
    char folder[] = "/tmp/yarn_debug_XXXXXX", command[1000], path[200];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(command, sizeof command,
             "cp %s.linked %s/library && cp %s.debug %s/ && printf x >> %s/functions.so.debug",
             YARN_TEST_FUNCTIONS, folder, YARN_TEST_FUNCTIONS, folder, folder);
    ck_assert_int_eq(system(command), 0);
    snprintf(path, sizeof path, "%s/library", folder);
    open_path(path);
    ck_assert_uint_eq(check_against(&truth, &unnamed), 4 * 3);
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
    yarn_image_close(&whole);
}
END_TEST

/* A path of libc's, from our own mappings. */
static void open_libc(void)
{
    static char path[256];
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    path[0] = 0;
    while (fgets(line, sizeof line, maps))
        if (strstr(line, "/libc.so") && strstr(line, " r-xp "))
            sscanf(strchr(line, '/'), "%255[^\n]", path);
    fclose(maps);
    ck_assert_str_ne(path, "");
    open_path(path);
}

START_TEST(exported_functions_of_libc_are_named_as_nm_names_them)
{
    static struct {
        uint64_t vaddr;
        char name[96];
    } known[8000];
    unsigned count = 0, checked = 0;
    char command[400], line[300], type;
    open_libc();
    snprintf(command, sizeof command, "nm -D --defined-only --without-symbol-versions %s",
             image_path);
    FILE *nm = popen(command, "r");
    while (count < YARN_COUNT_OF(known) && fgets(line, sizeof line, nm))
        if (sscanf(line, "%lx %c %95s", (unsigned long *)&known[count].vaddr, &type,
                   known[count].name) == 3 &&
            strchr("TWi", type))
            count++;
    pclose(nm);
    ck_assert_uint_gt(count, 1000);
    for (unsigned i = 0; i < count; i += 3) {
        struct yarn_symbol symbol = find(known[i].vaddr);
        bool is_known = false;
        for (unsigned other = 0; other < count && !is_known; other++)
            is_known =
                known[other].vaddr == known[i].vaddr && is_named(symbol.name, known[other].name);
        /* A debug file may know an internal name; it starts where the exported one does. */
        ck_assert_msg(is_known || (symbol.name.size && symbol.start == known[i].vaddr),
                      "%s is %.*s", known[i].name, (int)symbol.name.size,
                      (const char *)symbol.name.data);
        checked += is_known;
    }
    ck_assert_uint_gt(checked, count / 3 * 9 / 10);
}
END_TEST

START_TEST(debug_package_of_libc_gives_internal_names)
{
    static struct yarn_symbol_question questions[128 << 10];
    struct yarn_arena names;
    bool found = false;
    size_t count = 0;
    open_libc();
    char path[200] = "/usr/lib/debug/.build-id/";
    for (unsigned i = 0; i < image.build_id.size; i++)
        snprintf(path + strlen(path), 8, i == 0 ? "%02x/" : "%02x", image.build_id.bytes[i]);
    strcat(path, ".debug");
    if (access(path, R_OK) != 0) {
        printf("skipped: %s is not installed (libc6-dbg)\n", path);
        return;
    }
    for (uint64_t at = 0; at < image.segments[0].file_size && count < 128 << 10; at += 16)
        questions[count++].vaddr = image.segments[0].vaddr + at;
    yarn_arena_open(&names, 16 << 20);
    ck_assert_int_eq(
        yarn_symbols_ask(symbols, &image, image_path, questions, count, &names, UINT64_MAX), 0);
    for (size_t i = 0; i < count; i++)
        found |= is_named(questions[i].answer.name, "_int_malloc");
    yarn_arena_close(&names);
    ck_assert(found);
}
END_TEST

extern const char __executable_start;

START_TEST(own_static_function_and_stubs_are_named)
{
    open_path("/proc/self/exe");
    uint64_t start = (uint64_t)(uintptr_t)&__executable_start;
    ck_assert(is_named(find((uint64_t)(uintptr_t)check_row - start + 1).name, "check_row"));
    struct yarn_sections sections = yarn_sections_of(&image);
    struct yarn_elf_section stubs;
    unsigned named = 0;
    if (!yarn_sections_find(&sections, ".plt.sec", &stubs))
        ck_assert(yarn_sections_find(&sections, ".plt", &stubs));
    for (uint64_t at = 0; at < stubs.content.bytes.size; at += 16)
        named += is_named(find(stubs.content.vaddr + at + 4).name, "mkdtemp@plt");
    ck_assert_uint_eq(named, 1);
}
END_TEST

/* Headers, tables and frames with wrong bytes in them. */
START_TEST(damaged_files_stay_within_their_bounds)
{
    static struct made_elf elf;
    make_image(&elf, false);
    size_t size = image.memory.size;
    yarn_image_close(&image);
    srand(2);
    for (int round = 0; round < 1500; round++) {
        struct yarn_symbols *own;
        uint8_t *copy = malloc(size);
        memcpy(copy, elf.bytes, size);
        for (int i = 0; i < 4; i++)
            copy[16 + (size_t)rand() % (size - 16)] = (uint8_t)rand();
        if (yarn_image_open_bytes(&image, yarn_span_of(copy, size)) == 0) {
            yarn_cfi_index_tables(&image);
            ck_assert_int_eq(yarn_symbols_new(&own), 0);
            for (uint64_t vaddr = 0xff0; vaddr < 0x1c00; vaddr += 0x38)
                ask_symbol(own, &image, image_path, vaddr);
            yarn_symbols_free(own);
            yarn_image_close(&image);
        }
        free(copy);
    }
}
END_TEST

static TCase *situation(Suite *suite, const char *name)
{
    TCase *tests = tcase_create(name);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 60);
    suite_add_tcase(suite, tests);
    return tests;
}

static void add_tests(Suite *suite)
{
    TCase *tests = situation(suite, "made file");
    tcase_add_loop_test(tests, name_is_taken_only_inside_its_function, 0, (int)YARN_COUNT_OF(rows));
    tcase_add_loop_test(tests, order_of_the_table_does_not_matter, 0, (int)YARN_COUNT_OF(rows));
    tcase_add_test(tests, size_that_wraps_around_does_no_harm);
    tcase_add_test(tests, damaged_files_stay_within_their_bounds);
    tests = situation(suite, "known library");
    tcase_add_test(tests, library_with_symbols_has_all_its_names);
    tcase_add_test(tests, stripped_library_lends_no_neighbours_names);
    tcase_add_test(tests, debug_file_beside_a_stripped_library_names_it_all);
    tcase_add_test(tests, symbols_packed_inside_a_stripped_library_name_it_all);
    tcase_add_test(tests, damaged_packing_leaves_the_exported_names);
    tcase_add_test(tests, debug_file_of_another_build_is_left_alone);
    tests = situation(suite, "installed files");
    tcase_add_test(tests, exported_functions_of_libc_are_named_as_nm_names_them);
    tcase_add_test(tests, debug_package_of_libc_gives_internal_names);
    tcase_add_test(tests, own_static_function_and_stubs_are_named);
}

int main(void)
{
    Suite *suite = suite_create("symbols");
    add_tests(suite);
    return run_suite(suite);
}
