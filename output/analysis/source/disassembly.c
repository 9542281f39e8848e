/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/source/disassembly.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "output/base/array.h"

enum { NO_COMMAND = 127, FILE_OF_CHILD = 3 };

/* In the child: standard output is the pipe, the file has a number that its name is made of. */
static void run_objdump(const char *objdump, int fd, int to, uint64_t start, uint64_t end)
{
    char from[40], until[40];
    (void)snprintf(from, sizeof from, "--start-address=0x%" PRIx64, start);
    (void)snprintf(until, sizeof until, "--stop-address=0x%" PRIx64, end);
    char *const argv[] = {
        (char *)objdump,
        "--disassemble",
        "--no-show-raw-insn",
        "--wide",
        "--demangle",
        "--disassemble-zeroes",
        from,
        until,
        "--",
        "/proc/self/fd/3",
        NULL,
    };
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    int out = fcntl(to, F_DUPFD_CLOEXEC, FILE_OF_CHILD + 1);
    int file = fcntl(fd, F_DUPFD_CLOEXEC, FILE_OF_CHILD + 1);
    if (nothing < 0 || out < 0 || file < 0 || dup2(nothing, STDIN_FILENO) < 0 ||
        dup2(nothing, STDERR_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
        dup2(file, FILE_OF_CHILD) < 0 || setenv("LC_ALL", "C", 1))
        _exit(NO_COMMAND);
    (void)execvp(objdump, argv);
    _exit(NO_COMMAND);
}

static int add(struct yarn_disassembly *disassembly, uint64_t address, const char *text)
{
    if (YARN_ARRAY_RESERVE(&disassembly->instructions, &disassembly->capacity,
                           disassembly->count + 1))
        return -ENOMEM;
    struct yarn_disassembly_line instruction = {.address = address, .text = strdup(text)};
    if (!instruction.text)
        return -ENOMEM;
    disassembly->instructions[disassembly->count++] = instruction;
    return 0;
}

/* "  4011d6:\tpush   %rbp": tabs and the blanks that fill up a column become one blank. */
static int take_line(struct yarn_disassembly *disassembly, char *line, uint64_t start, uint64_t end)
{
    char *after;
    uint64_t address = strtoull(line, &after, 16);
    if (after == line || after[0] != ':' || after[1] != '\t' || address < start || address >= end)
        return 0;
    char *from = after + 2, *to = from, *text = from;
    for (; *from && *from != '\n'; from++) {
        char c = *from == '\t' ? ' ' : *from;
        if (c != ' ' || (to > text && to[-1] != ' '))
            *to++ = c;
    }
    while (to > text && to[-1] == ' ')
        to--;
    *to = 0;
    return add(disassembly, address, text);
}

static int take_lines(struct yarn_disassembly *disassembly, FILE *file, uint64_t start,
                      uint64_t end)
{
    char *line = NULL;
    size_t size = 0;
    int err = 0;
    while (!err && getline(&line, &size, file) >= 0)
        err = take_line(disassembly, line, start, end);
    free(line);
    return err;
}

static void set_ends(struct yarn_disassembly *disassembly, size_t first, uint64_t end)
{
    for (size_t i = disassembly->count; i-- > first;) {
        struct yarn_disassembly_line *instruction = &disassembly->instructions[i];
        instruction->end = i + 1 < disassembly->count ? instruction[1].address : end;
    }
}

int yarn_disassembly_add(struct yarn_disassembly *disassembly, const char *objdump, int fd,
                         uint64_t start, uint64_t end)
{
    int ends[2], status = 0;
    size_t first = disassembly->count;
    if (pipe2(ends, O_CLOEXEC))
        return -errno;
    pid_t child = fork();
    if (child == 0)
        run_objdump(objdump ? objdump : "objdump", fd, ends[1], start, end);
    int err = child < 0 ? -errno : 0;
    (void)close(ends[1]);
    FILE *file = fdopen(ends[0], "r");
    if (!file)
        (void)close(ends[0]);
    if (!err)
        err = file ? take_lines(disassembly, file, start, end) : -ENOMEM;
    if (file)
        (void)fclose(file);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    set_ends(disassembly, first, end);
    if (err || disassembly->count > first)
        return err;
    return WIFEXITED(status) && WEXITSTATUS(status) == NO_COMMAND ? -ENOENT : -ENOEXEC;
}

void yarn_disassembly_fini(struct yarn_disassembly *disassembly)
{
    for (size_t i = 0; i < disassembly->count; i++)
        free(disassembly->instructions[i].text);
    free(disassembly->instructions);
    *disassembly = (struct yarn_disassembly){0};
}

const struct yarn_disassembly_line *
yarn_disassembly_find(const struct yarn_disassembly *disassembly, uint64_t address)
{
    size_t low = YARN_ARRAY_UP_TO(disassembly->instructions, disassembly->count, address);
    if (!low || address >= disassembly->instructions[low - 1].end)
        return NULL;
    return &disassembly->instructions[low - 1];
}
