/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/reader.h"

static int open_timed(struct yarn_ring_reader *reader)
{
    (void)reader;
    return 0;
}

static void wait_timed(struct yarn_ring_reader *reader, uint64_t timeout_ns)
{
    const struct yarn_session *session = reader->session;
    uint64_t soon_ns = session->soon_ns;
    timeout_ns = yarn_u64_min(timeout_ns, yarn_plan_timed_ns(session->spec, &session->report.got));
    if (soon_ns)
        timeout_ns = yarn_u64_min(timeout_ns, soon_ns);
    yarn_reader_sleep(reader, timeout_ns);
}

static void close_timed(struct yarn_ring_reader *reader)
{
    (void)reader;
}

const struct yarn_reader_kind yarn_reader_timed = {
    .name = "timed",
    .open = open_timed,
    .wait = wait_timed,
    .close = close_timed,
};
