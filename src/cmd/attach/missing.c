/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/attach/missing.h"

#include <inttypes.h>

#include "base/log.h"
#include "base/text.h"

typedef bool thread_test(const struct attach_missing *m, unsigned host, const struct thread_row *thread,
			 const struct select_target *target);

/* Whether that holds for a thread that exists at the end. Each is asked, as is_chosen() notes which names occur. */
static bool any_thread(const struct attach_missing *m, thread_test *test, const struct select_target *target)
{
	bool any = false;

	for (unsigned i = 0; i < ingest_host_count(m->in); i++) {
		const struct host_state *state = model_state(ingest_host(m->in, i)->model);
		const struct state_table *t = &state->tables[TABLE_THREAD];

		for (uint32_t row = STATE_NO_ROW; (row = state_next(t, row)) != STATE_NO_ROW;)
			any |= test(m, i, STATE_ROW(state, THREAD, thread, row), target);
	}
	return any;
}

/* It may have slept all the time. Marks the names and containers that choose it. */
static bool is_chosen(const struct attach_missing *m, unsigned host, const struct thread_row *thread,
		      const struct select_target *target)
{
	const struct ingest_host *h = ingest_host(m->in, host);

	(void)target;
	return attach_select_thread(m->select, host, h->name, h->model, (int32_t)thread->tid, thread);
}

static bool is_on_host_of(const struct attach_missing *m, unsigned host, const struct select_target *target)
{
	return !target->host || text_glob(target->host, ingest_host(m->in, host)->name);
}

static bool is_target(const struct attach_missing *m, unsigned host, const struct thread_row *thread,
		      const struct select_target *target)
{
	return is_on_host_of(m, host, target) &&
	       ((int64_t)thread->tid == target->tid || (int64_t)thread->pid == target->tid);
}

static bool is_other_of_process(const struct attach_missing *m, unsigned host, const struct thread_row *thread,
				const struct select_target *target)
{
	return is_on_host_of(m, host, target) && (int64_t)thread->tid != target->tid &&
	       (int64_t)thread->pid == target->tid;
}

/* Whether a host has that name, a glob. */
static bool has_host(const struct attach_missing *m, const char *glob)
{
	for (unsigned i = 0; i < ingest_host_count(m->in); i++)
		if (text_glob(glob, ingest_host(m->in, i)->name))
			return true;
	return false;
}

/* Names the chosen hosts that are not there. */
static void say_missing_hosts(const struct attach_missing *m)
{
	for (guint i = 0; i < m->select->targets->len; i++) {
		const struct select_target *target = &g_array_index(m->select->targets, struct select_target, i);

		if (target->host && !has_host(m, target->host))
			log_say("no host matches -p %s:%" PRId32, target->host, target->tid);
	}
	for (guint i = 0; i < m->select->hosts->len; i++)
		if (!has_host(m, g_ptr_array_index(m->select->hosts, i)))
			log_say("no host matches --host %s", (const char *)g_ptr_array_index(m->select->hosts, i));
}

/* Of several threads, names and containers, those that do not occur. */
static void say_missing_threads(const struct attach_missing *m)
{
	const GPtrArray *containers = m->options->attach_container;

	for (guint i = 0; i < m->select->names->len; i++) {
		const struct select_name *name = &g_array_index(m->select->names, struct select_name, i);

		if (!name->is_met)
			log_say("no thread matches -n %s", name->glob);
	}
	for (guint i = 0; i < m->select->targets->len; i++) {
		const struct select_target *target = &g_array_index(m->select->targets, struct select_target, i);
		const char *host = target->host ? target->host : "";

		if (!target->is_met && (!*host || has_host(m, host)) && !any_thread(m, is_target, target))
			log_say("no thread matches -p %s%s%" PRId32, host, *host ? ":" : "", target->tid);
	}
	for (guint i = 0; i < containers->len; i++)
		if (!m->containers->are_met[i])
			log_say("no thread matches --container %s", (const char *)g_ptr_array_index(containers, i));
}

/* Without -f, other threads of a process are not followed, as with strace. */
static const char *further_option(const struct attach_missing *m)
{
	for (guint i = 0; i < m->select->targets->len && !m->select->children && !m->select->threads; i++)
		if (any_thread(m, is_other_of_process, &g_array_index(m->select->targets, struct select_target, i)))
			return ": -f adds the other threads of their processes";
	return "";
}

static void say_nothing_came(const struct attach_missing *m)
{
	const bool has_thread = any_thread(m, is_chosen, NULL) || m->any || m->chose;
	bool has_calls = false;

	for (unsigned i = 0; i < ingest_host_count(m->in); i++)
		has_calls |= model_declares(ingest_host(m->in, i)->model, EVENT_SYSCALL_ENTRY);
	if (!has_calls)
		log_say("no system calls were recorded");
	else if (!has_thread)
		log_say("the chosen threads do not occur: 'report %s' lists %s that do",
			m->options->attach_container->len ? "containers" : "cpu",
			m->options->attach_container->len ? "containers" : "those");
	else
		say_missing_threads(m);
	if (has_calls && has_thread && !m->any)
		log_say("none of the chosen threads made a selected call%s", further_option(m));
}

/* The options by which calls are chosen by how they ended. */
static void say_left_out(const struct attach_missing *m)
{
	const struct options *o = m->options;
	const char *status = o->failed_only ? "-Z" : o->successful_only ? "-z" : "-e status";

	log_say("no selected call of the chosen threads matches %s%s%s", m->by_status ? status : "",
		m->by_status && o->waits ? " and " : "", o->waits ? "--waits" : "");
}

void attach_say_missing(const struct attach_missing *m)
{
	say_missing_hosts(m);
	if (m->outside)
		return;
	say_nothing_came(m);
	if (m->left_out)
		say_left_out(m);
}
