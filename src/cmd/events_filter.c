/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/events_filter.h"

#include <string.h>

#include "base/error.h"
#include "base/strpool.h"
#include "base/text.h"
#include "event/syscalls.h"

enum { ANCESTORS_MAX = 256 }; /* a trace can make processes descend from each other */

#define FACT(name) (1u << VIEW_FACT_##name)
#define FACTS_OF_EVENTS (FACT(HOST) | FACT(PID) | FACT(TID) | FACT(COMM) | FACT(TREE) | FACT(CALL) | FACT(TEXT))

enum lt_status events_filter_parse(struct view_filter *f, const char *text)
{
	if (view_filter_parse(f, text, NULL) != LT_OK)
		return LT_ERROR;
	if (f->facts & ~FACTS_OF_EVENTS)
		return error_set("only host:, pid:, tid:, comm:, tree:, call: and parts of their text apply to events");
	return LT_OK;
}

struct event_seen event_see(const struct ingest_host *host, const struct event *event, const char *name)
{
	struct event_seen seen = { .host = host, .tid = event->tid, .name = name };

	if (seen.tid == EVENT_NO_TID && event->cpu != EVENT_NO_CPU)
		seen.tid = model_look_running(host->model, event->cpu);
	seen.thread = model_look_thread(host->model, seen.tid);
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

static enum view_truth term_holds(void *data, const struct view_node *term)
{
	const struct event_seen *seen = data;
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
		holds = t && text_glob(term->glob, strpool_text((strid)t->comm));
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

bool events_filter_wants(const struct view_filter *f, struct event_seen *seen)
{
	return view_filter_wants(f, term_holds, seen);
}
