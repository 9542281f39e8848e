/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the preload of the fault tests shares with the script that runs it: a file, named by the
 * variable FAULT_FILE, mapped by every process of the tree. Its words are numbers of 64 bits in
 * the machine's order, in the order of this structure.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

struct fault_plan {
    uint64_t call;       /* the call to be failed, counted from 1; 0: none */
    uint64_t call_last;  /* and all others up to this one */
    uint64_t call_errno; /* positive */
    uint64_t alloc;      /* the same of the allocations */
    uint64_t alloc_last;
    _Atomic uint64_t nr_calls; /* counted so far, in the whole tree */
    _Atomic uint64_t nr_allocs;
    _Atomic uint64_t nr_failed;
    _Atomic uint64_t last_failed_call; /* the number of that system call, for the message */
};
