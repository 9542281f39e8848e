/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host that gives up its rights while a thread of it works, and then looks whether any task of
 * the process has kept some: prints each different set of ids and capabilities among them.
 * Run as root; the number of tasks is not printed.
 */
#include <dirent.h>
#include <grp.h>
#include <linux/capability.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/hosts/work.h"

#define MAX_TASKS 64
#define NOBODY 65534

struct rights {
    char text[1024];
};

static bool read_rights(const char *task, struct rights *ret_rights)
{
    char name[512];
    char line[512];
    snprintf(name, sizeof name, "/proc/self/task/%s/status", task);
    FILE *status = fopen(name, "re");
    if (!status)
        return false;
    *ret_rights = (struct rights){.text = ""};
    while (fgets(line, sizeof line, status)) {
        bool is_wanted = !strncmp(line, "Uid:", 4) || !strncmp(line, "Gid:", 4) ||
                         !strncmp(line, "Groups:", 7) || !strncmp(line, "CapEff:", 7) ||
                         !strncmp(line, "CapPrm:", 7);
        if (is_wanted && strlen(ret_rights->text) + strlen(line) < sizeof ret_rights->text)
            strcat(ret_rights->text, line);
    }
    fclose(status);
    return true;
}

static void print_different_rights(const char *when)
{
    static struct rights seen[MAX_TASKS];
    int nr_seen = 0;
    DIR *tasks = opendir("/proc/self/task");
    if (!tasks)
        return;
    for (struct dirent *entry = readdir(tasks); entry; entry = readdir(tasks)) {
        struct rights rights;
        if (entry->d_name[0] == '.' || !read_rights(entry->d_name, &rights))
            continue;
        bool is_known = false;
        for (int i = 0; i < nr_seen; i++)
            is_known = is_known || !strcmp(seen[i].text, rights.text);
        if (!is_known && nr_seen < MAX_TASKS)
            seen[nr_seen++] = rights;
    }
    closedir(tasks);
    printf("== %s\n", when);
    for (int i = 0; i < nr_seen; i++)
        printf("%s\n", seen[i].text);
}

int capset(cap_user_header_t head, const cap_user_data_t words);

/* All but this one: by the C library's function, or by its syscall. */
static int give_up(int capability, bool by_number)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct words[_LINUX_CAPABILITY_U32S_3];
    if (syscall(SYS_capget, &head, words))
        return -1;
    words[capability / 32].effective &= ~(1u << capability % 32);
    words[capability / 32].permitted &= ~(1u << capability % 32);
    return by_number ? (int)syscall(SYS_capset, &head, words) : capset(&head, words);
}

static void *work(void *nr_units)
{
    static uint64_t result;
    result = yarn_host_work(*(uint64_t *)nr_units, 1, 3);
    return &result;
}

int main(void)
{
    uint64_t nr_units = 25;
    pthread_t thread;
    print_different_rights("start of main");
    printf("failed: %d\n", give_up(CAP_SYS_BOOT, false));
    print_different_rights("one capability less");
    printf("failed: %d\n", give_up(CAP_SYS_PACCT, true));
    print_different_rights("two capabilities less");
    if (pthread_create(&thread, NULL, work, &nr_units))
        return EXIT_FAILURE;
    int failed = setgroups(0, NULL) | setregid(NOBODY, NOBODY) | setresgid(NOBODY, NOBODY, NOBODY);
    failed |= seteuid(NOBODY) | seteuid(0) | setresuid(NOBODY, NOBODY, NOBODY);
    printf("failed: %d\n", failed);
    print_different_rights("rights given up");
    printf("root again: %d\n", setuid(0));
    pthread_join(thread, NULL);
    print_different_rights("end of main");
    return 0;
}
