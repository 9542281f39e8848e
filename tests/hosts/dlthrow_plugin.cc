// SPDX-License-Identifier: Apache-2.0
//
// Throws through some frames with destructors and catches; loaded by dlthrow.
#include <stdexcept>
#include <string>

namespace
{

struct counter {
    explicit counter(int &nr_destroyed) : nr(nr_destroyed)
    {
    }
    ~counter()
    {
        nr++;
    }
    int &nr;
};

__attribute__((noinline)) int descend(int depth, int &count)
{
    counter at_return(count);
    if (depth == 0)
        throw std::runtime_error(std::to_string(count));
    return descend(depth - 1, count) + 1;
}

} // namespace

extern "C" __attribute__((visibility("default"))) int throw_and_catch(int depth)
{
    int count = 0;
    try {
        return descend(depth, count);
    } catch (const std::runtime_error &) {
        return count;
    }
}
