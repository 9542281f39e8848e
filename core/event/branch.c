/* SPDX-License-Identifier: Apache-2.0 */
#include "core/event/branch.h"

#include <linux/perf_event.h>

#include "core/event/nearest.h"

#define KIND(word, name)                                                                           \
    {                                                                                              \
        word, PERF_SAMPLE_BRANCH_##name                                                            \
    }
const struct yarn_branch_kind yarn_branch_kinds[] = {
    KIND("any", ANY),
    KIND("any_call", ANY_CALL),
    KIND("any_ret", ANY_RETURN),
    KIND("ind_call", IND_CALL),
    KIND("ind_jmp", IND_JUMP),
    KIND("cond", COND),
    KIND("abort_tx", ABORT_TX),
    KIND("in_tx", IN_TX),
    KIND("no_tx", NO_TX),
    KIND("call", CALL),
    KIND("u", USER),
    KIND("k", KERNEL),
    KIND("hv", HV),
    KIND("return", ANY_RETURN),
};
#undef KIND

enum { WORDS = YARN_COUNT_OF(yarn_branch_kinds) };
const size_t yarn_branch_kind_count = WORDS - 1;

uint64_t yarn_branch_bits(struct yarn_span word)
{
    for (size_t i = 0; i < WORDS; i++)
        if (yarn_event_word_is(word, yarn_branch_kinds[i].word))
            return yarn_branch_kinds[i].bits;
    return 0;
}
