/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/sched/sums.h"

#include <stdlib.h>

#include "core/base/sort.h"
#include "output/analysis/sched/meter.h"
#include "output/base/array.h"

struct sum {
    const struct yarn_sched_log *sched;
    struct yarn_sched_sums *sums;
    struct yarn_sched_scratch *scratch;
    uint64_t states[YARN_SCHED_STATES];
    uint64_t pieces[YARN_SCHED_STATES];
    enum yarn_sched_state last_state;
    struct yarn_sched_meter clock; /* running */
    /* Between readings: what the kernel says of waits, and the records of the same time. Of a wait
     * that lasts at a reading, `lasting_ns` up to here, the kernel has counted what was before the
     * thread was last moved to another core, so that the reading after it says more: until then
     * `doubtful_ns` are of that wait or of others. */
    struct {
        bool has_last;
        uint64_t last, kernel_ns, recorded_ns, since_ns, lasting_ns;
        uint64_t last_kernel_ns, last_recorded_ns, doubtful_ns; /* since then, by such a reading */
    } wait;
    uint64_t told_ns, told_run_ns; /* unknown by the records, between readings; of these running */
    size_t reading, readings_end, nr_read;
    /* Blocked since the last reading, until it came onto a core; and in the block that it may still
     * be in, from its begin on: the kernel counts a wait when it ends. */
    uint64_t unread_ns, open_ns;
    uint64_t before_ns; /* blocked before the first reading, of a thread that had counted before */
    int err;
};

static void take(struct sum *sum, enum yarn_sched_state state, uint64_t ns)
{
    sum->states[state] += ns;
    if (state == YARN_SCHED_RUNNING)
        sum->clock.since += ns;
    else if (state == YARN_SCHED_RUNNABLE)
        sum->wait.since_ns += ns;
    else if (state == YARN_SCHED_UNKNOWN)
        sum->clock.unknown += ns;
    sum->wait.lasting_ns = state == YARN_SCHED_RUNNABLE ? sum->wait.lasting_ns + ns : 0;
}

/* What the thread's clock has more than the records of the same time it has run in what they do not
 * know of. */
static uint64_t unknown_run_ns(const struct sum *sum, uint64_t run_ns)
{
    const struct yarn_sched_meter *clock = &sum->clock;
    uint64_t more_ns = yarn_u64_minus(yarn_u64_minus(run_ns, clock->last), clock->since);
    return clock->has_last ? yarn_u64_min(clock->unknown, more_ns) : 0;
}

/* `hidden_ns`: what it was off a core without a record, with the reading in it: also a wait may
 * last there that is not counted yet. */
static void read_wait(struct sum *sum, uint64_t hidden_ns, uint64_t wait_ns)
{
    uint64_t lasting_ns = yarn_u64_min(sum->wait.lasting_ns, sum->wait.since_ns);
    uint64_t kernel_ns = sum->wait.has_last ? yarn_u64_minus(wait_ns, sum->wait.last) : 0;
    uint64_t recorded_ns = sum->wait.has_last ? sum->wait.since_ns - lasting_ns : 0;
    uint64_t doubtful_ns = yarn_u64_min(lasting_ns, yarn_u64_minus(kernel_ns, recorded_ns));
    bool is_over = !lasting_ns;
    sum->wait.last_kernel_ns = is_over ? 0 : kernel_ns - doubtful_ns;
    sum->wait.last_recorded_ns = is_over ? 0 : recorded_ns;
    sum->wait.doubtful_ns = is_over ? hidden_ns : doubtful_ns;
    if (!is_over)
        return;
    sum->wait.kernel_ns += kernel_ns;
    sum->wait.recorded_ns += recorded_ns;
    sum->wait.has_last = true;
    sum->wait.last = wait_ns;
    sum->wait.since_ns = 0;
}

