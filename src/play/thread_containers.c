/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "play/thread_containers.h"

#include "model/interval.h"
#include "view/containers.h"

/* Threads with the same values are in the same containers. */
struct container_place {
	const struct view_node *term;
	const struct ingest_host *host;
	guint64 container; /* uid of its row */
	guint64 pid_ns, cgroup_ns;
};

static guint place_hash(gconstpointer data)
{
	const struct container_place *p = data;

	return g_int64_hash(&p->container) ^ g_int64_hash(&p->pid_ns) ^ g_int64_hash(&p->cgroup_ns) ^
	       g_direct_hash(p->host) ^ g_direct_hash(p->term);
}

static gboolean place_equal(gconstpointer one, gconstpointer other)
{
	const struct container_place *a = one, *b = other;

	return a->term == b->term && a->host == b->host && a->container == b->container && a->pid_ns == b->pid_ns &&
	       a->cgroup_ns == b->cgroup_ns;
}

void thread_containers_init(struct thread_containers *c)
{
	c->known = g_hash_table_new_full(place_hash, place_equal, g_free, NULL);
}

void thread_containers_release(struct thread_containers *c)
{
	g_clear_pointer(&c->known, g_hash_table_destroy);
}

struct container_look {
	GHashTable *known;
	const struct view_node *term;
	const struct ingest_host *host;
};

static struct container_place place_of(const struct container_look *l, const struct thread_row *thread)
{
	return (struct container_place){ l->term, l->host, thread->container, thread->pid_ns, thread->cgroup_ns };
}

static void learn(void *data, const struct thread_row *thread, bool holds)
{
	const struct container_look *l = data;
	const struct container_place p = place_of(l, thread);

	if (!g_hash_table_contains(l->known, &p))
		g_hash_table_insert(l->known, g_memdup2(&p, sizeof(p)), GINT_TO_POINTER(holds));
}

/* Builds the host's current state for views, and takes the answers for all its threads from that. */
static void look(struct container_look *l, const struct thread_row *thread)
{
	const struct ingest_host *h = l->host;
	struct host_state nothing; /* all rows count as new; nothing is copied */
	struct interval now;
	struct view_host host = {
		.name = h->name,
		.sidecar = h->sidecar,
		.record_ns = h->begin_ns,
		.iv = &now,
	};

	interval_init(&now);
	state_init(&nothing);
	interval_begin(&now, &nothing, h->begin_ns, 1 << TABLE_THREAD | 1 << TABLE_CONTAINER);
	interval_end(&now, model_state(h->model), h->begin_ns + 1);
	view_term_of_threads(l->term, &host, thread, learn, l);
	state_release(&nothing);
	interval_release(&now);
}

bool thread_containers_has(struct thread_containers *c, const struct view_node *term, const struct ingest_host *host,
			   const struct thread_row *thread)
{
	struct container_look l = { c->known, term, host };
	const struct container_place p = place_of(&l, thread);
	gpointer holds;

	if (!g_hash_table_lookup_extended(c->known, &p, NULL, &holds)) {
		look(&l, thread);
		holds = g_hash_table_lookup(c->known, &p);
	}
	return GPOINTER_TO_INT(holds);
}

void thread_containers_forget(struct thread_containers *c)
{
	g_hash_table_remove_all(c->known);
}
