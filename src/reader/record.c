/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "reader/emit.h"
#include "reader/common.h"

struct event *reader_emit(const struct reader *r, enum event_kind kind, uint64_t ts_ns, uint32_t max_text)
{
	struct event *ev = emit_begin(r->ring, kind, ts_ns, max_text);

	ev->trace = r->trace;
	return ev;
}

/* Reports a field that cannot be read, because the figures that depend on it will be missing. */
static LT_COLD void report_refusal(struct reader *r, struct reader_class *plan)
{
	const struct field_plan *const plans[] = { &plan->payload, &plan->common_context, &plan->specific_context };

	for (unsigned i = 0; i < G_N_ELEMENTS(plans) && !plan->refusal_reported; i++) {
		char *why;

		if (!plans[i]->refused)
			continue;
		why = g_strdup_printf("field '%s' has a type that cannot be read", plans[i]->refused);
		reader_note_trouble(r, plan->name, why);
		g_free(why);
		plan->refusal_reported = true;
	}
}

/* ---- contexts ---- */

static void set_tid(const struct reader *r, struct context_values *values)
{
	if (values->present & UINT32_C(1) << CONTEXT_TID)
		return;
	values->tid = EVENT_NO_TID;
	if (r->kernel)
		return;
	if (values->present & UINT32_C(1) << CTX_VTID)
		values->tid = values->fields.vtid;
	else if (values->present & UINT32_C(1) << CTX_VPID)
		values->tid = values->fields.vpid; /* the process, as the thread is unknown */
}

static inline enum read_status read_context(struct reader *r, struct reader_stream *s, const struct reader_class *plan,
					    struct context_cache *context)
{
	const enum read_status status = s->type->read_context(s, plan, context);

	if (status == READ_OK)
		set_tid(r, &context->values);
	return status;
}

static LT_COLD void make_contexts(struct reader *r)
{
	const uint32_t n = r->is_of_process ? CONTEXT_SLOTS_OF_PROCESS : CONTEXT_SLOTS;

	r->contexts = g_new0(struct context_slot, n);
	r->context_mask = n - 1;
}

/*
 * Sends the CPU's context unless it is the last one sent for its thread. The context of a thread that returns to this
 * CPU may have changed on a CPU that another worker reads, so with several workers it is sent at each change of
 * threads.
 */
