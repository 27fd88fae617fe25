/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attach/wait.h"

#include <inttypes.h>

#include "base/digits.h"
#include "base/nstime.h"

void attach_wait_init(struct attach_wait *w)
{
	*w = (struct attach_wait){ .known = false };
	wait_path_init(&w->path);
}

void attach_wait_release(struct attach_wait *w)
{
	wait_path_release(&w->path);
}

/* Appends a time in units, rounded to that many decimals. */
static void append_fixed(GString *out, uint64_t ns, uint64_t unit_ns, unsigned decimals, const char *unit)
{
	static const unsigned powers[] = { 1, 10, 100, 1000 };
	const uint64_t step_ns = unit_ns / powers[decimals], n = (ns + step_ns / 2) / step_ns;

	digits_append(out, n / powers[decimals], 1);
	if (decimals) {
		g_string_append_c(out, '.');
		digits_append(out, n % powers[decimals], decimals);
	}
	g_string_append(out, unit);
}

/* Appends "4.1 ms", "22 us". */
static void append_duration(GString *out, uint64_t ns)
{
	if (ns < NS_PER_US)
		append_fixed(out, ns, 1, 0, " ns");
	else if (ns < 10 * NS_PER_US)
		append_fixed(out, ns, NS_PER_US, 1, " us");
	else if (ns < NS_PER_MS)
		append_fixed(out, ns, NS_PER_US, 0, " us");
	else if (ns < NS_PER_S)
		append_fixed(out, ns, NS_PER_MS, 1, " ms");
	else
		append_fixed(out, ns, NS_PER_S, 3, " s");
}

static const char *host_name(struct ingest *in, unsigned wait)
{
	for (unsigned i = 0; i < ingest_host_count(in); i++)
		if (ingest_host(in, i)->wait == wait)
			return strpool_text(strpool_intern_z(ingest_host(in, i)->name));
	return "?";
}

/* A thread is named as it was called then: when it executes a program, it wakes its creator under its old name. */
static uint64_t last_ns(const struct wait_segment *s)
{
	return s->end_ns - 1;
}

static bool is_own(const struct wait_segment *s, wait_row row)
{
	return s->row == row && !s->wire;
}

uint64_t attach_wait_needs(const struct attach_record *r)
{
	/* lines that are not calls have no entry */
	return r->has_entry && r->waited ? r->entry_ref_ns : UINT64_MAX;
}

void attach_wait_resolve(struct attach_wait *w, struct ingest *in, const struct attach_record *r)
{
	struct waits *waits = ingest_waits(in);
	wait_row row;

	w->known = false;
	w->waited_ns = 0;
	if (!waits || attach_wait_needs(r) >= r->ref_ns)
		return;
	row = waits_find(waits, ingest_host(in, r->host)->wait, r->tid, r->ref_ns);
	if (row == WAIT_NO_ROW)
		return;
	waits_path(waits, row, r->entry_ref_ns, r->ref_ns, &w->path);
	wait_path_fill(&w->path, row, r->entry_ref_ns, r->ref_ns);
	w->known = true;
	for (uint32_t i = 0; i < w->path.n; i++) {
		const struct wait_segment *s = &w->path.segments[i];

		if (!is_own(s, row) || s->state != WAIT_RUNNING)
			w->waited_ns += s->end_ns - s->begin_ns;
	}
}

/* ---- on one line ---- */

/* The parts of the line, in order. */
enum part_kind { PART_DEVICE, PART_THREAD, PART_NETWORK, PART_REMOTE, PART_OTHER, PART_READY, PART_CPU };

struct line_part {
	enum part_kind kind;
	strid name;            /* DEVICE, THREAD: what it was blocked on; STRID_NONE: not known */
	wait_row row;          /* REMOTE, THREAD: the last one; WAIT_NO_ROW: unknown */
	uint64_t at_ns;        /* when row had the name to print */
	enum wait_state state; /* OTHER */
	uint64_t ns;
};

static void add(GArray *parts, struct line_part p, uint64_t ns)
{
	for (guint i = 0; i < parts->len; i++) {
		struct line_part *known = &g_array_index(parts, struct line_part, i);

		if (known->kind != p.kind || known->name != p.name || known->state != p.state ||
		    (p.kind == PART_REMOTE && known->row != p.row))
			continue;
		known->ns += ns;
		if (p.row != WAIT_NO_ROW)
			known->row = p.row, known->at_ns = p.at_ns;
		return;
	}
	p.ns = ns;
	g_array_append_val(parts, p);
}

