/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A perf ring of the program's own, whose records yarn takes apart: page faults with address and
 * call chain.
 *
 *     cc own_ring.c $(pkg-config --cflags --libs yarn)
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <yarn/record.h>

enum { PAGE = 4096, RING = 64 * PAGE, TOUCHED = 100, RECORD_MAX = 65536 };

static int open_faults(struct perf_event_attr *attr)
{
    memset(attr, 0, sizeof *attr);
    attr->size = sizeof *attr;
    attr->type = PERF_TYPE_SOFTWARE;
    attr->config = PERF_COUNT_SW_PAGE_FAULTS;
    attr->sample_period = 1;
    attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
                        PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN;
    attr->sample_id_all = 1;
    attr->disabled = 1;
    attr->exclude_kernel = 1;
    attr->exclude_callchain_kernel = 1;
    return (int)syscall(SYS_perf_event_open, attr, 0, -1, -1, 0UL);
}

static void touch(void)
{
    char *pages = (char *)mmap(NULL, (size_t)TOUCHED * PAGE, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return;
    madvise(pages, (size_t)TOUCHED * PAGE, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < TOUCHED; i++)
        ((volatile char *)pages)[i * PAGE] = 1;
    munmap(pages, (size_t)TOUCHED * PAGE);
}

int main(void)
{
    static uint8_t bytes[RECORD_MAX];
    struct perf_event_attr attr;
    struct yarn_record record;
    unsigned faults = 0, refused = 0;

    int fd = open_faults(&attr);
    if (fd < 0) {
        perror("perf_event_open");
        return 77;
    }
    void *map = mmap(NULL, RING + PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED) {
        perror("mmap");
        return 77;
    }
    struct perf_event_mmap_page *page = (struct perf_event_mmap_page *)map;
    const uint8_t *ring = (const uint8_t *)map + PAGE;
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    touch();
    ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);

    uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
    for (uint64_t at = 0; at < head;) {
        struct perf_event_header header;
        for (size_t i = 0; i < sizeof header; i++)
            ((uint8_t *)&header)[i] = ring[(at + i) % RING];
        for (size_t i = 0; i < header.size; i++)
            bytes[i] = ring[(at + i) % RING];
        if (yarn_record_decode(&attr, bytes, header.size, &record))
            refused++;
        else if (record.type == PERF_RECORD_SAMPLE && record.tid == (uint32_t)getpid() &&
                 record.addr && record.callchain.size)
            faults++;
        at += header.size;
    }
    printf("%u faults, %u refused\n", faults, refused);
    munmap(map, RING + PAGE);
    close(fd);
    return faults < TOUCHED || refused;
}
