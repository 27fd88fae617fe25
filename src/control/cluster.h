/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_CLUSTER_H
#define LT_CONTROL_CLUSTER_H

#include <glib.h>

#include "base/status.h"
#include "control/plan.h"

/*
 * A plan on other hosts for as long as this process holds a connection to each: an ssh sets up the session there,
 * starts it and brings its streams back to a relayd on this machine's loopback (ssh -R). When the connection ends,
 * in whatever way, the host removes the session itself.
 */
struct cluster {
	GPtrArray *links; /* struct link *, private to cluster.c; NULL: none */
};

/*
 * To the relayd at these ports of 127.0.0.1, which are taken on the hosts' loopbacks, too. Returns when all of them
 * record. LT_ERROR: one does not, which the error chain names. LT_INTERRUPTED: watch_fd became readable. Either way
 * cluster_end() follows.
 */
enum lt_status cluster_start(struct cluster *c, const struct record_plan *plan, unsigned control_port,
			     unsigned data_port, int watch_fd);

/* Ends the sessions and the connections. */
void cluster_end(struct cluster *c);

#endif
