/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/record/sidecar.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "control/commands.h"
#include "control/remote.h"
#include "control/tracer.h"
#include "sidecar/sidecar.h"
#include "sidecar/stream.h"

static void warn(void)
{
	log_warning("command lines and user names will be missing: %s", error_text());
	error_clear();
}

/* The kernel functions that are probed; NULL-terminated; the caller frees the array. */
static const char **symbols_of(const struct record_plan *plan)
{
	const struct record_channel *kernel = record_plan_channel(plan, RECORD_KERNEL);
	GPtrArray *symbols = g_ptr_array_new();

	for (guint i = 0; kernel && i < kernel->events->len; i++) {
		const struct record_event *event = &g_array_index(kernel->events, struct record_event, i);

		if (event->symbol)
			g_ptr_array_add(symbols, event->symbol);
	}
	g_ptr_array_add(symbols, NULL);
	return (const char **)g_ptr_array_free(symbols, FALSE);
}

/* ---- live ---- */

void record_sidecar_prepare(const struct record_plan *plan)
{
	if (tracer_add_messages(plan, SIDECAR_EVENT, SIDECAR_FILTER))
		warn();
}

void record_sidecar_add(struct record_plan *plan)
{
	const bool kernel = record_plan_channel(plan, RECORD_KERNEL);
	const char **symbols = symbols_of(plan);

	plan->messages = (struct record_messages){
		.domain = kernel ? RECORD_KERNEL : RECORD_USER,
		.event = kernel ? SIDECAR_KERNEL_EVENT : SIDECAR_EVENT,
		.filter = kernel ? NULL : SIDECAR_LINES_FILTER,
		.script = sidecar_stream_script(symbols, kernel),
	};
	g_free(symbols);
}

enum lt_status record_sidecar_refresh(const GPtrArray *hosts, const char *session)
{
	char *kernel = sidecar_stream_script(NULL, true);
	const enum lt_status status = remote_refresh(hosts, session, kernel);

	g_free(kernel);
	return status;
}

static void *begin_stream(const void *data)
{
	const struct record_plan *plan = data;
	const struct sidecar_about about = { .symbols = symbols_of(plan) };

	/* what cannot be sent will just be missing */
	return tracer_admit(plan, getpid()) ? NULL : sidecar_stream_open(&about);
}

static void send_all(void *stream)
{
	sidecar_stream_all(stream);
}

static void send_new(void *stream)
{
	sidecar_stream_new(stream);
}

struct redump_also record_sidecar_stream(const struct record_plan *plan)
{
	return (struct redump_also){ .begin = begin_stream, .all = send_all, .news = send_new, .data = plan };
}

void record_sidecar_send(void)
{
	if (sidecar_stream_once())
		error_clear(); /* it will just be missing */
}

/* ---- next to a recording ---- */

void record_sidecar_start(const struct record_plan *plan, pid_t pid, const struct sidecar_cost *cost)
{
	const char **symbols = symbols_of(plan);
	const struct sidecar_about about = {
		.session = plan->session,
		.set = plan->set,
		.has_options = true,
		.cost = *cost,
		.symbols = symbols,
		.pid = pid,
		.argv = plan->command,
	};

	if (!plan->hosts->len && record_plan_channel(plan, RECORD_KERNEL) && sidecar_pid_ns()) {
		error_set(
			"lttngtop runs in a PID namespace of its own, so the kernel's PIDs are not those in its /proc: "
			"run its container in the host's, such as with 'docker run --pid=host'");
		warn();
	}
	if (plan->mode == RECORD_LIVE)
		;
	else if (plan->hosts->len)
		record_sidecar_leave(plan->hosts, plan->session, symbols);
	else if (sidecar_update(plan->output, &about))
		warn();
	g_free(symbols);
}

/* Whether there is more than a side-car in a directory. */
static bool has_traces(const char *path)
{
	GDir *dir = g_dir_open(path, 0, NULL);
	const char *name;
	bool found = false;

	while (dir && !found && (name = g_dir_read_name(dir)))
		found = strcmp(name, SIDECAR_NAME) != 0;
	if (dir)
		g_dir_close(dir);
	return found;
}

bool record_sidecar_remove(const char *path)
{
	char *file;

	if (*path != '/' || has_traces(path))
		return false;
	file = g_build_filename(path, SIDECAR_NAME, NULL);
	g_unlink(file);
	g_free(file);
	return true;
}

void record_sidecar_update(const char *path, bool is_named, const struct sidecar_cost *cost, const GArray *functions)
{
	const struct sidecar_about about = {
		.cost = cost ? *cost : (struct sidecar_cost){ 0 },
		.functions = functions ? (const uint64_t *)(const void *)functions->data : NULL,
		.n_functions = functions ? functions->len : 0,
	};

	/* where nothing was recorded it need not exist: it is not created */
	if (*path == '/' && g_file_test(path, G_FILE_TEST_IS_DIR) &&
	    (is_named ? sidecar_update : sidecar_update_own)(path, cost ? &about : NULL))
		warn();
}

void record_sidecar_leave(const GPtrArray *hosts, const char *session, const char *const *symbols)
{
	char *script = sidecar_script(symbols);

	if (remote_leave(hosts, session, SIDECAR_LISTING, script))
		warn();
	g_free(script);
}

void record_sidecar_fetched(const GPtrArray *hosts, const char *output)
{
	for (unsigned i = 0; i < hosts->len; i++) {
		char *directory = commands_fetch_dir(output, g_ptr_array_index(hosts, i));

		if (sidecar_convert(directory))
			warn();
		g_free(directory);
	}
}
