/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_WAITS_ACCOUNTING_H
#define LT_WAITS_ACCOUNTING_H

#include "waits/waits.h"

/*
 * What processes use of CPUs, disks and the network, and for whom: what servers
 * do while a client's thread waits for them is charged to the client, by its
 * critical path. A wait is a client's if it opened the connection it waits on, or
 * waits for a thread of the kernel; a server that waits for its next request is charged
 * nothing, nor is a parent for its child.
 *
 *   client ──running──┬───────────── blocked ─────────────┬──running──
 *                request                                reply
 *   server  ─ blocked ┴──running──block_device──running──┘    all this is the client's
 *
 * Two clients that wait for the same server at the same time are both charged
 * for their whole wait, other clients' work that is done first included.
 */
enum account_resource { ACCOUNT_CPU, ACCOUNT_DISK, ACCOUNT_NETWORK, ACCOUNT_RESOURCES };

struct account {
	unsigned host;
	int32_t pid;
	strid comm;
	bool for_client; /* the row is what it did for one client; else it is on its own account */
	unsigned client_host;
	int32_t client_pid;
	strid client_comm;
	/*
	 * Own account: what the process used and no client waited for. For a client: 0.
	 * CPU: running; disk, network: its threads waited for it.
	 */
	uint64_t self_ns[ACCOUNT_RESOURCES];
	/* Own account: what all its servers did for it. For a client: what this process did on the client's path. */
	uint64_t sub_ns[ACCOUNT_RESOURCES];
};

/*
 * The accounts of a window of reference time, in no order; g_free() the result. As
 * far as the graph is kept: *from_ns, may be NULL, is where that begins.
 */
struct account *waits_accounting(const struct waits *w, uint64_t begin_ns, uint64_t end_ns, unsigned *n,
				 uint64_t *from_ns);

/*
 * The same, a little at a time, as it asks for the path of every thread. In between the graph may
 * grow, but not begin anew (waits_info.epoch) nor be destroyed: whoever lets it do so gives up first.
 *
 *   job = accounting_begin(w, begin_ns, end_ns);
 *   while (accounting_step(job))
 *           …
 *   accounts = accounting_end(job, &n, &from_ns);
 */
struct accounting;

struct accounting *accounting_begin(const struct waits *w, uint64_t begin_ns, uint64_t end_ns);

/* One thread more; false: there was none left. */
bool accounting_step(struct accounting *a);

/* How many of the threads have been done. */
unsigned accounting_percent(const struct accounting *a);

/* As waits_accounting() does. Frees the job. */
struct account *accounting_end(struct accounting *a, unsigned *n, uint64_t *from_ns);

/* Frees it without looking at the graph. NULL is allowed. */
void accounting_give_up(struct accounting *a);

#endif
