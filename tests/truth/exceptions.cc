// SPDX-License-Identifier: Apache-2.0
//
// C++: exceptions in flight, whose destructors work while they pass, virtual calls, callbacks out
// of templates of the standard library, std::function.
#include <algorithm>
#include <functional>
#include <vector>

#include "activation.h"

TRUTH_MAIN_VARIABLES;

namespace
{

// Ends the activation however the function is left.
class Activation
{
  public:
    __attribute__((always_inline)) Activation(const void *function, const void *return_address)
    {
        activation_begin(&here_, function, return_address);
    }
    __attribute__((always_inline)) ~Activation()
    {
        activation_end(&here_);
    }
    Activation(const Activation &) = delete;
    Activation &operator=(const Activation &) = delete;

  private:
    struct activation here_;
};

#define TRUTH_SCOPE(self)                                                                          \
    Activation here(reinterpret_cast<const void *>(self), __builtin_return_address(0))

uint64_t cleaned;

TRUTH_NOINLINE void clean(uint64_t seed)
{
    TRUTH_SCOPE(clean);
    cleaned += truth_work(seed, 500);
}

struct Cleaner {
    uint64_t seed;
    ~Cleaner()
    {
        clean(seed);
    }
};

struct Failure {
    uint64_t seed;
};

TRUTH_NOINLINE uint64_t fail(uint64_t seed, unsigned depth)
{
    TRUTH_SCOPE(fail);
    Cleaner cleaner{seed};
    seed = truth_work(seed, 100);
    if (!depth)
        throw Failure{seed};
    seed += fail(seed, depth - 1);
    return seed;
}

TRUTH_NOINLINE uint64_t attempt(uint64_t seed, unsigned depth)
{
    TRUTH_SCOPE(attempt);
    try {
        return fail(seed, depth);
    } catch (const Failure &failure) {
        clean(failure.seed);
        return truth_work(failure.seed, 300);
    }
}

TRUTH_NOINLINE bool is_before(uint64_t left, uint64_t right)
{
    TRUTH_SCOPE(is_before);
    return truth_work(left, 20) < truth_work(right, 20);
}

TRUTH_NOINLINE uint64_t sort_numbers(uint64_t seed)
{
    TRUTH_SCOPE(sort_numbers);
    std::vector<uint64_t> numbers(40);
    for (uint64_t &number : numbers)
        number = seed = truth_work(seed, 3);
    std::sort(numbers.begin(), numbers.end(), is_before);
    return numbers[20];
}

TRUTH_NOINLINE uint64_t call(const std::function<uint64_t(uint64_t)> &function, uint64_t seed)
{
    TRUTH_SCOPE(call);
    return function(seed) + truth_work(seed, 20);
}

} // namespace

int main(int argc, char **argv)
{
    TRUTH_SCOPE(main);
    uint64_t seed = 1, count = truth_rounds(argc, argv) * 8000;
    for (uint64_t i = 0; i < count; i++) {
        seed += call([](uint64_t s) { return attempt(s, 1 + s % 6); }, seed);
        seed += call(sort_numbers, seed);
    }
    truth_finish(seed ^ cleaned);
    return 0;
}
