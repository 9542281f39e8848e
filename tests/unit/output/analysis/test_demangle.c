/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdio.h>
#include <time.h>

#include "output/analysis/value/demangle.h"
#include "tests/support/suite.h"

static char text[YARN_DEMANGLED_SIZE];

static const struct {
    const char *name, *want; /* NULL: stays as it is */
} rows[] = {
    /* C++ */
    {"_ZN3foo3barEv", "foo::bar()"},
    {"_ZN3fooC4Ev", "foo::foo()"},
    {"_ZTV3foo", "vtable for foo"},
    {"_ZThn16_N3foo3barEv", "non-virtual thunk to foo::bar()"},
    {"_ZN12_GLOBAL__N_13fooEv", "(anonymous namespace)::foo()"},
    {"_ZZN1A1fEvENKUlvE_clEv", "A::f()::{lambda()#1}::operator()() const"},
    {"_ZZ3runRSt6vectorIiSaIiEEiENK3$_0clEii",
     "run(std::vector<int, std::allocator<int> >&, int)::$_0::operator()(int, int) const"},
    {"_ZNSt6vectorIiSaIiEE9push_backEOi",
     "std::vector<int, std::allocator<int> >::push_back(int&&)"},
    {"_Z3addIiET_S0_S0_", "int add<int>(int, int)"},
    {"_ZSt4cout", "std::cout"},
    {"_ZN3foo3barEv.cold", "foo::bar() [clone .cold]"},
    {"_ZN3foo3barEv.part.0", "foo::bar() [clone .part.0]"},
    {"_ZN3foo3barEv.constprop.0", "foo::bar() [clone .constprop.0]"},
    {"_ZN3foo3barEv.isra.0.cold", "foo::bar() [clone .isra.0] [clone .cold]"},
    {"_ZN3foo3barEv@plt", "foo::bar()@plt"},
    {"_ZN3foo3barEv@@LIB_1.2", "foo::bar()@@LIB_1.2"},
    {"_GLOBAL__sub_I__ZN3foo3barE", NULL},
    {"_GLOBAL__I__ZN3foo3barE", "global constructors keyed to foo::bar"},
    /* Rust, the older way: the hash goes */
    {"_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"},
    {"_ZN4core3fmt5write17h0123456789abcdefE.llvm.123456", "core::fmt::write"},
    {"_ZN4core3fmt5write17h0123456789abcdefE.cold", "core::fmt::write [clone .cold]"},
    {"_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar"
     "17h930b740aa94f1d3aE",
     "<Test + 'static as foo::Bar<Test>>::bar"},
    {"_ZN3std2rt10lang_start28_$u7b$$u7b$closure$u7d$$u7d$17h8a8f0bd1a8a1d3c1E",
     "std::rt::lang_start::{{closure}}"},
    /* Rust, the newer way */
    {"_RNvC7mycrate3foo", "mycrate::foo"},
    {"_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar"},
    {"_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>"},
    {"_RNvC7mycrate3foo.llvm.123", "mycrate::foo"},
    {"_RNvC7mycrate3foo.cold", "mycrate::foo [clone .cold]"},
    {"_RNCNvC7mycrate4main0B3_", "mycrate::main::{closure#0}"},
    {"_RNvYNtC7mycrate3FooNtNtC4core3fmt5Debug3fmt", "<mycrate::Foo as core::fmt::Debug>::fmt"},
    /* D */
    {"_D3std5stdio7writelnFZv", "std.stdio.writeln()"},
    {"_D8demangle4testFHAiAyaZv", "demangle.test(immutable(char)[][int[]])"},
    {"_D8demangle4testFZv.cold", "demangle.test() [clone .cold]"},
    {"_D4core6thread8osthread6Thread6__ctorMFNbNcNiPFZvmZCQBrQBqQBpQBm", NULL},
    {"_Dmain", NULL},
    /* Go and Swift stay */
    {"main.main", NULL},
    {"runtime.mallocgc", NULL},
    {"main.(*Server).Serve", NULL},
    {"go.shape.int_0", NULL},
    {"_cgo_topofstack", NULL},
    {"_rt0_amd64_linux", NULL},
    {"$s4main3fooyyF", NULL},
    {"_$s4main3fooyyF", NULL},
    {"_T04main3fooyyF", NULL},
    /* C stays, whatever it looks like */
    {"main", NULL},
    {"_start", NULL},
    {"__libc_start_main", NULL},
    {"__memset_avx2_unaligned_erms", NULL},
    {"_PyEval_EvalFrameDefault", NULL},
    {"_PyEval_EvalFrameDefault.cold", NULL},
    {"do_work.part.0", NULL},
    {"do_work.constprop.0.isra.0", NULL},
    {"memcpy@plt", NULL},
    {"_IO_file_xsputn@@GLIBC_2.2.5", NULL},
    {"_Zed", NULL},
    {"_Z", NULL},
    {"_ZN", NULL},
    {"_Z3", NULL},
    {"_Z99999999999999999999x", NULL},
    {"_RF", NULL},
    {"_R", NULL},
    {"_Recurse", NULL},
    {"_Restart_all", NULL},
    {"_D", NULL},
    {"_D3", NULL},
    {"_Dinkum", NULL},
    {"_GLOBAL_OFFSET_TABLE_", NULL},
    {"_", NULL},
    {"", NULL},
    {"@plt", NULL},
    {".cold", NULL},
};

