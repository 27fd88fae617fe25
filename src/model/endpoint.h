/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_ENDPOINT_H
#define LT_MODEL_ENDPOINT_H

/* The address and port at one end of a connection. Inside model/ only. */
#include <string.h>
#include <sys/socket.h>

#include "model/files.h"
#include "model/recent.h"

/* IPv4-mapped IPv6 addresses are stored as IPv4. */
struct endpoint {
	uint64_t addr[2]; /* network byte order, IPv4 in the first 4 bytes */
	uint16_t port;
	bool v6;
};

static inline struct endpoint endpoint_of(bool v6, const uint64_t addr[2], uint64_t port)
{
	static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };
	struct endpoint e = { .port = (uint16_t)port, .v6 = v6 };

	memcpy(e.addr, addr, v6 ? 16 : 4);
	if (v6 && memcmp(addr, mapped, sizeof(mapped)) == 0) {
		e = (struct endpoint){ .port = (uint16_t)port };
		memcpy(e.addr, (const char *)addr + sizeof(mapped), 4);
	}
	return e;
}

static inline bool endpoint_same(const struct endpoint *a, const struct endpoint *b)
{
	return a->port == b->port && a->v6 == b->v6 && a->addr[0] == b->addr[0] && a->addr[1] == b->addr[1];
}

static inline uint64_t endpoint_hash(const struct endpoint *e)
{
	return map64_mix(map64_mix(e->addr[0], e->addr[1]), (uint64_t)e->v6 << 16 | e->port);
}

/*
 * Whether the ports show that a is a server and b its client: b's is one that Linux gives to clients by default and a's
 * is below those, or a's is that of NFS. Clients of NFS and other RPC have reserved ports, which show nothing.
 */
static inline bool endpoint_serves(const struct endpoint *a, const struct endpoint *b)
{
	enum { RESERVED_MIN = 512, RESERVED_MAX = 1023, NFS = 2049, EPHEMERAL_MIN = 32768 };

	if (a->port == NFS || b->port == NFS)
		return b->port != NFS;
	if (a->port >= RESERVED_MIN && a->port <= RESERVED_MAX)
		return false;
	return a->port < EPHEMERAL_MIN && b->port >= EPHEMERAL_MIN;
}

/* Identifies the packets from one to the other; never 0. */
static inline uint64_t endpoint_flow(const struct endpoint *from, const struct endpoint *to)
{
	return map64_mix(endpoint_hash(from), endpoint_hash(to)) | 1;
}

/* "10.0.0.1:80" */
static inline strid endpoint_name(const struct endpoint *e)
{
	return fdkind_peer(e->v6 ? AF_INET6 : AF_INET, e->port, e->addr);
}

#endif
