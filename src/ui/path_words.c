/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A path in words: which thread, what it waits for, why. */
#include "base/strpool.h"
#include "base/timetext.h"
#include "ui/path.h"
#include "view/format.h"

static const struct {
	gunichar glyph;
	enum style style;
	const char *meaning;
} states[WAIT_STATES + 1] = {
	[WAIT_RUNNING] = { 0x2588, STYLE_PATH_RUNNING, "running on a CPU" },
	[WAIT_PREEMPTED] = { 'r', STYLE_PATH_CPU,
			     "ready to run, but waiting for a CPU, after a preemption or a wake-up" },
	[WAIT_INTERRUPTED] = { 'i', STYLE_PATH_CPU, "until an interrupt handler finished" },
	[WAIT_TIMER] = { 't', STYLE_PATH_TIMER, "until a timer fired" },
	[WAIT_BLOCK_DEVICE] = { 'd', STYLE_PATH_DISK, "until a block device finished" },
	[WAIT_NETWORK] = { 'n', STYLE_PATH_NETWORK, "until a packet arrived; the trace does not show its sender" },
	[WAIT_USER_INPUT] = { 'u', STYLE_PATH_TIMER, "until the user typed something" },
	[WAIT_IPI] = { 'x', STYLE_PATH_CPU, "until another CPU answered" },
	[WAIT_BLOCKED] = { '?', STYLE_PATH_BLOCKED, "blocked; nothing in the trace explains it" },
	[WAIT_UNKNOWN] = { 0xb7, STYLE_DIM, "nothing is known" },
	[WAIT_STATES] = { '~', STYLE_PATH_NETWORK, "a packet is in transit, between two hosts or within one" },
};

const char *path_state_label(enum wait_state state, bool wire)
{
	return wire ? "wire" : wait_state_label(state);
}

gunichar path_state_glyph(enum wait_state state, bool wire)
{
	return states[wire ? WAIT_STATES : state].glyph;
}

enum style path_state_style(enum wait_state state, bool wire)
{
	return states[wire ? WAIT_STATES : state].style;
}

const char *path_state_meaning(enum wait_state state, bool wire)
{
	return states[wire ? WAIT_STATES : state].meaning;
}

static const char *host_name(const struct path_names *names, unsigned host)
{
	return host < names->n_hosts && names->hosts[host] ? names->hosts[host] : "?";
}

static const char *thread_name(const struct wait_who *who)
{
	const char *comm = strpool_text(who->comm);

	return *comm ? comm : "thread";
}

void path_add_who(GString *s, const struct wait_who *who, const struct path_names *names)
{
	const char *host = host_name(names, who->host);

	if (who->tid > 0)
		g_string_append_printf(s, "%s %d on %s", thread_name(who), who->tid, host);
	else if (who->tid == 0)
		g_string_append_printf(s, "idle CPU %d of %s", who->cpu, host);
	else if (who->cpu >= 0)
		g_string_append_printf(s, "kernel on CPU %d of %s", who->cpu, host);
	else
		g_string_append_printf(s, "kernel of %s", host);
}

void path_add_program(GString *s, const struct wait_who *who, const struct path_names *names)
{
	g_string_append_printf(s, "%s %s", host_name(names, who->host),
			       who->tid > 0 ? thread_name(who)
			       : who->tid   ? "kernel"
					    : "idle");
}

void path_add_lane(GString *s, const struct path_lane *lane, const struct path_names *names)
{
	if (lane->wire) {
		g_string_append(s, "wire");
		return;
	}
	path_add_program(s, &lane->who, names);
	if (lane->who.tid > 0)
		g_string_append_printf(s, " %d", lane->who.pid > 0 ? lane->who.pid : lane->who.tid);
}

/* "read(fd 5 → 10.0.0.3:5432)", "futex", "fd 5"; nothing if unknown. */
static void add_call(GString *s, const struct wait_cause *cause)
{
	const char *call = strpool_text(cause->call), *object = strpool_text(cause->object);
	bool argument = cause->fd >= 0 || *object;

	if (!*call && !argument)
		return;
	g_string_append(s, call);
	if (*call && argument)
		g_string_append_c(s, '(');
	if (cause->fd >= 0)
		g_string_append_printf(s, "fd %d", cause->fd);
	if (*object)
		g_string_append_printf(s, "%s%s", cause->fd >= 0 ? " → " : "", object);
	if (*call && argument)
		g_string_append_c(s, ')');
}

void path_add_cause(GString *s, const struct wait_segment *segment)
{
	const struct wait_cause *cause = &segment->cause;
	const bool cpu_idle = segment->state == WAIT_PREEMPTED && cause->name && cause->tid <= 0;
	const char *name = cpu_idle ? "the CPU was idle" : strpool_text(cause->name);
	gsize before;

	g_string_append(s, name);
	if (cause->tid > 0)
		g_string_append_printf(s, "/%d", cause->tid);
	before = s->len;
	add_call(s, cause);
	if (*name && s->len > before)
		g_string_insert_c(s, (gssize)before, ' ');
}