/* Readings up to and at that time; the piece is cut where they were made. */
static uint64_t take_readings(struct sum *sum, enum yarn_sched_state state, uint64_t from_ns,
                              uint64_t to_ns)
{
    for (; sum->reading < sum->readings_end; sum->reading++) {
        const struct yarn_sched_reading *reading = &sum->sched->readings[sum->reading];
        if (reading->time_ns > to_ns)
            break;
        if (reading->time_ns < from_ns)
            continue;
        bool is_within_block = state == YARN_SCHED_BLOCKED && reading->time_ns < to_ns;
        take(sum, state, reading->time_ns - from_ns);
        sum->nr_read++;
        if (!sum->wait.has_last)
            sum->before_ns += sum->unread_ns + (is_within_block ? 0 : sum->open_ns);
        sum->unread_ns = 0;
        sum->open_ns = is_within_block ? sum->open_ns + reading->time_ns - from_ns : 0;
        from_ns = reading->time_ns;
        uint64_t told_run_ns = unknown_run_ns(sum, reading->run_ns);
        uint64_t told_ns = sum->clock.has_last ? sum->clock.unknown : 0;
        sum->told_run_ns += told_run_ns;
        sum->told_ns += told_ns;
        yarn_sched_meter_read(&sum->clock, reading->run_ns);
        read_wait(sum, state == YARN_SCHED_UNKNOWN ? told_ns - told_run_ns : 0, reading->wait_ns);
    }
    return from_ns;
}

/* A thread that ran after a block may have waited for its core: only a later reading says. One that
 * did not run again was blocked. */
static void note_unread(struct sum *sum, enum yarn_sched_state state, uint64_t ns)
{
    if (state == YARN_SCHED_BLOCKED)
        sum->open_ns += ns;
    else {
        sum->unread_ns += sum->open_ns;
        sum->open_ns = 0;
    }
}

static void on_piece(void *self, enum yarn_sched_state state, uint64_t from_ns, uint64_t to_ns)
{
    struct sum *sum = self;
    if (state != sum->last_state)
        sum->pieces[state]++;
    sum->last_state = state;
    sum->sums->life_ns += to_ns - from_ns;
    from_ns = take_readings(sum, state, from_ns, to_ns);
    take(sum, state, to_ns - from_ns);
    note_unread(sum, state, to_ns - from_ns);
}

static void on_left(void *self, const struct yarn_sched_span *span, uint64_t at_ns)
{
    struct sum *sum = self;
    (void)at_ns;
    sum->sums->switches++;
    sum->sums->preemptions += span->is_preempted;
}

static void on_came(void *self, const struct yarn_sched_span *span, uint32_t cpu_before,
                    bool was_blocked, uint64_t at_ns)
{
    struct sum *sum = self;
    (void)at_ns;
    sum->sums->wakeups += was_blocked;
    sum->sums->migrations += cpu_before != UINT32_MAX && cpu_before != span->cpu;
}

static void on_wait(void *self, uint64_t from_ns, uint64_t to_ns,
                    const struct yarn_sched_waking *waking)
{
    struct sum *sum = self;
    struct yarn_sched_scratch *scratch = sum->scratch;
    struct yarn_sched_waits *waits = &sum->sums->waits;
    uint64_t ns = to_ns - from_ns;
    (void)waking;
    if (!waits->longest_at_ns || ns > waits->max_ns) {
        waits->longest_at_ns = from_ns;
        waits->max_ns = ns;
    }
    if (!sum->err)
        sum->err = YARN_ARRAY_PUT(&scratch->waits, &scratch->count, &scratch->capacity, &ns);
}

static void on_refused(void *self, const struct yarn_sched_span *span)
{
    struct sum *sum = self;
    (void)span;
    sum->sums->refused++;
}

/* whole * part / all, rounded down; part <= all, which is below 2^32. */
static uint64_t share(uint64_t whole, uint64_t part, uint64_t all)
{
    return all ? whole / all * part + whole % all * part / all : 0;
}

/* The clock runs while a switch is made, records do not tell of it: what the clock has more lies
 * around the times off a core, as often as there were any. */
