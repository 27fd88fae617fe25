/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `lttngtop record`: set up tracing with the events the monitor needs; stop it, ask about it, take snapshots. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "base/timetext.h"
#include "cmd/commands.h"
#include "control/commands.h"
#include "control/daemon.h"
#include "control/plan.h"
#include "control/process.h"
#include "control/relay.h"
#include "control/remote.h"
#include "control/sessions.h"
#include "control/tracer.h"

static int fail(int status)
{
	char text[TEXT_MAX + 1];

	text_sanitise(text, sizeof(text), error_text(), strlen(error_text()));
	fprintf(stderr, "lttngtop: %s\n", text);
	if (status == LT_EXIT_USAGE)
		fputs("Try 'lttngtop record --help'.\n", stderr);
	return status;
}

/* "view it: lttngtop SOURCE" */
static void print_view(FILE *out, const char *source)
{
	char *const words[] = {(char *)"lttngtop", (char *)source, NULL};
	char *line = commands_quote(words);

	fprintf(out, "view it: %s\n", line);
	g_free(line);
}

/* Whether the recording comes from other hosts when it has ended. */
static bool is_fetched(const struct record_plan *plan)
{
	return plan->hosts->len && plan->mode != RECORD_LIVE;
}

/* "VERB it: lttngtop record COMMAND [--host HOST]... [--output DIR] SESSION" */
static void print_verb(FILE *out, const struct record_plan *plan, const char *label, const char *verb)
{
	GPtrArray *words = g_ptr_array_new();
	char *line;

	g_ptr_array_add(words, (char *)"lttngtop");
	g_ptr_array_add(words, (char *)"record");
	g_ptr_array_add(words, (char *)verb);
	for (unsigned i = 0; i < plan->hosts->len; i++) {
		g_ptr_array_add(words, (char *)"--host");
		g_ptr_array_add(words, g_ptr_array_index(plan->hosts, i));
	}
	if (is_fetched(plan)) {
		g_ptr_array_add(words, (char *)"--output");
		g_ptr_array_add(words, plan->output);
	}
	g_ptr_array_add(words, plan->session);
	g_ptr_array_add(words, NULL);
	line = commands_quote((char *const *)words->pdata);
	fprintf(out, "%s: %s\n", label, line);
	g_free(line);
	g_ptr_array_free(words, TRUE);
}

static void print_started(FILE *out, const struct record_plan *plan)
{
	static const char *const ways[] = {
		[RECORD_TO_DISK] = "into",
		[RECORD_SNAPSHOT] = "in memory, snapshots go into",
		[RECORD_LIVE] = "to",
	};
	char *source = record_plan_source(plan);

	fprintf(out, "session '%s' records %s%s %s\n", plan->session,
		is_fetched(plan) ? "on other hosts, fetched " : "", ways[plan->mode],
		plan->mode == RECORD_LIVE ? plan->url : plan->output);
	if (plan->mode != RECORD_SNAPSHOT && !is_fetched(plan))
		print_view(out, source);
	if (!plan->command && plan->mode == RECORD_SNAPSHOT)
		print_verb(out, plan, "take a snapshot", "snapshot");
	if (!plan->command)
		print_verb(out, plan, "stop it", "stop");
	g_free(source);
	if (plan->mode == RECORD_LIVE && relay_probe_view(plan->url, plan->view_port))
		fprintf(stderr, "lttngtop: %s; --live-port tells where it does\n", error_text());
}

static void print_lost(const struct session_lost *lost)
{
	if (lost->events || lost->packets)
		fprintf(stderr, "lttngtop: the tracer lost %" PRIu64 " events and %" PRIu64
				" packets: a larger --buffer-size or a smaller --set may help\n",
			lost->events, lost->packets);
}

static enum lt_status setup(struct record_plan *plan, bool may_start, pid_t *daemon)
{
	const bool kernel = record_plan_channel(plan, RECORD_KERNEL);
	enum lt_status status;

	if (is_fetched(plan) && tracer_probe_output(plan))
		return LT_ERROR;
	if (plan->hosts->len)
		return remote_setup(plan);
	if (daemon_require(kernel, may_start, daemon))
		return LT_ERROR;
	status = tracer_probe(plan);
	return status ? status : tracer_setup(plan);
}

static void discard(const struct record_plan *plan)
{
	if (plan->hosts->len)
		remote_stop(plan->hosts, plan->session);
	else
		session_discard(plan->session);
	if (is_fetched(plan))
		remote_clear(plan->hosts, plan->session);
}

