/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A compiler in small: puts loops into memory of its own, says what they are called and runs them.
 *   jit_x86_64 map      two functions, each named in /tmp/perf-PID.map before it runs
 *   jit_x86_64 late     named when all is done
 *   jit_x86_64 reuse    the second takes the place of the first
 *   jit_x86_64 jitdump  named in ./jit-PID.dump; the second is the first, moved
 * Each function runs for about 0.4 s of CPU time.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { CODE_BYTES = 64, SECOND_AT = 1024, MEMORY_BYTES = 4096 };

/* push rbp; mov rbp, rsp; mov ecx, 20000000; 1: dec rcx; jnz 1b; pop rbp; ret */
static const uint8_t loop[] = {0x55, 0x48, 0x89, 0xe5, 0xb9, 0x00, 0x2d, 0x31,
                               0x01, 0x48, 0xff, 0xc9, 0x75, 0xfb, 0x5d, 0xc3};

static void run(uint8_t *code)
{
    void (*function)(void);
    struct timespec begin, now;
    memcpy(code, loop, sizeof loop);
    memcpy(&function, &code, sizeof function);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do {
        function();
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < 400);
}

static void write_map(const uint8_t *code, const char *name)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    FILE *file = fopen(path, "a");
    if (!file)
        exit(1);
    fprintf(file, "%lx %x %s\n", (unsigned long)(uintptr_t)code, CODE_BYTES, name);
    fclose(file);
}

struct load {
    uint32_t id, size;
    uint64_t time_ns;
    uint32_t pid, tid;
    uint64_t address, code_address, code_size, number;
    char name[8];
    uint8_t code[CODE_BYTES];
};

struct move {
    uint32_t id, size;
    uint64_t time_ns;
    uint32_t pid, tid;
    uint64_t address, from, to, code_size, number;
};

struct header {
    uint32_t magic, version, size, machine, padding, pid;
    uint64_t time_ns, flags;
};

static void put(int fd, const void *data, size_t size)
{
    if (write(fd, data, size) != (ssize_t)size)
        exit(1);
}

static int begin_dump(void)
{
    char path[64];
    struct header header = {
        .magic = 0x4a695444, .version = 1, .size = sizeof header, .machine = 62};
    header.pid = (uint32_t)getpid();
    (void)snprintf(path, sizeof path, "jit-%d.dump", (int)getpid());
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0)
        exit(1);
    put(fd, &header, sizeof header);
    if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
        exit(1);
    return fd;
}

static void run_with_dump(uint8_t *memory)
{
    uint32_t pid = (uint32_t)getpid();
    uint64_t first = (uintptr_t)memory, second = first + SECOND_AT;
    struct load load = {.size = sizeof load,
                        .pid = pid,
                        .tid = pid,
                        .address = first,
                        .code_address = first,
                        .code_size = CODE_BYTES,
                        .name = "dumped"};
    struct move move = {.id = 1,
                        .size = sizeof move,
                        .pid = pid,
                        .tid = pid,
                        .address = second,
                        .from = first,
                        .to = second,
                        .code_size = CODE_BYTES};
    int fd = begin_dump();
    put(fd, &load, sizeof load);
    run(memory);
    put(fd, &move, sizeof move);
    run(memory + SECOND_AT);
    close(fd);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    uint8_t *memory = mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return 1;
    bool is_late = strcmp(how, "late") == 0;
    if (strcmp(how, "jitdump") == 0) {
        run_with_dump(memory);
        return 0;
    }
    uint8_t *second = strcmp(how, "reuse") == 0 ? memory : memory + SECOND_AT;
    if (!is_late)
        write_map(memory, "generated_first");
    run(memory);
    if (!is_late)
        write_map(second, "generated_second");
    run(second);
    if (is_late) {
        write_map(memory, "generated_first");
        write_map(second, "generated_second");
    }
    return 0;
}
