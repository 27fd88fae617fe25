/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/tracer.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <lttng/lttng.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "control/context.h"
#include "control/ctl.h"
#include "control/daemon.h"
#include "control/fault.h"
#include "control/globs.h"
#include "control/internal.h"
#include "control/missing.h"
#include "control/process.h"
#include "control/relay.h"
#include "control/symbols.h"
#include "control/sessions.h"

/*
 * The domain as liblttng-ctl expects it. User-space buffers are per user: live viewers cannot handle per-process ones.
 */
static struct lttng_domain domain_of(enum record_domain domain)
{
	struct lttng_domain d;

	memset(&d, 0, sizeof(d));
	d.type = domain == RECORD_KERNEL ? LTTNG_DOMAIN_KERNEL : LTTNG_DOMAIN_UST;
	d.buf_type = domain == RECORD_KERNEL ? LTTNG_BUFFER_GLOBAL : LTTNG_BUFFER_PER_UID;
	return d;
}

enum lt_status tracer_error(int code, const char *session)
{
	if (code < 0)
		code = -code;
	switch (code) {
	case LTTNG_ERR_NO_SESSIOND:
		return error_set("no session daemon is running: see lttng-sessiond(8)");
	case LTTNG_ERR_EXIST_SESS:
		return error_set("session '%s' already exists", session);
	case LTTNG_ERR_SESS_NOT_FOUND:
		return error_set("there is no session '%s'", session);
	case LTTNG_ERR_SESSION_NOT_STARTED:
		return error_set("session '%s' is not running", session);
	case LTTNG_ERR_NEED_ROOT_SESSIOND:
		return error_set("no kernel tracer: the running session daemon is not root's");
	case LTTNG_ERR_KERN_NA:
	case LTTNG_ERR_KERN_VERSION:
		return error_set("no kernel tracer: lttng-modules are missing, not loaded or too old, or the session "
				 "daemon was started without kernel tracing: run 'lttngtop doctor' to find out which "
				 "and what to install");
	case LTTNG_ERR_UND:
	case LTTNG_ERR_INVALID_PROTOCOL:
		return error_set("the session daemon does not understand the request because its version of LTTng "
				 "differs from liblttng-ctl's: restart it after an update");
	case LTTNG_ERR_KERN_CONTEXT_UNAVAILABLE:
		return error_set("this kernel's tracer has no such context");
	default:
		if (daemon_consumer_died())
			return error_set("LTTng's consumer daemon has died: restart lttng-sessiond before recording "
					 "again (%s)",
					 lttng_strerror(-code));
		return error_set("%s", lttng_strerror(-code));
	}
}

/* Whether the kernel tracer lists the name. */
static bool is_listed(const struct lttng_event *list, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(list[i].name, name))
			return true;
	return false;
}

/* Removes from the plan tracepoints that only a set wants and that do not exist. */
static enum lt_status probe_events(struct record_channel *c, const struct lttng_event *list, int n)
{
	for (unsigned i = 0; i < c->events->len;) {
		const struct record_event *e = &g_array_index(c->events, struct record_event, i);

		if (e->kind != RECORD_TRACEPOINT || strchr(e->name, '*') || is_listed(list, n, e->name)) {
			i++;
			continue;
		}
		if (e->asked)
			return error_set("this kernel has no tracepoint '%s'", e->name);
		missing_warn(NULL, MISSING_TRACEPOINT, e->name, e->meaning);
		g_array_remove_index(c->events, i);
	}
	return LT_OK;
}

/* Replaces names by patterns where that takes fewer requests. */
static void join_tracepoints(struct record_channel *c, const struct lttng_event *list, int n)
{
	GPtrArray *known = g_ptr_array_new(), *patterns;
	GHashTable *wanted = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	for (int i = 0; i < n; i++)
		g_ptr_array_add(known, (gpointer)list[i].name);
	for (unsigned i = c->events->len; i--;) {
		const struct record_event *e = &g_array_index(c->events, struct record_event, i);

		if (e->kind != RECORD_TRACEPOINT || strchr(e->name, '*'))
			continue;
		g_hash_table_add(wanted, g_strdup(e->name));
		g_array_remove_index(c->events, i);
	}
	patterns = globs_of(known, wanted);
	for (unsigned i = 0; i < patterns->len; i++) {
		const struct record_event e = {
			.kind = RECORD_TRACEPOINT,
			.name = g_strdup(g_ptr_array_index(patterns, i)),
		};

		g_array_insert_val(c->events, i, e);
	}
	g_ptr_array_free(patterns, TRUE);
	g_ptr_array_free(known, TRUE);
	g_hash_table_destroy(wanted);
}

