/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ingest/kernel.h"

#include <string.h>

#include "base/map64.h"
#include "base/strpool.h"
#include "event/payload.h"
#include "event/tracepoints.h"
#include "ingest/feed.h"
#include "ingest/host.h"

/* What one session, or one recording, has of the kernel. */
struct kernel_session {
	const struct source_spec *spec;
	unsigned declared; /* event classes that some figure needs */
	unsigned taken;    /* event classes that are taken from it */
	uint64_t last_ns;  /* of its events */
	bool runs;         /* an event of it came */
	bool is_over;      /* its sources have ended since */
	bool rests;        /* it had none for a while, and another one did */
	bool repeats;      /* some event was not taken, as it is another one's */
};

/* An event class as a feed's trace has it. */
struct kernel_class {
	strid name;
	uint16_t owner; /* number of the session that it is taken from */
	bool is_used;
};

void kernel_session_free(void *data)
{
	g_free(data);
}

static struct kernel_session *session_at(const struct host *host, guint i)
{
	return g_ptr_array_index(host->kernels, i);
}

/* Its event classes by their numbers; NULL: the trace is not a kernel's. */
static GArray *classes_of(const struct feed *feed, unsigned trace)
{
	return feed->kernel_traces && trace < feed->kernel_traces->len ?
		       g_ptr_array_index(feed->kernel_traces, trace) :
		       NULL;
}

/* ---- what there is ---- */

static struct kernel_session *session_of(struct host *host, const struct source_spec *spec)
{
	struct kernel_session *s;

	for (guint i = 0; i < host->kernels->len; i++)
		if (session_at(host, i)->spec == spec)
			return session_at(host, i);
	s = g_new0(struct kernel_session, 1);
	s->spec = spec;
	g_ptr_array_add(host->kernels, s);
	return s;
}

static void clear_classes(void *classes)
{
	if (classes)
		g_array_free(classes, TRUE);
}

static void declare_trace(struct feed *feed, const struct event *ev)
{
	const bool is_kernel = event_payload(ev, ev_trace)->domain == DOMAIN_KERNEL;

	if (!feed->kernel_traces)
		feed->kernel_traces = g_ptr_array_new_with_free_func(clear_classes);
	if (ev->trace >= feed->kernel_traces->len)
		g_ptr_array_set_size(feed->kernel_traces, ev->trace + 1);
	clear_classes(classes_of(feed, ev->trace));
	g_ptr_array_index(feed->kernel_traces, ev->trace) =
		is_kernel ? g_array_new(FALSE, TRUE, sizeof(struct kernel_class)) : NULL;
	if (is_kernel)
		feed->kernel = session_of(feed->host, feed->spec);
}

static void declare_class(struct feed *feed, const struct event *ev)
{
	const struct ev_class *p = event_payload(ev, ev_class);
	GArray *classes = classes_of(feed, ev->trace);

	if (!classes || ev->class_id == EVENT_NO_CLASS)
		return;
	if (ev->class_id >= classes->len)
		g_array_set_size(classes, ev->class_id + 1u);
	g_array_index(classes, struct kernel_class, ev->class_id) = (struct kernel_class){
		.name = strpool_intern(event_text(ev, p->name), p->name.len),
		.is_used = p->kind < EVENT_KINDS && tracepoint_desc((enum event_kind)p->kind)->need,
	};
	feed->host->must_choose = true;
}

void kernel_declare(struct feed *feed, const struct event *ev)
{
	if (ev->kind == EVENT_TRACE)
		declare_trace(feed, ev);
	else
		declare_class(feed, ev);
}

/* ---- which is taken ---- */

static unsigned count_used(const struct feed *feed)
{
	unsigned n = 0;

	for (guint t = 0; t < feed->kernel_traces->len; t++) {
		const GArray *classes = classes_of(feed, t);

		for (guint i = 0; classes && i < classes->len; i++)
			n += g_array_index(classes, struct kernel_class, i).is_used;
	}
	return n;
}

/* The first is taken rather than the second. */
static int by_rank(const void *a, const void *b)
{
	const struct kernel_session *x = *(struct kernel_session *const *)a, *y = *(struct kernel_session *const *)b;

	if (x->runs != y->runs)
		return x->runs ? -1 : 1;
	if (x->rests != y->rests)
		return x->rests ? 1 : -1;
	if (x->declared != y->declared)
		return x->declared > y->declared ? -1 : 1;
	return strcmp(x->spec->name, y->spec->name);
}

/* Takes the session's classes that no session before it has. */
static void take_classes(struct host *host, struct feed *feed, uint16_t number, struct map64 *owners)
{
	for (guint t = 0; t < feed->kernel_traces->len; t++) {
		GArray *classes = classes_of(feed, t);

		for (guint i = 0; classes && i < classes->len; i++) {
			struct kernel_class *class = &g_array_index(classes, struct kernel_class, i);

			/* a name that did not fit into memory is like no other */
			if (class->name && map64_get(owners, class->name) == MAP64_NONE)
				map64_put(owners, class->name, number);
			class->owner = class->name ? (uint16_t)map64_get(owners, class->name) : number;
			session_at(host, number)->taken += class->owner == number;
		}
	}
}