static void subtract_switching(struct sum *sum)
{
    struct yarn_sched_sums *sums = sum->sums;
    uint64_t off_ns = sums->runnable_ns + sums->blocked_ns;
    uint64_t runnable = sum->pieces[YARN_SCHED_RUNNABLE], blocked = sum->pieces[YARN_SCHED_BLOCKED];
    sums->has_clock = sum->clock.kernel || sum->clock.recorded;
    sums->switching_ns =
        yarn_u64_min(yarn_u64_minus(sum->clock.kernel, sum->clock.recorded), off_ns);
    uint64_t of_runnable =
        yarn_u64_min(share(sums->switching_ns, runnable, runnable + blocked), sums->runnable_ns);
    uint64_t of_blocked = yarn_u64_min(sums->switching_ns - of_runnable, sums->blocked_ns);
    of_runnable = sums->switching_ns - of_blocked;
    sums->runnable_ns -= of_runnable;
    sums->blocked_ns -= of_blocked;
}

/* What the kernel says of waits that no record shows; what it was not asked about is unknown. Where
 * it was asked about no thread, records stand. */
static void add_schedstat(struct sum *sum, const struct yarn_sched_life *life)
{
    struct yarn_sched_sums *sums = sum->sums;
    if (life->has_wakings) {
        sums->runnable_from = YARN_SCHED_FROM_WAKING;
        return;
    }
    if (!sum->sched->nr_readings)
        return;
    if (sum->nr_read)
        sums->runnable_from = YARN_SCHED_FROM_SCHEDSTAT;
    uint64_t unread_ns = yarn_u64_min(sum->before_ns + sum->unread_ns, sums->blocked_ns);
    sums->blocked_ns -= unread_ns;
    sums->unknown_ns += unread_ns;
    uint64_t elsewhere_ns = yarn_u64_minus(sum->states[YARN_SCHED_RUNNABLE],
                                           sum->wait.recorded_ns + sum->wait.last_recorded_ns);
    uint64_t kernel_ns = sum->wait.kernel_ns + sum->wait.last_kernel_ns;
    uint64_t waited_ns =
        kernel_ns > UINT64_MAX - elsewhere_ns ? UINT64_MAX : kernel_ns + elsewhere_ns;
    uint64_t more_ns = yarn_u64_min(yarn_u64_minus(waited_ns, sums->runnable_ns), sums->blocked_ns);
    sums->runnable_ns += more_ns;
    sums->blocked_ns -= more_ns;
    uint64_t less_ns = yarn_u64_minus(sums->runnable_ns, waited_ns);
    uint64_t doubtful_ns = yarn_u64_min(sum->wait.doubtful_ns, sums->blocked_ns);
    sums->runnable_ns -= less_ns;
    sums->blocked_ns -= doubtful_ns;
    sums->unknown_ns += less_ns + doubtful_ns;
}

/* What no record knows of, between two readings: running by the thread's clock, else runnable or
 * blocked, which the kernel's number of waits divides. */
static void add_told(struct sum *sum)
{
    struct yarn_sched_sums *sums = sum->sums;
    sums->unknown_ns -= sum->told_ns;
    sums->running_ns += sum->told_run_ns;
    sums->blocked_ns += sum->told_ns - sum->told_run_ns;
}

static void sum_waits(struct sum *sum)
{
    struct yarn_sched_waits *waits = &sum->sums->waits;
    uint64_t at_ns = waits->longest_at_ns;
    *waits = yarn_sched_waits_of(sum->scratch->waits, sum->scratch->count);
    waits->longest_at_ns = at_ns;
}

struct yarn_sched_waits yarn_sched_waits_of(uint64_t *waits, size_t count)
{
    struct yarn_sched_waits made = {.count = count};
    uint64_t sum = 0;
    if (!count)
        return made;
    yarn_sort_u64(waits, count);
    for (size_t i = 0; i < count; i++)
        sum += waits[i];
    made.mean_ns = sum / count;
    made.p99_ns = waits[(count * 99 + 99) / 100 - 1];
    made.max_ns = waits[count - 1];
    return made;
}

/* A thread that was born in the window has counted nothing before. */
static void begin_meters(struct sum *sum, const struct yarn_sched_life *life, uint64_t from_ns)
{
    if (!life->is_born || life->birth_ns < from_ns)
        return;
    yarn_sched_meter_read(&sum->clock, 0);
    read_wait(sum, 0, 0);
}

