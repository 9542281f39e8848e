/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two generated functions at one address, with frames of their own size, each called by another
 * function, that take turns; frames of the stack between are full of return addresses of earlier
 * calls. Prints who ran from when to when: its own truth.
 *   regenerated_x86_64 MICROSECONDS RUN_MILLISECONDS [marked|brief|jumped|named]
 * marked: the second's frame, counted from the first's stack pointer, ends where the frame pointer
 * marks their caller's; brief: the second's turns take 400 microseconds; jumped: they are jumped to
 * from a function that is called by name; named: each turn's code has a name of its own in a perf
 * map.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 20000, TURNS_MAX = 1 << 16, BRIEF_NS = 400000 };
/* sub $SIZE, %rsp; mov $ROUNDS, %ecx; 1: dec %rcx; jnz 1b; add $SIZE, %rsp; ret */
static uint8_t code[] = {0x48,        0x81, 0xec, 0,    0,    0,    0,    0xb9, ROUNDS & 0xff,
                         ROUNDS >> 8, 0,    0,    0x48, 0xff, 0xc9, 0x75, 0xfb, 0x48,
                         0x81,        0xc4, 0,    0,    0,    0,    0xc3};
static uint32_t frame_bytes[] = {72, 328};
static struct turn {
    uint64_t from_ns, to_ns;
} turns[TURNS_MAX];
__attribute__((used)) static void (*generated)(void);
static bool is_jumped;
static FILE *map;

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Leaves its return addresses behind. */
__attribute__((noinline)) static int lay(int depth)
{
    int sum = depth ? lay(depth - 1) : 0;
    __asm__ volatile("" : "+r"(sum));
    return sum + 1;
}

/* By its last instruction. */
__attribute__((naked, noinline)) static void jump_on(void)
{
    __asm__("jmp *generated(%rip)");
}

__attribute__((noinline)) static void run(struct turn *turn, uint64_t ns)
{
    const uint64_t marked = (uint64_t)__builtin_frame_address(0); /* so it has a frame pointer */
    if (!turn) {
        uint64_t (*stack_pointer)(void);
        memcpy(&stack_pointer, &generated, sizeof generated);
        frame_bytes[1] = frame_bytes[0] + (uint32_t)(marked - stack_pointer()) + 8;
        return;
    }
    turn->from_ns = now_ns();
    do {
        lay(60);
        if (is_jumped)
            jump_on();
        else
            generated();
        turn->to_ns = now_ns();
    } while (turn->to_ns - turn->from_ns < ns);
}

__attribute__((noinline)) static void call_first(struct turn *turn, uint64_t ns)
{
    run(turn, ns);
    __asm__ volatile("");
}

__attribute__((noinline)) static void call_second(struct turn *turn, uint64_t ns)
{
    run(turn, ns);
    __asm__ volatile("");
}

int main(int argc, char **argv)
{
    uint64_t turn_ns = argc > 2 ? strtoull(argv[1], NULL, 10) * 1000 : 0;
    uint64_t end_ns = now_ns() + (argc > 2 ? strtoull(argv[2], NULL, 10) * 1000000 : 0);
    uint8_t *memory =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return 1;
    memcpy(&generated, &memory, sizeof generated);
    const char *way = argc > 3 ? argv[3] : "";
    bool is_brief = strcmp(way, "brief") == 0;
    is_jumped = strcmp(way, "jumped") == 0;
    if (strcmp(way, "marked") == 0) {
        memcpy(memory, "\x48\x89\xe0\xc3", 4); /* mov %rsp, %rax; ret */
        run(NULL, 0);
    }
    char path[64];
    (void)snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
    map = strcmp(way, "named") == 0 ? fopen(path, "w") : NULL;
    unsigned nr = 0;
    for (; nr < TURNS_MAX && now_ns() < end_ns; nr++) {
        memcpy(code + 3, &frame_bytes[nr % 2], 4);
        memcpy(code + 20, &frame_bytes[nr % 2], 4);
        memcpy(memory, code, sizeof code);
        if (map && (fprintf(map, "%llx %zx turn_%u\n", (unsigned long long)(uintptr_t)memory,
                            sizeof code, nr) < 0 ||
                    fflush(map)))
            return 1;
        (nr % 2 ? call_second : call_first)(&turns[nr], nr % 2 && is_brief ? BRIEF_NS : turn_ns);
    }
    if (map)
        (void)unlink(path);
    for (unsigned i = 0; i < nr; i++)
        printf("%llu %llu %s\n", (unsigned long long)turns[i].from_ns,
               (unsigned long long)turns[i].to_ns, i % 2 ? "call_second" : "call_first");
    return 0;
}
