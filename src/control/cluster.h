/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CONTROL_CLUSTER_H
#define LT_CONTROL_CLUSTER_H

#include <glib.h>

#include "base/status.h"
#include "control/plan.h"

/*
 * Runs a plan on other hosts for as long as this process keeps a connection to each: an ssh sets up the session there,
 * starts it and forwards its streams to a relayd on this machine's loopback (ssh -R). However the connection ends, the
 * host removes the session itself.
 */
struct cluster {
	GPtrArray *links; /* struct cluster_link *, private to cluster.c; NULL if there are none */
};

/*
 * Connects to plan->hosts. The relayd listens on these ports of 127.0.0.1; the same ports are used on each host's
 * loopback. Returns once all hosts record. LT_ERROR: a host failed, named in the error chain. LT_INTERRUPTED: watch_fd
 * became readable. Call cluster_end() in every case.
 */
enum lt_status cluster_start(struct cluster *c, const struct record_plan *plan, unsigned control_port,
			     unsigned data_port, int watch_fd);

/* Ends the sessions and the connections. */
void cluster_end(struct cluster *c);

#endif
