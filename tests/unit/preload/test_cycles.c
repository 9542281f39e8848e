/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The recorder started and stopped again and again by its control socket, while threads come and
 * go. Between a start and a stop each of some threads touches a known number of fresh pages, one of
 * them a thread that was made while it was stopped; every touch is one event of page-faults. So the
 * dump has to hold exactly so many samples of touch_pages(): one less, and a stop has lost it.
 *
 * The reader is a thread of the C library here (tests/fake), so that the sanitizers see it. CYCLES
 * in the environment says how many (60); SAMPLER=timer has the timer sampler take what it can,
 * where only the losses that it reports are checked.
 */
#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "output/dump/reader.h"
#include "preload/control/recorder.h"
#include "tests/support/suite.h"

enum { TOUCHERS = 3, PAGES = 40, PAGE_BYTES = 4096, SPIN_STEPS = 5000000, STACKS_MAX = 1 << 16 };

static char folder[] = "/tmp/yarn-cycles.XXXXXX";
static uint8_t *pages[TOUCHERS + 1]; /* the last is that of the fresh thread */
static pthread_barrier_t begin, end;
static pthread_mutex_t birth = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool is_over;
static bool is_timer;
static int control = -1;

/* Uninstrumented: a sanitizer's own memory would fault in here, too. */
__attribute__((noinline, no_sanitize("address", "thread", "undefined"))) void
touch_pages(volatile uint8_t *first);
__attribute__((noinline, no_sanitize("address", "thread", "undefined"))) void
touch_pages(volatile uint8_t *first)
{
    for (size_t i = 0; i < PAGES; i++)
        first[i * PAGE_BYTES] = 1;
    for (size_t i = 0; is_timer && i < SPIN_STEPS; i++)
        first[0] = (uint8_t)i;
}

static void set_deaf(bool is_deaf)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(is_deaf ? SIG_BLOCK : SIG_UNBLOCK, &all, NULL);
}

/* A sanitizer does not know a thread yet when it starts, nor any more when it ends; the timer's
 * handler must not run then. So threads start and end with all signals blocked. */
static int create(pthread_t *ret_thread, void *(*run)(void *), void *argument)
{
    set_deaf(true);
    int err = pthread_create(ret_thread, NULL, run, argument);
    set_deaf(false);
    return err;
}

static void *touch_again_and_again(void *argument)
{
    set_deaf(false);
    for (;;) {
        pthread_barrier_wait(&begin);
        if (atomic_load(&is_over)) {
            set_deaf(true);
            return NULL;
        }
        touch_pages(*(uint8_t **)argument);
        pthread_barrier_wait(&end);
    }
}

static void *touch_once(void *argument)
{
    set_deaf(false);
    pthread_barrier_wait(&begin);
    touch_pages(*(uint8_t **)argument);
    pthread_barrier_wait(&end);
    set_deaf(true);
    return NULL;
}

static void *do_nothing(void *unused)
{
    set_deaf(false);
    set_deaf(true);
    return unused;
}

/* Not at the moment of a start: a thread that inherits its events right then may miss it, and the
 * kernel exchanges the events of threads that inherited the same ones (core/NOTES.md). */
static void *make_threads(void *unused)
{
    set_deaf(false);
    while (!atomic_load(&is_over)) {
        pthread_t thread;
        pthread_mutex_lock(&birth);
        int err = create(&thread, do_nothing, NULL);
        pthread_mutex_unlock(&birth);
        if (!err)
            pthread_join(thread, NULL);
    }
    set_deaf(true);
    return unused;
}

static void send_command(const char *command, const char *want)
{
    char reply[512];
    size_t size = 0;
    ck_assert_int_eq(send(control, command, strlen(command), 0), (ssize_t)strlen(command));
    while (!size || reply[size - 1] != '\n') {
        ssize_t got = recv(control, reply + size, sizeof reply - 1 - size, 0);
        ck_assert_int_gt(got, 0);
        size += (size_t)got;
    }
    reply[size] = 0;
    ck_assert_msg(strncmp(reply, want, strlen(want)) == 0, "%s: %s", command, reply);
}

