/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_PLAY_KNOWN_FDS_H
#define LT_PLAY_KNOWN_FDS_H

#include <stdint.h>

#include "history/history.h"
#include "model/look.h"

/*
 * The fds of some threads, from the history: when a recording is reread from the middle, the model does not know what
 * was opened earlier.
 */
struct known_fds;

/* Collects the fds that the threads used in [begin_ns, end_ns[ of a track; times are on the host's own clock. */
struct known_fds *known_fds_create(const struct history *h, unsigned track, uint64_t begin_ns, uint64_t end_ns,
				   const int32_t *tids, unsigned n_tids);
void known_fds_destroy(struct known_fds *k);

/* Looks up an fd at t_ns. false: unknown. */
bool known_fds_look(const struct known_fds *k, int32_t tid, int64_t fd, uint64_t t_ns, struct model_fd *out);

#endif
