/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ingest/kernel.h"

#include <string.h>

#include "base/map64.h"
#include "base/strpool.h"
#include "event/payload.h"
#include "event/tracepoints.h"
#include "ingest/contexts.h"
#include "ingest/input.h"
#include "ingest/host.h"

/* Between two sessions, the measured offset of a clock that was not set differs by less. */
#define CLOCK_SET_NS NS_PER_MS

#define CLOCK_SET \
	"its clock was set between recordings: where their times overlap, only one is counted (the other: late_events)"

/* The kernel events of one session, or of one recording. */
struct kernel_session {
	const struct source_spec *spec;
	unsigned trace;    /* its number in a spec in which each trace may belong to another session, else 0 */
	char *name;        /* to show */
	unsigned declared; /* number of its event classes that a figure needs */
	unsigned taken;    /* number of event classes that are taken from it */
	uint64_t first_ns; /* time of its first event; 0: it is not known, because earlier ones are left out */
	uint64_t last_ns;  /* time of its last event so far */
	uint64_t zero_ns;  /* recordings: when its clock was 0; 0: not known, or live */
	uint64_t end_ns;   /* recordings: end of its last packet; 0: not known, or live */
	bool runs;         /* it has had an event */
	bool is_over;      /* its sources have ended since */
	bool rests;        /* it had no event for a while, but another session did */
	bool repeats;      /* an event of it was not taken, because another session has it */
	bool is_repeated;  /* another session repeats it */
	bool lacks_events; /* an event of it was not taken, although no other session has it; reported */
	bool is_cut;       /* its first events are left out */
};

/* An event class in a trace of an input. */
struct kernel_class {
	strid name;
	uint16_t owner; /* for a kernel: number of the session from which the class is taken */
	bool is_used;
	bool is_switch; /* sched_switch */
};

/* A trace of an input, of a kernel or of programs. */
struct kernel_trace {
	struct kernel_session *session; /* NULL: a trace of programs */
	unsigned programs;              /* the number of its session in ingest/programs.h */
	unsigned n_streams;             /* live: streams that have started and not ended */
	GArray *classes;                /* struct kernel_class, by class number */
};

void kernel_session_free(void *data)
{
	struct kernel_session *s = data;

	g_free(s->name);
	g_free(s);
}

static struct kernel_session *session_at(const struct host *host, guint i)
{
	return g_ptr_array_index(host->kernels, i);
}

/* NULL: it is a trace of neither a kernel nor programs. */
static struct kernel_trace *trace_at(const struct input *input, unsigned trace)
{
	return input->kernel_traces && trace < input->kernel_traces->len
		       ? g_ptr_array_index(input->kernel_traces, trace)
		       : NULL;
}

bool kernel_has_trace(const struct input *input, unsigned trace)
{
	const struct kernel_trace *t = trace_at(input, trace);

	return t && t->session;
}

/* ---- sessions and their event classes ---- */

/* Whether it shares events with another session; live, one that has ended does so no longer. */
static bool is_one_of_several(const struct host *host, const struct kernel_session *s)
{
	return (s->repeats || s->is_repeated) && (!host->public.live || (s->runs && !s->is_over));
}

/* Updates the note shown for the host: which sessions share events, the preferred one first. */
static void tell(struct host *host)
{
	GString *text = g_string_new(NULL), *names = g_string_new(NULL);
	unsigned n = 0;

	for (guint i = 0; i < host->kernels->len; i++)
		if (is_one_of_several(host, session_at(host, i))) {
			g_string_append(names, n == 0 ? "from " : n == 1 ? "; gaps from " : ", ");
			g_string_append(names, session_at(host, i)->name);
			n++;
		}
	if (n > 1)
		g_string_printf(text, "recorded %u times, counted once: %s", n, names->str);
	if (host->programs.repeats)
		g_string_append_printf(text, "%sprograms traced by several sessions: their events are counted %s",
				       text->len ? "; " : "",
				       host->programs.guesses ? "about once; add the context vtid for exact counts"
							      : "once");
	host_set_repeated(host, text->len ? text->str : NULL);
	g_string_free(names, TRUE);
	g_string_free(text, TRUE);
}

/* A followed directory may contain several sessions, each with a trace of the kernel. */
static unsigned session_number(const struct input *input, const struct event *ev)
{
	return input->spec->is_growing ? ev->trace : 0;
}

static struct kernel_session *session_of(struct input *input, const struct event *ev)
{
	const struct event_str path = event_payload(ev, ev_trace)->path;
	const unsigned trace = session_number(input, ev);
	struct host *host = input->host;
	struct kernel_session *s;

