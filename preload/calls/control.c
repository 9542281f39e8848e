/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/calls/interpose.h"
#include "preload/control/lifecycle.h"
#include "preload/control/recorder.h"

/* What the calls of <yarn/control.h> find. */
YARN_EXPORTED int yarn_start(void);
YARN_EXPORTED int yarn_stop(void);
YARN_EXPORTED int yarn_mark(const char *text);
YARN_EXPORTED int yarn_flush(void);

static int command(enum yarn_recorder_command wanted)
{
    struct yarn_recorder *recorder = yarn_lifecycle_recorder();
    return recorder ? yarn_recorder_command(recorder, wanted) : -ESRCH;
}

YARN_EXPORTED int yarn_start(void)
{
    struct yarn_recorder *recorder = yarn_lifecycle_recorder();
    if (recorder)
        yarn_recorder_rouse(recorder);
    return command(YARN_RECORDER_RESUME);
}

YARN_EXPORTED int yarn_stop(void)
{
    return command(YARN_RECORDER_PAUSE);
}

YARN_EXPORTED int yarn_flush(void)
{
    return command(YARN_RECORDER_FLUSH);
}

YARN_EXPORTED int yarn_mark(const char *text)
{
    struct yarn_recorder *recorder = yarn_lifecycle_recorder();
    return recorder ? yarn_recorder_mark(recorder, text) : -ESRCH;
}
