/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reader/choice.h"

#include <string.h>

#include "base/map64.h"
#include "base/text.h"
#include "event/payload.h"
#include "event/wanted.h"
#include "reader/common.h"
#include "reader/emit.h"
#include "reader/shape.h"
#include "reader/values.h"

/*
 * All fields of chosen events. A thread's name is known from the context, else from the CPU's switches. A thread whose
 * name or ID is not known is treated as wanted.
 */
enum {
	SHAPE_PIECE = 48 * 1024,
	SHAPE_ROOM = 20 * 1024, /* for a reader that must not wait: RING_FIELDS_ROOM */
	COMMS_CACHED = 256,
	COMM_BYTES = 16,
};

/* Bits, by class: its events are wanted, those of every thread, its shape was sent. 0: not seen yet. */
enum { CLASS_KNOWN = 1, CLASS_WANTED = 2, CLASS_OF_ALL = 4, CLASS_ANNOUNCED = 8 };

/* Caches whether a name matches one of the wanted names. */
struct comm_match {
	char comm[COMM_BYTES];
	bool is_known, matches;
};

struct choice {
	struct fields_wanted wanted;
	bool has_threads;
	struct map64 tids, pids; /* sets of numbers: all values are 0 */
	GByteArray *classes;     /* bits of CLASS_KNOWN etc., by the class's id */
	struct comm_match comms[COMMS_CACHED];
};

struct choice *choice_create(const char *text)
{
	struct choice *c = g_new0(struct choice, 1);

	fields_wanted_init(&c->wanted);
	if (!fields_wanted_parse(&c->wanted, text) || c->wanted.classes == WANTED_NOTHING) {
		fields_wanted_release(&c->wanted);
		g_free(c);
		return NULL;
	}
	c->has_threads = fields_wanted_has_threads(&c->wanted);
	c->classes = g_byte_array_new();
	for (guint i = 0; i < c->wanted.tids->len; i++)
		map64_put(&c->tids, (uint64_t)g_array_index(c->wanted.tids, int32_t, i), 0);
	for (guint i = 0; i < c->wanted.pids->len; i++)
		map64_put(&c->pids, (uint64_t)g_array_index(c->wanted.pids, int32_t, i), 0);
	return c;
}

void choice_destroy(struct choice *c)
{
	if (!c)
		return;
	fields_wanted_release(&c->wanted);
	map64_release(&c->tids);
	map64_release(&c->pids);
	g_byte_array_free(c->classes, TRUE);
	g_free(c);
}

/* ---- threads ---- */

static bool matches_name(const struct choice *c, const char *comm)
{
	char name[4 * COMM_BYTES + 1]; /* as it is shown, see strpool_intern_padded() */

	text_sanitise(name, sizeof(name), comm, text_padded_len(comm, COMM_BYTES));
	for (guint i = 0; i < c->wanted.names->len; i++)
		if (text_glob(g_ptr_array_index(c->wanted.names, i), name))
			return true;
	return false;
}

static bool has_wanted_name(struct choice *c, const char *comm)
{
	struct comm_match *m;
	uint64_t words[2];

	if (!c->wanted.names->len)
		return false;
	memcpy(words, comm, sizeof(words));
	m = &c->comms[map64_hash(words[0] ^ words[1] * 31) % COMMS_CACHED];
	if (!m->is_known || memcmp(m->comm, comm, COMM_BYTES) != 0) {
		memcpy(m->comm, comm, COMM_BYTES);
		m->is_known = true;
		m->matches = matches_name(c, comm);
	}
	return m->matches;
}

static bool context_has(const struct context_values *v, unsigned bit)
{
	return v->present >> bit & 1;
}

/* Whether the CPU's thread is wanted, by the event's context; true also if that is unknown. */
static bool is_wanted_thread(struct choice *c, const struct reader_cpu *cpu, const struct reader_class *plan)
{
	const struct context_values *context = plan->has_tid ? &cpu->context.values : NULL;
	const int64_t tid = context ? context->tid : cpu->running.is_known ? cpu->running.tid : -1;
	bool knows_all = true;

	if (tid >= 0 && map64_get(&c->tids, (uint64_t)tid) != MAP64_NONE)
		return true;
	knows_all = tid >= 0 || !c->wanted.tids->len;
	if (context && context_has(context, CTX_PID)) {
		if (map64_get(&c->pids, (uint64_t)(int64_t)context->fields.pid) != MAP64_NONE)
			return true;
	} else {
		knows_all = knows_all && !c->wanted.pids->len;
	}
	if (!c->wanted.names->len)
		return !knows_all;
	if (context && context_has(context, CTX_PROCNAME))
		return has_wanted_name(c, context->fields.procname) || !knows_all;
	if (cpu->running.is_known && cpu->running.tid == tid)
		return has_wanted_name(c, cpu->running.comm) || !knows_all;
	return true;
}