static struct line_part part_of(const struct waits *waits, const struct wait_segment *s, wait_row own, unsigned host)
{
	struct line_part p = { .row = WAIT_NO_ROW, .at_ns = last_ns(s) };

	if (s->wire || (s->state == WAIT_NETWORK && s->row == own)) {
		p.kind = PART_NETWORK;
	} else if (s->row != own && waits_who(waits, s->row).host != host) {
		p.kind = PART_REMOTE;
		p.row = s->row;
	} else if (s->state == WAIT_BLOCK_DEVICE) {
		p.kind = PART_DEVICE;
		p.name = s->cause.name;
	} else if (s->row != own) {
		p.kind = PART_THREAD;
		p.row = s->row;
	} else if (s->state == WAIT_RUNNING) {
		p.kind = PART_CPU;
	} else if (s->state == WAIT_PREEMPTED) {
		p.kind = PART_READY;
	} else if (s->state == WAIT_BLOCKED) {
		p.kind = PART_THREAD;
		p.name = s->cause.name;
	} else {
		p.kind = PART_OTHER;
		p.state = s->state;
	}
	return p;
}

static int compare_parts(const void *a, const void *b)
{
	const struct line_part *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->ns > y->ns ? -1 : x->ns < y->ns;
}

static void append_name(GString *out, strid comm, int32_t tid)
{
	g_string_append(out, strpool_text(comm));
	g_string_append_c(out, '/');
	digits_append_signed(out, tid);
}

static void append_who(GString *out, const struct waits *waits, wait_row row, uint64_t at_ns)
{
	const struct wait_who who = waits_who_at(waits, row, at_ns);

	if (who.tid > 0)
		append_name(out, who.comm, who.tid);
	else if (who.tid == 0)
		g_string_append(out, "the idle task");
	else
		g_string_append_printf(out, "CPU %" PRId32, who.cpu);
}

/*
 * Names who ran longest in the longest stretch in which the thread waited for a CPU. It lost the CPU to that one if it
 * ran right before, otherwise it had been woken.
 */
static void append_culprit(GString *out, const struct attach_wait *w, wait_row own)
{
	const struct wait_segment *longest = NULL, *before = NULL;
	bool preempted;

	for (uint32_t i = 0; i < w->path.n; i++) {
		const struct wait_segment *s = &w->path.segments[i];

		if (is_own(s, own) && s->state == WAIT_PREEMPTED &&
		    (!longest || s->end_ns - s->begin_ns > longest->end_ns - longest->begin_ns)) {
			longest = s;
			before = i > 0 ? s - 1 : NULL;
		}
	}
	if (!longest || longest->cause.tid <= 0)
		return;
	preempted = before && is_own(before, own) && before->state == WAIT_RUNNING;
	g_string_append(out, preempted ? ", preempted by " : " while ");
	append_name(out, longest->cause.name, longest->cause.tid);
	g_string_append(out, preempted ? "" : " ran");
}

static const char *state_text(enum wait_state state)
{
	switch (state) {
	case WAIT_TIMER:
		return "timer";
	case WAIT_INTERRUPTED:
		return "interrupted";
	case WAIT_USER_INPUT:
		return "user input";
	case WAIT_IPI:
		return "ipi";
	default:
		return "unknown";
	}
}

static void append_part(GString *out, const struct attach_wait *w, struct ingest *in, const struct line_part *p,
			wait_row own)
{
	const struct waits *waits = ingest_waits(in);

	switch (p->kind) {
	case PART_DEVICE:
	case PART_THREAD:
		g_string_append(out, "blocked ");
		append_duration(out, p->ns);
		if (p->name) {
			g_string_append(out, " on ");
			g_string_append(out, strpool_text(p->name));
		}
		if (p->row != WAIT_NO_ROW) {
			g_string_append(out, ", woken by ");
			append_who(out, waits, p->row, p->at_ns);
		}
		break;
	case PART_NETWORK:
		g_string_append(out, "network ");
		append_duration(out, p->ns);
		break;
	case PART_REMOTE:
		g_string_append_printf(out, "%s: ", host_name(in, waits_who(waits, p->row).host));
		append_who(out, waits, p->row, p->at_ns);
		g_string_append_c(out, ' ');
		append_duration(out, p->ns);
		break;
	case PART_OTHER:
		g_string_append_printf(out, "%s ", state_text(p->state));
		append_duration(out, p->ns);
		break;
	case PART_READY:
		g_string_append(out, "ready ");
		append_duration(out, p->ns);
		append_culprit(out, w, own);
		break;
	case PART_CPU:
		g_string_append(out, "cpu ");
		append_duration(out, p->ns);
		break;
	}
}

