/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What executed programs inherit of the profiler: LD_PRELOAD. Without exec in YARN_FOLLOW our
 * library's name is removed from the host's own environment before main runs, so that no function
 * that starts a program has to be interposed for it. Nothing else is changed.
 */
#pragma once

/* `envp` is the block that the host begins with; changed in place. In the constructor. */
void yarn_heritage_leave_out(char *envp[]);
