/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * LD_PRELOAD, by which executed programs inherit the profiler. Without exec in YARN_FOLLOW our
 * library's name is removed from the host's own environment before main runs, so that no function
 * that starts a program has to be interposed for it. Nothing else is changed.
 */
#pragma once

/* `envp` is the block that the host begins with; changed in place. In the constructor. */
void yarn_ld_preload_remove(char *envp[]);
