/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The tables and views of a profile as a database; what they mean is SQLITE.md. A change that
 * takes something away raises YARN_SQLITE_SCHEMA_VERSION.
 */
#pragma once

#define YARN_SQLITE_SCHEMA_VERSION 1

/* NAME, columns. The order is that of enum yarn_sqlite_table. */
#define YARN_SQLITE_TABLES(X)                                                                      \
    X(META, "meta", "key TEXT PRIMARY KEY, value TEXT")                                            \
    X(PROCESSES, "processes",                                                                      \
      "id INTEGER PRIMARY KEY, pid INTEGER, ppid INTEGER, name TEXT, executable TEXT, "            \
      "command TEXT, host TEXT, kernel TEXT, arch TEXT, start_ns INTEGER, "                        \
      "start_realtime_ns INTEGER, end_ns INTEGER, end_reason TEXT, exit_status INTEGER, "          \
      "lost INTEGER, unsampled_ns INTEGER, kernel_ns INTEGER, dump TEXT, rank TEXT")               \
    X(THREADS, "threads",                                                                          \
      "id INTEGER PRIMARY KEY, process INTEGER REFERENCES processes, tid INTEGER, name TEXT, "     \
      "start_ns INTEGER, end_ns INTEGER, cpu_ns INTEGER")                                          \
    X(EVENTS, "events",                                                                            \
      "id INTEGER PRIMARY KEY, name TEXT, unit TEXT, period INTEGER, frequency INTEGER")           \
    X(COUNTS, "counts",                                                                            \
      "process INTEGER REFERENCES processes, event INTEGER REFERENCES events, count INTEGER, "     \
      "enabled_ns INTEGER, running_ns INTEGER, lost INTEGER")                                      \
    X(MODULES, "modules", "id INTEGER PRIMARY KEY, path TEXT, name TEXT")                          \
    X(MAPPINGS, "mappings",                                                                        \
      "id INTEGER PRIMARY KEY, module INTEGER REFERENCES modules, build_id TEXT, "                 \
      "address INTEGER, size INTEGER, file_offset INTEGER")                                        \
    X(FUNCTIONS, "functions",                                                                      \
      "id INTEGER PRIMARY KEY, name TEXT, module INTEGER REFERENCES modules, "                     \
      "is_inlined INTEGER, is_missing INTEGER")                                                    \
    X(FILES, "files", "id INTEGER PRIMARY KEY, path TEXT")                                         \
    X(FRAMES, "frames",                                                                            \
      "id INTEGER PRIMARY KEY, function INTEGER REFERENCES functions, "                            \
      "mapping INTEGER REFERENCES mappings, address INTEGER, "                                     \
      "file INTEGER REFERENCES files, line INTEGER, is_kernel INTEGER")                            \
    X(STACKS, "stacks",                                                                            \
      "id INTEGER PRIMARY KEY, parent INTEGER REFERENCES stacks, "                                 \
      "frame INTEGER REFERENCES frames")                                                           \
    X(STACK_ENDS, "stack_ends", "id INTEGER PRIMARY KEY, name TEXT")                               \
    X(SAMPLES, "samples",                                                                          \
      "id INTEGER PRIMARY KEY, time_ns INTEGER, event INTEGER REFERENCES events, "                 \
      "thread INTEGER REFERENCES threads, cpu INTEGER, weight INTEGER, "                           \
      "stack INTEGER REFERENCES stacks, stack_end INTEGER REFERENCES stack_ends")                  \
    X(MESSAGES, "messages",                                                                        \
      "id INTEGER PRIMARY KEY, time_ns INTEGER, process INTEGER REFERENCES processes, "            \
      "tid INTEGER, kind TEXT, text TEXT")

enum yarn_sqlite_table {
#define X(NAME, name, columns) YARN_SQLITE_##NAME,
    YARN_SQLITE_TABLES(X)
#undef X
        YARN_SQLITE_TABLE_COUNT,
};

/* stack_functions: every function on a stack, with its distance from the innermost.
 * self, totals: what `yarnprof report` calls so; a function counts once a stack. */
#define YARN_SQLITE_VIEWS                                                                          \
    "CREATE VIEW stack_functions AS"                                                               \
    " WITH RECURSIVE up(stack, at, distance) AS ("                                                 \
    "SELECT id, id, 0 FROM stacks UNION ALL "                                                      \
    "SELECT up.stack, stacks.parent, up.distance + 1 FROM up JOIN stacks ON stacks.id = up.at "    \
    "WHERE stacks.parent IS NOT NULL)"                                                             \
    " SELECT up.stack AS stack, up.distance AS distance, up.at AS at, frames.id AS frame, "        \
    "frames.function AS function FROM up JOIN stacks ON stacks.id = up.at "                        \
    "JOIN frames ON frames.id = stacks.frame;"                                                     \
    "CREATE VIEW self AS"                                                                          \
    " SELECT events.name AS event, functions.name AS function, modules.name AS module, "           \
    "SUM(samples.weight) AS self, COUNT(*) AS samples FROM samples "                               \
    "JOIN events ON events.id = samples.event JOIN stacks ON stacks.id = samples.stack "           \
    "JOIN frames ON frames.id = stacks.frame JOIN functions ON functions.id = frames.function "    \
    "JOIN modules ON modules.id = functions.module GROUP BY events.id, functions.id;"              \
    "CREATE VIEW totals AS"                                                                        \
    " WITH spent(event, stack, weight, samples) AS ("                                              \
    "SELECT event, stack, SUM(weight), COUNT(*) FROM samples GROUP BY event, stack), "             \
    "held(stack, function) AS (SELECT DISTINCT stack, function FROM stack_functions)"              \
    " SELECT events.name AS event, functions.name AS function, modules.name AS module, "           \
    "SUM(spent.weight) AS total, SUM(spent.samples) AS samples FROM spent "                        \
    "JOIN held ON held.stack = spent.stack JOIN events ON events.id = spent.event "                \
    "JOIN functions ON functions.id = held.function "                                              \
    "JOIN modules ON modules.id = functions.module GROUP BY events.id, functions.id;"