static enum lt_status probe_kernel(const struct record_plan *plan, struct record_channel *c)
{
	struct lttng_domain domain = domain_of(RECORD_KERNEL);
	struct lttng_handle *handle = lttng_create_handle(NULL, &domain);
	struct lttng_event *list = NULL;
	enum lt_status status;
	int n;

	if (!handle)
		return error_set("out of memory");
	n = lttng_list_tracepoints(handle, &list);
	lttng_destroy_handle(handle);
	if (n < 0)
		return tracer_error(n, NULL);
	status = n ? probe_events(c, list, n) : error_set("no kernel tracer: it lists no tracepoints");
	if (!status && (fault_check(plan) || symbols_check(c)))
		status = LT_ERROR;
	if (!status)
		join_tracepoints(c, list, n);
	free(list);
	return status;
}

/* The directory that exists, this one or one above it. The caller frees it. */
static char *existing_directory(const char *path)
{
	char *at = g_strdup(path), *above;

	while (!g_file_test(at, G_FILE_TEST_EXISTS)) {
		above = g_path_get_dirname(at);
		g_free(at);
		at = above;
	}
	return at;
}

/* LT_ERROR: a directory cannot be created or written. Leaves nothing behind: the tracer creates it. */
static enum lt_status probe_writing(const char *directory)
{
	char *existing = existing_directory(directory), *at = g_strdup(directory);
	enum lt_status status = LT_OK;

	if (g_mkdir_with_parents(directory, 0770))
		status = error_set("cannot create directory '%s': %s", directory, g_strerror(errno));
	else if (access(directory, W_OK | X_OK))
		status = error_set("cannot write to directory '%s': %s", directory, g_strerror(errno));
	while (strcmp(at, existing) != 0) {
		char *above = g_path_get_dirname(at);

		g_rmdir(at);
		g_free(at);
		at = above;
	}
	g_free(at);
	g_free(existing);
	return status;
}

/* The tracer would mix its files with existing ones. Each snapshot gets a directory of its own. */
static enum lt_status probe_contents(const struct record_plan *plan)
{
	GDir *dir = plan->mode == RECORD_TO_DISK ? g_dir_open(plan->output, 0, NULL) : NULL;
	bool empty;

	if (!dir) {
		if (g_file_test(plan->output, G_FILE_TEST_EXISTS) && !g_file_test(plan->output, G_FILE_TEST_IS_DIR))
			return error_set("'%s' is not a directory", plan->output);
		return LT_OK;
	}
	empty = !g_dir_read_name(dir);
	g_dir_close(dir);
	return empty ? LT_OK : error_set("directory '%s' is not empty", plan->output);
}

enum lt_status tracer_probe_output(const struct record_plan *plan)
{
	return probe_contents(plan) || probe_writing(plan->output) ? LT_ERROR : LT_OK;
}

enum lt_status tracer_probe(struct record_plan *plan)
{
	struct record_channel *kernel = record_plan_channel(plan, RECORD_KERNEL);

	if (session_exists(plan->session))
		return tracer_error(LTTNG_ERR_EXIST_SESS, plan->session);
	if (kernel && probe_kernel(plan, kernel))
		return LT_ERROR;
	return plan->mode == RECORD_LIVE ? relay_probe(plan->url) : tracer_probe_output(plan);
}

static enum lt_status create_session(const struct record_plan *plan)
{
	struct lttng_session_descriptor *d = NULL;
	enum lttng_error_code code;

	switch (plan->mode) {
	case RECORD_TO_DISK:
		d = lttng_session_descriptor_local_create(plan->session, plan->output);
		break;
	case RECORD_SNAPSHOT:
		d = lttng_session_descriptor_snapshot_local_create(plan->session, plan->output);
		break;
	case RECORD_LIVE:
		d = lttng_session_descriptor_live_network_create(plan->session, plan->url, NULL, plan->live_timer_us);
		if (d)
			ctl_set_ctf_1_8(d); /* relayds before 2.15 refuse CTF 2 */
		break;
	}
	if (!d)
		return error_set("the tracer does not accept '%s' as a destination",
				 plan->url ? plan->url : plan->output);
	code = lttng_create_session_ext(d);
	lttng_session_descriptor_destroy(d);
	return code == LTTNG_OK ? LT_OK : tracer_error(code, plan->session);
}

