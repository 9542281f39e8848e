// SPDX-License-Identifier: Apache-2.0
//
// Eight threads, each in a function of its own (worker<0> … worker<7>), each with the same work.
#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "tests/hosts/own_times.h"
#include "tests/hosts/work.h"

namespace
{

std::atomic<uint64_t> result;
uint64_t nr_units = 12;

template <int N> __attribute__((noinline)) void worker()
{
    for (uint64_t i = 0; i < nr_units; i++)
        result ^= yarn_host_work(1, i, N + 1);
    yarn_host_print_own_time();
}

} // namespace

int main(int argc, char **argv)
{
    if (argc > 1)
        nr_units = std::strtoull(argv[1], nullptr, 10);
    yarn_host_begin_own_times();
    std::vector<std::thread> threads;
    for (auto run :
         {worker<0>, worker<1>, worker<2>, worker<3>, worker<4>, worker<5>, worker<6>, worker<7>})
        threads.emplace_back(run);
    for (auto &thread : threads)
        thread.join();
    std::printf("threads8: %016" PRIx64 "\n", result.load());
    return 0;
}
