/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Generated code, which compilers change and nobody says so: pages of it are read again and again,
 * and of each line of 64 bytes is known since when it is as it is, and how often it was found
 * changed. A sample's code is what is read now only where it was the same before the sample, and
 * does not change back and forth meanwhile. Knows addresses and hashes; does not know instructions.
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "core/base/room.h"
#include "core/base/table.h"
#include "core/sys/target.h"
#include "unwind/rule.h"

struct yarn_code_page;

struct yarn_live_code {
    const struct yarn_target *target; /* borrowed */
    struct yarn_room room;            /* of pages */
    struct yarn_table numbers;        /* by address */
    size_t nr_pages;
    uint64_t sample_ns; /* when the stack was taken that is walked; 0: it is that of a thread now */
    pid_t sample_tid;   /* of the thread whose it is; 0: not known */
    uint64_t expected_ns; /* since when there may be some any moment; 0: it is not expected */
    uint64_t watch_ns;    /* when pages that are new, or change, are read again, or the next samples
                             are to be looked at; UINT64_MAX: never */
};

/* Takes no memory before the first look. */
void yarn_live_code_open(struct yarn_live_code *code, const struct yarn_target *target);

/* There will be generated code soon. */
void yarn_live_code_expect(struct yarn_live_code *code);

/* A number by which the bytes there are known again; 0 where they cannot be read. */
uint32_t yarn_live_code_sign(struct yarn_live_code *code, struct yarn_code_extent extent);

/* Whether they were the same when the sample was taken. */
bool yarn_live_code_is_proven(struct yarn_live_code *code, struct yarn_code_extent extent);

/* To be called at watch_ns: reads what is due. */
void yarn_live_code_watch(struct yarn_live_code *code, uint64_t now_ns);

/* Idempotent. */
void yarn_live_code_close(struct yarn_live_code *code);