	for (guint i = 0; i < host->kernels->len; i++)
		if (session_at(host, i)->spec == input->spec && session_at(host, i)->trace == trace)
			return session_at(host, i);
	s = g_new0(struct kernel_session, 1);
	s->spec = input->spec;
	s->trace = trace;
	s->name = input->spec->is_growing ? source_text(ev, path) : g_strdup(input->spec->name);
	g_ptr_array_add(host->kernels, s);
	return s;
}

/* Each part of a recording knows the end of its own packets. */
static void note_range(struct kernel_session *s, const struct ev_trace *p)
{
	if (source_spec_is_live(s->spec))
		return;
	s->zero_ns = p->clock_zero_ns;
	s->end_ns = MAX(s->end_ns, p->end_hint_ns);
	s->is_cut |= p->begin_ns != 0;
}

static void trace_free(void *data)
{
	struct kernel_trace *t = data;

	if (!t)
		return;
	g_array_free(t->classes, TRUE);
	g_free(t);
}

static GArray *new_classes(void)
{
	return g_array_new(FALSE, TRUE, sizeof(struct kernel_class));
}

static void declare_trace(struct input *input, const struct event *ev)
{
	const uint64_t domain = event_payload(ev, ev_trace)->domain;
	struct kernel_trace *t = NULL;

	if (!input->kernel_traces)
		input->kernel_traces = g_ptr_array_new_with_free_func(trace_free);
	if (ev->trace >= input->kernel_traces->len)
		g_ptr_array_set_size(input->kernel_traces, ev->trace + 1);
	trace_free(trace_at(input, ev->trace));
	if (domain == DOMAIN_KERNEL || domain == DOMAIN_UST) {
		t = g_new0(struct kernel_trace, 1);
		t->classes = new_classes();
	}
	if (domain == DOMAIN_KERNEL) {
		t->session = session_of(input, ev);
		note_range(t->session, event_payload(ev, ev_trace));
	} else if (t) {
		t->programs = programs_session(&input->host->programs, input->spec, session_number(input, ev));
	}
	g_ptr_array_index(input->kernel_traces, ev->trace) = t;
}

static void declare_class(struct input *input, const struct event *ev)
{
	const struct ev_class *p = event_payload(ev, ev_class);
	struct kernel_trace *t = trace_at(input, ev->trace);
	strid name;

	if (!t || ev->class_id == EVENT_NO_CLASS)
		return;
	if (ev->class_id >= t->classes->len)
		g_array_set_size(t->classes, ev->class_id + 1u);
	name = strpool_intern(event_text(ev, p->name), p->name.len);
	g_array_index(t->classes, struct kernel_class, ev->class_id) = (struct kernel_class){
		.name = name,
		.is_used = p->kind < EVENT_KINDS && tracepoint_desc((enum event_kind)p->kind)->need,
		.is_switch = name && tracepoint_find(strpool_text(name), NULL) == EVENT_SCHED_SWITCH,
	};
	input->host->must_choose |= t->session != NULL;
}

/* One of several sessions in a directory ends with its streams, because its source does not end then. */
static void count_streams(struct input *input, const struct event *ev)
{
	struct kernel_trace *t = trace_at(input, ev->trace);

	if (!t || !t->session || !source_spec_is_live(input->spec))
		return;
	if (ev->kind == EVENT_STREAM) {
		t->n_streams++;
	} else if (t->n_streams && --t->n_streams == 0) {
		t->session->is_over = true;
		if (input->host->kernels->len > 1)
			tell(input->host);
	}
}

void kernel_declare(struct input *input, const struct event *ev)
{
	if (ev->kind == EVENT_TRACE)
		declare_trace(input, ev);
	else if (ev->kind == EVENT_CLASS)
		declare_class(input, ev);
	else if (ev->kind == EVENT_STREAM || ev->kind == EVENT_STREAM_END)
		count_streams(input, ev);
}

/* ---- choosing the session ---- */

static unsigned count_used(const struct input *input, const struct kernel_session *session)
{
	unsigned n = 0;

	for (guint i = 0; i < input->kernel_traces->len; i++) {
		const struct kernel_trace *t = trace_at(input, i);

		for (guint c = 0; t && t->session == session && c < t->classes->len; c++)
			n += g_array_index(t->classes, struct kernel_class, c).is_used;
	}
	return n;
}