/* Starts the recording; the process of the command then waits to be let go. LT_ERROR: the session is gone again. */
static enum lt_status start(const struct record_plan *plan, struct process *command)
{
	if (plan->command && process_prepare(command, plan->command))
		goto error;
	if (plan->track_command && tracer_track(plan, command->pid))
		goto error;
	if (plan->hosts->len)
		return remote_start(plan);
	if (!session_start(plan->session))
		return LT_OK;
error:
	discard(plan);
	return LT_ERROR;
}

/* Brings what other hosts have recorded; says where it is. */
static enum lt_status fetch(FILE *out, const GPtrArray *hosts, const char *session, const char *output)
{
	bool any;

	if (remote_fetch(hosts, session, output, &any))
		return LT_ERROR;
	if (any) {
		fprintf(out, "fetched into %s\n", output);
		print_view(out, output);
	}
	return LT_OK;
}

/* What finish() does, on other hosts. */
static enum lt_status finish_remotely(const struct record_plan *plan)
{
	const bool taken = plan->mode != RECORD_SNAPSHOT || !remote_snapshot(plan->hosts, plan->session);

	if (remote_stop(plan->hosts, plan->session) || !taken)
		return LT_ERROR;
	return is_fetched(plan) ? fetch(stderr, plan->hosts, plan->session, plan->output) : LT_OK;
}

/* After the command: stops, says where the recording is. */
static enum lt_status finish(const struct record_plan *plan)
{
	struct session_lost lost = {0};
	char *path = NULL;

	if (plan->hosts->len)
		return finish_remotely(plan);
	if (plan->mode == RECORD_SNAPSHOT && session_snapshot(plan->session, &path)) {
		discard(plan);
		return LT_ERROR;
	}
	if (session_stop(plan->session, &lost)) {
		g_free(path);
		return LT_ERROR;
	}
	/* What a flight recorder overwrites is no loss. */
	if (plan->mode != RECORD_SNAPSHOT)
		print_lost(&lost);
	if (plan->mode != RECORD_LIVE) {
		fprintf(stderr, "recorded into %s\n", path ? path : plan->output);
		print_view(stderr, path ? path : plan->output);
	}
	g_free(path);
	return LT_OK;
}

/* While signals are held: the whole of a recording, or its start. */
static int record(struct record_plan *plan, bool may_start, pid_t *daemon)
{
	struct process command = {.gate = -1};
	int status = LT_EXIT_OK;

	if (setup(plan, may_start, daemon))
		return fail(LT_EXIT_FAILURE);
	if (start(plan, &command)) {
		process_cancel(&command);
		return fail(LT_EXIT_FAILURE);
	}
	if (process_is_interrupted()) {
		process_cancel(&command);
		discard(plan);
		return LT_EXIT_FAILURE;
	}
	print_started(plan->command ? stderr : stdout, plan);
	if (!plan->command)
		return LT_EXIT_OK;
	status = process_run(&command);
	if (finish(plan) && !status)
		return fail(LT_EXIT_FAILURE);
	return status;
}

static int run(struct record_plan *plan, bool may_start)
{
	pid_t daemon = 0;
	int status;

	if (plan->command && (status = process_check(plan->command[0])))
		return fail(status);
	process_hold_signals();
	status = record(plan, may_start, &daemon);
	if (daemon && (plan->command || status != LT_EXIT_OK))
		daemon_end(daemon);
	else if (daemon)
		printf("started lttng-sessiond, process %d\n", (int)daemon);
	process_release_signals();
	return status;
}

static int record_new(const struct options *o, char *const *command)
{
	const struct record_request request = {
		.session = o->session,
		.live = o->live,
		.live_timer_ns = o->live_timer,
		.view_port = o->live_port,
		.output = o->output,
		.snapshot = o->snapshot,
		.set = o->set,
		.buffer_bytes = o->buffer_size,
		.events = o->event,
		.contexts = o->context,
		.perf = o->perf,
		.kprobes = o->kprobe,
		.ust = o->ust,
		.hosts = o->record_host,
		.pids = o->record_pid,
		.vpids = o->vpid,
		.track_command = o->track_command,
		.unsafe = o->unsafe,
		.command = command,
	};
	struct record_plan *plan = record_plan_create(&request);
	int status = LT_EXIT_OK;
	char *script;

	if (!plan)
		return fail(LT_EXIT_USAGE);
	if (o->dry_run) {
		script = commands_script(plan);
		fputs(script, stdout);
		g_free(script);
	} else {
		status = run(plan, !o->no_sessiond);
	}
	record_plan_destroy(plan);
	return status;
}

