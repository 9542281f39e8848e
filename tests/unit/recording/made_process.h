/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A followed process that does not exist: its facts, a session of one clock that opened nothing,
 * and a dump in a file of its own, so that the pipeline and the account are driven by made records.
 * One at a time.
 */
#pragma once

#include "core/session/attach.h"
#include "core/sys/file.h"
#include "recording/pipeline/pipeline.h"
#include "tests/unit/output/dump/record_log.h"

enum { MADE_PID = 4194000, MADE_READER = MADE_PID + 1, MADE_THREAD = MADE_PID + 2 };

#define MADE_PERIOD_NS UINT64_C(1000000)

struct made_process {
    struct yarn_job job;
    struct yarn_event_spec event;
    struct yarn_target target;
    struct yarn_session_request session_request;
    struct yarn_event_status opened[2]; /* the clock, and another that no view knows */
    struct yarn_attachment attachment;
    struct yarn_session session;
    struct yarn_messages messages;
    struct yarn_failure failure;
    struct yarn_account account;
    struct yarn_process_dump dump;
    struct yarn_pipeline pipeline;
    struct record_log log; /* of the dump, after made_process_read */
    struct yarn_dump_summary summary;
    char folder[64];
};

extern struct made_process made;

/* What the session says when it is asked. */
extern struct yarn_perf_count made_count;
extern uint64_t made_thread_cpu_ns, made_blocked_ns, made_switching_ns;

/* A Check fixture. */
void made_process_begin(void);
void made_process_end(void);

/* The pipeline's listener is given the record. */
void made_process_feed(const struct yarn_typed_record *record);

/* Flushes, ends the dump, closes and reads it; how many lines begin so is then known. */
void made_process_read(void);
size_t made_process_lines(const char *begin);

/* The first line that begins so; it fails where there is none. */
const char *made_process_line(const char *begin);

/* As the kernel reports it where there is no dump yet. */
void made_process_birth(uint32_t tid, uint32_t parent_tid, uint64_t time_ns);