void choice_saw(const struct reader_stream *s, const struct reader_class *plan, const struct event *ev)
{
	struct running_thread *running = &s->cpu_state->running;

	if (plan->kind == EVENT_SCHED_SWITCH) {
		const struct ev_sched_switch *sw = event_payload(ev, ev_sched_switch);

		running->tid = sw->next_tid;
		memcpy(running->comm, sw->next_comm, COMM_BYTES);
		running->is_known = true;
	} else if (plan->kind == EVENT_EXEC || plan->kind == EVENT_RENAME) {
		running->is_known = false; /* the running thread may have changed its name */
	}
}

/* ---- shapes ---- */

static void send_shape(struct reader *r, const struct reader_class *plan, const GByteArray *bytes)
{
	for (guint at = 0; at < bytes->len; at += SHAPE_PIECE) {
		const uint32_t len = MIN(bytes->len - at, SHAPE_PIECE);
		struct event *ev = reader_emit(r, EVENT_SHAPE, 0, len);
		struct ev_shape *p = (struct ev_shape *)(void *)ev->words;

		ev->class_id = plan->id;
		p->offset = at;
		p->total = bytes->len;
		p->part = (struct event_str){ ev->size, len };
		memcpy((char *)ev + ev->size, bytes->data + at, len);
		ev->size += len;
		emit_end(r->ring, ev);
	}
}

/* New entries are 0. */
static guint8 *by_class(GByteArray *classes, uint16_t id)
{
	const guint known = classes->len;

	if (id >= known) {
		g_byte_array_set_size(classes, id + 1u);
		memset(classes->data + known, 0, classes->len - known);
	}
	return &classes->data[id];
}

static guint8 judge(const struct fields_wanted *w, const char *name)
{
	bool of_all;

	if (!fields_wanted_class(w, name))
		return CLASS_KNOWN;
	of_all = (w->renames && fields_wanted_renames(name)) || (w->ends && fields_wanted_ends(name));
	return CLASS_KNOWN | CLASS_WANTED | (of_all ? CLASS_OF_ALL : 0);
}

/* Called for the first wanted event of the class. false: its fields cannot be sent. */
static bool announce(struct reader *r, const struct reader_class *plan)
{
	const size_t most = r->never_waits ? SHAPE_ROOM : SHAPE_BYTES_MAX;
	GByteArray *bytes;

	if (*by_class(r->shaped, plan->id))
		return true; /* for an earlier request */
	bytes = shape_write(&plan->desc, MIN(most, SHAPES_BYTES_MAX - r->shapes->total));
	if (!bytes) {
		reader_note_trouble(r, plan->name, "it has too many fields to show them all");
		return false;
	}
	send_shape(r, plan, bytes);
	r->shapes->total += bytes->len;
	r->shapes->of_trace[r->trace] += bytes->len;
	g_byte_array_free(bytes, TRUE);
	*by_class(r->shaped, plan->id) = true;
	return true;
}

/* ---- values ---- */

void choice_write(struct reader *r, struct reader_stream *s, const struct reader_class *plan, int64_t tid)
{
	struct choice *c = r->choice;
	guint8 *class;
	struct event *ev;

	if (plan->id == EVENT_NO_CLASS || s->item_ns < c->wanted.begin_ns || s->item_ns >= c->wanted.end_ns)
		return;
	class = by_class(c->classes, plan->id);
	if (!*class)
		*class = judge(&c->wanted, plan->name);
	if (!(*class & CLASS_WANTED))
		return;
	if (c->has_threads && !(*class & CLASS_OF_ALL) && !is_wanted_thread(c, s->cpu_state, plan))
		return;
	if (!(*class & CLASS_ANNOUNCED))
		*class = announce(r, plan) ? *class | CLASS_ANNOUNCED : CLASS_KNOWN;
	if (!(*class & CLASS_ANNOUNCED))
		return;
	ev = reader_emit(r, EVENT_FIELDS, s->item_ns, FIELDS_BYTES_MAX);
	ev->tid = (int32_t)tid;
	ev->cpu = s->cpu;
	ev->class_id = plan->id;
	if (s->type->read_fields(s, plan, ev) != READ_DAMAGED)
		emit_end(r->ring, ev);
}
