/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ingest/programs.h"

/* When it is full, all entries are discarded; then a copy of each thread's last event may be counted. */
enum { EVENTS_MAX = 1 << 16 };

struct programs_session {
	const struct source_spec *spec; /* NULL: the number is free */
	unsigned trace;
};

/* The last event taken of a name and thread. */
struct programs_event {
	uint64_t copy_ns; /* time of its latest copy; 0: there was no event */
	uint64_t had_by;  /* a bit for each session that has had it; shared if there are more than 64 at a time */
};

static struct programs_session *session_at(const struct programs *p, guint i)
{
	return &g_array_index(p->sessions, struct programs_session, i);
}

static uint64_t bit_of(unsigned session)
{
	return UINT64_C(1) << session % 64;
}

/* The lowest number that no session has. Events of a session that had it are as if they were another one's. */
static guint free_number(struct programs *p)
{
	guint number = 0;

	while (number < p->sessions->len && session_at(p, number)->spec)
		number++;
	if (number == p->sessions->len)
		g_array_set_size(p->sessions, number + 1);
	for (guint i = 0; i < p->events->len; i++)
		g_array_index(p->events, struct programs_event, i).had_by &= ~bit_of(number);
	return number;
}

unsigned programs_session(struct programs *p, const struct source_spec *spec, unsigned trace)
{
	guint number;

	if (!p->sessions) {
		p->sessions = g_array_new(FALSE, TRUE, sizeof(struct programs_session));
		p->events = g_array_new(FALSE, TRUE, sizeof(struct programs_event));
	}
	for (guint i = 0; i < p->sessions->len; i++)
		if (session_at(p, i)->spec == spec && session_at(p, i)->trace == trace)
			return i;
	number = free_number(p);
	*session_at(p, number) = (struct programs_session){ .spec = spec, .trace = trace };
	p->n_sessions++;
	return number;
}

void programs_end(struct programs *p, const struct source_spec *spec)
{
	for (guint i = 0; p->sessions && i < p->sessions->len; i++)
		if (session_at(p, i)->spec == spec) {
			session_at(p, i)->spec = NULL;
			p->n_sessions--;
		}
	p->repeats = p->repeats && p->n_sessions > 1;
	p->guesses = p->guesses && p->repeats;
}

static struct programs_event *last_of(struct programs *p, uint64_t key)
{
	uint32_t number = map64_get(&p->last, key);

	if (number == MAP64_NONE) {
		if (p->events->len >= EVENTS_MAX) {
			map64_clear(&p->last);
			g_array_set_size(p->events, 0);
		}
		number = p->events->len;
		g_array_set_size(p->events, number + 1);
		map64_put(&p->last, key, number);
	}
	return &g_array_index(p->events, struct programs_event, number);
}

bool programs_take(struct programs *p, unsigned session, strid name, const struct event *ev)
{
	const bool has_thread = ev->tid >= 0;
	const uint64_t thread = has_thread ? (uint64_t)ev->tid : UINT64_C(1) << 31 | ev->cpu;
	const uint64_t apart_ns = has_thread ? PROGRAMS_THREAD_COPY_NS : PROGRAMS_CPU_COPY_NS;
	const uint64_t bit = bit_of(session);
	struct programs_event *last = last_of(p, (uint64_t)name << 32 | thread);
	const bool is_new = !last->copy_ns || last->had_by & bit || ev->ts_ns > last->copy_ns + apart_ns;

	last->copy_ns = ev->ts_ns;
	if (is_new) {
		last->had_by = bit;
		return true;
	}
	last->had_by |= bit;
	p->repeats = true;
	p->guesses = p->guesses || !has_thread;
	return false;
}

void programs_release(struct programs *p)
{
	map64_release(&p->last);
	if (!p->sessions)
		return;
	g_array_free(p->sessions, TRUE);
	g_array_free(p->events, TRUE);
}
