/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/attach/containers.h"

#include "base/error.h"

enum lt_status attach_containers_init(struct attach_containers *c, const GPtrArray *names)
{
	c->in = NULL;
	thread_containers_init(&c->threads);
	view_filter_init(&c->filter);
	c->are_met = g_new0(bool, names->len);
	for (guint i = 0; i < names->len; i++)
		if (view_filter_add_container(&c->filter, g_ptr_array_index(names, i)) != LT_OK)
			return error_wrap("option '--container'");
	return LT_OK;
}

void attach_containers_release(struct attach_containers *c)
{
	if (!c->threads.known)
		return;
	thread_containers_release(&c->threads);
	view_filter_release(&c->filter);
	g_clear_pointer(&c->are_met, g_free);
}

struct thread_of_host {
	struct attach_containers *c;
	const struct ingest_host *host;
	const struct thread_row *row;
	bool is_in; /* one of them */
};

/* Each name is an alternative. Of untouched terms all are visited, so that all are marked. */
static enum view_truth visit_term(void *data, const struct view_node *term)
{
	struct thread_of_host *t = data;

	if (thread_containers_has(&t->c->threads, term, t->host, t->row))
		t->is_in = t->c->are_met[term->place] = true;
	return VIEW_UNTOUCHED;
}

static bool is_in(void *user, unsigned host, const struct thread_row *thread)
{
	struct attach_containers *c = user;
	struct thread_of_host t = { c, ingest_host(c->in, host), thread, false };

	view_filter_wants(&c->filter, visit_term, &t);
	return t.is_in;
}

void attach_containers_select(struct attach_containers *c, struct attach_select *select)
{
	if (!view_filter_asks(&c->filter, VIEW_FACT_CONTAINER))
		return;
	select->contains = is_in;
	select->user = c;
}
