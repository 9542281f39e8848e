/* SPDX-License-Identifier: Apache-2.0 */
#include "output/export/export.h"

static const struct yarn_export_format formats[] = {
    {.name = "folded",
     .about = "one line a stack: flamegraph.pl, inferno, speedscope",
     .needs = YARN_EXPORT_ONE_EVENT | YARN_EXPORT_THREADS,
     .frames = YARN_FRAMES_BY_FUNCTION,
     .write = yarn_export_folded},
    {.name = "pprof",
     .about = "go tool pprof, Pyroscope, Parca, speedscope",
     .needs = YARN_EXPORT_CPUS | YARN_EXPORT_THREADS | YARN_EXPORT_LINES | YARN_EXPORT_INLINES |
              YARN_EXPORT_BINARY,
     .write = yarn_export_pprof},
    {.name = "otlp",
     .about = "OpenTelemetry's profiles, v1development: collectors, Pyroscope",
     .needs = YARN_EXPORT_CPUS | YARN_EXPORT_THREADS | YARN_EXPORT_LINES | YARN_EXPORT_INLINES |
              YARN_EXPORT_BINARY,
     .write = yarn_export_otlp},
    {.name = "speedscope",
     .about = "speedscope.app",
     .needs = YARN_EXPORT_TIMES | YARN_EXPORT_TRACKS,
     .frames = YARN_FRAMES_BY_FUNCTION,
     .write = yarn_export_speedscope},
    {.name = "firefox",
     .about = "profiler.firefox.com, Perfetto",
     .needs = YARN_EXPORT_TIMES | YARN_EXPORT_TRACKS | YARN_EXPORT_LINES | YARN_EXPORT_INLINES,
     .write = yarn_export_firefox},
    {.name = "perf.data",
     .about = "perf report, hotspot",
     .needs = YARN_EXPORT_TIMES | YARN_EXPORT_FILE | YARN_EXPORT_BINARY,
     .write = yarn_export_perf_data},
    {.name = "sqlite",
     .about = "sqlite3 and whatever speaks SQL: SQLITE.md",
     .needs = YARN_EXPORT_TIMES | YARN_EXPORT_LINES | YARN_EXPORT_INLINES | YARN_EXPORT_FILE |
              YARN_EXPORT_BINARY,
     .write = yarn_export_sqlite},
    {.name = "callgrind",
     .about = "KCachegrind, QCachegrind, callgrind_annotate",
     .needs = YARN_EXPORT_LINES | YARN_EXPORT_INLINES,
     .frames = YARN_FRAMES_BY_LINE,
     .write = yarn_export_callgrind},
    {.name = "chrome",
     .about = "Chromium's developer tools, Perfetto, speedscope",
     .needs = YARN_EXPORT_TIMES | YARN_EXPORT_TRACKS | YARN_EXPORT_ONE_EVENT,
     .frames = YARN_FRAMES_BY_FUNCTION,
     .write = yarn_export_chrome},
    {.name = "trace.dat",
     .about = "trace-cmd report, KernelShark",
     .needs = YARN_EXPORT_TIMES | YARN_EXPORT_RAW | YARN_EXPORT_FILE | YARN_EXPORT_BINARY,
     .write = yarn_export_trace_dat},
};

const struct yarn_export_format *yarn_export_format(size_t n)
{
    return n < YARN_COUNT_OF(formats) ? &formats[n] : NULL;
}
