/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/outside/rows.h"

#include <stdlib.h>

int yarn_tree_rows_open(struct yarn_tree_rows *rows)
{
    *rows = (struct yarn_tree_rows){.silent = yarn_child_times_new()};
    return rows->silent ? 0 : -ENOMEM;
}

static struct yarn_dump_tree_program *find(struct yarn_tree_rows *rows, struct yarn_span program)
{
    size_t i = 0;
    while (i < rows->nr_programs && !yarn_span_equal(rows->programs[i].program, program))
        i++;
    if (i < rows->nr_programs)
        return &rows->programs[i];
    if (i == YARN_TREE_PROGRAMS_MAX)
        return NULL;
    if (i == rows->max_programs) {
        size_t more = i ? 2 * i : 64;
        void *programs = reallocarray(rows->programs, more, sizeof *rows->programs);
        rows->programs = programs ? programs : rows->programs;
        void *are_new = programs ? reallocarray(rows->are_new, more, sizeof *rows->are_new) : NULL;
        if (!are_new)
            return NULL;
        rows->are_new = are_new;
        rows->max_programs = more;
    }
    rows->programs[rows->nr_programs++] = (struct yarn_dump_tree_program){.program = program};
    return &rows->programs[i];
}

static void keep(struct yarn_tree_rows *rows, const struct yarn_dump_tree_process *process)
{
    if (rows->nr_listed == YARN_TREE_PROCESSES_MAX)
        return;
    if (rows->nr_processes == rows->max_processes) {
        size_t more = rows->max_processes ? 2 * rows->max_processes : 64;
        void *processes = reallocarray(rows->processes, more, sizeof *rows->processes);
        if (!processes)
            return;
        rows->processes = processes;
        rows->max_processes = more;
    }
    rows->processes[rows->nr_processes++] = *process;
    rows->nr_listed++;
}

void yarn_tree_rows_add(struct yarn_tree_rows *rows, const struct yarn_dump_tree_process *process,
                        bool is_silent, uint64_t off_ns)
{
    struct yarn_dump_tree_program *program = find(rows, process->program);
    rows->tree.processes++;
    keep(rows, process);
    if (is_silent)
        yarn_child_times_add(rows->silent, 1, yarn_u64_minus(process->cpu_ns, off_ns));
    if (!program)
        return;
    program->processes++;
    program->silent += is_silent;
    program->unknown += !!(process->flags & YARN_DUMP_TREE_IS_UNKNOWN);
    program->cpu_ns += process->cpu_ns;
    program->sampled_ns += process->sampled_ns;
    rows->are_new[program - rows->programs] = true;
}

void yarn_tree_rows_write(struct yarn_tree_rows *rows, struct yarn_dump_writer *writer)
{
    for (size_t i = 0; i < rows->nr_programs; i++)
        if (rows->are_new[i]) {
            yarn_dump_write_tree_program(writer, &rows->programs[i]);
            rows->are_new[i] = false;
        }
    for (size_t i = 0; i < rows->nr_processes; i++)
        yarn_dump_write_tree_process(writer, &rows->processes[i]);
    rows->nr_processes = 0;
    yarn_dump_write_tree(writer, &rows->tree);
}

void yarn_tree_rows_begin_anew(struct yarn_tree_rows *rows)
{
    rows->nr_programs = 0;
    rows->tree = (struct yarn_dump_tree){.processes = 0};
    yarn_child_times_free(rows->silent);
    rows->silent = yarn_child_times_new();
}

void yarn_tree_rows_close(struct yarn_tree_rows *rows)
{
    free(rows->programs);
    free(rows->are_new);
    free(rows->processes);
    yarn_child_times_free(rows->silent);
    *rows = (struct yarn_tree_rows){.programs = NULL};
}
