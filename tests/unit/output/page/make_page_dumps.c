/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Writes dumps of known content into a folder, for the tests of pages and of diff:
 *     make_page_dumps FOLDER
 */
#include <stdio.h>
#include <stdlib.h>

#include "dump_maker.h"

static struct dump_maker maker;

static void begin(const char *folder, const char *file, const char *name)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", folder, file);
    dump_maker_open(&maker, path, name, 100);
}

static void sample(uint32_t tid, const char *words, uint32_t end, uint64_t count)
{
    uint32_t stack = *words ? dump_maker_stack(&maker, words) : YARN_DUMP_NONE;
    dump_maker_sample(&maker, tid, stack, end, count);
}

/* 100 samples: the first half in alpha, then beta on another thread, with recursion; cut and
 * stackless ones. Of page-faults three. */
static void make_app(const char *folder)
{
    begin(folder, "app.dump", "app");
    dump_maker_add_thread(&maker, 101, "worker");
    dump_maker_add_event(&maker, 1, "page-faults", 0);
    sample(100, "main;alpha;leaf", YARN_DUMP_STACK_COMPLETE, 40);
    sample(100, "main;alpha;libx!deep", YARN_DUMP_STACK_COMPLETE, 10);
    sample(101, "run;beta;beta;leaf", YARN_DUMP_STACK_COMPLETE, 30);
    sample(101, "beta", YARN_DUMP_STACK_TRUNCATED, 12);
    sample(101, "", YARN_DUMP_STACK_NONE, 8);
    uint32_t stack = dump_maker_stack(&maker, "main;alpha");
    for (unsigned i = 0; i < 3; i++)
        dump_maker_sample_of(&maker, 1, 100, 0, stack, 1);
    dump_maker_close(&maker, false);
}

/* Python's functions have names, with its interpreter between them; at last one without names. */
static void make_python(const char *folder)
{
    begin(folder, "python.dump", "python3.12");
    sample(
        100,
        "main;run_mod;PyEval_EvalCode;_PyEval_Vector;py_trampoline_evaluator;lib!py::outer:/a.py;"
        "_PyEval_EvalFrameDefault;PyObject_Vectorcall;lib!py::inner:/a.py;"
        "_PyEval_EvalFrameDefault",
        YARN_DUMP_STACK_COMPLETE, 30);
    sample(
        100,
        "main;run_mod;PyEval_EvalCode;_PyEval_Vector;py_trampoline_evaluator;lib!py::outer:/a.py;"
        "_PyEval_EvalFrameDefault;list_sort;_PyObject_Call;lib!_PyEval_Mine",
        YARN_DUMP_STACK_COMPLETE, 20);
    sample(100, "start;_PyEval_EvalFrameDefault;PyObject_Call", YARN_DUMP_STACK_COMPLETE, 50);
    dump_maker_close(&maker, false);
}

/* A program's threads in the preload: at its end, and in a call that it hands on. */
static void make_own(const char *folder)
{
    begin(folder, "own.dump", "libyarn_preload.so");
    sample(100, "lib!main;lib!exit;yarn_lifecycle_end;wait_on;yarn_raw_call",
           YARN_DUMP_STACK_COMPLETE, 10);
    sample(100, "lib!main;capset;follow;yarn_state_wait", YARN_DUMP_STACK_COMPLETE, 5);
    sample(100, "lib!main;capset;yarn_raw_call", YARN_DUMP_STACK_COMPLETE, 20);
    dump_maker_close(&maker, false);
}

static void make_hostile(const char *folder)
{
    begin(folder, "hostile.dump", "<img src=x onerror=boom()>");
    dump_maker_add_thread(&maker, 101, "\"><script>boom()</script>");
    sample(101, "main;</script><script>boom()</script>", YARN_DUMP_STACK_COMPLETE, 5);
    sample(101, "main;libx!<!--<script>", YARN_DUMP_STACK_COMPLETE, 4);
    sample(101, "main;</span></div><h1>boom", YARN_DUMP_STACK_COMPLETE, 3);
    sample(101, "main;@script@", YARN_DUMP_STACK_COMPLETE, 3);
    sample(101, "main;\xff\xe2\x80\xae&lt\033[31m", YARN_DUMP_STACK_COMPLETE, 2);
    dump_maker_close(&maker, false);
}

