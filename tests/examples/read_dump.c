/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What is in a dump, a line each: events, threads, samples and their stacks, and how it ends.
 *
 *     cc read_dump.c $(pkg-config --cflags --libs yarn)
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <yarn/dump.h>

static const char *or_unknown(const char *text)
{
    return text ? text : "[unknown]";
}

static void show_stack(struct yarn_dump *dump, size_t nr_frames)
{
    struct yarn_frame frame;
    for (size_t i = 0; i < nr_frames; i++)
        if (!yarn_dump_frame(dump, i, &frame))
            printf("\t%" PRIx64 " %s (%s)\n", frame.address, or_unknown(frame.function),
                   or_unknown(frame.module));
}

static void show(struct yarn_dump *dump, const struct yarn_item *item)
{
    switch (item->kind) {
    case YARN_ITEM_PROCESS:
        printf("process %u: %s\n", item->pid, or_unknown(item->name));
        break;
    case YARN_ITEM_EVENT:
        printf("event %u: %s\n", item->event, or_unknown(item->name));
        break;
    case YARN_ITEM_THREAD:
        printf("thread %u/%u: %s\n", item->pid, item->tid, or_unknown(item->name));
        break;
    case YARN_ITEM_SAMPLE:
        printf("sample %u/%u on %u at %" PRIu64 ": %" PRIu64 " of event %u\n", item->pid, item->tid,
               item->cpu, item->time_ns, item->value, item->event);
        show_stack(dump, item->nr_frames);
        break;
    case YARN_ITEM_COUNT:
        printf("count of event %u: %" PRIu64 "\n", item->event, item->value);
        break;
    case YARN_ITEM_LOST:
        printf("lost %" PRIu64 "\n", item->value);
        break;
    case YARN_ITEM_MARK:
        printf("mark at %" PRIu64 ": %s\n", item->time_ns, or_unknown(item->name));
        break;
    case YARN_ITEM_END:
        printf("end of %u\n", item->pid);
        break;
    }
}

int main(int argc, char **argv)
{
    struct yarn_dump *dump;
    struct yarn_item item;
    if (argc != 2) {
        fprintf(stderr, "usage: read_dump FILE\n");
        return 2;
    }
    int more = yarn_dump_open(argv[1], &dump);
    if (more) {
        fprintf(stderr, "%s: %s\n", argv[1], strerror(-more));
        return 1;
    }
    while ((more = yarn_dump_next(dump, &item)) > 0)
        show(dump, &item);
    if (more)
        fprintf(stderr, "%s: %s\n", argv[1], strerror(-more));
    if (yarn_dump_damages(dump))
        fprintf(stderr, "%s: damaged or cut: %" PRIu64 "\n", argv[1], yarn_dump_damages(dump));
    yarn_dump_close(dump);
    return more != 0;
}