/* What is shown of it: which sessions there are, the one that is mostly taken first. */
static void tell(struct host *host)
{
	GString *text = g_string_new(NULL);
	unsigned runs = 0;
	bool repeats = false;

	for (guint i = 0; i < host->kernels->len; i++) {
		runs += session_at(host, i)->runs && !session_at(host, i)->is_over;
		repeats |= session_at(host, i)->repeats;
	}
	if (repeats && (runs > 1 || !host->public.live)) {
		g_string_append_printf(text, "recorded %u times, counted once: from %s; gaps from ",
				       host->kernels->len, session_at(host, 0)->spec->name);
		for (guint i = 1; i < host->kernels->len; i++)
			g_string_append_printf(text, "%s%s", i > 1 ? ", " : "", session_at(host, i)->spec->name);
	}
	host_set_repeated(host, text->len ? text->str : NULL);
	g_string_free(text, TRUE);
}

static void choose(struct host *host)
{
	struct map64 owners = { 0 };

	host->must_choose = false;
	for (guint i = 0; i < host->kernels->len; i++)
		session_at(host, i)->declared = session_at(host, i)->taken = 0;
	for (guint i = 0; i < host->feeds->len; i++) {
		struct feed *feed = g_ptr_array_index(host->feeds, i);

		/* the parts of a recording all declare the same */
		if (feed && feed->kernel)
			feed->kernel->declared = MAX(feed->kernel->declared, count_used(feed));
	}
	g_ptr_array_sort(host->kernels, by_rank);
	for (guint number = 0; number < host->kernels->len; number++)
		for (guint i = 0; i < host->feeds->len; i++) {
			struct feed *feed = g_ptr_array_index(host->feeds, i);

			if (feed && feed->kernel == session_at(host, number))
				take_classes(host, feed, (uint16_t)number, &owners);
		}
	map64_release(&owners);
	tell(host);
}

/* An event of the class came from the session. */
static bool takes_event(struct host *host, struct kernel_session *own, const struct kernel_class *class,
			const struct event *ev)
{
	const struct kernel_session *before = session_at(host, class->owner);
	struct kernel_session *owner;

	host->must_choose |= !own->runs;
	own->runs = true;
	own->is_over = false;
	own->last_ns = MAX(own->last_ns, ev->ts_ns);
	if (host->must_choose)
		choose(host);
	owner = session_at(host, class->owner);
	if (owner == own) /* from now on: of this event the other one may have been taken */
		return before == own || ev->ts_ns > before->last_ns + KERNEL_COPY_NS;
	if (ev->ts_ns > owner->last_ns + (owner->is_over ? KERNEL_COPY_NS : KERNEL_IDLE_NS)) {
		owner->runs = !owner->is_over;
		owner->rests = owner->runs;
		own->rests = false;
		choose(host);
		if (session_at(host, class->owner) == own)
			return true;
	}
	if (!own->repeats) {
		own->repeats = true;
		tell(host);
	}
	return false;
}

/* Returns false: it is not to be applied by itself. */
static bool hold_context(struct feed *feed, const struct event *ev)
{
	if (!feed->kernel_context)
		feed->kernel_context = g_byte_array_new();
	g_byte_array_set_size(feed->kernel_context, 0);
	g_byte_array_append(feed->kernel_context, (const guint8 *)ev, ev->size);
	return false;
}

const struct event *kernel_context(struct feed *feed, const struct event *ev)
{
	const struct event *held;

	if (!feed->kernel_context || !feed->kernel_context->len || ev->kind < EVENT_OTHER)
		return NULL;
	held = (const struct event *)(const void *)feed->kernel_context->data;
	g_byte_array_set_size(feed->kernel_context, 0);
	return held->tid == ev->tid && held->trace == ev->trace ? held : NULL;
}

bool kernel_takes(struct host *host, struct feed *feed, const struct event *ev)
{
	struct kernel_session *own = feed->kernel;
	const GArray *classes;

	if (host->kernels->len < 2 || !own)
		return true;
	classes = classes_of(feed, ev->trace);
	if (!classes)
		return true;
	if (ev->kind == EVENT_CONTEXT)
		return hold_context(feed, ev);
	if (ev->kind == EVENT_LOST || ev->kind == EVENT_BACKWARD)
		return own->taken > 0;
	if (ev->kind < EVENT_OTHER || ev->class_id >= classes->len)
		return true;
	return takes_event(host, own, &g_array_index(classes, struct kernel_class, ev->class_id), ev);
}

bool kernel_fills_gaps(const struct feed *feed)
{
	return feed->kernel && feed->kernel->repeats && session_at(feed->host, 0) != feed->kernel;
}

/* ---- going ---- */

void kernel_feed_stopped(struct feed *feed)
{
	bool runs = false;

	if (!feed->kernel)
		return;
	for (guint i = 0; i < feed->host->feeds->len; i++) {
		const struct feed *other = g_ptr_array_index(feed->host->feeds, i);

		runs |= other && other->kernel == feed->kernel && other->source;
	}
	feed->kernel->is_over = !runs;
	if (!runs && feed->host->kernels->len > 1)
		tell(feed->host);
}

void kernel_release(struct feed *feed)
{
	if (feed->kernel_traces)
		g_ptr_array_free(feed->kernel_traces, TRUE);
	if (feed->kernel_context)
		g_byte_array_free(feed->kernel_context, TRUE);
	feed->kernel_context = NULL;
	feed->kernel_traces = NULL;
	feed->kernel = NULL;
}
