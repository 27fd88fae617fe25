/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "feed/viewers.h"

#include <string.h>

#include "base/error.h"

/* As on the wire: big-endian, packed. */
struct command_head {
	uint64_t size;
	uint32_t command, version;
} __attribute__((packed));

struct hello {
	uint64_t session; /* of viewers; -1: a new one */
	uint32_t major, minor;
	uint32_t type;
} __attribute__((packed));

struct listed_session {
	uint64_t id;
	uint32_t live_timer, clients, streams;
} __attribute__((packed));

/* What follows: the names in fields of these sizes, or since minor version 15 their lengths and themselves. */
enum { HOSTNAME_SIZE = 64, NAME_SIZE = 255 };

struct listed_names {
	uint32_t hostname_len, name_len;
	uint32_t format;
} __attribute__((packed));

enum {
	CONNECT = 1,
	LIST_SESSIONS = 2,
	FOR_COMMANDS = 1,
	MAJOR = 2,
	MINOR = 15, /* below it, sessions in CTF 2 are not listed */
	SESSIONS_MAX = 65536,
	NAME_BYTES_MAX = 65536,
};

void viewers_init(struct viewers *v, unsigned timeout_ms, const volatile sig_atomic_t *stop)
{
	connection_init(&v->connection, timeout_ms, stop);
	v->sessions = g_array_new(FALSE, FALSE, sizeof(struct viewers_session));
}

void viewers_close(struct viewers *v)
{
	connection_close(&v->connection);
	g_array_free(v->sessions, TRUE);
}

static void put_command(struct viewers *v, uint32_t command, const void *payload, size_t size)
{
	struct command_head head = {.size = GUINT64_TO_BE(size), .command = GUINT32_TO_BE(command)};

	connection_put(&v->connection, &head, sizeof(head));
	connection_put(&v->connection, payload, size);
}

enum lt_status viewers_open(struct viewers *v, int family, const char *host, unsigned live_port)
{
	struct hello hello = {.session = UINT64_MAX, .major = GUINT32_TO_BE(MAJOR), .minor = GUINT32_TO_BE(MINOR),
			      .type = GUINT32_TO_BE(FOR_COMMANDS)};
	enum lt_status status = connection_open(&v->connection, family, host, live_port);

	if (status)
		return status;
	put_command(v, CONNECT, &hello, sizeof(hello));
	status = connection_get(&v->connection, &hello, sizeof(hello));
	if (!status && hello.major != GUINT32_TO_BE(MAJOR))
		return error_set("%s does not speak the live protocol %d", v->connection.peer, MAJOR);
	v->minor = MIN(GUINT32_FROM_BE(hello.minor), MINOR);
	return status;
}

/* Nobody needs the names. */
static enum lt_status skip_names(struct viewers *v)
{
	struct listed_names names = {.hostname_len = GUINT32_TO_BE(HOSTNAME_SIZE),
				     .name_len = GUINT32_TO_BE(NAME_SIZE)};
	enum lt_status status = LT_OK;
	uint32_t hostname_len, name_len;
	char *bytes;

	if (v->minor >= MINOR)
		status = connection_get(&v->connection, &names, sizeof(names));
	if (status)
		return status;
	hostname_len = GUINT32_FROM_BE(names.hostname_len);
	name_len = GUINT32_FROM_BE(names.name_len);
	if (hostname_len > NAME_BYTES_MAX || name_len > NAME_BYTES_MAX)
		return error_set("%s sends nonsense", v->connection.peer);
	bytes = g_malloc(hostname_len + name_len + 1);
	status = connection_get(&v->connection, bytes, hostname_len + name_len);
	g_free(bytes);
	return status;
}

enum lt_status viewers_ask(struct viewers *v)
{
	enum lt_status status;
	uint32_t n = 0;

	put_command(v, LIST_SESSIONS, "", 0);
	status = connection_get(&v->connection, &n, sizeof(n));
	n = GUINT32_FROM_BE(n);
	if (!status && n > SESSIONS_MAX)
		return error_set("%s sends nonsense", v->connection.peer);
	g_array_set_size(v->sessions, 0);
	for (uint32_t i = 0; i < n && !status; i++) {
		struct listed_session listed;
		struct viewers_session session;

		status = connection_get(&v->connection, &listed, sizeof(listed));
		if (!status)
			status = skip_names(v);
		if (status)
			break;
		session.id = GUINT64_FROM_BE(listed.id);
		session.clients = GUINT32_FROM_BE(listed.clients);
		session.streams = GUINT32_FROM_BE(listed.streams);
		g_array_append_val(v->sessions, session);
	}
	return status;
}

const struct viewers_session *viewers_find(const struct viewers *v, uint64_t session_id)
{
	for (guint i = 0; i < v->sessions->len; i++)
		if (g_array_index(v->sessions, struct viewers_session, i).id == session_id)
			return &g_array_index(v->sessions, struct viewers_session, i);
	return NULL;
}
