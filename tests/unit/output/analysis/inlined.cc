/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What test_lines looks into: functions put into one another, with a symbol at the instruction that
 * a line of the source became. The test finds a line by the comment at its end.
 */
namespace shop
{

struct Till {
    int sum;

    [[gnu::always_inline]] inline void add(int price)
    {
        asm volatile(".globl at_add\nat_add: nop"); /* LINE add */
        sum += price;
    }

    [[gnu::always_inline]] inline void sell(int price)
    {
        if (price)
            add(price); /* LINE sell calls add */
    }
};

[[gnu::noinline]] int day(int price)
{
    Till till{price};
    asm volatile(".globl at_day\nat_day: nop"); /* LINE day */
    till.sell(price);                           /* LINE day calls sell */
    auto tip = [&](int more) __attribute__((always_inline))
    {
        asm volatile(".globl at_tip\nat_tip: nop"); /* LINE tip */
        till.sum += more;
    };
    tip(price); /* LINE day calls tip */
    return till.sum;
}

} // namespace shop

int main(int argc, char **)
{
    return shop::day(argc) & 1;
}
