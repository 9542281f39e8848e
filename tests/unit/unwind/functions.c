/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A library whose functions are known, to be stripped: test_symbols asks for names in what is left.
 * Exported and static functions take turns, so that a missing name has a neighbour on each side.
 */
#define EXPORTED __attribute__((visibility("default"), noinline))
#define HIDDEN static __attribute__((noinline, used))

int sink;

HIDDEN int hidden_first(int n)
{
    for (int i = 0; i < n; i++)
        sink += i * n;
    return sink;
}

EXPORTED int exported_first(int n);
int exported_first(int n)
{
    for (int i = 0; i < n; i++)
        sink ^= i + n;
    return hidden_first(n) + 1;
}

HIDDEN int hidden_second(int n)
{
    return n > 3 ? hidden_first(n - 1) * 3 : sink;
}

__attribute__((cold, noinline)) void failure(int n);
void failure(int n)
{
    sink = n;
}

EXPORTED int exported_second(int n);
int exported_second(int n)
{
    if (__builtin_expect(n < 0, 0)) {
        failure(n);
        sink += 7;
        failure(n + sink);
        return hidden_second(-n);
    }
    return hidden_second(n) ^ 5;
}

EXPORTED int exported_alias(int n) __attribute__((alias("exported_second")));

HIDDEN int hidden_last(int n)
{
    return exported_first(n) + exported_second(n);
}

EXPORTED int exported_last(int n);
int exported_last(int n)
{
    return hidden_last(n) + 2;
}