static void connect_to_recorder(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s/c.sock", folder);
    control = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(connect(control, (struct sockaddr *)&address, sizeof address), 0);
}

static struct yarn_recorder *start_recorder(void)
{
    static char output[128], socket_path[128], error[512];
    static char *const argv[] = {"cycles", NULL};
    (void)snprintf(output, sizeof output, "YARN_OUTPUT=%s/it.dump", folder);
    (void)snprintf(socket_path, sizeof socket_path, "YARN_CONTROL=%s/c.sock", folder);
    static char *envp[] = {output, socket_path, "YARN_START=off", NULL, NULL, NULL, NULL};
    size_t count = 3;
    envp[count++] = is_timer ? "YARN_SAMPLER=timer" : "YARN_EVENTS=page-faults/period=1/u";
    envp[count++] = is_timer ? "YARN_FREQUENCY=4999" : "YARN_CALLGRAPH=fp";
    envp[count++] = "YARN_RING=2M";
    struct yarn_text line = yarn_text_of(error, sizeof error);
    struct yarn_recorder *recorder = NULL;
    int err = yarn_recorder_start(&recorder, 1, argv, envp, &line);
    ck_assert_msg(err == 0, "%s", error);
    return recorder;
}

/* ---- the dump ---- */

struct found {
    uint32_t symbol;  /* number of touch_pages; NONE */
    uint64_t address; /* in it, where its name came late */
    bool is_ours_frame[STACKS_MAX], is_ours_stack[STACKS_MAX];
    uint64_t samples, ours, lost, nr_stops, nr_starts;
};

static int on_symbol(void *self, const struct yarn_dump_symbol *symbol)
{
    struct found *found = self;
    if (yarn_span_equal(symbol->name, yarn_span_of_text("touch_pages")))
        found->symbol = symbol->number;
    return 0;
}

static int on_frame(void *self, const struct yarn_dump_frame *frame)
{
    struct found *found = self;
    ck_assert_uint_lt(frame->number, STACKS_MAX);
    found->is_ours_frame[frame->number] =
        frame->symbol == found->symbol || frame->address == found->address;
    return 0;
}

static int on_code_name(void *self, const struct yarn_dump_code_name *name)
{
    struct found *found = self;
    if (yarn_span_equal(name->name, yarn_span_of_text("touch_pages")))
        found->address = name->address;
    return 0;
}

static int on_stack(void *self, const struct yarn_dump_stack *stack)
{
    struct found *found = self;
    ck_assert_uint_lt(stack->number, STACKS_MAX);
    found->is_ours_stack[stack->number] = found->is_ours_frame[stack->frame];
    return 0;
}

static int on_samples(void *self, const struct yarn_sample *samples, size_t count)
{
    struct found *found = self;
    for (size_t i = 0; i < count; i++)
        found->ours += samples[i].stack != YARN_DUMP_NONE && found->is_ours_stack[samples[i].stack];
    found->samples += count;
    return 0;
}

static int on_coverage(void *self, const struct yarn_dump_coverage *coverage)
{
    struct found *found = self;
    found->nr_starts += coverage->is_on;
    found->nr_stops += !coverage->is_on;
    return 0;
}

static int on_totals(void *self, const struct yarn_dump_totals *totals)
{
    struct found *found = self;
    found->lost = totals->value[YARN_DUMP_TOTAL_LOST];
    return 0;
}