static enum lt_status create_channel(struct lttng_handle *handle, const struct record_plan *plan,
				     const struct record_channel *c)
{
	struct lttng_channel *channel = lttng_channel_create(&handle->domain);
	int code;

	if (!channel)
		return error_set("out of memory");
	g_strlcpy(channel->name, c->name, sizeof(channel->name));
	channel->enabled = 1;
	channel->attr.overwrite = c->overwrite;
	channel->attr.subbuf_size = c->subbuf_bytes;
	channel->attr.num_subbuf = c->subbufs;
	channel->attr.switch_timer_interval = c->switch_timer_us;
	channel->attr.tracefile_size = c->file_bytes;
	channel->attr.tracefile_count = c->files;
	if (plan->mode == RECORD_LIVE)
		channel->attr.live_timer_interval = plan->live_timer_us;
	if (plan->mode == RECORD_SNAPSHOT)
		channel->attr.output = LTTNG_EVENT_MMAP; /* splice would remove the data from the buffer */
	code = lttng_enable_channel(handle, channel);
	lttng_channel_destroy(channel);
	return code < 0 ? tracer_error(code, plan->session) : LT_OK;
}

static enum lt_status enable_event(struct lttng_handle *handle, const struct record_plan *plan,
				   const struct record_channel *c, const struct record_event *e, const char *filter)
{
	struct lttng_event *event = lttng_event_create();
	int code;

	if (!event)
		return error_set("out of memory");
	g_strlcpy(event->name, e->name, sizeof(event->name));
	event->loglevel_type = LTTNG_EVENT_LOGLEVEL_ALL;
	event->loglevel = -1;
	switch (e->kind) {
	case RECORD_TRACEPOINT:
		event->type = LTTNG_EVENT_TRACEPOINT;
		break;
	case RECORD_SYSCALLS:
		event->type = LTTNG_EVENT_SYSCALL;
		break;
	case RECORD_KPROBE:
		event->type = LTTNG_EVENT_PROBE;
		if (e->symbol) {
			g_strlcpy(event->attr.probe.symbol_name, e->symbol, sizeof(event->attr.probe.symbol_name));
			event->attr.probe.offset = e->offset;
		} else {
			event->attr.probe.addr = e->offset;
		}
		break;
	}
	code = lttng_enable_event_with_filter(handle, event, c->name, filter);
	lttng_event_destroy(event);
	if (code >= 0)
		return LT_OK;
	tracer_error(code, plan->session);
	return error_wrap("event '%s'", e->name);
}

/* Whether the tracer has no such context. */
static bool is_lacking(int code)
{
	return code == -LTTNG_ERR_KERN_CONTEXT_UNAVAILABLE || code == -LTTNG_ERR_KERN_CONTEXT_FAIL ||
	       code == -LTTNG_ERR_UST_CONTEXT_INVAL;
}

/* A context that nobody asked for by name is left out if the tracer lacks it. */
static enum lt_status add_context(struct lttng_handle *handle, const struct record_plan *plan,
				  const struct record_channel *c, const struct record_context *wanted)
{
	struct lttng_event_context context;
	int code;

	context_fill(&context, wanted->name);
	code = lttng_add_context(handle, &context, NULL, c->name);
	if (code >= 0)
		return LT_OK;
	if (!wanted->asked && is_lacking(code)) {
		missing_warn(NULL, missing_context(c->domain), wanted->name, wanted->meaning);
		return LT_OK;
	}
	tracer_error(code, plan->session);
	return error_wrap("context '%s'", wanted->name);
}

