/* SPDX-License-Identifier: Apache-2.0 */
#include "output/text/data_source.h"

#include <linux/perf_event.h>

#include "core/base/text.h"

struct word {
    uint64_t bit;
    const char *text;
};

#define WORD(field, name, text)                                                                    \
    {                                                                                              \
        PERF_MEM_##field##_##name, text                                                            \
    }
static const struct word operations[] = {WORD(OP, LOAD, "load"), WORD(OP, STORE, "store"),
                                         WORD(OP, PFETCH, "prefetch"), WORD(OP, EXEC, "exec")};
/* Of the older field: levels, then whether it was hit. */
static const struct word levels[] = {
    WORD(LVL, L1, "L1"),
    WORD(LVL, LFB, "LFB"),
    WORD(LVL, L2, "L2"),
    WORD(LVL, L3, "L3"),
    WORD(LVL, LOC_RAM, "local RAM"),
    WORD(LVL, REM_RAM1, "remote RAM, 1 hop"),
    WORD(LVL, REM_RAM2, "remote RAM, 2 hops"),
    WORD(LVL, REM_CCE1, "remote cache, 1 hop"),
    WORD(LVL, REM_CCE2, "remote cache, 2 hops"),
    WORD(LVL, IO, "I/O"),
    WORD(LVL, UNC, "uncached"),
    WORD(LVL, HIT, "hit"),
    WORD(LVL, MISS, "miss"),
};
static const struct word snoops[] = {WORD(SNOOP, NONE, "none"), WORD(SNOOP, HIT, "hit"),
                                     WORD(SNOOP, MISS, "miss"), WORD(SNOOP, HITM, "hitm")};
static const struct word forwards[] = {WORD(SNOOPX, FWD, "forward"), {2, "peer"}};
static const struct word locks[] = {WORD(LOCK, LOCKED, "locked")};
static const struct word tlbs[] = {WORD(TLB, L1, "L1"),     WORD(TLB, L2, "L2"),
                                   WORD(TLB, WK, "walker"), WORD(TLB, OS, "OS fault"),
                                   WORD(TLB, HIT, "hit"),   WORD(TLB, MISS, "miss")};
static const struct word blocks[] = {WORD(BLK, DATA, "data"), WORD(BLK, ADDR, "address")};
#undef WORD

/* The words of all bits that are set, behind `head`. */
static void add(struct yarn_text *text, const char *head, const struct word *words, size_t count,
                uint64_t bits)
{
    bool is_first = true;
    for (size_t i = 0; i < count; i++) {
        if (!(bits & words[i].bit))
            continue;
        if (is_first && text->size)
            yarn_text_add(text, ", ");
        if (!is_first || head[0])
            yarn_text_add(text, is_first ? head : " ");
        if (is_first && head[0])
            yarn_text_add(text, " ");
        yarn_text_add(text, words[i].text);
        is_first = false;
    }
}
#define ADD(text, head, words, bits) add(text, head, words, YARN_COUNT_OF(words), bits)

/* Of the newer field: a number. */
static const char *level_of(uint64_t number)
{
    static const char *const names[16] = {
        [1] = "L1",   [2] = "L2",       [3] = "L3",   [4] = "L4",   [5] = "L2 MHB",
        [6] = "MSC",  [8] = "uncached", [9] = "CXL",  [10] = "I/O", [11] = "any cache",
        [12] = "LFB", [13] = "RAM",     [14] = "PMEM"};
    return names[number & 15];
}

static void add_level(struct yarn_text *text, const union perf_mem_data_src *source)
{
    const uint64_t places = ~(uint64_t)(PERF_MEM_LVL_NA | PERF_MEM_LVL_HIT | PERF_MEM_LVL_MISS);
    const char *level = level_of(source->mem_lvl_num);
    if (source->mem_lvl & places || !level) {
        ADD(text, "", levels, source->mem_lvl);
        return;
    }
    yarn_text_add(text, text->size ? ", " : "");
    yarn_text_add(text, source->mem_remote ? "remote " : "");
    yarn_text_add(text, level);
    yarn_text_add(text, source->mem_lvl & PERF_MEM_LVL_HIT    ? " hit"
                        : source->mem_lvl & PERF_MEM_LVL_MISS ? " miss"
                                                              : "");
}

const char *yarn_data_source_text(uint64_t data_source, char ret_text[YARN_DATA_SOURCE_MAX])
{
    const union perf_mem_data_src source = {.val = data_source};
    struct yarn_text text = yarn_text_of(ret_text, YARN_DATA_SOURCE_MAX);
    ADD(&text, "", operations, source.mem_op);
    add_level(&text, &source);
    ADD(&text, "snoop", snoops, source.mem_snoop);
    ADD(&text, "snoop", forwards, source.mem_snoopx);
    ADD(&text, "TLB", tlbs, source.mem_dtlb);
    ADD(&text, "", locks, source.mem_lock);
    ADD(&text, "blocked by", blocks, source.mem_blk);
    if (!text.size)
        yarn_text_add(&text, "not known");
    return ret_text;
}
