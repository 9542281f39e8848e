/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/io/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { CELLS = 30 };

static const uint64_t PATIENCE_NS = YARN_NS_PER_SECOND;
static const uint64_t REDRAW_NS = 200 * YARN_NS_PER_MS;

static uint64_t now_ns(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * YARN_NS_PER_SECOND + (uint64_t)time.tv_nsec;
}

struct yarn_progress yarn_progress_begin(const char *what)
{
    const char *terminal = getenv("TERM");
    bool can_erase = terminal && terminal[0] && strcmp(terminal, "dumb") != 0;
    return (struct yarn_progress){
        .what = what,
        .begun_ns = now_ns(),
        .is_on = can_erase && isatty(STDERR_FILENO) == 1,
    };
}

static void draw(const struct yarn_progress *progress, uint64_t done, uint64_t all)
{
    char bar[CELLS + 1];
    double share = done < all ? (double)done / (double)all : 1;
    size_t full = (size_t)(share * CELLS);
    memset(bar, '.', CELLS);
    memset(bar, '#', full);
    bar[CELLS] = 0;
    (void)fprintf(stderr, "\r%s [%s] %3.0f %%", progress->what, bar, 100 * share);
}

void yarn_progress_show(struct yarn_progress *progress, uint64_t done, uint64_t all)
{
    if (!progress->is_on || !all)
        return;
    uint64_t at_ns = now_ns();
    if (at_ns - progress->begun_ns < PATIENCE_NS || at_ns - progress->drawn_ns < REDRAW_NS)
        return;
    draw(progress, done, all);
    progress->drawn_ns = at_ns;
    progress->is_drawn = true;
}

void yarn_progress_end(struct yarn_progress *progress)
{
    if (progress->is_drawn)
        (void)fputs("\r\033[K", stderr);
    progress->is_drawn = false;
    progress->is_on = false;
}