/* Sorts the preferred session first. */
static int by_rank(const void *a, const void *b)
{
	const struct kernel_session *x = *(struct kernel_session *const *)a, *y = *(struct kernel_session *const *)b;

	if (x->runs != y->runs)
		return x->runs ? -1 : 1;
	if (x->rests != y->rests)
		return x->rests ? 1 : -1;
	if (x->declared != y->declared)
		return x->declared > y->declared ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Takes the classes of the session that no session before it has. */
static void take_classes(struct host *host, struct input *input, uint16_t number, struct map64 *owners)
{
	struct kernel_session *session = session_at(host, number);

	for (guint i = 0; i < input->kernel_traces->len; i++) {
		struct kernel_trace *t = trace_at(input, i);

		for (guint c = 0; t && t->session == session && c < t->classes->len; c++) {
			struct kernel_class *class = &g_array_index(t->classes, struct kernel_class, c);

			/* a name that did not fit into memory cannot be compared with others */
			if (class->name && map64_get(owners, class->name) == MAP64_NONE)
				map64_put(owners, class->name, number);
			class->owner = class->name ? (uint16_t)map64_get(owners, class->name) : number;
			session->taken += class->owner == number;
		}
	}
}

/* The inputs that have classes. Any number of a live host's may have ended. */
static GPtrArray *running_inputs(const struct host *host)
{
	GPtrArray *running = g_ptr_array_new();

	for (guint i = 0; i < host->inputs->len; i++) {
		struct input *input = g_ptr_array_index(host->inputs, i);

		if (input && input->source && input->kernel_traces)
			g_ptr_array_add(running, input);
	}
	return running;
}

static void choose(struct host *host)
{
	GPtrArray *running = running_inputs(host);
	struct map64 owners = { 0 };

	host->must_choose = false;
	for (guint n = 0; n < host->kernels->len; n++) {
		struct kernel_session *s = session_at(host, n);

		s->declared = s->taken = 0;
		/* all parts of a recording declare the same classes */
		for (guint i = 0; i < running->len; i++)
			s->declared = MAX(s->declared, count_used(g_ptr_array_index(running, i), s));
	}
	g_ptr_array_sort(host->kernels, by_rank);
	for (guint n = 0; n < host->kernels->len; n++)
		for (guint i = 0; i < running->len; i++)
			take_classes(host, g_ptr_array_index(running, i), (uint16_t)n, &owners);
	map64_release(&owners);
	g_ptr_array_free(running, TRUE);
	tell(host);
}

/*
 * Whether the owner may have the event that session `own` has at t_ns. Not if the clock was set between the two and the
 * owner did not run at that instant: then it has other events at that time.
 */
static bool may_have_copy(const struct kernel_session *owner, const struct kernel_session *own, uint64_t t_ns)
{
	const uint64_t set_ns = owner->zero_ns - own->zero_ns, there_ns = t_ns + set_ns;

	if (!owner->zero_ns || !own->zero_ns || !owner->end_ns || set_ns + CLOCK_SET_NS <= 2 * CLOCK_SET_NS)
		return true;
	return there_ns + CLOCK_SET_NS >= owner->first_ns &&
	       there_ns <= MAX(owner->end_ns, owner->last_ns) + CLOCK_SET_NS;
}

/* An event of the session was not taken because the owner of its class runs. */
static void note_untaken(struct host *host, struct kernel_session *own, struct kernel_session *owner, uint64_t t_ns)
{
	if (!may_have_copy(owner, own, t_ns)) {
		if (!own->lacks_events)
			host_trouble(host, CLOCK_SET);
		own->lacks_events = true;
		model_late(host->public.model, 1, false);
	} else if (!own->repeats || !owner->is_repeated) {
		own->repeats = owner->is_repeated = true;
		tell(host);
	}
}

/* Whether an event of the class that came from session `own` is taken. */
static bool takes_event(struct host *host, struct kernel_session *own, const struct kernel_class *class,
			const struct event *ev)
{
	const struct kernel_session *before = session_at(host, class->owner);
	struct kernel_session *owner;

	host->must_choose |= !own->runs;
	if (!own->last_ns && !own->is_cut)
		own->first_ns = ev->ts_ns;
	own->runs = true;
	own->is_over = false;
	own->last_ns = MAX(own->last_ns, ev->ts_ns);
	if (host->must_choose)
		choose(host);
	owner = session_at(host, class->owner);
	if (owner == own) /* if it has only just become so, the other session's copy may have been taken */
		return before == own || ev->ts_ns > before->last_ns + KERNEL_COPY_NS;
	if (ev->ts_ns > owner->last_ns + (owner->is_over ? KERNEL_COPY_NS : KERNEL_IDLE_NS)) {
		owner->runs = !owner->is_over;
		owner->rests = owner->runs;
		own->rests = false;
		choose(host);
		if (session_at(host, class->owner) == own)
			return true;
	}
	note_untaken(host, own, owner, ev->ts_ns);
	return false;
}

/* Holds a context for kernel_context(). Returns false, because it must not be applied alone. */
static bool hold_context(struct input *input, const struct event *ev)
{
	if (!input->unapplied)
		input->unapplied = contexts_create();
	contexts_hold(input->unapplied, ev);
	return false;
}

const struct event *kernel_context(struct input *input, const struct event *ev)
{
	const bool is_context = ev->kind == EVENT_CONTEXT;
	const struct event *held;

	if (!input->unapplied || (!is_context && ev->kind < EVENT_OTHER) || !kernel_has_trace(input, ev->trace))
		return NULL;
	held = contexts_take(input->unapplied, ev->tid);
	return is_context ? NULL : held;
}

/* Whether an event of a program is taken. */
static bool takes_programs(struct host *host, const struct kernel_trace *t, const struct event *ev)
{
	const strid name = g_array_index(t->classes, struct kernel_class, ev->class_id).name;
	struct programs *p = &host->programs;
	const bool repeats = p->repeats, guesses = p->guesses;
	const bool taken = !name || programs_take(p, t->programs, name, ev);

	if (p->repeats != repeats || p->guesses != guesses)
		tell(host);
	return taken;
}

/* Whether the trace's switches are taken: only then does a gap of it concern what runs. */
static bool gives_switches(const struct host *host, const struct kernel_trace *t)
{
	for (guint i = 0; i < t->classes->len; i++) {
		const struct kernel_class *class = &g_array_index(t->classes, struct kernel_class, i);

		if (class->is_switch)
			return session_at(host, class->owner) == t->session;
	}
	return false;
}

bool kernel_takes(struct host *host, struct input *input, const struct event *ev)
{
	struct kernel_trace *t;

	if (!host_is_traced_twice(host))
		return true;
	t = trace_at(input, ev->trace);
	if (!t)
		return true;
	if (!t->session)
		return host->programs.n_sessions < 2 || ev->kind < EVENT_OTHER || ev->class_id >= t->classes->len ||
		       takes_programs(host, t, ev);
	if (host->kernels->len < 2)
		return true;
	if (ev->kind == EVENT_CONTEXT)
		return hold_context(input, ev);
	if (ev->kind == EVENT_GAP)
		return gives_switches(host, t);
	if (ev->kind == EVENT_LOST || ev->kind == EVENT_BACKWARD)
		return t->session->taken > 0;
	if (ev->kind < EVENT_OTHER || ev->class_id >= t->classes->len)
		return true;
	return takes_event(host, t->session, &g_array_index(t->classes, struct kernel_class, ev->class_id), ev);
}

bool kernel_fills_gaps(const struct input *input)
{
	for (guint i = 0; input->kernel_traces && i < input->kernel_traces->len; i++) {
		const struct kernel_trace *t = trace_at(input, i);

		if (t && t->session && t->session->repeats && session_at(input->host, 0) != t->session)
			return true;
	}
	return false;
}

/* ---- ends of sessions ---- */

/* Whether a running source has a trace of the session. */
static bool has_source(const struct host *host, const struct kernel_session *session)
{
	for (guint i = 0; i < host->inputs->len; i++) {
		const struct input *input = g_ptr_array_index(host->inputs, i);

		for (guint k = 0; input && input->source && input->kernel_traces && k < input->kernel_traces->len; k++)
			if (trace_at(input, k) && trace_at(input, k)->session == session)
				return true;
	}
	return false;
}

bool kernel_rests(const struct host *host)
{
	bool any_waits = false;

	for (guint i = 0; i < host->kernels->len; i++) {
		const struct kernel_session *s = session_at(host, i);

		if (s->runs && !s->is_over)
			return false;
		any_waits |= !s->runs;
	}
	return any_waits;
}

void kernel_input_stopped(struct input *input)
{
	bool any_over = false, repeats;

	if (input->unapplied)
		contexts_clear(input->unapplied);
	for (guint i = 0; input->kernel_traces && i < input->kernel_traces->len; i++) {
		struct kernel_trace *t = trace_at(input, i);

		if (t) { /* a source that starts again declares them again */
			g_array_free(t->classes, TRUE);
			t->classes = new_classes();
		}
		if (!t || !t->session)
			continue;
		t->session->is_over = !has_source(input->host, t->session);
		any_over |= t->session->is_over;
	}
	if (!input->host)
		return;
	repeats = input->host->programs.repeats;
	/* a recording may have other parts, and names all its sessions at once */
	if (source_spec_is_live(input->spec))
		programs_end(&input->host->programs, input->spec);
	if ((any_over && input->host->kernels->len > 1) || input->host->programs.repeats != repeats)
		tell(input->host);
}

void kernel_release(struct input *input)
{
	if (input->kernel_traces)
		g_ptr_array_free(input->kernel_traces, TRUE);
	contexts_destroy(input->unapplied);
	input->unapplied = NULL;
	input->kernel_traces = NULL;
}

void kernel_leave(struct input *input)
{
	struct host *host = input->host;
	bool any = false;

	kernel_release(input);
	for (guint i = host->kernels->len; i-- > 0;)
		if (session_at(host, i)->spec == input->spec) {
			g_ptr_array_remove_index(host->kernels, i);
			any = true;
		}
	if (any) /* the others' numbers have changed */
		choose(host);
}