static void end_meters(struct sum *sum, const struct yarn_sched_life *life, uint64_t to_ns)
{
    if (!life->cpu_ns || life->end_ns > to_ns || !life->has_ended)
        return;
    uint64_t run_ns = unknown_run_ns(sum, life->cpu_ns);
    sum->told_ns += run_ns;
    sum->told_run_ns += run_ns;
    yarn_sched_meter_read(&sum->clock, life->cpu_ns);
}

/* The kernel's number at the last reading at which it is known; false: it is not. */
static bool last_wait_ns(const struct sum *sum, const struct yarn_sched_life *life,
                         uint64_t *ret_wait_ns)
{
    const struct yarn_sched_reading *readings = sum->sched->readings;
    bool is_of_life = sum->reading > YARN_SCHED_LOG_BEGIN(sum->sched, life->group, readings_end) &&
                      readings[sum->reading - 1].time_ns >= life->birth_ns;
    if (!sum->wait.has_last && !is_of_life && !life->is_born)
        return false;
    *ret_wait_ns = sum->wait.has_last ? sum->wait.last
                   : is_of_life       ? readings[sum->reading - 1].wait_ns
                                      : 0;
    return true;
}

/* A block that the window cuts ends behind it: what the kernel has more at the next reading bounds
 * what may have been a wait. */
static void note_cut_block(struct sum *sum, const struct yarn_sched_life *life, uint64_t to_ns)
{
    const struct yarn_sched_log *sched = sum->sched;
    uint64_t last_ns;
    if (!life->count || sched->spans[life->first + life->count - 1].begin_ns < to_ns)
        return;
    if (sum->reading < sum->readings_end && sched->readings[sum->reading].time_ns <= life->end_ns &&
        last_wait_ns(sum, life, &last_ns))
        sum->open_ns = yarn_u64_min(sum->open_ns,
                                    yarn_u64_minus(sched->readings[sum->reading].wait_ns, last_ns));
    sum->unread_ns += sum->open_ns;
}

/* Of a tid that several threads had each has its own. */
static void find_readings(struct sum *sum, const struct yarn_sched_life *life, uint64_t from_ns)
{
    const struct yarn_sched_log *sched = sum->sched;
    uint64_t first_ns = yarn_u64_max(life->birth_ns, from_ns);
    uint32_t begin = YARN_SCHED_LOG_BEGIN(sched, life->group, readings_end);
    sum->readings_end = sched->groups[life->group].readings_end;
    sum->reading = begin;
    if (first_ns && sum->readings_end > begin)
        sum->reading +=
            YARN_ARRAY_UP_TO(sched->readings + begin, sum->readings_end - begin, first_ns - 1);
}

int yarn_sched_sums_of(const struct yarn_sched_log *sched, const struct yarn_sched_life *life,
                       uint64_t from_ns, uint64_t to_ns, struct yarn_sched_scratch *scratch,
                       struct yarn_sched_sums *ret_sums)
{
    static const struct yarn_sched_visitor visitor = {on_piece, on_left, on_came, on_wait,
                                                      on_refused};
    struct yarn_sched_sums sums = {0};
    struct sum sum = {
        .sched = sched, .sums = &sums, .scratch = scratch, .last_state = YARN_SCHED_STATES};
    scratch->count = 0;
    find_readings(&sum, life, from_ns);
    begin_meters(&sum, life, from_ns);
    yarn_sched_walk(sched, life, from_ns, to_ns, &visitor, &sum);
    note_cut_block(&sum, life, to_ns);
    end_meters(&sum, life, to_ns);
    sums.running_ns = sum.states[YARN_SCHED_RUNNING];
    sums.runnable_ns = sum.states[YARN_SCHED_RUNNABLE];
    sums.blocked_ns = sum.states[YARN_SCHED_BLOCKED];
    sums.unknown_ns = sum.states[YARN_SCHED_UNKNOWN];
    add_told(&sum);
    subtract_switching(&sum);
    add_schedstat(&sum, life);
    sum_waits(&sum);
    *ret_sums = sums;
    return sum.err;
}

void yarn_sched_scratch_fini(struct yarn_sched_scratch *scratch)
{
    free(scratch->waits);
    *scratch = (struct yarn_sched_scratch){0};
}