START_TEST(a_name_is_reported_as_its_source_has_it)
{
    bool is_mangled = yarn_demangle(rows[_i].name, text);
    if (rows[_i].want)
        ck_assert_str_eq(is_mangled ? text : "(not mangled)", rows[_i].want);
    else
        ck_assert_msg(!is_mangled, "%s became %s", rows[_i].name, text);
}
END_TEST

/* Each writes a name of `size` bytes or less that stands for as much as such a name can. */

static void nest_pointers(char *name, size_t size)
{
    memset(name, 'P', size);
    memcpy(name, "_Z1f", 4);
    name[size - 2] = 'i';
    name[size - 1] = 0;
}

/* f(A<i, i>, A<1st, 1st>, A<2nd, 2nd>, …): each twice the one before. */
static void double_templates(char *name, size_t size)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t at = (size_t)snprintf(name, size, "_Z1f1AIiiE");
    for (int i = 0; i < 30 && at + 10 < size; i++)
        at += (size_t)snprintf(name + at, size - at, "S_IS%c_S%c_E", digits[i], digits[i]);
}

/* The same with tuples; a reference is a place in the name to the base of 62. */
static size_t refer(char *name, size_t at, size_t place)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    name[at++] = 'B';
    if (place - 1 >= 62)
        name[at++] = digits[(place - 1) / 62];
    name[at++] = digits[(place - 1) % 62];
    name[at++] = '_';
    return at;
}

static void double_tuples(char *name, size_t size)
{
    size_t at = (size_t)snprintf(name, size, "_RINvC1a1fTllE"), last = at - 4;
    while (at + 12 < size && at < 1000) {
        size_t start = at;
        name[at++] = 'T';
        at = refer(name, at, last - 2);
        at = refer(name, at, last - 2);
        name[at++] = 'E';
        last = start;
    }
    name[at++] = 'E';
    name[at] = 0;
}

/* The same with arrays of D, whose references count back from where they are. */
static void double_arrays(char *name, size_t size, size_t nr)
{
    size_t at = (size_t)snprintf(name, size, "_D1a1fFHii"), last = at - 3;
    for (size_t i = 0; i < nr && at + 10 < size; i++) {
        size_t start = at;
        name[at++] = 'H';
        for (int half = 0; half < 2; half++) {
            size_t back = at - last;
            name[at++] = 'Q';
            name[at++] = (char)('a' + back);
        }
        last = start;
    }
    (void)snprintf(name + at, size - at, "Zv");
}

static void double_few_arrays(char *name, size_t size)
{
    double_arrays(name, size, 12);
}

static void double_many_arrays(char *name, size_t size)
{
    double_arrays(name, size, 1000);
}

static void nest_scopes(char *name, size_t size)
{
    size_t at = 0;
    name[at++] = '_';
    while (at + 2 < size)
        name[at++] = 'Z';
    name[at] = 0;
}

static void open_lists(char *name, size_t size)
{
    size_t at = (size_t)snprintf(name, size, "_Z1f");
    while (at + 4 < size)
        at += (size_t)snprintf(name + at, size - at, "1AI");
}

static const struct {
    void (*make)(char *name, size_t size);
    bool doubles; /* so often that nobody has room for it */
} makers[] = {
    {nest_pointers, false},     {nest_scopes, false},  {open_lists, false},
    {double_templates, true},   {double_tuples, true}, {double_few_arrays, false},
    {double_many_arrays, true},
};

START_TEST(a_hostile_name_takes_little_time_and_room)
{
    static const size_t sizes[] = {16, 300, 1000, 2000, 4000, 4095, 4096, 4097, 8000};
    static char name[8192];
    for (size_t i = 0; i < YARN_COUNT_OF(sizes); i++) {
        struct timespec start, end;
        memset(name, 0, sizeof name);
        makers[_i].make(name, sizes[i]);
        ck_assert_int_eq(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start), 0);
        if (yarn_demangle(name, text))
            ck_assert_uint_lt(strlen(text), sizeof text);
        ck_assert_int_eq(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end), 0);
        ck_assert_int_lt(
            (end.tv_sec - start.tv_sec) * 1000 + (end.tv_nsec - start.tv_nsec) / 1000000, 1000);
    }
}
END_TEST

START_TEST(a_name_that_doubles_with_each_letter_stays_as_it_is)
{
    static char name[8192];
    makers[_i].make(name, 2000);
    ck_assert(!makers[_i].doubles || !yarn_demangle(name, text));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("demangle");
    TCase *names = tcase_create("names of each language");
    tcase_add_loop_test(names, a_name_is_reported_as_its_source_has_it, 0, YARN_COUNT_OF(rows));
    suite_add_tcase(suite, names);
    TCase *hostile = tcase_create("hostile names");
    tcase_set_timeout(hostile, 60);
    tcase_add_loop_test(hostile, a_hostile_name_takes_little_time_and_room, 0,
                        YARN_COUNT_OF(makers));
    tcase_add_loop_test(hostile, a_name_that_doubles_with_each_letter_stays_as_it_is, 0,
                        YARN_COUNT_OF(makers));
    suite_add_tcase(suite, hostile);
    return run_suite(suite);
}
