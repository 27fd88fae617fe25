/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_WAITS_ACCOUNTING_H
#define LT_WAITS_ACCOUNTING_H

#include "waits/waits.h"

/*
 * The processes' use of CPUs, disks and the network, and the clients it was for: what servers do while a client's
 * thread waits for them is charged to the client, by its critical path. A thread is a client in a wait if it opened the
 * connection on which it waits, or if it waits for a kernel thread. A server that waits for its next request is not
 * charged, nor is a parent that waits for its child, nor a thread of the kernel: it waits for others.
 *
 *   client ──running──┬───────────── blocked ─────────────┬──running──
 *                request                                reply
 *   server  ─ blocked ┴──running──block_device──running──┘    all of this is charged to the client
 *
 * If two clients wait for the same server at the same time, each is charged for
 * its whole wait, including the time that the server spends on the other first.
 */
enum account_resource { ACCOUNT_CPU, ACCOUNT_DISK, ACCOUNT_NETWORK, ACCOUNT_RESOURCES };

struct account {
	unsigned host;
	int32_t pid;
	strid comm;
	bool for_client; /* what the process did for one client; false: its own account */
	unsigned client_host;
	int32_t client_pid;
	strid client_comm;
	/*
	 * Own account: what the process used while no client waited for it. For a client: 0. CPU: time its threads ran;
	 * disk, network: time its threads waited for them.
	 */
	uint64_t self_ns[ACCOUNT_RESOURCES];
	/* Own account: what all servers did for it. For a client: what this process did on the client's path. */
	uint64_t sub_ns[ACCOUNT_RESOURCES];
};

/*
 * The accounts for a window of reference time, *n of them in no particular order; free them with g_free().
 * They cover the part of the window that the graph still holds: *from_ns (may be NULL) is its start.
 */
struct account *waits_accounting(const struct waits *w, uint64_t begin_ns, uint64_t end_ns, unsigned *n,
				 uint64_t *from_ns);

/*
 * The same in small steps, because it computes the path of every thread. Between steps the graph may grow, but
 * before it is cleared (waits_info.epoch) or destroyed the caller must give up the job.
 *
 *   job = accounting_begin(w, begin_ns, end_ns);
 *   while (accounting_step(job))
 *           …
 *   accounts = accounting_end(job, &n, &from_ns);
 */
struct accounting;

struct accounting *accounting_begin(const struct waits *w, uint64_t begin_ns, uint64_t end_ns);

/* Does one more thread; false: all are done. */
bool accounting_step(struct accounting *a);

/* How much is done, in per cent of the threads. */
unsigned accounting_percent(const struct accounting *a);

/* Returns the same as waits_accounting(), and frees the job. */
struct account *accounting_end(struct accounting *a, unsigned *n, uint64_t *from_ns);

/* Frees the job without using the graph. NULL is allowed. */
void accounting_give_up(struct accounting *a);

#endif
