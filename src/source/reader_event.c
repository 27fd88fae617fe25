/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/reader_internal.h"

#include <string.h>

#include "source/emit.h"

struct event *reader_emit(const struct reader *r, enum event_kind kind, uint64_t ts_ns, uint32_t max_text)
{
	struct event *ev = emit_begin(r->ring, kind, ts_ns, max_text);

	ev->trace = r->trace;
	return ev;
}

static void announce_class(struct reader *r, const struct class_plan *plan)
{
	const char *name = bt_event_class_get_name(plan->bt);
	struct event *ev = reader_emit(r, EVENT_CLASS, 0, TEXT_MAX);
	struct ev_class *payload = (struct ev_class *)(void *)ev->words;

	ev->class_id = plan->id;
	payload->kind = plan->kind;
	if (!name)
		name = "unnamed";
	emit_text(ev, offsetof(struct ev_class, name), name, strlen(name));
	emit_end(r->ring, ev);
}

static void announce_perf(struct reader *r)
{
	for (; r->perf_sent < r->perf.n; r->perf_sent++) {
		const char *name = r->perf.names[r->perf_sent];
		struct event *ev = reader_emit(r, EVENT_PERF_NAMES, 0, TEXT_MAX);
		struct ev_perf_names *payload = (struct ev_perf_names *)(void *)ev->words;

		payload->index = r->perf_sent;
		payload->per_thread = g_str_has_prefix(name, "perf_thread_");
		r->perf_of_threads |= payload->per_thread;
		emit_text(ev, offsetof(struct ev_perf_names, name), name, strlen(name));
		emit_end(r->ring, ev);
	}
}

static struct class_plan *class_of(struct reader *r, const bt_event_class *bt)
{
	uint32_t id = map64_get(&r->class_index, (uintptr_t)bt);
	struct class_plan *plan;

	if (id != MAP64_NONE)
		return g_ptr_array_index(r->classes, id);
	id = r->classes->len;
	plan = class_plan_create(bt, id < EVENT_CLASSES_MAX ? id : EVENT_NO_CLASS, r->kernel, &r->perf);
	g_ptr_array_add(r->classes, plan);
	map64_put(&r->class_index, (uintptr_t)bt, id);
	if (plan->id != EVENT_NO_CLASS)
		announce_class(r, plan);
	announce_perf(r);
	return plan;
}

const struct class_plan *reader_class(struct reader *r, const bt_event_class *bt)
{
	return class_of(r, bt);
}

/* Figures that come of a field that cannot be read are missing. */
static void tell_refusal(struct reader *r, struct class_plan *plan)
{
	const struct plan *const plans[] = { &plan->payload, &plan->common_context, &plan->specific_context };
	const char *name = bt_event_class_get_name(plan->bt);

	for (unsigned i = 0; i < G_N_ELEMENTS(plans) && !plan->refusal_told; i++) {
		char *why;

		if (!plans[i]->refused)
			continue;
		why = g_strdup_printf("field '%s' has a type that cannot be read", plans[i]->refused);
		reader_note_trouble(r, name ? name : "unnamed", why);
		g_free(why);
		plan->refusal_told = true;
	}
}

static const struct class_plan *plan_of(struct reader *r, struct port *p, const bt_event *event)
{
	const bt_event_class *bt = bt_event_borrow_class_const(event);

	if (!p->last_plan || p->last_plan->bt != bt) {
		struct class_plan *plan = class_of(r, bt);

		tell_refusal(r, plan);
		p->last_plan = plan;
	}
	return p->last_plan;
}

static void read_context(const struct reader *r, const struct class_plan *plan, const bt_event *event,
			 struct context_values *values)
{
	memset(values, 0, sizeof(*values));
	if (plan->common_context.n)
		values->present |= plan_read(&plan->common_context,
					     bt_event_borrow_common_context_field_const(event), values, NULL);
	if (plan->specific_context.n)
		values->present |= plan_read(&plan->specific_context,
					     bt_event_borrow_specific_context_field_const(event), values, NULL);
	if (values->present & UINT32_C(1) << CONTEXT_TID)
		return;
	values->tid = EVENT_NO_TID;
	if (r->kernel)
		return;
	if (values->present & UINT32_C(1) << CTX_VTID)
		values->tid = values->fields.vtid;
	else if (values->present & UINT32_C(1) << CTX_VPID)
		values->tid = values->fields.vpid; /* a process is better than nobody */
}

/*
 * Sends the thread's context if it is not what was last sent. A thread that
 * comes back to this CPU may have changed on one that another worker reads, so
 * with several workers it is sent at each change of threads.
 */
static void write_context(struct reader *r, struct port *p, const struct context_values *values)
{
	/* Each CPU has an idle task of its own; all have tid 0. */
	const int64_t key = values->tid ? values->tid : -1 - (int64_t)p->cpu;
	struct context_slot *slot = &r->contexts[map64_hash(key) & (CONTEXT_SLOTS - 1)];
	const bool came_back = r->args.parts > 1 && p->last_tid != values->tid;
	struct event *ev;

	p->last_tid = values->tid;
	if (!came_back && slot->valid && slot->key == key &&
	    memcmp(&slot->values, values, sizeof(*values)) == 0)
		return;
	slot->valid = true;
	slot->key = key;
	slot->values = *values;
	ev = reader_emit(r, EVENT_CONTEXT, p->item_ns, 0);
	ev->tid = values->tid;
	ev->cpu = p->cpu;
	ev->present = values->present & ~(UINT32_C(1) << CONTEXT_TID);
	memcpy(ev->words, &values->fields, sizeof(values->fields));
	emit_end(r->ring, ev);
}

