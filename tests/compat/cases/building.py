# SPDX-License-Identifier: Apache-2.0
"""Compilers, linkers, make and its kin; the files that they make are compared, too."""

from case import SECONDS, Case, shell

C = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static void *work(void *argument) {
    int n = 100000 * (int)(long)argument, *numbers = malloc(n * sizeof *numbers);
    for (int i = 0; i < n; i++) numbers[i] = (i * 7919) % 10007;
    qsort(numbers, n, sizeof *numbers, compare);
    int middle = numbers[n / 2];
    free(numbers);
    return (void *)(long)middle;
}
int main(void) {
    pthread_t threads[4];
    for (long i = 0; i < 4; i++) pthread_create(&threads[i], NULL, work, (void *)(i + 1));
    for (int i = 0; i < 4; i++) { void *value; pthread_join(threads[i], &value); printf("%ld\n", (long)value); }
    return 3;
}
"""

CXX = r"""
#include <algorithm>
#include <future>
#include <iostream>
#include <map>
#include <regex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
static int thrower(int n) { if (n == 0) throw std::runtime_error("thrown"); return thrower(n - 1) + 1; }
int main() {
    std::map<std::string, int> words;
    for (int i = 0; i < 50000; i++) words[std::to_string(i % 977)]++;
    std::cout << words.size() << "\n";
    std::vector<std::future<int>> futures;
    for (int i = 0; i < 4; i++)
        futures.push_back(std::async(std::launch::async, [i] {
            int caught = 0;
            for (int j = 0; j < 500; j++) { try { thrower(10); } catch (const std::exception &) { caught++; } }
            return caught + i;
        }));
    for (auto &future : futures) std::cout << future.get() << "\n";
    std::cout << std::regex_replace(std::string("a1b22c333"), std::regex("[0-9]+"), "#") << "\n";
    return 4;
}
"""

MAKEFILE = """
NAMES := $(shell seq 20)
all: program
\t./program > answer; test $$? = 3
%.o: ../program.c
%.o:
\t$(CC) -O1 -c -o $@ program.c
program: $(NAMES:%=%.o)
\t$(CC) -o $@ 1.o -lpthread
"""

CMAKE = """
cmake_minimum_required(VERSION 3.16)
project(example C CXX)
find_package(Threads REQUIRED)
foreach(number 1 2 3 4)
  add_executable(c${number} program.c)
  target_link_libraries(c${number} Threads::Threads)
endforeach()
add_executable(cxx program.cc)
target_link_libraries(cxx Threads::Threads)
enable_testing()
add_test(NAME c COMMAND c1)
add_test(NAME cxx COMMAND cxx)
set_tests_properties(c cxx PROPERTIES WILL_FAIL TRUE)
"""

SOURCES = {"program.c": C, "program.cc": CXX}


def compiled(name, command, packages, needs="", **rest):
    """Compiles and runs."""
    return Case(
        name, shell(command), packages, needs=f"{command.split()[0]} {needs}", files=SOURCES, **rest
    )


CASES = [
    compiled("gcc", "gcc -O2 -g program.c -o c -lpthread && ./c", "gcc libc6-dev", fast=True),
    compiled("g++", "g++ -O1 program.cc -o cxx -lpthread && ./cxx", "g++"),
    compiled("g++-static", "g++ -O1 -static program.cc -o cxx && ./cxx", "g++"),
    compiled("clang", "clang -O2 program.c -o c -lpthread && ./c", "clang"),
    compiled("clang++", "clang++ -O1 program.cc -o cxx -lpthread && ./cxx", "clang"),
    compiled("gcc-lto", "gcc -O2 -flto=2 program.c -o c -lpthread && ./c", "gcc libc6-dev"),
    compiled("ld-gold", "gcc -fuse-ld=gold program.c -o c && ./c", "gcc", needs="ld.gold"),
    compiled(
        "ld-lld",
        "clang -fuse-ld=lld program.c -o c && ./c",
        "clang lld",
        needs="ld.lld",
    ),
    compiled("tcc", "tcc program.c -o c -lpthread && ./c", "tcc libc6-dev"),
    Case(
        "make",
        "make -j2 --output-sync",
        "make gcc libc6-dev",
        needs="gcc",
        files={**SOURCES, "Makefile": MAKEFILE},
        varies=((r"^cc -O1 .*\n", ""),),
        fast=True,
    ),
    Case(
        "cmake-make",
        shell("cmake -S . -B build && make -C build -j2 && cd build && ctest -j2"),
        "cmake make g++",
        needs="cmake make g++",
        files={**SOURCES, "CMakeLists.txt": CMAKE},
        varies=(
            (r"^\[ *\d+%\].*\n", ""),
            (r"^make.*: (Entering|Leaving) directory.*\n", ""),
            SECONDS,
            (r"\(\d+\.\d+s\)", "(TIME)"),
            (r"^ *(Start|\d/\d Test) .*\n", ""),
        ),
        files_vary=("build/CMakeFiles/*", "build/Testing/*"),
    ),
    Case(
        "cmake-ninja",
        shell("cmake -G Ninja -S . -B build && ninja -C build -j2 && build/cxx"),
        "cmake ninja-build g++",
        needs="cmake ninja g++",
        files={**SOURCES, "CMakeLists.txt": CMAKE},
        varies=((r"^\[\d+/\d+\].*\n", ""), (r"\(\d+\.\d+s\)", "(TIME)")),
        files_vary=("build/CMakeFiles/*", "build/.ninja*"),
    ),
]
