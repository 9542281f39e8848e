/* SPDX-License-Identifier: Apache-2.0 */
#include "output/export/export.h"

static const struct yarn_export_format formats[] = {
    {"folded", "one line a stack: flamegraph.pl, inferno, speedscope",
     YARN_EXPORT_ONE_EVENT | YARN_EXPORT_THREADS, yarn_export_folded},
    {"pprof", "go tool pprof, Pyroscope, Parca, speedscope",
     YARN_EXPORT_CPUS | YARN_EXPORT_THREADS | YARN_EXPORT_LINES | YARN_EXPORT_INLINES |
         YARN_EXPORT_BINARY,
     yarn_export_pprof},
    {"speedscope", "speedscope.app", YARN_EXPORT_TIMES | YARN_EXPORT_TRACKS,
     yarn_export_speedscope},
    {"firefox", "profiler.firefox.com, Perfetto",
     YARN_EXPORT_TIMES | YARN_EXPORT_TRACKS | YARN_EXPORT_LINES | YARN_EXPORT_INLINES,
     yarn_export_firefox},
    {"perf.data", "perf report, hotspot", YARN_EXPORT_TIMES | YARN_EXPORT_FILE | YARN_EXPORT_BINARY,
     yarn_export_perf_data},
    {"sqlite", "sqlite3 and whatever speaks SQL: SQLITE.md",
     YARN_EXPORT_TIMES | YARN_EXPORT_LINES | YARN_EXPORT_INLINES | YARN_EXPORT_FILE |
         YARN_EXPORT_BINARY,
     yarn_export_sqlite},
    {"callgrind", "KCachegrind, QCachegrind, callgrind_annotate",
     YARN_EXPORT_LINES | YARN_EXPORT_INLINES, yarn_export_callgrind},
    {"chrome", "Chromium's developer tools, Perfetto, speedscope",
     YARN_EXPORT_TIMES | YARN_EXPORT_TRACKS | YARN_EXPORT_ONE_EVENT, yarn_export_chrome},
};

const struct yarn_export_format *yarn_export_format(size_t n)
{
    return n < YARN_COUNT_OF(formats) ? &formats[n] : NULL;
}
