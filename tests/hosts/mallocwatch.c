/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host with a memory allocator of its own, which aborts where a thread calls it that the host
 * did not create. It keeps a profiler busy meanwhile: threads that allocate and sort, libraries
 * that come and go, code in anonymous memory, a forked child. `mallocwatch [TENTHS]`: of a second
 * of CPU time a thread, which a busy machine gives late; `mallocwatch stranger` lets a thread call
 * that nobody announced, to show that the watch works.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 3, HEAP_BYTES = 256 << 20, ALIGNMENT = 16, SORTED = 2000, CODE_BYTES = 256 };

/* Seen by the libraries too: the program is built with hidden symbols. */
#define ALLOCATOR __attribute__((visibility("default")))

static _Alignas(4096) unsigned char heap[HEAP_BYTES];
static atomic_size_t heap_used;
static _Atomic pid_t announced[THREADS];

static void die(const char *message)
{
    (void)!write(STDERR_FILENO, message, strlen(message));
    abort();
}

/* Raw system calls: the answer must not depend on what libc remembers. */
static void check_caller(void)
{
    pid_t tid = (pid_t)syscall(SYS_gettid);
    bool is_known = tid == (pid_t)syscall(SYS_getpid);
    for (int i = 0; i < THREADS; i++)
        is_known |= tid == announced[i];
    if (!is_known)
        die("mallocwatch: a thread that is not the host's called its allocator\n");
}

/* Never given back; the size stands in front of each block. */
static void *allocate(size_t alignment, size_t size)
{
    check_caller();
    alignment = alignment > ALIGNMENT ? alignment : ALIGNMENT;
    size_t room = alignment + ((size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1)) + ALIGNMENT;
    size_t at = atomic_fetch_add(&heap_used, room);
    if (size > HEAP_BYTES || at + room > HEAP_BYTES) {
        errno = ENOMEM;
        return NULL;
    }
    at = (at + ALIGNMENT + alignment - 1) & ~(alignment - 1);
    memcpy(heap + at - sizeof size, &size, sizeof size);
    return heap + at;
}

static size_t size_of(const void *block)
{
    size_t size;
    memcpy(&size, (const unsigned char *)block - sizeof size, sizeof size);
    return size;
}

ALLOCATOR void *malloc(size_t size)
{
    return allocate(0, size);
}

ALLOCATOR void *calloc(size_t nr, size_t size)
{
    if (size && nr > HEAP_BYTES / size) {
        errno = ENOMEM;
        return NULL;
    }
    return allocate(0, nr * size); /* fresh memory of the kernel is zero */
}

ALLOCATOR void *realloc(void *block, size_t size)
{
    void *larger = allocate(0, size);
    if (block && larger)
        memcpy(larger, block, size_of(block) < size ? size_of(block) : size);
    return larger;
}

ALLOCATOR void *reallocarray(void *block, size_t nr, size_t size)
{
    if (size && nr > HEAP_BYTES / size) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(block, nr * size);
}

ALLOCATOR void free(void *block)
{
    (void)block;
    check_caller();
}

ALLOCATOR void *memalign(size_t alignment, size_t size);
void *memalign(size_t alignment, size_t size)
{
    return allocate(alignment, size);
}

ALLOCATOR void *aligned_alloc(size_t alignment, size_t size)
{
    return allocate(alignment, size);
}

ALLOCATOR int posix_memalign(void **ret_block, size_t alignment, size_t size)
{
    *ret_block = allocate(alignment, size);
    return *ret_block ? 0 : ENOMEM;
}

ALLOCATOR void *valloc(size_t size)
{
    return allocate(4096, size);
}

ALLOCATOR void *pvalloc(size_t size);
void *pvalloc(size_t size)
{
    return allocate(4096, (size + 4095) & ~(size_t)4095);
}

ALLOCATOR size_t malloc_usable_size(void *block);
size_t malloc_usable_size(void *block)
{
    return block ? size_of(block) : 0;
}

static int compare(const void *a, const void *b)
{
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

static void allocate_and_sort(void)
{
    int *numbers = malloc(SORTED * sizeof *numbers);
    if (!numbers)
        die("mallocwatch: out of memory\n");
    for (int i = 0; i < SORTED; i++)
        numbers[i] = i * 7919 % SORTED;
    qsort(numbers, SORTED, sizeof *numbers, compare);
    free(numbers);
}

static void load_and_unload(void)
{
    void *library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
    double (*function)(double) = NULL;
    volatile double sum = 0;
    if (library)
        *(void **)&function = dlsym(library, "lgamma");
    for (int i = 0; function && i < 20000; i++)
        sum = sum + function(i);
    if (library)
        (void)dlclose(library);
}

/* Neither calls nor data of its own: it runs anywhere. */
__attribute__((noinline)) static uint64_t template(uint64_t value)
{
    for (int i = 0; i < 1000000; i++) {
        value = value * 25214903917 + 11;
        __asm__ volatile("" : "+r"(value));
    }
    return value;
}

static void run_anonymous_code(void)
{
    uint64_t (*function)(uint64_t);
    char *memory =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return;
    memcpy(memory, (const void *)(uintptr_t) template, CODE_BYTES);
    __builtin___clear_cache(memory, memory + CODE_BYTES);
    memcpy(&function, &memory, sizeof function);
    (void)function(1);
    (void)munmap(memory, 4096);
}

static int64_t work_ns;

static int64_t worked_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void *run(void *number)
{
    announced[(intptr_t)number] = (pid_t)syscall(SYS_gettid);
    while (worked_ns() < work_ns) {
        allocate_and_sort();
        load_and_unload();
        run_anonymous_code();
    }
    return NULL;
}

static void *run_unannounced(void *ignored)
{
    (void)ignored;
    return malloc(1);
}

static int run_child(void)
{
    pid_t child = fork();
    int status = 0;
    if (child == 0) {
        run_anonymous_code();
        allocate_and_sort();
        _exit(0); /* exit() of the C library hangs where another thread was in dlopen at the fork */
    }
    return child > 0 && waitpid(child, &status, 0) == child && !status;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    if (argc > 1 && strcmp(argv[1], "stranger") == 0)
        return pthread_create(&threads[0], NULL, run_unannounced, NULL) ||
               pthread_join(threads[0], NULL);
    work_ns = (argc > 1 ? atoi(argv[1]) : 4) * INT64_C(100000000);
    for (intptr_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, run, (void *)i))
            return EXIT_FAILURE;
    int has_run = run_child();
    for (int i = 0; i < THREADS; i++)
        (void)pthread_join(threads[i], NULL);
    puts(has_run ? "mallocwatch: nobody else called" : "mallocwatch: failed");
    return !has_run;
}