static void check_dump(uint64_t nr_cycles)
{
    static struct found found = {.symbol = YARN_DUMP_NONE};
    static const struct yarn_dump_visitor visitor = {
        .symbol = on_symbol,
        .frame = on_frame,
        .stack = on_stack,
        .samples = on_samples,
        .coverage = on_coverage,
        .totals = on_totals,
    };
    static const struct yarn_dump_visitor late = {.code_name = on_code_name};
    struct yarn_dump_summary summary;
    char path[128];
    (void)snprintf(path, sizeof path, "%s/it.dump", folder);
    ck_assert_int_eq(yarn_dump_read_file(path, &late, &found, &summary), 0);
    ck_assert_int_eq(yarn_dump_read_file(path, &visitor, &found, &summary), 0);
    ck_assert_uint_eq(summary.nr_damages, 0);
    ck_assert(summary.has_end);
    ck_assert_uint_eq(found.lost, 0);
    ck_assert_uint_eq(found.nr_starts, nr_cycles);
    ck_assert_uint_eq(found.nr_stops, nr_cycles + 1);
    uint64_t want = nr_cycles * PAGES * (TOUCHERS + 1);
    (void)printf("%lu cycles: %lu samples, %lu in touch_pages, %lu touches, %lu lost\n",
                 (unsigned long)nr_cycles, (unsigned long)found.samples, (unsigned long)found.ours,
                 is_timer ? 0 : (unsigned long)want, (unsigned long)found.lost);
    if (is_timer)
        ck_assert_uint_gt(found.ours, 0); /* a busy machine gives few ticks */
    else
        ck_assert_uint_eq(found.ours, want);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(rmdir(folder), 0); /* the socket's file has gone, too */
}

/* ---- */

static void make_pages(void)
{
    for (size_t i = 0; i <= TOUCHERS; i++) {
        pages[i] = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ck_assert_ptr_ne(pages[i], MAP_FAILED);
        ck_assert_int_eq(madvise(pages[i], PAGES * PAGE_BYTES, MADV_NOHUGEPAGE), 0);
    }
}

static void cycle(void)
{
    pthread_t fresh;
    ck_assert_int_eq(create(&fresh, touch_once, &pages[TOUCHERS]), 0);
    pthread_mutex_lock(&birth);
    send_command("start\n", "ok recording\n");
    pthread_mutex_unlock(&birth);
    pthread_barrier_wait(&begin);
    pthread_barrier_wait(&end);
    send_command("stop\n", "ok stopped\n");
    pthread_join(fresh, NULL);
    for (size_t i = 0; i <= TOUCHERS; i++)
        madvise(pages[i], PAGES * PAGE_BYTES, MADV_DONTNEED);
}

START_TEST(no_sample_is_lost_between_a_start_and_its_stop)
{
    const char *wanted = getenv("CYCLES");
    uint64_t nr_cycles = wanted ? strtoull(wanted, NULL, 10) : 60;
    pthread_t touchers[TOUCHERS], maker;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    make_pages();
    pthread_barrier_init(&begin, NULL, TOUCHERS + 2);
    pthread_barrier_init(&end, NULL, TOUCHERS + 2);
    struct yarn_recorder *recorder = start_recorder();
    for (size_t i = 0; i < TOUCHERS; i++)
        ck_assert_int_eq(create(&touchers[i], touch_again_and_again, &pages[i]), 0);
    ck_assert_int_eq(create(&maker, make_threads, NULL), 0);
    connect_to_recorder();
    for (uint64_t i = 0; i < nr_cycles; i++)
        cycle();
    atomic_store(&is_over, true);
    pthread_t last;
    ck_assert_int_eq(create(&last, touch_again_and_again, &pages[0]), 0);
    pthread_barrier_wait(&begin);
    pthread_join(last, NULL);
    for (size_t i = 0; i < TOUCHERS; i++)
        pthread_join(touchers[i], NULL);
    pthread_join(maker, NULL);
    yarn_recorder_end(recorder, YARN_DUMP_END_EXIT, 0);
    ck_assert_int_eq(yarn_thread_join(&recorder->thread, YARN_NS_PER_SECOND), 0);
    close(control);
    check_dump(nr_cycles);
}
END_TEST

int main(void)
{
    const char *sampler = getenv("SAMPLER");
    is_timer = sampler && strcmp(sampler, "timer") == 0;
    Suite *suite = suite_create("cycles of start and stop");
    TCase *tcase = tcase_create("under load");
    tcase_add_test(tcase, no_sample_is_lost_between_a_start_and_its_stop);
    tcase_set_timeout(tcase, 0);
    suite_add_tcase(suite, tcase);
    return run_suite_forking(suite, CK_NOFORK);
}
