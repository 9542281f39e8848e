/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/outside/rows.h"

#include <stdlib.h>

#include "output/base/array.h"

int yarn_tree_rows_open(struct yarn_tree_rows *rows)
{
    *rows = (struct yarn_tree_rows){.silent = yarn_child_times_new()};
    return rows->silent ? 0 : -ENOMEM;
}

static bool grow(struct yarn_tree_rows *rows)
{
    size_t more = rows->max_programs ? 2 * rows->max_programs : 64;
    void *programs = reallocarray(rows->programs, more, sizeof *rows->programs);
    rows->programs = programs ? programs : rows->programs;
    void *living = reallocarray(rows->living, more, sizeof *rows->living);
    rows->living = living ? living : rows->living;
    void *are_new = reallocarray(rows->are_new, more, sizeof *rows->are_new);
    rows->are_new = are_new ? are_new : rows->are_new;
    if (!programs || !living || !are_new)
        return false;
    rows->max_programs = more;
    return true;
}

static struct yarn_dump_tree_program *find(struct yarn_tree_rows *rows, struct yarn_span program)
{
    size_t i = 0;
    while (i < rows->nr_programs && !yarn_span_equal(rows->programs[i].program, program))
        i++;
    if (i < rows->nr_programs)
        return &rows->programs[i];
    if (i == YARN_TREE_PROGRAMS_MAX || (i == rows->max_programs && !grow(rows)))
        return NULL;
    rows->living[i] = (struct yarn_tree_living){.processes = 0};
    rows->are_new[i] = false;
    rows->programs[rows->nr_programs++] = (struct yarn_dump_tree_program){.program = program};
    return &rows->programs[i];
}

static void keep(struct yarn_tree_rows *rows, const struct yarn_dump_tree_process *process)
{
    if (rows->nr_listed == YARN_TREE_PROCESSES_MAX)
        return;
    if (!YARN_ARRAY_PUT(&rows->processes, &rows->nr_processes, &rows->max_processes, process))
        rows->nr_listed++;
}

void yarn_tree_rows_add(struct yarn_tree_rows *rows, const struct yarn_dump_tree_process *process,
                        bool is_silent, uint64_t off_ns)
{
    struct yarn_dump_tree_program *program = find(rows, process->program);
    rows->tree.processes++;
    keep(rows, process);
    if (is_silent && rows->silent) {
        yarn_child_times_add(rows->silent, 1, yarn_u64_minus(process->cpu_ns, off_ns));
        atomic_fetch_add(&rows->silent->off_cpu_ns, off_ns);
    }
    if (!program)
        return;
    program->processes++;
    program->silent += is_silent;
    program->unknown += !!(process->flags & YARN_DUMP_TREE_IS_UNKNOWN);
    program->cpu_ns += process->cpu_ns;
    program->sampled_ns += process->sampled_ns;
    rows->are_new[program - rows->programs] = true;
}

void yarn_tree_rows_see(struct yarn_tree_rows *rows, const struct yarn_dump_tree_process *process)
{
    const struct yarn_dump_tree_program *program = find(rows, process->program);
    rows->nr_living++;
    if (!program)
        return;
    struct yarn_tree_living *living = &rows->living[program - rows->programs];
    living->processes++;
    living->cpu_ns += process->cpu_ns;
    living->sampled_ns += process->sampled_ns;
    rows->are_new[program - rows->programs] = true;
}

/* Those that live may have gone by the next writing: then it is new again. */
static void write_program(struct yarn_tree_rows *rows, size_t i, struct yarn_dump_writer *writer)
{
    struct yarn_dump_tree_program program = rows->programs[i];
    struct yarn_tree_living *living = &rows->living[i];
    program.processes += living->processes;
    program.cpu_ns += living->cpu_ns;
    program.sampled_ns += living->sampled_ns;
    yarn_dump_write_tree_program(writer, &program);
    rows->are_new[i] = living->processes;
    *living = (struct yarn_tree_living){.processes = 0};
}

void yarn_tree_rows_write(struct yarn_tree_rows *rows, struct yarn_dump_writer *writer)
{
    struct yarn_dump_tree tree = rows->tree;
    tree.processes += rows->nr_living;
    rows->nr_living = 0;
    for (size_t i = 0; i < rows->nr_programs; i++)
        if (rows->are_new[i])
            write_program(rows, i, writer);
    for (size_t i = 0; i < rows->nr_processes; i++)
        yarn_dump_write_tree_process(writer, &rows->processes[i]);
    rows->nr_processes = 0;
    yarn_dump_write_tree(writer, &tree);
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
    free(rows->living);
    free(rows->are_new);
    free(rows->processes);
    yarn_child_times_free(rows->silent);
    *rows = (struct yarn_tree_rows){.programs = NULL};
}
