/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "play/events_filter.h"

#include <string.h>

#include "base/error.h"
#include "base/strpool.h"
#include "base/text.h"
#include "event/fields.h"
#include "event/syscalls.h"
#include "view/rows.h"

enum { ANCESTORS_MAX = 256 }; /* a trace can make processes descend from each other */

#define LOOK_NS NS_PER_S /* after that, containers may have other names */

#define FACT(name) (1u << VIEW_FACT_##name)
#define FACTS_OF_EVENTS                                                                                             \
	(FACT(HOST) | FACT(PID) | FACT(TID) | FACT(COMM) | FACT(TREE) | FACT(USER) | FACT(CONTAINER) | FACT(CALL) | \
	 FACT(TEXT))

void events_filter_init(struct events_filter *f)
{
	*f = (struct events_filter){ 0 };
	view_filter_init(&f->terms);
	thread_containers_init(&f->containers);
}

void events_filter_release(struct events_filter *f)
{
	view_filter_release(&f->terms);
	thread_containers_release(&f->containers);
}

void events_filter_clear(struct events_filter *f)
{
	view_filter_clear(&f->terms);
	thread_containers_forget(&f->containers);
}

enum lt_status events_filter_parse(struct events_filter *f, const char *text)
{
	if (view_filter_parse(&f->terms, text, NULL) != LT_OK)
		return LT_ERROR;
	if (f->terms.facts & ~FACTS_OF_EVENTS)
		return error_set(
			"only host:, pid:, tid:, comm:, tree:, user:, container:, call: and parts of their text "
			"apply to events");
	return LT_OK;
}

/* As the kernel names it. */
static const char *idle_name(unsigned cpu)
{
	char name[sizeof("swapper/") + 10];

	g_snprintf(name, sizeof(name), "swapper/%u", cpu);
	return strpool_text(strpool_intern_z(name));
}

struct event_seen event_see(const struct ingest_host *host, const struct ingest_visit *v)
{
	struct event_seen seen = { .host = host, .ns = v->ref_ns, .tid = v->event->tid, .name = v->shape->name };

	if (seen.tid == EVENT_NO_TID && v->event->cpu != EVENT_NO_CPU)
		seen.tid = model_look_running(host->model, v->event->cpu);
	seen.thread = model_look_thread(host->model, seen.tid);
	if (seen.thread)
		seen.comm = strpool_text((strid)seen.thread->comm);
	else if (seen.tid == 0 && v->event->cpu != EVENT_NO_CPU)
		seen.comm = idle_name(v->event->cpu);
	return seen;
}

static bool descends_from(const struct event_seen *seen, int64_t pid)
{
	const struct thread_row *t = seen->thread;

	for (unsigned i = 0; t && i < ANCESTORS_MAX; i++) {
		if ((int64_t)t->pid == pid)
			return true;
		t = (int64_t)t->ppid > 0 ? model_look_thread(seen->host->model, (int64_t)t->ppid) : NULL;
	}
	return false;
}

static bool has_user(const struct event_seen *seen, const struct view_node *term)
{
	const struct thread_row *t = seen->thread, *main = model_look_thread(seen->host->model, (int64_t)t->pid);
	const struct view_host host = { .sidecar = seen->host->sidecar, .record_ns = seen->host->begin_ns };

	return view_term_has_user(term, &host, t, main);
}

/* By either name. */
static bool is_of_call(const char *event, const char *glob)
{
	static const char *const prefixes[] = { "syscall_entry_", "syscall_exit_" };
	const char *other;

	if (g_str_has_prefix(event, "compat_"))
		event += strlen("compat_");
	for (size_t i = 0; i < G_N_ELEMENTS(prefixes); i++) {
		const char *name = event + strlen(prefixes[i]);

		if (!g_str_has_prefix(event, prefixes[i]))
			continue;
		other = syscall_strace_name(name);
		return text_glob(glob, name) || (other && text_glob(glob, other));
	}
	return false;
}

struct event_filtered {
	struct events_filter *filter;
	const struct event_seen *seen;
};

static enum view_truth term_holds(void *data, const struct view_node *term)
{
	const struct event_filtered *of = data;
	const struct event_seen *seen = of->seen;
	const struct thread_row *t = seen->thread;
	bool holds;

	switch ((enum view_fact)term->fact) {
	case VIEW_FACT_HOST:
		holds = text_glob(term->glob, seen->host->name);
		break;
	case VIEW_FACT_TID:
		holds = seen->tid == term->number;
		break;
	case VIEW_FACT_PID:
		holds = t && (int64_t)t->pid > 0 && (int64_t)t->pid == term->number;
		break;
	case VIEW_FACT_TREE:
		holds = descends_from(seen, term->number);
		break;
	case VIEW_FACT_COMM:
		holds = seen->comm && text_glob(term->glob, seen->comm);
		break;
	case VIEW_FACT_USER:
		holds = t && has_user(seen, term);
		break;
	case VIEW_FACT_CONTAINER:
		holds = t && thread_containers_has(&of->filter->containers, term, seen->host, t);
		break;
	case VIEW_FACT_CALL:
		holds = is_of_call(seen->name, term->glob);
		break;
	case VIEW_FACT_TEXT:
		if (!seen->line)
			return VIEW_UNTOUCHED;
		holds = text_contains(seen->line, term->text);
		break;
	default:
		return VIEW_UNTOUCHED;
	}
	return holds ? VIEW_YES : VIEW_NO;
}

bool events_filter_wants(struct events_filter *f, const struct event_seen *seen)
{
	struct event_filtered of = { f, seen };

	if (view_filter_asks(&f->terms, VIEW_FACT_CONTAINER) && seen->ns - f->looked_ns >= LOOK_NS) {
		thread_containers_forget(&f->containers);
		f->looked_ns = seen->ns;
	}
	return view_filter_wants(&f->terms, term_holds, &of);
}
