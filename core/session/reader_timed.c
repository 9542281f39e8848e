/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/reader.h"

static int open_timed(struct yarn_reader *reader)
{
    reader->pause_ns = yarn_plan_timed_ns(reader->session->spec, &reader->session->report.got);
    return 0;
}

static void wait_timed(struct yarn_reader *reader, uint64_t timeout_ns)
{
    uint64_t soon_ns = reader->session->soon_ns;
    timeout_ns = yarn_u64_min(timeout_ns, reader->pause_ns);
    if (soon_ns)
        timeout_ns = yarn_u64_min(timeout_ns, soon_ns);
    yarn_reader_sleep(reader, timeout_ns);
}

static void close_timed(struct yarn_reader *reader)
{
    (void)reader;
}

const struct yarn_reader_kind yarn_reader_timed = {
    .name = "timed",
    .open = open_timed,
    .wait = wait_timed,
    .close = close_timed,
};
