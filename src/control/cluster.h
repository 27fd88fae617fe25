/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_CLUSTER_H
#define LT_CONTROL_CLUSTER_H

#include <glib.h>
#include <stdbool.h>

#include "base/status.h"
#include "control/plan.h"

/*
 * Runs a plan on other hosts for as long as this process keeps a connection to each: an ssh sets up the session there,
 * starts it and forwards its streams to a relayd on this machine's loopback (ssh -R). However the connection ends, the
 * host removes the session itself.
 */
struct cluster {
	GPtrArray *links;               /* struct cluster_link *, private to cluster.c; NULL if there are none */
	const struct record_plan *plan; /* borrowed */
	gint64 end_us;                  /* monotonic: when hosts that do not record yet are given up */
};

/*
 * Connects to plan->hosts. The relayd listens on these ports of 127.0.0.1; the same ports are used on each host's
 * loopback. Returns once each host records or has failed; a host that takes much longer than another may follow later.
 * Hosts that fail are named by warnings. LT_ERROR: all have failed. LT_INTERRUPTED: watch_fd became readable. Call
 * cluster_end() in every case.
 */
enum lt_status cluster_start(struct cluster *c, const struct record_plan *plan, unsigned control_port,
			     unsigned data_port, int watch_fd);

/*
 * Warns about hosts whose connection was lost, and about what late ones lack. To be called after SIGCHLD and, while it
 * returns true because of late hosts, now and then.
 */
bool cluster_watch(struct cluster *c);

/* Ends the sessions and the connections. */
void cluster_end(struct cluster *c);

#endif
