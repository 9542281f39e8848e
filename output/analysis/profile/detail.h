/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What samples of a profile have beside a place and a weight: the access to memory that they are
 * about, the fields of a tracepoint. Threads: one.
 */
#pragma once

#include "core/base/base.h"

/* What a sample has beyond the rest. */
struct yarn_profile_detail {
    uint64_t address;              /* of the memory that it is about; 0: none */
    uint64_t latency, data_source; /* of the access to it; 0: none */
    uint32_t fields;               /* a tracepoint's, "which=0 who=0" */
    uint32_t raw_pid; /* of the thread that it was taken of, in the first pid namespace; 0 */
    uint32_t raw_bytes;
    const uint8_t *raw; /* where they were asked for: the tracepoint's; owned by `strings` */
};

/* Memory that samples are about, and where it was served; texts. */
struct yarn_profile_access {
    uint32_t address, source; /* 0: not known */
};
