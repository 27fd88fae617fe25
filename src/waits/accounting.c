/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/accounting.h"

#include <glib.h>
#include <stdlib.h>

#include "base/map64.h"

/* A part of a row's time for which a client waited. */
struct charge {
	wait_row row;
	unsigned account; /* index of its process's own account */
	uint8_t resource;
	uint64_t begin_ns, end_ns;
};

struct accounting {
	const struct waits *w;
	uint64_t begin_ns, end_ns;
	wait_row row;     /* the last one done */
	unsigned done, n; /* rows; n: their number at the start */
	struct wait_path path;
	GArray *accounts;  /* struct account */
	GHashTable *known; /* struct key * -> 1 + index of its account */
	GArray *charges;   /* struct charge */
};

/* A process and the client it works for; client.pid is PID_NONE for its own account. */
struct key {
	struct {
		unsigned host;
		int32_t pid;
	} process, client;
};

enum { PID_NONE = -1 };

static guint key_hash(gconstpointer p)
{
	const struct key *k = p;
	uint64_t process = (uint64_t)k->process.host << 32 | (uint32_t)k->process.pid;
	uint64_t client = (uint64_t)k->client.host << 32 | (uint32_t)k->client.pid;

	return (guint)map64_hash(process ^ map64_hash(client));
}

static gboolean key_equal(gconstpointer pa, gconstpointer pb)
{
	const struct key *a = pa, *b = pb;

	return a->process.host == b->process.host && a->process.pid == b->process.pid &&
	       a->client.host == b->client.host && a->client.pid == b->client.pid;
}

/* The PID, or the TID if the thread's process is unknown. */
static int32_t pid_of(const struct wait_who *who)
{
	return who->pid > 0 ? who->pid : who->tid;
}

/* The name is the last one in the window. */
static struct wait_who who_is(const struct accounting *a, wait_row row)
{
	return waits_who_at(a->w, row, a->end_ns - 1);
}

/* The name of the process's main thread if that is known, else the thread's. */
static strid name_of(const struct accounting *a, const struct wait_who *who)
{
	wait_row main_row = WAIT_NO_ROW;

	if (who->pid > 0 && who->pid != who->tid)
		main_row = waits_find(a->w, who->host, who->pid, UINT64_MAX);
	return main_row == WAIT_NO_ROW ? who->comm : who_is(a, main_row).comm;
}

/* client NULL: the process's own account. */
static unsigned account_index(struct accounting *a, const struct wait_who *who, const struct wait_who *client)
{
	struct key key = { { who->host, pid_of(who) }, { 0, PID_NONE } };
	struct account *account;
	guint index;

	if (client) {
		key.client.host = client->host;
		key.client.pid = pid_of(client);
	}
	index = GPOINTER_TO_UINT(g_hash_table_lookup(a->known, &key));
	if (index)
		return index - 1;
	g_array_set_size(a->accounts, a->accounts->len + 1);
	g_hash_table_insert(a->known, g_memdup2(&key, sizeof(key)), GUINT_TO_POINTER(a->accounts->len));
	account = &g_array_index(a->accounts, struct account, a->accounts->len - 1);
	account->host = who->host;
	account->pid = key.process.pid;
	account->comm = name_of(a, who);
	account->client_pid = PID_NONE;
	if (client) {
		account->for_client = true;
		account->client_host = client->host;
		account->client_pid = key.client.pid;
		account->client_comm = name_of(a, client);
	}
	return a->accounts->len - 1;
}

/* Valid until the next account is created. */
static struct account *account_of(struct accounting *a, const struct wait_who *who, const struct wait_who *client)
{
	unsigned index = account_index(a, who, client);

	return &g_array_index(a->accounts, struct account, index);
}

/* The resource that a segment uses; -1: none. */
static int resource_of(const struct wait_segment *s)
{
	if (s->fill != WAIT_FILL_NONE)
		return -1;
	switch (s->state) {
	case WAIT_RUNNING:
		return ACCOUNT_CPU;
	case WAIT_BLOCK_DEVICE:
		return ACCOUNT_DISK;
	case WAIT_NETWORK:
		return ACCOUNT_NETWORK;
	default:
		return -1;
	}
}

static bool same_process(const struct wait_who *a, const struct wait_who *b)
{
	return a->host == b->host && pid_of(a) == pid_of(b);
}

/*
 * The process to which a segment's use belongs. A packet in transit belongs to the
 * server in both directions; receivers in interrupt context and idle tasks are not processes. false: not a server.
 */
static bool server_of(const struct accounting *a, const struct wait_segment *s, const struct wait_who *client,
		      struct wait_who *server)
{
	*server = who_is(a, s->row);
	if (s->wire && s->from != WAIT_NO_ROW && (server->tid <= 0 || same_process(server, client)))
		*server = who_is(a, s->from);
	return server->tid > 0 && !same_process(server, client);
}

