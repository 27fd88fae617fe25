/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/attach_containers.h"

#include <string.h>

#include "base/error.h"
#include "model/interval.h"
#include "view/containers.h"

enum { NUMBER_DIGITS = 10 }; /* in a namespace's number, from 4026531834 on */

/* Threads with the same values are in the same containers. */
struct container_place {
	guint64 container; /* uid of its row */
	guint64 pid_ns, cgroup_ns;
	unsigned host;
};

static guint place_hash(gconstpointer data)
{
	const struct container_place *p = data;

	return g_int64_hash(&p->container) ^ g_int64_hash(&p->pid_ns) ^ g_int64_hash(&p->cgroup_ns) ^ p->host;
}

static gboolean place_equal(gconstpointer one, gconstpointer other)
{
	const struct container_place *a = one, *b = other;

	return a->container == b->container && a->pid_ns == b->pid_ns && a->cgroup_ns == b->cgroup_ns &&
	       a->host == b->host;
}

/*
 * A container without a name is shown as the name of its first process and the number of its namespace,
 * "bash:4026532318"; the name may change, the number does not. Returns the position of the number.
 */
static const char *number_in(const char *name)
{
	const char *colon = strrchr(name, ':');
	const size_t digits = colon ? strspn(colon + 1, "0123456789") : 0;

	return digits == NUMBER_DIGITS && (!colon[digits + 1] || strcmp(colon + digits + 1, "/") == 0) ? colon + 1
												       : name;
}

enum lt_status attach_containers_init(struct attach_containers *c, const GPtrArray *names)
{
	*c = (struct attach_containers){ .known = g_hash_table_new_full(place_hash, place_equal, g_free, NULL) };
	view_filter_init(&c->filter);
	for (guint i = 0; i < names->len; i++)
		if (view_filter_add_container(&c->filter, number_in(g_ptr_array_index(names, i))) != LT_OK)
			return error_wrap("option '--container'");
	return LT_OK;
}

void attach_containers_release(struct attach_containers *c)
{
	if (!c->known)
		return;
	g_hash_table_destroy(c->known);
	view_filter_release(&c->filter);
}

/* Builds the host's current state for views. */
static bool look(const struct attach_containers *c, unsigned number, const struct thread_row *thread)
{
	const struct ingest_host *h = ingest_host(c->in, number);
	struct host_state nothing; /* all rows count as new; nothing is copied */
	struct interval now;
	struct view_host host = {
		.name = h->name,
		.sidecar = h->sidecar,
		.record_ns = h->begin_ns,
		.iv = &now,
	};
	bool wanted;

	interval_init(&now);
	state_init(&nothing);
	interval_begin(&now, &nothing, h->begin_ns, 1 << TABLE_THREAD | 1 << TABLE_CONTAINER);
	interval_end(&now, model_state(h->model), h->begin_ns + 1);
	wanted = view_filter_thread_place(&c->filter, &host, thread);
	state_release(&nothing);
	interval_release(&now);
	return wanted;
}

static bool is_in(void *user, unsigned host, const struct thread_row *thread)
{
	struct attach_containers *c = user;
	const struct container_place p = { thread->container, thread->pid_ns, thread->cgroup_ns, host };
	gpointer wanted;

	if (!g_hash_table_lookup_extended(c->known, &p, NULL, &wanted)) {
		wanted = GINT_TO_POINTER(look(c, host, thread));
		g_hash_table_insert(c->known, g_memdup2(&p, sizeof(p)), wanted);
	}
	return GPOINTER_TO_INT(wanted);
}

void attach_containers_select(struct attach_containers *c, struct attach_select *select)
{
	if (!view_filter_asks(&c->filter, VIEW_FACT_CONTAINER))
		return;
	select->contains = is_in;
	select->user = c;
}

void attach_containers_forget(struct attach_containers *c)
{
	g_hash_table_remove_all(c->known);
}
