/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <linux/perf_event.h>

#include "core/event/parse.h"
#include "tests/support/suite.h"

static struct yarn_arena arena;
static struct yarn_event_list list;
static struct yarn_parse_error error;

static void set_up(void)
{
    arena = YARN_ARENA_CLOSED;
    yarn_arena_open(&arena, YARN_KIB(64));
}

static void tear_down(void)
{
    yarn_arena_close(&arena);
}

static int parse(const char *text)
{
    return yarn_event_list_parse(text, strlen(text), &arena, &list, &error);
}

#define CACHE(cache, operation, result)                                                            \
    (PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##operation << 8 |                       \
     PERF_COUNT_HW_CACHE_RESULT_##result << 16)

static const struct {
    const char *text;
    const char *name;
    enum yarn_event_kind kind;
    uint32_t type;
    uint64_t config;
    const char *excluded; /* of u, k and h */
    unsigned precise;
} one_event[] = {
    {"cpu-clock", "cpu-clock", YARN_EVENT_CLOCK, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, "",
     0},
    {"cpu_clock", "cpu-clock", YARN_EVENT_CLOCK, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, "",
     0},
    {"task-clock", "task-clock", YARN_EVENT_CLOCK, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, "",
     0},
    {"faults", "page-faults", YARN_EVENT_SOFTWARE, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS,
     "", 0},
    {"off-cpu", "off-cpu", YARN_EVENT_OFF_CPU, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, "", 0},
    {"minor-faults", "minor-faults", YARN_EVENT_SOFTWARE, PERF_TYPE_SOFTWARE,
     PERF_COUNT_SW_PAGE_FAULTS_MIN, "", 0},
    {"major-faults", "major-faults", YARN_EVENT_SOFTWARE, PERF_TYPE_SOFTWARE,
     PERF_COUNT_SW_PAGE_FAULTS_MAJ, "", 0},
    {"cs", "context-switches", YARN_EVENT_SOFTWARE, PERF_TYPE_SOFTWARE,
     PERF_COUNT_SW_CONTEXT_SWITCHES, "", 0},
    {"migrations", "cpu-migrations", YARN_EVENT_SOFTWARE, PERF_TYPE_SOFTWARE,
     PERF_COUNT_SW_CPU_MIGRATIONS, "", 0},
    {"alignment-faults", "alignment-faults", YARN_EVENT_SOFTWARE, PERF_TYPE_SOFTWARE,
     PERF_COUNT_SW_ALIGNMENT_FAULTS, "", 0},
    {"emulation-faults", "emulation-faults", YARN_EVENT_SOFTWARE, PERF_TYPE_SOFTWARE,
     PERF_COUNT_SW_EMULATION_FAULTS, "", 0},
    {"cycles", "cycles", YARN_EVENT_HARDWARE, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, "", 0},
    {"cpu-cycles", "cycles", YARN_EVENT_HARDWARE, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, "",
     0},
    {"instructions", "instructions", YARN_EVENT_HARDWARE, PERF_TYPE_HARDWARE,
     PERF_COUNT_HW_INSTRUCTIONS, "", 0},
    {"branch-instructions", "branches", YARN_EVENT_HARDWARE, PERF_TYPE_HARDWARE,
     PERF_COUNT_HW_BRANCH_INSTRUCTIONS, "", 0},
    {"branch-misses", "branch-misses", YARN_EVENT_HARDWARE, PERF_TYPE_HARDWARE,
     PERF_COUNT_HW_BRANCH_MISSES, "", 0},
    {"cache-references", "cache-references", YARN_EVENT_HARDWARE, PERF_TYPE_HARDWARE,
     PERF_COUNT_HW_CACHE_REFERENCES, "", 0},
    {"cache-misses", "cache-misses", YARN_EVENT_HARDWARE, PERF_TYPE_HARDWARE,
     PERF_COUNT_HW_CACHE_MISSES, "", 0},
    {"bus-cycles", "bus-cycles", YARN_EVENT_HARDWARE, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES,
     "", 0},
    {"stalled-cycles-frontend", "stalled-cycles-frontend", YARN_EVENT_HARDWARE, PERF_TYPE_HARDWARE,
     PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, "", 0},
    {"idle-cycles-backend", "stalled-cycles-backend", YARN_EVENT_HARDWARE, PERF_TYPE_HARDWARE,
     PERF_COUNT_HW_STALLED_CYCLES_BACKEND, "", 0},
    {"ref-cycles", "ref-cycles", YARN_EVENT_HARDWARE, PERF_TYPE_HARDWARE,
     PERF_COUNT_HW_REF_CPU_CYCLES, "", 0},
    {"L1-dcache-load-misses", "L1-dcache-load-misses", YARN_EVENT_CACHE, PERF_TYPE_HW_CACHE,
     CACHE(L1D, READ, MISS), "", 0},
    {"L1_dcache_loads", "L1-dcache-loads", YARN_EVENT_CACHE, PERF_TYPE_HW_CACHE,
     CACHE(L1D, READ, ACCESS), "", 0},
    {"l1d-stores", "L1-dcache-stores", YARN_EVENT_CACHE, PERF_TYPE_HW_CACHE,
     CACHE(L1D, WRITE, ACCESS), "", 0},
    {"L1-icache-load-misses", "L1-icache-load-misses", YARN_EVENT_CACHE, PERF_TYPE_HW_CACHE,
     CACHE(L1I, READ, MISS), "", 0},
    {"LLC-misses", "LLC-load-misses", YARN_EVENT_CACHE, PERF_TYPE_HW_CACHE, CACHE(LL, READ, MISS),
     "", 0},
    {"LLC-prefetches", "LLC-prefetches", YARN_EVENT_CACHE, PERF_TYPE_HW_CACHE,
     CACHE(LL, PREFETCH, ACCESS), "", 0},
    {"LLC-speculative-read-misses", "LLC-prefetch-misses", YARN_EVENT_CACHE, PERF_TYPE_HW_CACHE,
     CACHE(LL, PREFETCH, MISS), "", 0},
    {"dTLB-store-misses", "dTLB-store-misses", YARN_EVENT_CACHE, PERF_TYPE_HW_CACHE,
     CACHE(DTLB, WRITE, MISS), "", 0},
    {"d-tlb-loads", "dTLB-loads", YARN_EVENT_CACHE, PERF_TYPE_HW_CACHE, CACHE(DTLB, READ, ACCESS),
     "", 0},
    {"iTLB-load-misses:u", "iTLB-load-misses:u", YARN_EVENT_CACHE, PERF_TYPE_HW_CACHE,
     CACHE(ITLB, READ, MISS), "kh", 0},
    {"branch-load-misses", "branch-load-misses", YARN_EVENT_CACHE, PERF_TYPE_HW_CACHE,
     CACHE(BPU, READ, MISS), "", 0},
    {"node-loads", "node-loads", YARN_EVENT_CACHE, PERF_TYPE_HW_CACHE, CACHE(NODE, READ, ACCESS),
     "", 0},
    {"r1c2", "r1c2", YARN_EVENT_RAW, PERF_TYPE_RAW, 0x1c2, "", 0},
    {"rFFFFffffFFFFffff", "rFFFFffffFFFFffff", YARN_EVENT_RAW, PERF_TYPE_RAW, UINT64_MAX, "", 0},
    {"cycles:u", "cycles:u", YARN_EVENT_HARDWARE, PERF_TYPE_HARDWARE, 0, "kh", 0},
    {"cycles:k", "cycles:k", YARN_EVENT_HARDWARE, PERF_TYPE_HARDWARE, 0, "uh", 0},
    {"cycles:h", "cycles:h", YARN_EVENT_HARDWARE, PERF_TYPE_HARDWARE, 0, "uk", 0},
    {"cycles:ku", "cycles:uk", YARN_EVENT_HARDWARE, PERF_TYPE_HARDWARE, 0, "h", 0},
    {"cycles:ukhppp", "cycles:ukhppp", YARN_EVENT_HARDWARE, PERF_TYPE_HARDWARE, 0, "", 3},
    {"cycles:pp", "cycles:pp", YARN_EVENT_HARDWARE, PERF_TYPE_HARDWARE, 0, "", 2},
    {"cs:u", "context-switches:u", YARN_EVENT_SOFTWARE, PERF_TYPE_SOFTWARE,
     PERF_COUNT_SW_CONTEXT_SWITCHES, "kh", 0},
    {"cycles/freq=99/u", "cycles:u", YARN_EVENT_HARDWARE, PERF_TYPE_HARDWARE, 0, "kh", 0},
    {"cycles/freq=99/:kp", "cycles:kp", YARN_EVENT_HARDWARE, PERF_TYPE_HARDWARE, 0, "uh", 1},
    {"cycles//", "cycles", YARN_EVENT_HARDWARE, PERF_TYPE_HARDWARE, 0, "", 0},
    {"cycles/name=mine/u", "mine", YARN_EVENT_HARDWARE, PERF_TYPE_HARDWARE, 0, "kh", 0},
    {"  cycles  ", "cycles", YARN_EVENT_HARDWARE, PERF_TYPE_HARDWARE, 0, "", 0},
};

START_TEST(an_event_is_what_its_name_says)
{
    ck_assert_int_eq(parse(one_event[_i].text), 0);
    ck_assert_uint_eq(list.count, 1);
    const struct yarn_event_spec *spec = &list.specs[0];
    const char *excluded = one_event[_i].excluded;
    ck_assert_str_eq(spec->name, one_event[_i].name);
    ck_assert_int_eq(spec->kind, one_event[_i].kind);
    ck_assert_uint_eq(spec->type, one_event[_i].type);
    ck_assert_uint_eq(spec->config, one_event[_i].config);
    ck_assert_int_eq(spec->exclude_user, strchr(excluded, 'u') != NULL);
    ck_assert_int_eq(spec->exclude_kernel, strchr(excluded, 'k') != NULL);
    ck_assert_int_eq(spec->exclude_hv, strchr(excluded, 'h') != NULL);
    ck_assert_uint_eq(spec->precise, one_event[_i].precise);
    ck_assert_int_eq(spec->is_clock, one_event[_i].kind == YARN_EVENT_CLOCK);
    ck_assert_ptr_nonnull(spec->unit);
    ck_assert_str_eq(spec->is_clock ? "ns" : spec->unit, spec->unit);
}
END_TEST

static const struct {
    const char *text;
    uint64_t period, frequency;
    enum yarn_callgraph_kind callgraph; /* AUTO: none of its own */
    uint32_t stack_bytes;
} with_terms[] = {
    {"cycles/period=100000/", 100000, 0, YARN_CALLGRAPH_AUTO, 0},
    {"cycles/period=0x10/", 16, 0, YARN_CALLGRAPH_AUTO, 0},
    {"cycles/freq=4999/", 0, 4999, YARN_CALLGRAPH_AUTO, 0},
    {"cycles/freq=4k/", 0, 4000, YARN_CALLGRAPH_AUTO, 0},
    {"cpu-clock/period=10000/", 10000, 0, YARN_CALLGRAPH_AUTO, 0},
    {"page-faults/period=1,call-graph=fp/", 1, 0, YARN_CALLGRAPH_FP, 0},
    {"cycles/call-graph=dwarf/", 0, 0, YARN_CALLGRAPH_DWARF, 32768},
    {"cycles/call-graph=dwarf:8K/", 0, 0, YARN_CALLGRAPH_DWARF, 8192},
    {"cycles/call-graph=dwarf,stack-size=4096/", 0, 0, YARN_CALLGRAPH_DWARF, 4096},
    {"cycles/stack-size=4096,call-graph=dwarf/", 0, 0, YARN_CALLGRAPH_DWARF, 4096},
    {"cycles/call_graph=no/", 0, 0, YARN_CALLGRAPH_NONE, 0},
    {"cycles/call-graph=none/", 0, 0, YARN_CALLGRAPH_NONE, 0},
    {"cycles/call-graph=lbr/", 0, 0, YARN_CALLGRAPH_LBR, 0},
    {"r10/period=7,name=x/pp", 7, 0, YARN_CALLGRAPH_AUTO, 0},
};

START_TEST(terms_give_an_event_its_own_rate_and_stacks)
{
    ck_assert_int_eq(parse(with_terms[_i].text), 0);
    const struct yarn_event_spec *spec = &list.specs[0];
    ck_assert_uint_eq(spec->period, with_terms[_i].period);
    ck_assert_uint_eq(spec->frequency, with_terms[_i].frequency);
    ck_assert_int_eq(spec->has_own_rate, spec->period || spec->frequency);
    ck_assert_int_eq(spec->has_callgraph, with_terms[_i].callgraph != YARN_CALLGRAPH_AUTO);
    ck_assert_int_eq(spec->callgraph.kind, with_terms[_i].callgraph);
    ck_assert_uint_eq(spec->callgraph.stack_bytes, with_terms[_i].stack_bytes);
}
END_TEST

static const struct {
    const char *text;
    const char *word; /* at fault */
    const char *why;  /* a part of the sentence */
} faults[] = {
    {"", "", "missing"},
    {",cycles", ",", "missing"},
    {"cycles,", "", "missing"},
    {"cycles,,cs", ",", "missing"},
    {"frobnicate", "frobnicate", "not a known event"},
    {"{cpu-clock,off-cpu}", "off-cpu", "outside of groups"},
    {"off-cpu/freq=99/,cpu-clock,off_cpu", "off_cpu", "once more"},
    {"cpu-clock,frobnicate:u,cs", "frobnicate", "not a known event"},
    {"CPU-CLOCK", "CPU-CLOCK", "not a known event"},
    {"cycles stray,cs", "stray", "not expected"},
    {"cycles:", ":", "modifier is missing"},
    {"cycles:x", "x", "modifiers"},
    {"cycles:uxk", "uxk", "modifiers"},
    {"cycles:pppp", "pppp", "more than three"},
    {"cycles/freq=9/w", "w", "modifiers"},
    {"cycles/freq=99", "/freq=99", "closing /"},
    {"cycles/freq", "freq", "=VALUE"},
    {"cycles/", "", "term is missing"},
    {"cycles/freq=1,/", "", "term is missing"},
    {"cycles/banana=1/", "banana", "known term"},
    {"cycles/period=0/", "0", "at least 1"},
    {"cycles/period=/", "", "not a number"},
    {"cycles/period=ten/", "ten", "not a number"},
    {"cycles/period=9223372036854775808/", "9223372036854775808", "too large"},
    {"cycles/period=99999999999999999999/", "99999999999999999999", "too large"},
    {"cycles/freq=0/", "0", "at least 1"},
    {"cycles/freq=100001/", "100001", "100000"},
    {"cycles/freq=9,period=9/", "9", "beside"},
    {"cycles/period=9,freq=9/", "9", "beside"},
    {"cpu-clock/period=9999/", "9999", "10000 ns"},
    {"cycles/call-graph=magic/", "magic", "stacks"},
    {"cycles/call-graph=dwarf:65536/", "65536", "65528"},
    {"cycles/stack-size=1001/", "1001", "multiple of 8"},
    {"cycles/stack-size=8/", "8", "less than 512"},
    {"cycles/name=/", "", "name is missing"},
    {"cycles/name=0123456789012345678901234567890123456789012345678901234567890123/",
     "0123456789012345678901234567890123456789012345678901234567890123", "63 bytes"},
    {"cycles/name=a\nb/", "\n", "control"},
    {"cycles/name='a,b/", "'", "closing quote"},
    {"cycles/name=''/", "", "name is missing"},
    {"iTLB-stores", "iTLB-stores", "this cache"},
    {"branch-prefetches", "branch-prefetches", "this cache"},
    {"L1-dcache-loads-and-more", "L1-dcache-loads-and-more", "not a known event"},
    {"r", "r", "not a known event"},
    {"r12x", "r12x", "not a known event"},
    {"r12345678123456789", "r12345678123456789", "16 digits"},
    {"nowhere/event=0x3c,umask=1/", "nowhere", "no PMU"},
    {"uprobe/config1=1/", "uprobe", "write uprobe:PATH:SYMBOL"},
    {"page-fault", "page-fault", "not a known event; page-faults?"},
    {"L1-dcache-load-mises", "L1-dcache-load-mises", "; L1-dcache-load-misses?"},
    {"cycles/perod=1/", "perod", "not a known term; period?"},
    {"mem:0x1000/8:rwx", "mem:0x1000/8:rwx", "x, without r and w"},
    {"mem:0x1000/4:r", "mem:0x1000/4:r", "reads alone"},
    {"mem:0x1000/4:x", "mem:0x1000/4:x", "length of 8"},
    {"mem:0x1000/3", "3", "1, 2, 4 or 8"},
    {"mem:0x1001/2", "mem:0x1001/2", "multiple"},
    {"mem:counter+x", "counter+x", "SYMBOL+NUMBER"},
    {"mem:", "", "missing"},
    {"mem:0x1000:rr", "rr", "twice"},
    {"uprobe:malloc", "malloc", "PATH:SYMBOL"},
    {"uprobe:/lib/libc.so.6:", "", "symbol is missing"},
    {"uretprobe:/lib/libc.so.6:malloc+4", "uretprobe:/lib/libc.so.6:malloc+4", "beginning"},
    {"kprobe:do_exit+z", "do_exit+z", "not an offset"},
    {"cycles/branch=any|left/", "left", "kind of branch"},
    {"cycles/filter=ip/", "", "in quotes"},
    {"cycles/filter='ip == 1/", "'", "closing quote"},
    {"cycles/filter='fd == 1'/", "fd", "not a field"},
    {"cycles/filter='ip == 1 & addr'/", "&", "&& or ||"},
    {"uprobe:/bin/x:f/filter='(arg1 > 1'/", "(", "closing )"},
    {"uprobe:/bin/x:f/filter='arg7 > 1'/", "arg7", "not a field of this event; arg1?"},
    {"uprobe:/bin/x:f/filter='comm > 1'/", ">", "text"},
    {"uprobe:/bin/x:f/filter='arg1 == \"a\"'/", "\"a\"", "is a number"},
    {"cycles:uu", "uu", "twice"},
    {"cycles:Su/period=1/", "/period=1/", "not expected"},
    {"{cycles,cs", "{cycles,cs", "closing }"},
    {"{cycles,cs}}", "}", "not expected"},
    {"{cycles,{cs}}", "{", "within a group"},
    {"{}", "}", "an event is missing"},
    {"{cycles,}", "}", "an event is missing"},
    {"{cycles,cs}:", ":", "modifier is missing"},
    {"{cycles,cs}:x", "x", "modifiers"},
    {"{cycles,cs:D}", "{cycles,cs:D}", "whole group"},
};

START_TEST(a_fault_names_its_word_and_reason)
{
    const char *text = faults[_i].text;
    size_t used = arena.used;
    ck_assert_int_eq(parse(text), -EINVAL);
    ck_assert_uint_eq(list.count, 0);
    ck_assert_uint_eq(arena.used, used);
    ck_assert_uint_le(error.at + error.size, strlen(text));
    ck_assert_uint_eq(error.size, strlen(faults[_i].word));
    ck_assert_int_eq(memcmp(text + error.at, faults[_i].word, error.size), 0);
    ck_assert_msg(strstr(error.why, faults[_i].why), "%s", error.why);
}
END_TEST

START_TEST(a_list_splits_at_commas_outside_of_terms)
{
    ck_assert_int_eq(parse("cpu-clock/freq=99,call-graph=fp/u, page-faults ,cs:u"), 0);
    ck_assert_uint_eq(list.count, 3);
    ck_assert_str_eq(list.specs[0].asked, "cpu-clock/freq=99,call-graph=fp/u");
    ck_assert_str_eq(list.specs[1].asked, "page-faults");
    ck_assert_str_eq(list.specs[1].name, "page-faults");
    ck_assert_str_eq(list.specs[2].asked, "cs:u");
}
END_TEST

START_TEST(a_group_stands_side_by_side_with_its_leader_first)
{
    ck_assert_int_eq(parse("faults,{cycles:u,cs/period=1/}:kSD, {instructions , minor-faults},cs"),
                     0);
    static const struct {
        const char *name;
        unsigned group, item;
        bool leads;
    } want[] = {{"page-faults", 0, 0, false},        {"cycles:uk", 1, 1, true},
                {"context-switches:k", 1, 2, false}, {"instructions", 2, 3, true},
                {"minor-faults", 2, 4, false},       {"context-switches", 0, 5, false}};
    ck_assert_uint_eq(list.count, YARN_COUNT_OF(want));
    for (size_t i = 0; i < list.count; i++) {
        ck_assert_str_eq(list.specs[i].name, want[i].name);
        ck_assert_uint_eq(list.specs[i].group, want[i].group);
        ck_assert_uint_eq(list.specs[i].item, want[i].item);
        ck_assert_int_eq(yarn_event_spec_leads(list.specs, i), want[i].leads);
    }
    ck_assert(list.specs[1].reads_group && list.specs[2].reads_group);
    ck_assert(list.specs[1].is_pinned && !list.specs[2].is_pinned);
    ck_assert_uint_eq(list.specs[2].period, 1);
}
END_TEST

static const struct {
    const char *text;
    enum yarn_event_probe probe;
    const char *path, *symbol;
    uint64_t offset;
    const char *name;
} probes[] = {
    {"uprobe:/lib/libc.so.6:malloc", YARN_EVENT_UPROBE, "/lib/libc.so.6", "malloc", 0,
     "uprobe:/lib/libc.so.6:malloc"},
    {"uprobe:a:b:f+0x10/period=2,call-graph=fp/:u", YARN_EVENT_UPROBE, "a:b", "f", 16,
     "uprobe:a:b:f+0x10:u"},
    {"uprobe:libc.so.6:mem*:u", YARN_EVENT_UPROBE, "libc.so.6", "mem*", 0,
     "uprobe:libc.so.6:mem*:u"},
    {"uretprobe:x:S/name=left/", YARN_EVENT_URETPROBE, "x", "S", 0, "left"},
    {"uprobe:x:0x401000", YARN_EVENT_UPROBE, "x", NULL, 0x401000, "uprobe:x:0x401000"},
    {"kprobe:do_exit+4", YARN_EVENT_KPROBE, NULL, "do_exit", 4, "kprobe:do_exit+4"},
    {"kretprobe:do_exit:k", YARN_EVENT_KRETPROBE, NULL, "do_exit", 0, "kretprobe:do_exit:k"},
};

START_TEST(a_probe_has_a_place)
{
    const char *why;
    ck_assert_int_eq(parse(probes[_i].text), 0);
    ck_assert_uint_eq(list.count, 1);
    const struct yarn_event_spec *spec = &list.specs[0];
    ck_assert_int_eq(spec->kind, YARN_EVENT_PROBE);
    ck_assert_int_eq(spec->probe, probes[_i].probe);
    ck_assert_pstr_eq(spec->site.path, probes[_i].path);
    ck_assert_pstr_eq(spec->site.symbol, probes[_i].symbol);
    ck_assert_uint_eq(spec->site.offset, probes[_i].offset);
    ck_assert_str_eq(spec->name, probes[_i].name);
    ck_assert_int_lt(yarn_event_spec_check(spec, &why), 0);
}
END_TEST

static const struct {
    const char *text;
    const char *symbol;
    uint64_t place, length;
    uint32_t access;
    uint64_t period;
} breakpoints[] = {
    {"mem:0x1000", NULL, 0x1000, 4, 3, 0},    {"mem:4096/8:w", NULL, 0x1000, 8, 2, 0},
    {"mem:counter", "counter", 0, 4, 3, 0},   {"mem:counter+8/1/period=7/u", "counter", 8, 1, 3, 7},
    {"mem:main:x", "main", 0, 8, 4, 0},       {"mem:main/8:x/period=3/", "main", 0, 8, 4, 3},
    {"mem:counter:u", "counter", 0, 4, 3, 0},
};

START_TEST(a_breakpoint_has_a_place_a_length_and_an_access)
{
    const char *why;
    ck_assert_int_eq(parse(breakpoints[_i].text), 0);
    const struct yarn_event_spec *spec = &list.specs[0];
    ck_assert_int_eq(spec->kind, YARN_EVENT_BREAKPOINT);
    ck_assert_uint_eq(spec->type, PERF_TYPE_BREAKPOINT);
    ck_assert_pstr_eq(spec->site.symbol, breakpoints[_i].symbol);
    ck_assert_uint_eq(spec->site.offset, breakpoints[_i].place);
    ck_assert_uint_eq(spec->config2, breakpoints[_i].length);
    ck_assert_uint_eq(spec->breakpoint, breakpoints[_i].access);
    ck_assert_uint_eq(spec->period, breakpoints[_i].period);
    ck_assert_int_eq(!yarn_event_spec_check(spec, &why), !spec->site.symbol);
}
END_TEST

START_TEST(letters_are_what_perf_makes_of_them)
{
    ck_assert_int_eq(parse("cycles:PIGeW,cycles:H,cycles:GH"), 0);
    ck_assert(list.specs[0].is_most_precise && list.specs[0].exclude_idle);
    ck_assert(list.specs[0].exclude_host && !list.specs[0].exclude_guest);
    ck_assert(list.specs[0].is_exclusive && list.specs[0].is_weak);
    ck_assert(!list.specs[1].exclude_host && list.specs[1].exclude_guest);
    ck_assert(!list.specs[2].exclude_host && !list.specs[2].exclude_guest);
}
END_TEST

START_TEST(a_pmu_counts_on_the_cpus_of_its_list)
{
    struct yarn_event_spec spec = {.cpus = "0-3,8,10-11"};
    static const int on[] = {0, 3, 8, 10, 11}, off[] = {4, 7, 9, 12};
    for (size_t i = 0; i < YARN_COUNT_OF(on); i++)
        ck_assert(yarn_event_spec_is_on(&spec, on[i]));
    for (size_t i = 0; i < YARN_COUNT_OF(off); i++)
        ck_assert(!yarn_event_spec_is_on(&spec, off[i]));
    spec.cpus = NULL;
    ck_assert(yarn_event_spec_is_on(&spec, 77));
}
END_TEST

START_TEST(a_list_has_room_for_32_events_and_no_more)
{
    char text[200] = "cs";
    for (size_t i = 1; i < YARN_EVENT_LIST_MAX; i++)
        strcat(text, ",cs");
    ck_assert_int_eq(parse(text), 0);
    ck_assert_uint_eq(list.count, 32);
    strcat(text, ",faults");
    ck_assert_int_eq(parse(text), -EINVAL);
    ck_assert_str_eq(text + error.at, "faults");
}
END_TEST

START_TEST(a_full_arena_is_no_memory)
{
    struct yarn_arena small = YARN_ARENA_CLOSED;
    yarn_arena_open(&small, 1);
    while (yarn_arena_alloc(&small, 16, 1))
        ;
    ck_assert_int_eq(yarn_event_list_parse("r10", 3, &small, &list, &error), -ENOMEM);
    ck_assert_int_eq(yarn_event_list_parse("cs", 2, &small, &list, &error), -ENOMEM);
    yarn_arena_close(&small);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("event list");
    TCase *events = tcase_create("lists as a user writes them");
    tcase_add_checked_fixture(events, set_up, tear_down);
    tcase_add_loop_test(events, an_event_is_what_its_name_says, 0, YARN_COUNT_OF(one_event));
    tcase_add_loop_test(events, terms_give_an_event_its_own_rate_and_stacks, 0,
                        YARN_COUNT_OF(with_terms));
    tcase_add_loop_test(events, a_fault_names_its_word_and_reason, 0, YARN_COUNT_OF(faults));
    tcase_add_test(events, a_list_splits_at_commas_outside_of_terms);
    tcase_add_test(events, a_group_stands_side_by_side_with_its_leader_first);
    tcase_add_loop_test(events, a_probe_has_a_place, 0, YARN_COUNT_OF(probes));
    tcase_add_loop_test(events, a_breakpoint_has_a_place_a_length_and_an_access, 0,
                        YARN_COUNT_OF(breakpoints));
    tcase_add_test(events, letters_are_what_perf_makes_of_them);
    tcase_add_test(events, a_pmu_counts_on_the_cpus_of_its_list);
    tcase_add_test(events, a_list_has_room_for_32_events_and_no_more);
    tcase_add_test(events, a_full_arena_is_no_memory);
    suite_add_tcase(suite, events);
    return run_suite(suite);
}
