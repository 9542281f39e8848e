/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A process of a tree that is recorded, as the kernel's records show it: what it maps, its threads,
 * which program it runs. It is one image after the other: an exec begins the next. A child begins
 * with what its parent has. What is recorded of an image begins with its first sample.
 *
 * Threads: one. Signals: not safe.
 */
#pragma once

#include "core/base/arena.h"
#include "output/yarnprof/outside/followed.h"

/* An executable mapping; later ones lie over earlier ones. */
struct yarn_tree_mapping {
    uint64_t start, end, file_offset, device, inode, time_ns;
    const char *path; /* of the tree's paths */
};

struct yarn_tree_thread {
    uint32_t tid, parent_tid;
    uint64_t time_ns;
    uint64_t attached_ns; /* as it ran, and no record of it was read yet; 0 */
    bool is_gone;         /* before a record of it was read */
    uint64_t whole_ns;    /* what it makes from then on has all events; 0: it may lack some */
    char name[16];
};

/* Before there is a dump to have it. */
struct yarn_tree_switch {
    uint64_t time_ns;
    uint32_t tid, cpu;
    bool is_out, is_preempted;
};

struct yarn_process_tree;

enum { YARN_TREE_SWITCHES = 128, YARN_TREE_NAME_BYTES = 256 };

struct yarn_tree_process {
    struct yarn_tree_process *next; /* of the same bucket */
    struct yarn_target target;
    struct yarn_facts facts;            /* of the image */
    bool is_ignored;                    /* the image is not to be followed */
    bool has_program;                   /* the image's path is known */
    bool has_executed;                  /* a program */
    uint64_t nr_turns;                  /* on a core, that have ended lately (times) */
    uint64_t clock_ns;                  /* its CPU clock at the last reading (times) */
    uint64_t sampled_ns;                /* since */
    uint64_t off_cpu_ns;                /* its CPU time when the recording was stopped last */
    uint64_t skipped_ns;                /* of it, in stops that have ended */
    char name[YARN_TREE_NAME_BYTES];    /* by which it was run (the facts') */
    char *cmdline;                      /* owned; the facts' */
    struct yarn_tree_mapping *mappings; /* owned */
    size_t nr_mappings, max_mappings;
    struct yarn_tree_thread *threads; /* owned: those that live */
    size_t nr_threads, max_threads;
    size_t nr_unseen;     /* at most so many of them have attached_ns */
    uint64_t switches_ns; /* since when its switches are known (switches) */
    bool lacks_switches;  /* others from before were given up */
    size_t nr_switches;   /* before it has a dump */
    struct yarn_tree_switch switches[YARN_TREE_SWITCHES];
    struct yarn_followed *followed; /* owned; NULL: nothing is recorded of it yet */
    struct yarn_process_tree *tree; /* borrowed; NULL until then, as a rule (waits) */
};

/* With its first thread. It has what `parent` has, or where that is NULL only `facts`. NULL: no
 * memory. */
struct yarn_tree_process *yarn_tree_process_new(const struct yarn_tree_thread *first,
                                                const struct yarn_tree_process *parent,
                                                const struct yarn_facts *facts);
/* Frees a process that has ended. NULL is allowed. */
void yarn_tree_process_free(struct yarn_tree_process *process);

/* False: no memory. */
YARN_MUST_CHECK bool yarn_tree_process_map(struct yarn_tree_process *process,
                                           const struct yarn_tree_mapping *mapping);
YARN_MUST_CHECK bool yarn_tree_process_add_thread(struct yarn_tree_process *process,
                                                  const struct yarn_tree_thread *thread);
void yarn_tree_process_name_thread(struct yarn_tree_process *process, uint32_t tid,
                                   const char *name);
/* What the thread is called; empty where it is not known. */
const char *yarn_tree_process_thread_name(const struct yarn_tree_process *process, uint32_t tid);
/* The number of those that are left. */
size_t yarn_tree_process_end_thread(struct yarn_tree_process *process, uint32_t tid);

/* A record of the thread was read: since when it is attached to, at the first; else 0. */
uint64_t yarn_tree_process_see_thread(struct yarn_tree_process *process, uint32_t tid);

/* Until the next change. NULL: there is none. */
const struct yarn_tree_thread *yarn_tree_process_thread(const struct yarn_tree_process *process,
                                                        uint32_t tid);

/* The program of a thread of the kernel. */
#define YARN_TREE_KERNEL "[kernel]"
/* In the place of arguments that could not be read. */
#define YARN_TREE_UNREAD "…"

/* The image has one that is not ended. */
static inline bool yarn_tree_process_has_dump(const struct yarn_tree_process *process)
{
    return process->followed && yarn_process_dump_is_begun(&process->followed->dump);
}

/* What it runs, as /proc shows it now. `keep` gives a path that lasts. A negative errno: it has
 * gone, or is not ours to be read. */
typedef const char *yarn_tree_keep_path_fn(void *self, const char *path);
YARN_MUST_CHECK int yarn_tree_process_read(struct yarn_tree_process *process,
                                           yarn_tree_keep_path_fn *keep, void *self);

/* The environment that it was executed with, one block to be freed; NULL: it has gone, or is not
 * ours to be read. */
char **yarn_tree_process_environment(const struct yarn_tree_process *process);

/* It has executed a program, whose path the first mapping shows. */
void yarn_tree_process_exec(struct yarn_tree_process *process, uint64_t time_ns);
/* Sets the program to that path, of the tree's paths, and reads the arguments, while it still runs
 * it. */
void yarn_tree_process_set_program(struct yarn_tree_process *process, const char *path);
