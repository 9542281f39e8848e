/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/outside/root.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "core/sys/file.h"

enum { PATH_BYTES = 4096 };

/* The folder, and the namespace that its mounts are of. */
struct identity {
    dev_t device;
    ino_t inode, mounts;
};

struct tree_root {
    struct yarn_root root; /* the target's; the first in it */
    struct identity identity;
    size_t nr_users;
    char path[PATH_BYTES];
};

static bool identify(const char *proc, struct identity *ret_identity)
{
    char path[YARN_TARGET_PROC_BYTES + 16];
    struct stat root, mounts;
    (void)snprintf(path, sizeof path, "%s/root", proc);
    if (stat(path, &root))
        return false;
    (void)snprintf(path, sizeof path, "%s/ns/mnt", proc);
    if (stat(path, &mounts))
        return false;
    *ret_identity = (struct identity){root.st_dev, root.st_ino, mounts.st_ino};
    return true;
}

static bool is_same(const struct identity *a, const struct identity *b)
{
    return a->device == b->device && a->inode == b->inode && a->mounts == b->mounts;
}

static const struct identity *own(void)
{
    static struct identity identity;
    static bool is_known;
    is_known = is_known || identify("/proc/self", &identity);
    return &identity;
}

static struct tree_root *of(const struct yarn_target *target)
{
    return (struct tree_root *)(void *)(uintptr_t)target->root;
}

static struct tree_root *open_root(const struct yarn_target *target,
                                   const struct identity *identity)
{
    char path[YARN_TARGET_PROC_BYTES + 8];
    struct tree_root *root = calloc(1, sizeof *root);
    if (!root)
        return NULL;
    (void)snprintf(path, sizeof path, "%s/root", target->proc);
    bool is_kept = identity->mounts != own()->mounts;
    int fd = is_kept ? yarn_file_open_folder(YARN_FILE_CWD, path) : YARN_FILE_CWD;
    bool is_had =
        is_kept ? fd >= 0 : yarn_file_read_link(YARN_FILE_CWD, path, root->path, PATH_BYTES) > 0;
    if (!is_had) {
        free(root);
        return NULL;
    }
    root->root = (struct yarn_root){.fd = fd, .path = root->path};
    root->identity = *identity;
    root->nr_users = 1;
    return root;
}

void yarn_tree_root_look(struct yarn_target *target)
{
    struct identity identity;
    /* Why asked first: a short process has ended when its records are read. In vain each look into
     * its folder costs the kernel an entry of a cache. */
    target->has_ended = target->has_ended || (kill(target->pid, 0) && errno == ESRCH);
    if (target->has_ended || !identify(target->proc, &identity))
        return;
    const struct tree_root *now = of(target);
    if (is_same(&identity, now ? &now->identity : own()))
        return;
    yarn_tree_root_leave(target);
    if (is_same(&identity, own()))
        return;
    struct tree_root *root = open_root(target, &identity);
    target->root = root ? &root->root : NULL;
}

void yarn_tree_root_share(struct yarn_target *child, const struct yarn_target *parent)
{
    child->root = parent->root;
    if (child->root)
        of(child)->nr_users++;
}

void yarn_tree_root_leave(struct yarn_target *target)
{
    struct tree_root *root = of(target);
    target->root = NULL;
    if (!root || --root->nr_users)
        return;
    if (root->root.fd != YARN_FILE_CWD)
        yarn_file_close(root->root.fd);
    free(root);
}