/* Many functions, some in deep recursion. */
static void make_many(const char *folder)
{
    static char words[65536];
    begin(folder, "many.dump", "many");
    for (unsigned i = 0; i < 3000; i++) {
        (void)snprintf(words, sizeof words, "main;group_%u;function_%u", i % 50, i);
        sample(100, words, YARN_DUMP_STACK_COMPLETE, 1 + i % 7);
    }
    size_t at = (size_t)snprintf(words, sizeof words, "main");
    for (unsigned i = 0; i < 2000; i++)
        at += (size_t)snprintf(words + at, sizeof words - at, ";recurse");
    sample(100, words, YARN_DUMP_STACK_COMPLETE, 500);
    dump_maker_close(&maker, false);
}

/* The same program, built again: steady stays, slower grows, gone and fresh are on one side only,
 * hardly changes by less than noise; what has no name lies elsewhere. */
static void make_pair(const char *folder)
{
    begin(folder, "before.dump", "app");
    sample(100, "main;steady", YARN_DUMP_STACK_COMPLETE, 500);
    sample(100, "main;slower", YARN_DUMP_STACK_COMPLETE, 200);
    sample(100, "main;gone", YARN_DUMP_STACK_COMPLETE, 100);
    sample(100, "main;hardly", YARN_DUMP_STACK_COMPLETE, 100);
    sample(100, "main;libx!moved", YARN_DUMP_STACK_COMPLETE, 50);
    sample(100, "main;libx!+1000", YARN_DUMP_STACK_COMPLETE, 50);
    dump_maker_close(&maker, false);
    begin(folder, "after.dump", "app");
    sample(100, "main;steady", YARN_DUMP_STACK_COMPLETE, 1000);
    sample(100, "main;slower", YARN_DUMP_STACK_COMPLETE, 600);
    sample(100, "main;fresh", YARN_DUMP_STACK_COMPLETE, 4);
    sample(100, "main;hardly", YARN_DUMP_STACK_COMPLETE, 196);
    sample(100, "main;moved", YARN_DUMP_STACK_COMPLETE, 100);
    sample(100, "main;libx!+2000", YARN_DUMP_STACK_COMPLETE, 60);
    sample(100, "main;libx!+2040", YARN_DUMP_STACK_COMPLETE, 40);
    dump_maker_close(&maker, false);
}

static void make_kernel_run(const char *folder, const char *side, unsigned run, unsigned kernel)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/kernel_%s.%u.dump", folder, side, run);
    dump_maker_open(&maker, path, "app", 100 + run);
    sample(100 + run, "main;steady", YARN_DUMP_STACK_COMPLETE, 100);
    maker.kernel_ns = kernel * MAKER_PERIOD_NS;
    dump_maker_close(&maker, false);
}

/* Time in the kernel that was not sampled, three quarters before and a half after; more in each
 * later run. */
static void make_kernel(const char *folder)
{
    for (unsigned run = 0; run < 3; run++) {
        make_kernel_run(folder, "before", run, 300 + 10 * run);
        make_kernel_run(folder, "after", run, 100 + 10 * run);
    }
}

static void make_run(const char *folder, const char *side, unsigned run, unsigned wild,
                     unsigned sure)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/runs_%s.%u.dump", folder, side, run);
    dump_maker_open(&maker, path, "app", 100 + run);
    sample(100 + run, "main;steady", YARN_DUMP_STACK_COMPLETE, 1000 + 10 * run);
    sample(100 + run, "main;wild", YARN_DUMP_STACK_COMPLETE, wild);
    sample(100 + run, "main;sure", YARN_DUMP_STACK_COMPLETE, sure + run);
    dump_maker_close(&maker, false);
}

/* wild differs from run to run as much as from side to side; sure does not. */
static void make_runs(const char *folder)
{
    static const unsigned wild[] = {100, 900, 300, 700};
    for (unsigned run = 0; run < 3; run++)
        make_run(folder, "before", run, wild[run], 100);
    for (unsigned run = 0; run < 4; run++)
        make_run(folder, "after", run, 2 * wild[run], 300);
}

static void make_empty(const char *folder)
{
    begin(folder, "empty.dump", "empty");
    dump_maker_close(&maker, false);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return EXIT_FAILURE;
    make_app(argv[1]);
    make_python(argv[1]);
    make_own(argv[1]);
    make_hostile(argv[1]);
    make_many(argv[1]);
    make_pair(argv[1]);
    make_kernel(argv[1]);
    make_runs(argv[1]);
    make_empty(argv[1]);
    return EXIT_SUCCESS;
}