/* Appends the perf counters if any differs from the CPU's last event, or is another thread's. */
static void write_perf(struct reader *r, struct port *p, const struct class_plan *plan, const bt_event *event,
		       struct event *ev)
{
	struct cpu_state *cpu = p->cpu_state;
	bool changed = r->perf_of_threads && cpu->perf_tid != ev->tid;
	uint64_t values[EVENT_PERF_MAX];

	for (unsigned i = 0; i < r->perf.n; i++)
		values[i] = EVENT_PERF_NONE;
	if (plan->common_perf.n)
		plan_read(&plan->common_perf, bt_event_borrow_common_context_field_const(event), values, NULL);
	if (plan->specific_perf.n)
		plan_read(&plan->specific_perf, bt_event_borrow_specific_context_field_const(event), values, NULL);
	for (unsigned i = 0; i < r->perf.n; i++) {
		if (values[i] == EVENT_PERF_NONE || values[i] == cpu->perf[i])
			continue;
		cpu->perf[i] = values[i];
		changed = true;
	}
	cpu->perf_tid = ev->tid;
	if (changed)
		emit_perf(ev, values, r->perf.n);
}

/* The thread an event shows to be running: its context's, else prev of a switch. -1 unknown. */
static int64_t running_thread(struct reader *r, const bt_message *msg)
{
	const bt_event *event = bt_message_event_borrow_event_const(msg);
	const uint32_t id = map64_get(&r->class_index, (uintptr_t)bt_event_borrow_class_const(event));
	const struct class_plan *plan = id != MAP64_NONE ? g_ptr_array_index(r->classes, id) : NULL;
	struct context_values context;
	struct ev_sched_switch words;

	if (!plan)
		return -1;
	if (plan->has_tid) {
		read_context(r, plan, event, &context);
		return context.tid;
	}
	if (plan->kind != EVENT_SCHED_SWITCH || !plan->payload.n)
		return -1;
	memset(&words, 0, sizeof(words));
	if (!(plan_read(&plan->payload, bt_event_borrow_payload_field_const(event), &words, NULL) & 1))
		return -1;
	return words.prev_tid;
}

/*
 * The CPU's next event in time, of whichever of its streams; NULL if there is
 * none or if events were lost before it.
 */
static const bt_message *next_of_cpu(struct reader *r, struct port *p, uint64_t *ns)
{
	const bt_message *next = NULL;

	for (unsigned i = 0; i < r->n_ports; i++) {
		struct port *other = &r->ports[i];
		const bt_message *msg;
		uint64_t t;

		if (other != p && (other->cpu != p->cpu || p->cpu == EVENT_NO_CPU))
			continue;
		msg = other == p || other->item != ITEM_EVENT ? port_peek_behind(other) : other->queue[other->head];
		if (!msg)
			continue;
		t = message_event_ns(other, msg, other->last_ns);
		if (!next || t < *ns) {
			next = msg;
			*ns = t;
		}
	}
	return next;
}

/* A switch to the CPU's migration thread may be the last thing it did before it went offline. */
static void find_offline(struct reader *r, struct port *p, struct ev_sched_switch *sw)
{
	const bt_message *next;
	uint64_t ns = 0;
	int64_t tid;

	if (strncmp(sw->next_comm, "migration/", 10) != 0)
		return;
	next = next_of_cpu(r, p, &ns);
	if (!next || ns <= p->item_ns)
		return;
	tid = running_thread(r, next);
	if (tid >= 0 && tid != sw->next_tid)
		sw->offline_until_ns = ns;
}

static void write_backward(struct reader *r, const struct port *p)
{
	struct event *ev = reader_emit(r, EVENT_BACKWARD, p->item_ns, 0);

	ev->cpu = p->cpu;
	((struct ev_backward *)(void *)ev->words)->by_ns = p->item_back_ns;
	emit_end(r->ring, ev);
}

void reader_write_event(struct reader *r, struct port *p)
{
	const bt_event *event = bt_message_event_borrow_event_const(p->queue[p->head]);
	const struct class_plan *plan = plan_of(r, p, event);
	struct context_values context = { .tid = EVENT_NO_TID };
	struct event *ev;

	if (p->item_back_ns)
		write_backward(r, p);
	if (plan->has_tid) {
		read_context(r, plan, event, &context);
		write_context(r, p, &context);
	}
	ev = reader_emit(r, plan->kind, p->item_ns, plan->n_text * TEXT_MAX);
	ev->tid = context.tid;
	ev->cpu = p->cpu;
	ev->class_id = plan->id;
	if (plan->syscall)
		ev->words[0] = UINT64_MAX; /* nr */
	if (plan->common_perf.n || plan->specific_perf.n)
		write_perf(r, p, plan, event, ev);
	if (plan->payload.n)
		ev->present = plan_read(&plan->payload, bt_event_borrow_payload_field_const(event), ev->words, ev);
	if (plan->kind == EVENT_SCHED_SWITCH && !r->live) {
		find_offline(r, p, (struct ev_sched_switch *)(void *)ev->words);
		ev->present |= UINT32_C(1) << SWITCH_OFFLINE_UNTIL;
	}
	emit_end(r->ring, ev);
}