static G_GNUC_NO_INLINE void write_context(struct reader *r, struct reader_stream *s)
{
	struct context_cache *context = &s->cpu_state->context;
	const struct context_values *values = &context->values;
	/* Each CPU has its own idle task, but all have tid 0. */
	const int64_t key = values->tid ? values->tid : -1 - (int64_t)s->cpu;
	const bool came_back = r->args.parts > 1 && s->last_tid != values->tid;
	struct context_slot *slot;
	struct event *ev;

	if (!r->contexts)
		make_contexts(r);
	s->last_tid = values->tid;
	/* TIDs of threads that run at the same time are mostly close together, and so are then the slots in use */
	slot = &r->contexts[(uint64_t)key & r->context_mask];
	context->slot = slot;
	context->version = slot->version;
	/* Padding may differ: then the context is sent once more. */
	/* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
	if (!came_back && slot->version && slot->key == key && memcmp(&slot->values, values, sizeof(*values)) == 0)
		return;
	slot->key = key;
	slot->values = *values;
	if (!++slot->version)
		slot->version = 1;
	context->version = slot->version;
	ev = reader_emit(r, EVENT_CONTEXT, s->item_ns, 0);
	ev->tid = values->tid;
	ev->cpu = s->cpu;
	ev->present = values->present & ~(UINT32_C(1) << CONTEXT_TID);
	memcpy(ev->words, &values->fields, sizeof(values->fields));
	emit_end(r->ring, ev);
}

/* Whether the context has certainly been sent: nothing has changed since. */
static inline bool is_context_sent(const struct reader_stream *s)
{
	const struct context_cache *context = &s->cpu_state->context;

	return s->last_tid == context->values.tid && context->slot && context->slot->version == context->version;
}

/* Appends the perf counters if they differ from those of the CPU's last event, or belong to another thread. */
static enum read_status write_perf(struct reader *r, struct reader_stream *s, const struct reader_class *plan,
				   struct event *ev)
{
	struct reader_cpu *cpu = s->cpu_state;
	bool changed = r->perf_of_threads && cpu->perf_tid != ev->tid;
	uint64_t values[EVENT_PERF_MAX];

	for (unsigned i = 0; i < r->perf.n; i++)
		values[i] = EVENT_PERF_NONE;
	if (s->type->read_perf(s, plan, values) == READ_DAMAGED)
		return READ_DAMAGED;
	for (unsigned i = 0; i < r->perf.n; i++) {
		if (values[i] == EVENT_PERF_NONE || values[i] == cpu->perf[i])
			continue;
		cpu->perf[i] = values[i];
		changed = true;
	}
	cpu->perf_tid = ev->tid;
	if (changed)
		emit_perf(ev, values, r->perf.n);
	return READ_OK;
}

/* ---- the next thread ---- */

/*
 * The thread that was running at the stream's latest event: that of the event's context, else prev of a switch. -1:
 * unknown.
 */
static int64_t running_thread(struct reader *r, struct reader_stream *s, const struct reader_class *plan)
{
	struct context_cache context = { .layout = NULL };
	struct ev_sched_switch words;
	uint32_t present = 0;

	if (plan->has_tid)
		return read_context(r, s, plan, &context) == READ_OK ? context.values.tid : -1;
	if (plan->kind != EVENT_SCHED_SWITCH || !plan->payload.n)
		return -1;
	memset(&words, 0, sizeof(words));
	if (s->type->read_payload(s, plan, &words, &present, NULL) != READ_OK || !(present & 1))
		return -1;
	return words.prev_tid;
}

/*
 * Finds the time of the CPU's next event, in any of its streams, and the thread running then (-1: unknown). false:
 * there is no event, or events were lost before it.
 */
static bool next_of_cpu(struct reader *r, struct reader_stream *s, uint64_t *ns, int64_t *tid)
{
	bool found = false;

	for (unsigned i = 0; i < r->n_streams; i++) {
		struct reader_stream *other = r->streams[i];
		struct message m;
		uint64_t t;

		if (other != s && (other->cpu != s->cpu || s->cpu == EVENT_NO_CPU))
			continue;
		if (other != s && other->item == ITEM_EVENT) {
			t = other->item_own_ns;
			if (!found || t < *ns)
				*tid = running_thread(r, other, other->head.plan);
			*ns = !found || t < *ns ? t : *ns;
			found = true;
			continue;
		}
		if (stream_peek(other, &m)) {
			t = m.has_time ? m.ns : other->last_ns;
			if (!found || t < *ns) {
				*tid = running_thread(r, other, m.plan);
				*ns = t;
			}
			found = true;
		}
		stream_peek_end(other);
	}
	return found;
}

/*
 * A switch to the CPU's migration thread may be its last event before it goes offline. Returns whether that is known:
 * the next event must show its thread.
 */
static bool find_offline(struct reader *r, struct reader_stream *s, struct ev_sched_switch *sw)
{
	uint64_t ns = 0;
	int64_t tid = -1;

	if (memcmp(sw->next_comm, "migration/", 10) != 0 || !next_of_cpu(r, s, &ns, &tid) || ns <= s->item_ns)
		return true;
	if (tid >= 0 && tid != sw->next_tid)
		sw->offline_until_ns = ns;
	return tid >= 0;
}

/* ---- the records of an event ---- */

static LT_COLD void write_backward(struct reader *r, const struct reader_stream *s)
{
	struct event *ev = reader_emit(r, EVENT_BACKWARD, s->item_ns, 0);

	ev->cpu = s->cpu;
	emit_end(r->ring, ev);
}

/* If the event is damaged, the record is not committed. */
static enum read_status fill(struct reader *r, struct reader_stream *s, const struct reader_class *plan,
			     struct event *ev)
{
	enum read_status status = READ_OK;

	if (plan->syscall)
		ev->words[0] = UINT64_MAX; /* nr */
	if (plan->has_perf)
		status = write_perf(r, s, plan, ev);
	if (status == READ_OK)
		status = s->type->read_payload(s, plan, ev->words, &ev->present, ev);
	return status;
}

void reader_write_event(struct reader *r, struct reader_stream *s)
{
	struct reader_class *plan = s->head.plan;
	enum read_status status = READ_OK;
	struct event *ev;
	int64_t tid = EVENT_NO_TID;

	if (!plan->refusal_reported)
		report_refusal(r, plan);
	if (plan->has_tid) {
		status = read_context(r, s, plan, &s->cpu_state->context);
		if (status == READ_DAMAGED)
			return;
		tid = s->cpu_state->context.values.tid;
	}
	if (s->item_is_back)
		write_backward(r, s);
	if (plan->has_tid && !(status == READ_SAME && is_context_sent(s)))
		write_context(r, s);
	if (G_UNLIKELY(r->choice))
		choice_write(r, s, plan, tid);
	ev = emit_begin_words(r->ring, plan->kind, plan->n_words, s->item_ns, plan->n_text * TEXT_MAX);
	ev->trace = r->trace;
	ev->tid = (int32_t)tid;
	ev->cpu = s->cpu;
	ev->class_id = plan->id;
	if (fill(r, s, plan, ev) == READ_DAMAGED)
		return;
	if (plan->kind == EVENT_SCHED_SWITCH && !r->live &&
	    find_offline(r, s, (struct ev_sched_switch *)(void *)ev->words))
		ev->present |= UINT32_C(1) << SWITCH_OFFLINE_UNTIL;
	if (G_UNLIKELY(r->choice))
		choice_saw(s, plan, ev);
	emit_end(r->ring, ev);
}