void attach_wait_append(const struct attach_wait *w, struct ingest *in, const struct attach_record *r, GString *out)
{
	const struct waits *waits = ingest_waits(in);
	const unsigned host = ingest_host(in, r->host)->wait;
	GArray *parts;
	wait_row own;

	if (!w->known || !w->waited_ns)
		return;
	own = waits_find(waits, host, r->tid, r->ref_ns);
	parts = g_array_new(FALSE, FALSE, sizeof(struct line_part));
	for (uint32_t i = 0; i < w->path.n; i++) {
		const struct wait_segment *s = &w->path.segments[i];

		add(parts, part_of(waits, s, own, host), s->end_ns - s->begin_ns);
	}
	g_array_sort(parts, compare_parts);
	g_string_append(out, " [");
	for (guint i = 0; i < parts->len; i++) {
		const struct line_part *p = &g_array_index(parts, struct line_part, i);

		g_string_append(out, i == 0 ? "" : p->kind == PART_CPU ? ", " : "; ");
		append_part(out, w, in, p, own);
	}
	g_string_append_c(out, ']');
	g_array_free(parts, TRUE);
}

/* ---- the whole path ---- */

static void append_cause(GString *out, const struct wait_segment *s)
{
	if (s->state != WAIT_PREEMPTED)
		g_string_append_printf(out, " (%s)", strpool_text(s->cause.name));
	else if (s->cause.tid > 0)
		g_string_append_printf(out, " (%s/%" PRId32 " ran)", strpool_text(s->cause.name), s->cause.tid);
	else
		g_string_append(out, " (the CPU was idle)");
}

void attach_wait_append_path(const struct attach_wait *w, struct ingest *in, const struct attach_record *r,
			     GString *out)
{
	const struct waits *waits = ingest_waits(in);

	for (uint32_t i = 0; w->known && w->waited_ns && i < w->path.n; i++) {
		const struct wait_segment *s = &w->path.segments[i];
		const struct wait_who who = waits_who(waits, s->row);

		g_string_append_printf(out, "    +%.6f ", (double)(s->begin_ns - r->entry_ref_ns) / (double)NS_PER_S);
		append_duration(out, s->end_ns - s->begin_ns);
		g_string_append_c(out, ' ');
		if (s->wire) {
			g_string_append_printf(out, "network to %s", host_name(in, who.host));
		} else {
			/* WAIT_PREEMPTED is also the time from a wake-up to the CPU */
			g_string_append_printf(out, "%s ",
					       s->state == WAIT_PREEMPTED ? "ready" : wait_state_name(s->state));
			if (who.host != ingest_host(in, r->host)->wait)
				g_string_append_printf(out, "%s: ", host_name(in, who.host));
			append_who(out, waits, s->row, last_ns(s));
		}
		if (s->cause.name)
			append_cause(out, s);
		else if (s->cause.call)
			g_string_append_printf(out, " (in %s)", strpool_text(s->cause.call));
		g_string_append_c(out, '\n');
	}
}

json_t *attach_wait_json(const struct attach_wait *w, struct ingest *in)
{
	const struct waits *waits = ingest_waits(in);
	json_t *segments = json_array();

	for (uint32_t i = 0; w->known && i < w->path.n; i++) {
		const struct wait_segment *s = &w->path.segments[i];
		const struct wait_who who = waits_who_at(waits, s->row, last_ns(s));
		json_t *o = json_pack("{s:I, s:I, s:s, s:s, s:I}", "begin_ns", (json_int_t)s->begin_ns, "end_ns",
				      (json_int_t)s->end_ns, "state", wait_state_name(s->state), "host",
				      host_name(in, who.host), "tid", (json_int_t)who.tid);

		json_object_set_new(o, "comm", who.comm ? json_string(strpool_text(who.comm)) : json_null());
		json_object_set_new(o, "cause_tid",
				    s->state == WAIT_PREEMPTED && s->cause.name ? json_integer(s->cause.tid)
										: json_null());
		json_object_set_new(o, "cause", s->cause.name ? json_string(strpool_text(s->cause.name)) : json_null());
		json_object_set_new(o, "wire", json_boolean(s->wire));
		json_array_append_new(segments, o);
	}
	return segments;
}
