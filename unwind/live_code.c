/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/live_code.h"

#include "core/sys/timer.h"

enum {
    PAGE = 4096,
    LINE = 64,
    LINES = PAGE / LINE,
    PAGES_MAX = 2048,
    READINGS = 12,         /* that count and found a line the same, before it is believed */
    STEADY_DOUBLINGS = 10, /* at most */
    VOID_MOST = 7,         /* doublings of the first pause */
};

/* A line that was found changed n times is believed once it was the same for this, times 2^n. */
#define STEADY_NS (100 * YARN_NS_PER_MS)
/* The pauses between two readings are short until there were so many of what was asked for in a
 * page, and longer where the process did not run; then they grow with its age: changes that are
 * less than an age apart are seen. */
#define FIRST_PAUSE_NS (YARN_NS_PER_MS / 4)
#define LAST_PAUSE_NS (20 * YARN_NS_PER_MS)
#define YOUNG_NS (400 * YARN_NS_PER_MS)
/* CPU time of the process between two readings that count: while it waits for the reader's core
 * nothing changes. */
#define RAN_NS (YARN_NS_PER_MS / 10)
enum { PAUSE_SHARE = 2, GAPS = 2 }; /* of the age; that it has to last */
/* Nothing is proven before the first sample in new code was looked at: rings are read so soon where
 * code is expected, and again at twice its age until there is some; then as often as LAST_PAUSE_NS.
 */
#define FIRST_LOOK_NS (25 * YARN_NS_PER_MS)

struct line {
    uint64_t since_ns; /* the end of the first reading that found it so */
    uint32_t hash;     /* 0: all its bytes are equal, so no code */
    unsigned nr_equal : 16, nr_changes : 16;
};

struct yarn_code_page {
    uint64_t address;
    uint64_t read_ns;       /* the begin of the last reading; 0: none */
    uint64_t gap_ns;        /* the longest between readings in which later samples may lie */
    uint64_t ran_ns;        /* the process's CPU time at the last reading that counted */
    uint64_t thread_ran_ns; /* of this thread at that reading, or at one after it */
    pid_t tid;
    uint64_t young_ns; /* the latest change of what was asked for */
    unsigned
        nr_left; /* readings that have to count still, until all that was asked for may be proven */
    unsigned nr_void; /* that did not count, one after the other */
    bool is_asked;    /* whether it was the same, or will be */
    bool has_next;    /* the page behind it is read, too */
    struct line lines[LINES];
};

void yarn_live_code_open(struct yarn_live_code *code, const struct yarn_target *target)
{
    *code = (struct yarn_live_code){.target = target, .watch_ns = UINT64_MAX};
}

void yarn_live_code_expect(struct yarn_live_code *code)
{
    code->expected_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    code->watch_ns = code->expected_ns + FIRST_LOOK_NS;
}

void yarn_live_code_close(struct yarn_live_code *code)
{
    yarn_room_close(&code->room);
    yarn_table_close(&code->numbers);
    code->nr_pages = 0;
    code->watch_ns = UINT64_MAX;
}

static struct yarn_code_page *page_at(const struct yarn_live_code *code, size_t number)
{
    return (struct yarn_code_page *)code->room.base + number;
}

static bool make_room(struct yarn_live_code *code)
{
    if (code->nr_pages == PAGES_MAX) {
        yarn_table_clear(&code->numbers);
        code->nr_pages = 0;
    }
    if (!code->room.base)
        yarn_room_open(&code->room, PAGES_MAX * sizeof(struct yarn_code_page));
    return yarn_room_back(&code->room, (code->nr_pages + 1) * sizeof(struct yarn_code_page));
}

static struct yarn_code_page *find(struct yarn_live_code *code, uint64_t address)
{
    uint32_t number = yarn_table_find(&code->numbers, address);
    if (number != YARN_TABLE_NONE)
        return page_at(code, number);
    if (!make_room(code) || yarn_table_remember(&code->numbers, address, (uint32_t)code->nr_pages))
        return NULL;
    struct yarn_code_page *page = page_at(code, code->nr_pages++);
    *page = (struct yarn_code_page){.address = address};
    return page;
}

static uint32_t hash_of(const uint64_t *words)
{
    uint64_t hash = 0, differences = 0;
    for (unsigned i = 0; i < LINE / sizeof *words; i++) {
        hash = yarn_hash_u64(hash ^ words[i]);
        differences |= words[i] ^ words[0];
    }
    return differences || (uint8_t)words[0] * UINT64_C(0x0101010101010101) != words[0]
               ? (uint32_t)(hash >> 32) | 1
               : 0;
}

static void note(struct line *line, uint32_t hash, bool counts, uint64_t now_ns)
{
    if (line->since_ns && line->hash == hash) {
        if (counts && line->nr_equal < READINGS)
            line->nr_equal++;
        return;
    }
    if (line->hash && line->nr_changes < STEADY_DOUBLINGS)
        line->nr_changes++;
    line->hash = hash;
    line->nr_equal = 0;
    line->since_ns = now_ns;
}

/* Whether it did since the last reading that counted. While a thread runs the kernel adds its time
 * to the process's at each tick of its core only; its own clock is exact. */
static bool has_run(const struct yarn_live_code *code, struct yarn_code_page *page)
{
    uint64_t ran_ns = yarn_target_ran_ns(code->target), thread_ran_ns = 0;
    bool has_clock =
        code->sample_tid && !yarn_timer_thread_cpu_ns(code->sample_tid, &thread_ran_ns);
    bool has_same = has_clock && page->tid == code->sample_tid;
    bool has_run = yarn_u64_minus(ran_ns, page->ran_ns) >= RAN_NS ||
                   (has_same && yarn_u64_minus(thread_ran_ns, page->thread_ran_ns) >= RAN_NS);
    if (has_run)
        page->ran_ns = ran_ns;
    if (has_run || (has_clock && !has_same)) {
        page->tid = has_clock ? code->sample_tid : 0;
        page->thread_ran_ns = thread_ran_ns;
    }
    return has_run;
}