/* " in read(…)"; nothing if unknown. */
static void add_in_call(GString *s, const struct wait_cause *cause)
{
	const gsize before = s->len;

	add_call(s, cause);
	if (s->len > before)
		g_string_insert(s, (gssize)before, " in ");
}

/* " waits for block device vda in read(…)". */
static void add_reason(GString *s, const char *kind, const struct wait_cause *cause)
{
	const char *name = strpool_text(cause->name);

	g_string_append(s, kind);
	if (*name)
		g_string_append_printf(s, " %s", name);
	add_in_call(s, cause);
}

static void add_state(GString *s, const struct wait_segment *segment)
{
	switch (segment->state) {
	case WAIT_RUNNING:
		g_string_append(s, " runs");
		if (segment->cause.name)
			g_string_append_printf(s, " %s", strpool_text(segment->cause.name));
		break;
	case WAIT_PREEMPTED: /* otherwise see add_wait_for_cpu() */
		g_string_append(s, " has not started the work yet");
		break;
	case WAIT_INTERRUPTED:
		add_reason(s, " waits for interrupt", &segment->cause);
		break;
	case WAIT_TIMER:
		add_reason(s, " waits for a timer", &segment->cause);
		break;
	case WAIT_BLOCK_DEVICE:
		add_reason(s, " waits for block device", &segment->cause);
		break;
	case WAIT_NETWORK:
		add_reason(s, " waits for the network", &segment->cause);
		break;
	case WAIT_USER_INPUT:
		add_reason(s, " waits for input", &segment->cause);
		break;
	case WAIT_IPI:
		add_reason(s, " waits for another CPU", &segment->cause);
		break;
	case WAIT_BLOCKED:
		g_string_append(s, " is blocked");
		add_in_call(s, &segment->cause);
		break;
	default:
		g_string_append(s, ": nothing is known");
		break;
	}
}

/* The cause is what the CPU did longest meanwhile: how long is not known, so that the length belongs to the wait. */
static void add_wait_for_cpu(GString *s, const struct wait_cause *cause, const char *length)
{
	g_string_append_printf(s, " waits %s for a CPU", length);
	if (cause->tid > 0)
		g_string_append_printf(s, ", used longest by %s/%d", strpool_text(cause->name), cause->tid);
	else if (cause->name)
		g_string_append(s, " that was mostly idle");
}

/* name: what ended the wait, "" if unknown. */
static void add_unexplained(GString *s, const char *name)
{
	g_string_append(s, ", unexplained");
	if (*name)
		g_string_append_printf(s, " (%s)", name);
}

char *path_words(const struct path *p, unsigned i, const struct path_names *names)
{
	const struct path_step *step = path_step(p, i);
	const struct wait_segment *segment = &step->segment;
	char length[FORMAT_SIZE], since[TIMETEXT_SIZE];
	GString *s = g_string_new(NULL);

	format_duration(length, sizeof(length), segment->end_ns - segment->begin_ns, names->ascii);
	if (segment->wire) {
		g_string_append(s, "a packet is in transit to ");
		path_add_who(s, &step->who, names);
		g_string_append_printf(s, " for %s", length);
	} else if (p->open && i + 1 == p->steps->len) {
		path_add_who(s, &step->who, names);
		g_string_append_printf(s, " has been blocked since %s",
				       names->time(names->data, since, sizeof(since), segment->begin_ns, 6));
		add_reason(s, "", &segment->cause);
		g_string_append(s, "; it has not ended");
	} else if (segment->state == WAIT_PREEMPTED && segment->link != WAIT_LINK_WORK) {
		path_add_who(s, &step->who, names);
		add_wait_for_cpu(s, &segment->cause, length);
	} else {
		path_add_who(s, &step->who, names);
		add_state(s, segment);
		g_string_append_printf(s, " for %s", length);
		if (segment->state == WAIT_BLOCKED)
			add_unexplained(s, strpool_text(segment->cause.name));
	}
	if (segment->cut)
		g_string_append(s, " (its start is no longer in memory)");
	return g_string_free(s, FALSE);
}

char *path_link_words(const struct path *p, unsigned i, const struct path_names *names)
{
	static const char *const words[] = {
		[WAIT_LINK_WAKEUP] = "woken by ",
		[WAIT_LINK_FORK] = "created by ",
		[WAIT_LINK_NETWORK] = "a packet from ",
		[WAIT_LINK_WORK] = "work queued by ",
	};
	const struct path_step *step = path_step(p, i);
	GString *s;

	if (step->segment.link == WAIT_LINK_NONE || step->segment.link >= G_N_ELEMENTS(words) ||
	    step->from.host == PATH_NO_HOST)
		return NULL;
	s = g_string_new(words[step->segment.link]);
	path_add_who(s, &step->from, names);
	return g_string_free(s, FALSE);
}
