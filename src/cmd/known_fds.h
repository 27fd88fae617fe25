/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CMD_KNOWN_FDS_H
#define LT_CMD_KNOWN_FDS_H

#include <stdint.h>

#include "history/history.h"
#include "model/look.h"

/*
 * What the fds of some threads are, out of the history: where a recording is read again from its midst the model there
 * does not know what was opened before.
 */
struct known_fds;

/* Those of the threads that they used in [begin_ns, end_ns[ of a track; times are its host's own. */
struct known_fds *known_fds_create(const struct history *h, unsigned track, uint64_t begin_ns, uint64_t end_ns,
				   const int32_t *tids, unsigned n_tids);
void known_fds_destroy(struct known_fds *k);

/* What the fd was at t_ns. false: not known. */
bool known_fds_look(const struct known_fds *k, int32_t tid, int64_t fd, uint64_t t_ns, struct model_fd *out);

#endif