static void read_page(struct yarn_live_code *code, struct yarn_code_page *page)
{
    uint64_t words[PAGE / sizeof(uint64_t)], was_ns = page->read_ns;
    bool counts = has_run(code, page);
    page->read_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    if (yarn_target_read(code->target, page->address, words, sizeof words))
        memset(words, 0, sizeof words);
    uint64_t now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC), gap_ns = was_ns ? now_ns - was_ns : 0;
    page->gap_ns = code->sample_ns > was_ns ? gap_ns : yarn_u64_max(page->gap_ns, gap_ns);
    page->nr_void = counts ? 0 : page->nr_void + 1;
    page->nr_left -= counts && page->nr_left;
    for (unsigned i = 0; i < LINES; i++)
        note(&page->lines[i], hash_of(words + i * (LINE / sizeof *words)), counts, now_ns);
}

/* By a reading after the sample; NULL where memory is short. */
static struct yarn_code_page *look(struct yarn_live_code *code, uint64_t address)
{
    struct yarn_code_page *page = find(code, address);
    if (page && (!code->sample_ns || page->read_ns <= code->sample_ns))
        read_page(code, page);
    return page;
}

uint32_t yarn_live_code_sign(struct yarn_live_code *code, struct yarn_code_extent extent)
{
    uint64_t hash = 0;
    bool is_code = false;
    struct yarn_code_page *page = NULL;
    for (uint64_t at = extent.from / LINE * LINE; at < extent.to; at += LINE) {
        if (!page || at % PAGE == 0)
            page = look(code, at / PAGE * PAGE);
        if (!page)
            return 0;
        uint32_t now = page->lines[at % PAGE / LINE].hash;
        hash = yarn_hash_u64(hash ^ now);
        is_code |= now;
    }
    return is_code ? (uint32_t)hash | 1 : 0;
}

/* ---- whether it was so ---- */

/* For longer than it was not looked at around the sample. */
static bool is_steady(const struct line *line, const struct yarn_code_page *page)
{
    uint64_t age_ns = yarn_u64_minus(page->read_ns, line->since_ns);
    return line->nr_equal == READINGS && age_ns >= GAPS * page->gap_ns &&
           (!line->nr_changes || age_ns >= STEADY_NS << line->nr_changes);
}

static uint64_t due_ns(const struct yarn_code_page *page)
{
    uint64_t age_ns = yarn_u64_minus(page->read_ns, page->young_ns);
    uint64_t pause_ns = yarn_u64_max(age_ns / PAUSE_SHARE, FIRST_PAUSE_NS);
    if (page->nr_left && page->nr_void < VOID_MOST)
        pause_ns = FIRST_PAUSE_NS << page->nr_void;
    return age_ns > YOUNG_NS ? UINT64_MAX : page->read_ns + yarn_u64_min(pause_ns, LAST_PAUSE_NS);
}

/* Before it is asked for: new functions come behind those that there are (CPython's trampolines lie
 * there already), and each page's first samples would be in vain. */
static void read_next(struct yarn_live_code *code, struct yarn_code_page *page)
{
    if (page->has_next || code->nr_pages == PAGES_MAX)
        return;
    page->has_next = true;
    struct yarn_code_page *next = find(code, page->address + PAGE);
    if (!next || next->is_asked)
        return;
    next->is_asked = true;
    next->nr_left = READINGS;
    read_page(code, next);
    next->young_ns = next->read_ns;
}

static bool is_line_proven(struct yarn_live_code *code, struct yarn_code_page *page, unsigned at)
{
    const struct line *line = &page->lines[at];
    read_next(code, page);
    page->is_asked = true;
    if (page->nr_left + line->nr_equal < READINGS)
        page->nr_left = READINGS - (unsigned)line->nr_equal;
    page->young_ns = yarn_u64_max(page->young_ns, line->since_ns);
    code->watch_ns = yarn_u64_min(code->watch_ns, due_ns(page));
    return line->hash && line->since_ns <= code->sample_ns && is_steady(line, page);
}

bool yarn_live_code_is_proven(struct yarn_live_code *code, struct yarn_code_extent extent)
{
    bool is_proven = true;
    if (!code->sample_ns)
        return true;
    for (uint64_t at = extent.from / LINE * LINE; at < extent.to; at += LINE) {
        struct yarn_code_page *page = look(code, at / PAGE * PAGE);
        is_proven &= page && is_line_proven(code, page, (unsigned)(at % PAGE / LINE));
    }
    return is_proven;
}

/* When the next samples are wanted. */
static uint64_t next_look_ns(const struct yarn_live_code *code, uint64_t now_ns)
{
    uint64_t age_ns = now_ns - code->expected_ns;
    if (code->nr_pages)
        return now_ns + LAST_PAUSE_NS;
    return age_ns > YOUNG_NS ? UINT64_MAX : now_ns + yarn_u64_max(age_ns, FIRST_LOOK_NS);
}

void yarn_live_code_watch(struct yarn_live_code *code, uint64_t now_ns)
{
    if (now_ns < code->watch_ns)
        return;
    code->watch_ns = next_look_ns(code, now_ns);
    for (size_t i = 0; i < code->nr_pages; i++) {
        struct yarn_code_page *page = page_at(code, i);
        if (!page->is_asked)
            continue;
        if (due_ns(page) <= now_ns)
            read_page(code, page);
        code->watch_ns = yarn_u64_min(code->watch_ns, due_ns(page));
    }
}