static void charge(struct accounting *a, const struct wait_segment *s, const struct wait_who *client, int resource)
{
	const uint64_t ns = s->end_ns - s->begin_ns;
	struct wait_who server;

	if (!server_of(a, s, client, &server))
		return;
	account_of(a, &server, client)->sub_ns[resource] += ns;
	account_of(a, client, NULL)->sub_ns[resource] += ns;
	if (!s->wire) {
		struct charge c = {
			s->row, account_index(a, &server, NULL), (uint8_t)resource, s->begin_ns, s->end_ns,
		};

		g_array_append_val(a->charges, c);
	}
}

/* Adds the path of one thread: its own use, and the work done for it. */
static void add_path(struct accounting *a, wait_row row, const struct wait_path *path)
{
	const struct wait_who who = who_is(a, row);

	for (uint32_t i = 0; i < path->n; i++) {
		const struct wait_segment *s = &path->segments[i];
		const bool own = s->row == row && !s->wire;
		int resource = resource_of(s);

		if (resource < 0)
			continue;
		if (s->role == WAIT_ROLE_CLIENT && !own)
			charge(a, s, &who, resource);
		else if (s->role != WAIT_ROLE_SERVER && own)
			account_of(a, &who, NULL)->self_ns[resource] += s->end_ns - s->begin_ns;
	}
}

static int compare_charges(gconstpointer pa, gconstpointer pb)
{
	const struct charge *a = pa, *b = pb;

	if (a->row != b->row)
		return a->row < b->row ? -1 : 1;
	if (a->resource != b->resource)
		return a->resource < b->resource ? -1 : 1;
	return a->begin_ns < b->begin_ns ? -1 : a->begin_ns > b->begin_ns;
}

/* Work for clients does not belong to a process's own account; work for several at once is subtracted once. */
static void take_charges_off(struct accounting *a)
{
	const struct charge *last = NULL;
	uint64_t until_ns = 0;

	g_array_sort(a->charges, compare_charges);
	for (guint i = 0; i < a->charges->len; i++) {
		const struct charge *c = &g_array_index(a->charges, struct charge, i);
		struct account *own = &g_array_index(a->accounts, struct account, c->account);
		uint64_t begin_ns = c->begin_ns;

		if (last && last->row == c->row && last->resource == c->resource)
			begin_ns = MAX(begin_ns, until_ns);
		if (c->end_ns > begin_ns) {
			own->self_ns[c->resource] -= MIN(own->self_ns[c->resource], c->end_ns - begin_ns);
			until_ns = c->end_ns;
		}
		last = c;
	}
}

struct accounting *accounting_begin(const struct waits *w, uint64_t begin_ns, uint64_t end_ns)
{
	struct accounting *a = g_new0(struct accounting, 1);

	a->w = w;
	a->begin_ns = begin_ns;
	a->end_ns = end_ns;
	a->row = WAIT_NO_ROW;
	a->accounts = g_array_new(FALSE, TRUE, sizeof(struct account));
	a->known = g_hash_table_new_full(key_hash, key_equal, g_free, NULL);
	a->charges = g_array_new(FALSE, FALSE, sizeof(struct charge));
	wait_path_init(&a->path);
	for (wait_row row = WAIT_NO_ROW; (row = waits_next(w, row)) != WAIT_NO_ROW;)
		a->n++;
	return a;
}

bool accounting_step(struct accounting *a)
{
	wait_row row = waits_next(a->w, a->row);

	if (row == WAIT_NO_ROW)
		return false;
	waits_path(a->w, row, a->begin_ns, a->end_ns, &a->path);
	add_path(a, row, &a->path);
	a->row = row;
	a->done++;
	return true;
}

unsigned accounting_percent(const struct accounting *a)
{
	return a->n ? MIN(a->done, a->n) * 100 / a->n : 100;
}

struct account *accounting_end(struct accounting *a, unsigned *n, uint64_t *from_ns)
{
	struct account *accounts;

	take_charges_off(a);
	if (from_ns)
		*from_ns = MAX(a->begin_ns, waits_info(a->w).graph.horizon_ns);
	*n = a->accounts->len;
	accounts = (struct account *)(void *)g_array_free(a->accounts, FALSE);
	a->accounts = NULL;
	accounting_give_up(a);
	return accounts;
}

void accounting_give_up(struct accounting *a)
{
	if (!a)
		return;
	if (a->accounts)
		g_array_free(a->accounts, TRUE);
	wait_path_release(&a->path);
	g_hash_table_destroy(a->known);
	g_array_free(a->charges, TRUE);
	g_free(a);
}

struct account *waits_accounting(const struct waits *w, uint64_t begin_ns, uint64_t end_ns, unsigned *n,
				 uint64_t *from_ns)
{
	struct accounting *a = accounting_begin(w, begin_ns, end_ns);

	while (accounting_step(a))
		;
	return accounting_end(a, n, from_ns);
}
