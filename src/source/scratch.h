/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_SOURCE_SCRATCH_H
#define LT_SOURCE_SCRATCH_H

/*
 * Temporary directories for workers, in memory where there is some:
 *
 *   /dev/shm/lttngtop-workers-PID-XXXXXX/0, 1, …
 *
 * They do not outlive this process, however it ends: a process of its own, the keeper, waits until this one and its
 * workers are gone and removes what is left. Should the keeper be killed too, the next
 * process of the user that makes such a directory removes it: the directory of one that runs is locked (flock). Main
 * thread only.
 */

/* An empty directory for a worker, to be given to scratch_remove(). NULL: nowhere to write. */
char *scratch_create(void);

/*
 * A descriptor for every worker to inherit: the keeper waits until no process has it any more. -1: there is no keeper.
 */
int scratch_life_fd(void);

/* Removes the directory and frees its name; NULL is allowed. After the worker's end. */
void scratch_remove(char *directory);

/* Removes a directory of this user's with all that is in it, to the depth of these, never what a link leads to. */
void scratch_remove_tree(const char *path);

#endif
