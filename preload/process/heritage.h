/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the images that follow inherit of the profiler: LD_PRELOAD. Where the user does not want to
 * follow exec, our library's name is taken out of the host's own environment before its main runs,
 * so that no way of starting a program has to be watched. Nothing else is changed.
 */
#pragma once

/* `envp` is the block that the host begins with; changed in place. In the constructor. */
void yarn_heritage_leave_out(char *envp[]);