static enum lt_status track(const struct record_plan *plan, enum record_domain domain, bool virtual_pids,
			    const int32_t *pids, unsigned n)
{
	struct lttng_process_attr_tracker_handle *tracker = NULL;
	enum lttng_process_attr_tracker_handle_status status = LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_OK;
	enum lttng_error_code code;

	if (!n)
		return LT_OK;
	code = lttng_session_get_tracker_handle(
		plan->session, domain == RECORD_KERNEL ? LTTNG_DOMAIN_KERNEL : LTTNG_DOMAIN_UST,
		virtual_pids ? LTTNG_PROCESS_ATTR_VIRTUAL_PROCESS_ID : LTTNG_PROCESS_ATTR_PROCESS_ID, &tracker);
	if (code != LTTNG_OK)
		return tracer_error(code, plan->session);
	if (lttng_process_attr_tracker_handle_set_tracking_policy(tracker, LTTNG_TRACKING_POLICY_INCLUDE_SET))
		status = LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_ERROR;
	for (unsigned i = 0; i < n && !status; i++) {
		if (virtual_pids)
			status = lttng_process_attr_virtual_process_id_tracker_handle_add_pid(tracker, pids[i]);
		else
			status = lttng_process_attr_process_id_tracker_handle_add_pid(tracker, pids[i]);
		if (status == LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_EXISTS)
			status = LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_OK;
	}
	lttng_process_attr_tracker_handle_destroy(tracker);
	return status ? error_set("the tracer cannot limit the recording to these processes") : LT_OK;
}

/* Lets a signal end the setup, which may take long, before it is complete. */
static enum lt_status check_interrupted(void)
{
	return process_is_interrupted() ? error_set("interrupted") : LT_OK;
}

static enum lt_status setup_channel(const struct record_plan *plan, const struct record_channel *c)
{
	struct lttng_domain domain = domain_of(c->domain);
	struct lttng_handle *handle = lttng_create_handle(plan->session, &domain);
	enum lt_status status;

	if (!handle)
		return error_set("out of memory");
	status = create_channel(handle, plan, c);
	for (unsigned i = 0; i < c->events->len && !status; i++) {
		const struct record_event *e = &g_array_index(c->events, struct record_event, i);

		status = check_interrupted() ? LT_ERROR
					     : enable_event(handle, plan, c, e,
							    e->kind == RECORD_SYSCALLS ? plan->call_filter : NULL);
	}
	for (unsigned i = 0; i < c->contexts->len && !status; i++)
		status = check_interrupted()
				 ? LT_ERROR
				 : add_context(handle, plan, c, &g_array_index(c->contexts, struct record_context, i));
	lttng_destroy_handle(handle);
	if (!status && c->domain == RECORD_KERNEL)
		status = track(plan, c->domain, false, (int32_t *)plan->pids->data, plan->pids->len);
	if (!status)
		status = track(plan, c->domain, true, (int32_t *)plan->vpids->data, plan->vpids->len);
	return status ? error_wrap("channel '%s'", c->name) : LT_OK;
}

enum lt_status tracer_setup(const struct record_plan *plan)
{
	if (create_session(plan))
		return LT_ERROR;
	for (unsigned i = 0; i < plan->channels->len; i++) {
		if (setup_channel(plan, &g_array_index(plan->channels, struct record_channel, i))) {
			session_discard(plan->session);
			return error_wrap("session '%s'", plan->session);
		}
	}
	return LT_OK;
}

enum lt_status tracer_track(const struct record_plan *plan, pid_t pid)
{
	const int32_t id = pid;

	for (unsigned i = 0; i < plan->channels->len; i++) {
		const enum record_domain domain = g_array_index(plan->channels, struct record_channel, i).domain;

		if (track(plan, domain, domain == RECORD_USER, &id, 1))
			return LT_ERROR;
	}
	return LT_OK;
}

enum lt_status tracer_add_messages(const struct record_plan *plan, const char *event, const char *filter)
{
	struct lttng_domain domain = domain_of(RECORD_USER);
	struct lttng_handle *handle = lttng_create_handle(plan->session, &domain);
	const struct record_channel channel = {
		.domain = RECORD_USER,
		.name = "messages",
		.subbuf_bytes = MESSAGES_SUBBUF_BYTES,
		.subbufs = MESSAGES_SUBBUFS,
	};
	const struct record_event wanted = { .kind = RECORD_TRACEPOINT, .name = (char *)event };
	enum lt_status status;

	if (!handle)
		return error_set("out of memory");
	status = create_channel(handle, plan, &channel);
	if (!status)
		status = enable_event(handle, plan, &channel, &wanted, filter);
	lttng_destroy_handle(handle);
	return status ? error_wrap("channel '%s'", channel.name) : LT_OK;
}

enum lt_status tracer_admit(const struct record_plan *plan, pid_t pid)
{
	const int32_t id = pid;

	if (!record_plan_channel(plan, RECORD_USER) || !(plan->vpids->len || plan->track_command))
		return LT_OK;
	return track(plan, RECORD_USER, true, &id, 1);
}