static int stop(const struct session *s)
{
	struct session_lost lost = {0};

	if (session_stop(s->name, &lost))
		return fail(LT_EXIT_FAILURE);
	printf("session '%s' stopped\n", s->name);
	if (!s->snapshot)
		print_lost(&lost);
	if (!s->snapshot && !s->live_timer_us)
		print_view(stdout, s->path);
	return LT_EXIT_OK;
}

static int snapshot(const struct session *s)
{
	char *path = NULL;

	if (!s->snapshot) {
		error_set("session '%s' is not a flight recorder: see --snapshot", s->name);
		return fail(LT_EXIT_FAILURE);
	}
	if (session_snapshot(s->name, &path))
		return fail(LT_EXIT_FAILURE);
	printf("snapshot in %s\n", path ? path : s->path);
	if (path)
		print_view(stdout, path);
	g_free(path);
	return LT_EXIT_OK;
}

static int status(const struct session *s)
{
	char timer[TIMETEXT_SIZE] = "";

	if (s->live_timer_us)
		timetext_format_duration(timer, sizeof(timer), UINT64_C(1000) * s->live_timer_us);
	printf("%s: %s%s%s%s, %s, lost %" PRIu64 " events %" PRIu64 " packets\n", s->name,
	       s->active ? "recording" : "stopped", s->snapshot ? ", flight recorder" : "",
	       *timer ? ", live every " : "", timer, s->path, s->lost.events, s->lost.packets);
	return LT_EXIT_OK;
}

static const struct verb {
	const char *name;
	int (*run)(const struct session *s);
} verbs[] = {{"stop", stop}, {"status", status}, {"snapshot", snapshot}};

static const struct verb *find_verb(const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(verbs); i++)
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
	return NULL;
}

/* Stops a session on other hosts, or takes a snapshot there; brings what they have recorded, unless they stream it. */
static enum lt_status end_remotely(const struct verb *verb, const struct options *o, const char *session)
{
	char *output = o->output ? g_canonicalize_filename(o->output, NULL) : record_default_output(session);
	enum lt_status status;

	status = verb->run == stop ? remote_stop(o->record_host, session) : remote_snapshot(o->record_host, session);
	if (!status && verb->run == stop)
		printf("session '%s' stopped\n", session);
	if (!status)
		status = fetch(stdout, o->record_host, session, output);
	g_free(output);
	return status;
}

static int run_verb_remotely(const struct verb *verb, const struct options *o, const char *name)
{
	char *session = g_strdup(name);
	enum lt_status done = LT_ERROR;

	for (unsigned i = 0; i < o->record_host->len; i++)
		if (record_host_check(g_ptr_array_index(o->record_host, i)))
			return fail(LT_EXIT_USAGE);
	if (!session && verb->run != status)
		session = remote_find(o->record_host);
	if (verb->run == status)
		done = remote_list(o->record_host, session);
	else if (session)
		done = end_remotely(verb, o, session);
	g_free(session);
	return done ? fail(LT_EXIT_FAILURE) : LT_EXIT_OK;
}

static int run_verb_locally(const struct verb *verb, const char *name)
{
	GPtrArray *sessions = sessions_list();
	const struct session *session;
	int result = LT_EXIT_OK;

	if (!sessions)
		return fail(LT_EXIT_FAILURE);
	if (verb->run == status && !name) {
		for (unsigned i = 0; i < sessions->len; i++)
			status(g_ptr_array_index(sessions, i));
		if (!sessions->len)
			puts("no session");
	} else {
		session = sessions_find(sessions, name);
		result = session ? verb->run(session) : fail(LT_EXIT_FAILURE);
	}
	g_ptr_array_free(sessions, TRUE);
	return result;
}

static int run_verb(const struct verb *verb, const struct options *o, const char *session)
{
	int result;

	process_hold_signals();
	result = o->record_host->len ? run_verb_remotely(verb, o, session) : run_verb_locally(verb, session);
	process_release_signals();
	return result;
}

int cmd_record(const struct options *o)
{
	const char *name = o->n_words ? g_ptr_array_index(o->words, 0) : NULL;
	const char *session = o->n_words > 1 ? g_ptr_array_index(o->words, 1) : NULL;
	const struct verb *verb = name ? find_verb(name) : NULL;
	char **command;
	int result;

	if (name && !verb)
		error_set("'%s' is none of stop, status, snapshot; a command stands behind '--'", name);
	else if (verb && (o->n_words > 2 || o->words->len > o->n_words))
		error_set("'%s' takes one session and no command", name);
	else if (session && record_session_check(session))
		; /* says why */
	else if (verb)
		return run_verb(verb, o, session);
	if (name)
		return fail(LT_EXIT_USAGE);

	command = g_new0(char *, o->words->len + 1);
	for (unsigned i = 0; i < o->words->len; i++)
		command[i] = g_ptr_array_index(o->words, i);
	result = record_new(o, command);
	g_free(command);
	return result;
}

static void help_sets(struct help *h)
{
	static const char *const meanings[RECORD_SETS] = {
		[RECORD_SET_MINIMAL] = "CPU time and processes",
		[RECORD_SET_WAITS] = ("what is in minimal, and what a thread may wait for: other threads, interrupts, "
				      "timers, disks, the network"),
		[RECORD_SET_FULL] = "what is in waits, and system calls: everything the panes show",
		[RECORD_SET_NONE] = "nothing of the kernel but what --event and --kprobe name",
	};

	for (unsigned i = 0; i < RECORD_SETS; i++)
		help_item(h, record_set_name((enum record_set)i), meanings[i]);
}

/* What a set has beyond the smaller ones. */
static void help_set(struct help *h, enum record_set set)
{
	char *title = g_strdup_printf("--set %s", record_set_name(set));
	unsigned n;
	const struct record_set_event *events = record_set_events(&n);
	const struct record_set_context *contexts;

	help_subsection(h, title);
	g_free(title);
	for (unsigned i = 0; i < n; i++) {
		char *text;

		if (events[i].set != set)
			continue;
		text = g_strdup_printf("%s: %s", record_cost_text(events[i].cost), events[i].meaning);
		help_item(h, events[i].kind == RECORD_SYSCALLS ? "all system calls" : events[i].name, text);
		g_free(text);
	}
	contexts = record_set_contexts(&n);
	for (unsigned i = 0; i < n; i++) {
		char *term, *text;

		if (contexts[i].set != set)
			continue;
		term = g_strdup_printf("context %s", contexts[i].name);
		text = g_strdup_printf("%u bytes of each event: %s", contexts[i].bytes, contexts[i].meaning);
		help_item(h, term, text);
		g_free(term);
		g_free(text);
	}
}

static const struct {
	const char *title;
	const char *text;
} notes[] = {
	{"What it needs",
	 "A session daemon. If none answers, one is started as the lttng tool does it, and ended again after "
	 "a COMMAND; --no-sessiond prevents that. The kernel is traced by root's daemon only, for root and "
	 "the members of the group 'tracing', and needs lttng-modules. Programs instrumented with lttng-ust "
	 "can be traced by everybody. With --host, the lttng tool there, tar unless it streams, and ssh to it "
	 "without questions."},
	{"Other hosts",
	 "With --live they stream to a relayd. Without, each records into " COMMANDS_REMOTE_DIR " of its own; when the "
	 "COMMAND has ended, or with 'record stop', that is fetched into a directory for each host below --output and "
	 "removed there. 'record snapshot' fetches the snapshots likewise."},
	{"What a tracer lacks",
	 "Tracepoints and contexts of a set that the kernel or its lttng-modules do not have are left out with a "
	 "warning that says what will be missing, also on other hosts; one asked for by name is an error."},
	{"Known faults",
	 "What is known to crash or hang a kernel is refused before anything is enabled, also on other hosts; --unsafe "
	 "turns that into a warning. The context 'prio': lttng-modules 2.13.0 to 2.13.10 crash the kernel with it; "
	 "scheduling events carry priorities anyway. Perf counters that the machine does not have, for example "
	 "hardware counters in most virtual machines; over ssh, also those that its kernel does not list below "
	 "/sys/bus/event_source/devices. Perf counters together with tracepoints of CPU hotplug."},
	{"Perf counters",
	 "Do not take CPUs on or off line while a session with perf counters exists: that can hang the kernel. Each "
	 "counter adds 8 bytes to every event."},
	{"Limits to processes",
	 "--pid, --vpid and --track-command keep the events that happen while one of these processes runs. "
	 "Figures of CPUs, interrupts and of all other processes are then incomplete, and so are waits. "
	 "Processes they start are not followed."},
	{"Flight recorder",
	 "With --snapshot the buffers are overwritten for ever: --buffer-size bounds how far back a snapshot "
	 "reaches. It begins in the middle of everything, and the state dump of the start is soon "
	 "overwritten. With a COMMAND one snapshot is taken when it ends."},
};

void cmd_record_help(struct help *h)
{
	help_section(h, "Sets");
	help_sets(h);
	if (h->brief)
		return;
	for (unsigned i = RECORD_SET_MINIMAL; i < RECORD_SETS; i++)
		help_set(h, (enum record_set)i);
	for (size_t i = 0; i < G_N_ELEMENTS(notes); i++) {
		help_section(h, notes[i].title);
		help_paragraph(h, notes[i].text);
	}
}
